package store

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"
)

// The rules of PutSchedules, ChangeSchedules and FollowUp as pure functions on a
// row, for drivers that read rows, decide, and write them back. (store/memory
// implements the rules independently, because it is the model that drivers are
// compared with.)

// living reports whether there is a row that is no tombstone.
func (s *Schedule) living() bool { return s != nil && s.DeletedAt.IsZero() }

// Unsettled reports whether a slot may be due that is not accounted for: a slot
// is due, or no node has planned the schedule since its mark.
func (s *Schedule) Unsettled(now time.Time) bool {
	return !s.NextAt.IsZero() && !s.NextAt.After(now) && s.Mark.Before(now)
}

// FiredTo returns the schedule's mark if slots up to it may have fired ahead of
// now (see FireRequest.Ahead): their jobs exist, and start when they are due.
// Otherwise it returns the zero time. A mark that is later than now by more than
// MostAhead was written while the clock was wrong.
func (s *Schedule) FiredTo(now time.Time) time.Time {
	if !s.Mark.After(now) || s.Mark.After(now.Add(MostAhead)) {
		return time.Time{}
	}
	return s.Mark
}

// LatestFiredTo returns the latest FiredTo of the schedules.
func LatestFiredTo(rows iter.Seq[*Schedule], now time.Time) (latest time.Time) {
	for row := range rows {
		if at := row.FiredTo(now); at.After(latest) {
			latest = at
		}
	}
	return latest
}

// StartAfter returns the jobs with a RunAt for triggered jobs that is not before
// the FiredTo of their schedule; firedTo has it by the schedule's number.
func StartAfter(jobs []NewJob, firedTo map[int64]time.Time, now time.Time) []NewJob {
	jobs = slices.Clone(jobs)
	for i := range jobs {
		job := &jobs[i]
		to, fired := firedTo[job.Schedule]
		if job.Origin != OriginTrigger || !fired {
			continue
		}
		if job.RunAt.IsZero() {
			job.RunAt = now.Add(job.Delay)
		}
		if job.RunAt.Before(to) {
			job.RunAt = to
		}
	}
	return jobs
}

// Pulled returns when a ready job that is pulled to now may start: not before
// its slot, if the slot is near.
func Pulled(slot, now time.Time) time.Time {
	if slot.Before(now) || slot.After(now.Add(MostAhead)) {
		return now
	}
	return slot
}

// Same reports whether a put changes nothing of s, which is nil for a name that
// was never put.
func (s *Schedule) Same(put PutSchedule, owner string) bool {
	return s.living() && s.Owner == owner && bytes.Equal(s.Definition, put.Definition)
}

// CheckPut returns why a put must be refused, or nil; s is nil for a name that
// was never put.
func (s *Schedule) CheckPut(put PutSchedule, owner string, now time.Time) error {
	switch {
	case put.IfRevision != 0 && (!s.living() || s.Revision != put.IfRevision):
		return ErrConflict
	case s.living() && s.Owner != owner:
		return fmt.Errorf("%w: it belongs to owner %q", ErrConflict, s.Owner)
	case s.living() && !s.Same(put, owner) && s.Unsettled(now):
		return ErrUnsettled
	}
	return nil
}

// Put applies a checked put to s, which may be new or a tombstone, except for
// the revision.
func (s *Schedule) Put(put PutSchedule, owner string, now time.Time) {
	if s.CreatedAt.IsZero() {
		s.Name, s.CreatedAt, s.Anchor = put.Name, now, now
	}
	if !s.DeletedAt.IsZero() {
		s.Anchor, s.DeletedAt = now, time.Time{}
		s.PausedAt, s.PausedUntil, s.PausedDeclared = time.Time{}, time.Time{}, false
	}
	if s.Mark.Before(now) {
		s.Mark = now
	}
	s.Owner, s.Definition = owner, bytes.Clone(put.Definition)
	s.NextAt, s.UpdatedAt = now, now
	s.declare(put.Paused, now)
}

// declare pauses or resumes if the definition's declaration differs from the
// last; otherwise a pause or resume by hand stays.
func (s *Schedule) declare(paused bool, now time.Time) {
	switch {
	case paused == s.PausedDeclared:
	case !paused:
		s.PausedAt, s.PausedUntil = time.Time{}, time.Time{}
	default:
		s.pause(now, time.Time{})
	}
	s.PausedDeclared = paused
}

