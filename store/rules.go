package store

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"
)

// The rules of PutSchedules and ChangeSchedules as pure functions on a row, and
// those of a FollowUp, for drivers that read rows, decide, and write them
// back. (store/memory has its own words for them: it is the model that drivers
// are compared with.)

// living says whether there is a row, and it is no tombstone.
func (s *Schedule) living() bool { return s != nil && s.DeletedAt.IsZero() }

// Unsettled says whether a slot may be due that nobody has accounted for: one is,
// or nobody has planned the schedule since its mark.
func (s *Schedule) Unsettled(now time.Time) bool {
	return !s.NextAt.IsZero() && !s.NextAt.After(now) && s.Mark.Before(now)
}

// FiredTo is the schedule's mark where slots up to it may have fired ahead of now
// (see FireRequest.Ahead): their jobs are there, and start when they are due. The
// zero time: none may have. A mark that lies further ahead than MostAhead is of a
// clock that was wrong.
func (s *Schedule) FiredTo(now time.Time) time.Time {
	if !s.Mark.After(now) || s.Mark.After(now.Add(MostAhead)) {
		return time.Time{}
	}
	return s.Mark
}

// LatestFiredTo is the latest FiredTo of some schedules.
func LatestFiredTo(rows iter.Seq[*Schedule], now time.Time) (latest time.Time) {
	for row := range rows {
		if at := row.FiredTo(now); at.After(latest) {
			latest = at
		}
	}
	return latest
}

// StartAfter returns jobs of which triggered ones start no earlier than their
// schedules have fired to, which is given by number.
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

// Pulled is when a ready job that is pulled to now may start: not before its slot,
// if this is near.
func Pulled(slot, now time.Time) time.Time {
	if slot.Before(now) || slot.After(now.Add(MostAhead)) {
		return now
	}
	return slot
}

// Same says whether a put changes nothing of s, which is nil for a name that
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

// Put makes s, which may be new or a tombstone, what a checked put asks for,
// but for its revision.
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

// declare pauses or resumes if the definition declares another thing than
// before; otherwise a pause or resume by hand stays.
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

// pause pauses s until then (zero: for good). A pause that is on goes on.
func (s *Schedule) pause(now, until time.Time) {
	if !s.PausedFor(now) {
		s.PausedAt = now
	}
	s.PausedUntil = until
}

// Changes says whether the request does anything to s, which lives.
func (r ChangeSchedulesRequest) Changes(s *Schedule) bool {
	switch r.Action {
	case PauseSchedules:
		return s.PausedAt.IsZero() || !s.PausedUntil.Equal(r.Until.Truncate(time.Microsecond))
	case ResumeSchedules:
		return !s.PausedAt.IsZero() || s.Failures > 0
	}
	return s.living()
}

// Apply does to s what the request asks for.
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

// Consequences are what a run of follow-ups has to write.
type Consequences struct {
	Jobs []NewJob // to be inserted, in order
	// Begun, Again, Counted and Ended are schedules by number, in order, each in
	// one of them at most: those that fail and did not, those that fail again
	// after they were well in between, those that still fail, with another number
	// of failures, and those that failed and are well.
	Begun, Again, Counted, Ended []int64
	// Failures is the number of each that fails.
	Failures map[int64]int64
}

// Follow says what follow-ups come to, one after the other, of which nil ones
// are nothing; failing are those of their schedules that fail as yet, with the
// number of their failures.
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

// WithConflicts turns the answers about finished jobs that could not take their key
// back into conflicts. holders are the numbers of the jobs that hold these keys, by
// the number of the finished job.
func WithConflicts(changes []JobChange, holders map[int64]int64) {
	for i := range changes {
		if holder := holders[changes[i].ID]; holder != 0 {
			changes[i].Change, changes[i].Holder = Conflict, holder
		}
	}
}
