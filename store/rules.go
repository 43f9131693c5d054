package store

import (
	"bytes"
	"fmt"
	"time"
)

// The rules of PutSchedules and ChangeSchedules as pure functions on a row, for
// drivers that read a row, decide, and write it back. (store/memory has its own
// words for them: it is the model that drivers are compared with.)

// living says whether there is a row, and it is no tombstone.
func (s *Schedule) living() bool { return s != nil && s.DeletedAt.IsZero() }

// Unsettled says whether a slot is due that nobody has accounted for.
func (s *Schedule) Unsettled(now time.Time) bool {
	return !s.NextAt.IsZero() && s.NextAt.After(s.Mark) && !s.NextAt.After(now)
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
		s.PausedAt, s.PausedDeclared = time.Time{}, false
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
		s.PausedAt = time.Time{}
	case s.PausedAt.IsZero():
		s.PausedAt = now
	}
	s.PausedDeclared = paused
}

// Bury makes s a tombstone.
func (s *Schedule) Bury(now time.Time) { s.DeletedAt, s.NextAt = now, time.Time{} }

// Changes says whether the action does anything to s, which lives.
func (a ScheduleAction) Changes(s *Schedule) bool {
	switch a {
	case PauseSchedules:
		return s.PausedAt.IsZero()
	case ResumeSchedules:
		return !s.PausedAt.IsZero()
	}
	return s.living()
}

// Apply does the action to s.
func (a ScheduleAction) Apply(s *Schedule, now time.Time) {
	switch a {
	case PauseSchedules:
		s.PausedAt = now
	case ResumeSchedules:
		s.PausedAt = time.Time{}
	case DeleteSchedules:
		s.Bury(now)
	case ResetSchedules:
		s.Mark, s.NextAt = now, now
	}
}