// Bury makes s a tombstone.
func (s *Schedule) Bury(now time.Time) { s.DeletedAt, s.NextAt = now, time.Time{} }

// pause pauses s until an instant (zero: for ever). If s is paused already,
// PausedAt stays.
func (s *Schedule) pause(now, until time.Time) {
	if !s.PausedFor(now) {
		s.PausedAt = now
	}
	s.PausedUntil = until
}

// Changes reports whether the request changes s, which is no tombstone.
func (r ChangeSchedulesRequest) Changes(s *Schedule) bool {
	switch r.Action {
	case PauseSchedules:
		return s.PausedAt.IsZero() || !s.PausedUntil.Equal(r.Until.Truncate(time.Microsecond))
	case ResumeSchedules:
		return !s.PausedAt.IsZero() || s.Failures > 0
	}
	return s.living()
}

// Apply applies the request to s.
func (r ChangeSchedulesRequest) Apply(s *Schedule, now time.Time) {
	switch r.Action {
	case PauseSchedules:
		s.pause(now, r.Until.UTC().Truncate(time.Microsecond))
	case ResumeSchedules:
		s.PausedAt, s.PausedUntil, s.Failures = time.Time{}, time.Time{}, 0
	case DeleteSchedules:
		s.Bury(now)
	case ResetSchedules:
		if s.FiredTo(now).IsZero() {
			s.Mark = now
		}
		s.NextAt = now
	}
}

// Consequences are the changes that a sequence of follow-ups makes.
type Consequences struct {
	Jobs []NewJob // to be inserted, in order
	// Begun, Again, Counted and Ended are numbers of schedules, in order. A
	// schedule is in at most one of them: in Begun if it is failing and was not;
	// in Again if it was failing, became well and is failing again; in Counted
	// if it is still failing, with another number of failures; in Ended if it
	// was failing and is well.
	Begun, Again, Counted, Ended []int64
	// Failures has the number of failures of each failing schedule.
	Failures map[int64]int64
}

// Follow returns the consequences of follow-ups, applied one after the other;
// nil follow-ups are ignored. failing has the schedules of the follow-ups that
// are failing before, with their number of failures.
func Follow(followUps []*FollowUp, failing map[int64]int64) Consequences {
	out := Consequences{Failures: maps.Clone(failing)}
	if out.Failures == nil {
		out.Failures = map[int64]int64{}
	}
	touched, well := map[int64]bool{}, map[int64]bool{} // well: at any time
	for _, a := range followUps {
		switch {
		case a == nil:
			continue
		case a.Schedule == 0:
			if a.Failing {
				out.Jobs = append(out.Jobs, a.Jobs...)
			}
			continue
		}
		touched[a.Schedule] = true
		n, before := out.Failures[a.Schedule]
		if a.Failing || before {
			out.Jobs = append(out.Jobs, a.Jobs...)
		}
		switch {
		case !a.Failing:
			delete(out.Failures, a.Schedule)
			well[a.Schedule] = true
		case a.JobFailed:
			out.Failures[a.Schedule] = n + 1
		default:
			out.Failures[a.Schedule] = n
		}
	}
	for _, id := range slices.Sorted(maps.Keys(touched)) {
		n, fails := out.Failures[id]
		was, failed := failing[id]
		switch {
		case fails && !failed:
			out.Begun = append(out.Begun, id)
		case fails && well[id]:
			out.Again = append(out.Again, id)
		case fails && n != was:
			out.Counted = append(out.Counted, id)
		case failed && !fails:
			out.Ended = append(out.Ended, id)
		}
	}
	return out
}

// WithConflicts turns the answers for finished jobs that could not take their
// key back into conflicts. holders has the numbers of the jobs that have these
// keys, by the number of the finished job.
func WithConflicts(changes []JobChange, holders map[int64]int64) {
	for i := range changes {
		if holder := holders[changes[i].ID]; holder != 0 {
			changes[i].Change, changes[i].Holder = Conflict, holder
		}
	}
}
