package memory

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// subject is what a pause concerns.
type subject struct {
	of   store.PauseSubject
	name string
}

// putPauses pauses subjects.
func (s *Store) putPauses(req store.PutRequest, now time.Time) (out store.PutResult, err error) {
	for _, put := range req.Pauses {
		if err := s.subjectSettled(subject{put.Subject, put.Name}, now); err != nil {
			return out, err
		}
	}
	for _, put := range req.Pauses {
		of := subject{put.Subject, put.Name}
		p := store.Pause{Subject: put.Subject, Name: put.Name, At: now, Until: instant(put.Until), Reason: put.Reason, Actor: put.Actor}
		if s.isPaused(of, now) {
			p.At = s.pauses[of].At
		} else {
			out.Changed++
		}
		s.setPause(p, now)
		s.leavePaused(now)
		for _, j := range s.live {
			if j.State == store.StateReady && of.concerns(j) {
				j.held, j.starts = nil, nil
			}
		}
		s.record(req.PauseEntry(put), 0, now)
	}
	return out, nil
}

// deletePauses ends the pauses of subjects.
func (s *Store) deletePauses(of store.PauseSubject, names []string, now time.Time) error {
	for _, name := range names {
		if err := store.CheckPaused(of, name, s.pauses[subject{of, name}], now); err != nil {
			return err
		}
		if err := s.subjectSettled(subject{of, name}, now); err != nil {
			return err
		}
	}
	for _, name := range names {
		s.setPause(store.Pause{Subject: of, Name: name}, now)
	}
	return nil
}

// setPause stores a pause, or the end of a pause, and gives it to the schedules of a group.
func (s *Store) setPause(p store.Pause, now time.Time) {
	s.pauses[subject{p.Subject, p.Name}] = p
	for _, row := range s.schedules {
		if p.Subject == store.SubjectGroup && row.Group == p.Name && row.DeletedAt.IsZero() {
			s.followPause(row, now)
		}
	}
	s.wake(store.Wake{Kind: store.WakeJobs})
	s.wake(store.Wake{Kind: store.WakeSchedules})
	s.wake(store.Wake{Kind: store.WakeCancels})
}

// followPause gives a schedule the pause of its group.
func (s *Store) followPause(row *store.Schedule, now time.Time) {
	row.GroupPausedAt, row.GroupPausedUntil = time.Time{}, time.Time{}
	if of := (subject{store.SubjectGroup, row.Group}); s.isPaused(of, now) {
		row.GroupPausedAt, row.GroupPausedUntil = s.pauses[of].At, s.pauses[of].Until
	}
}

// isPaused reports whether a subject is paused.
func (s *Store) isPaused(of subject, now time.Time) bool {
	p, found := s.pauses[of]
	return found && !p.At.IsZero() && (p.Until.IsZero() || now.Before(p.Until))
}

// queuePaused reports whether a pause concerns all jobs of a queue.
func (s *Store) queuePaused(queue string, now time.Time) bool {
	for of := range s.pauses {
		if of.of == store.SubjectQueue && store.InQueue(queue, of.name) && s.isPaused(of, now) {
			return true
		}
	}
	return false
}

// concerns reports whether a pause of the subject concerns a job.
func (of subject) concerns(j *job) bool {
	switch of.of {
	case store.SubjectGroup:
		return j.Group == of.name
	case store.SubjectQueue:
		return store.InQueue(j.Queue, of.name)
	case store.SubjectKind:
		return j.Kind == of.name
	default:
		return j.Key == of.name
	}
}

// jobPaused reports whether a pause concerns a job.
func (s *Store) jobPaused(j *job, now time.Time) bool {
	return len(s.pauses) > 0 && (s.isPaused(subject{store.SubjectGroup, j.Group}, now) || s.queuePaused(j.Queue, now) ||
		s.isPaused(subject{store.SubjectKind, j.Kind}, now) || s.isPaused(subject{store.SubjectKey, j.Key}, now))
}

// deleteEndedPauses deletes pauses that have ended, so that they do not come back if the clock
// is set back.
func (s *Store) deleteEndedPauses(now time.Time) {
	maps.DeleteFunc(s.pauses, func(_ subject, p store.Pause) bool { return p.At.IsZero() || !p.Until.IsZero() && !now.Before(p.Until) })
}

// subjectSettled returns store.ErrUnsettled if the subject is a group with an unsettled schedule.
func (s *Store) subjectSettled(of subject, now time.Time) error {
	for _, row := range s.schedules {
		if of.of == store.SubjectGroup && row.Group == of.name && row.DeletedAt.IsZero() && unsettled(row, now) {
			return fmt.Errorf("schedule %q: %w", row.Name, store.ErrUnsettled)
		}
	}
	return nil
}

// activePauses returns the pauses that have not ended, by subject and name.
func (s *Store) activePauses(now time.Time) (out []store.Pause) {
	for of, p := range s.pauses {
		if s.isPaused(of, now) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b store.Pause) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Name, b.Name))
	})
	return out
}
