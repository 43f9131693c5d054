package store

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"time"
)

// The rules of PutSchedules and ChangeSchedules as pure functions on a row, for
// drivers that read rows, decide, and write them back. (store/memory implements
// all rules independently, because it is the model that drivers are compared
// with.)

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
func (s *Schedule) FiredTo(now time.Time) time.Time { return firedTo(s.Mark, now) }

// firedTo is Schedule.FiredTo for a mark.
func firedTo(mark, now time.Time) time.Time {
	if !mark.After(now) || mark.After(now.Add(MostAhead)) {
		return time.Time{}
	}
	return mark
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
