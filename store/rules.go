package store

import (
	"bytes"
	"fmt"
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

// Same reports whether a put changes nothing of s, which is nil for a name that
// was never put.
func (s *Schedule) Same(put PutSchedule, owner string) bool {
	return s.living() && s.Owner == owner && bytes.Equal(s.Definition, put.Definition)
}

// CheckPut returns why a put must be refused, or nil; s is nil for a name that
// was never put.
func (s *Schedule) CheckPut(put PutSchedule, owner string, now time.Time) error {
	var revision int64
	if s.living() {
		revision = s.Revision
	}
	switch err := CheckRevision(put.IfRevision, revision); {
	case err != nil:
		return err
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
	s.Owner, s.Definition, s.Group = owner, bytes.Clone(put.Definition), put.Group
	s.NextAt, s.UpdatedAt = now, now
	s.Revision++
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

// Plan changes the rows that the request changes, and returns them, in the order of the names. rows has the rows of the names,
// tombstones too. If one name cannot be changed, the result is an error, and no row may be written.
func (r ChangeSchedulesRequest) Plan(rows map[string]*Schedule, now time.Time) (changed []*Schedule, err error) {
	for _, name := range r.Names {
		if !rows[name].living() {
			return nil, fmt.Errorf("schedule %q: %w", name, ErrNotFound)
		}
		if err := CheckRevision(r.IfRevision, rows[name].Revision); err != nil {
			return nil, fmt.Errorf("schedule %q: %w", name, err)
		}
	}
	planned := map[string]bool{}
	for _, name := range r.Names {
		row := rows[name]
		switch {
		case planned[name] || !r.changes(row):
			continue
		case row.Unsettled(now):
			return nil, fmt.Errorf("schedule %q: %w", name, ErrUnsettled)
		}
		planned[name] = true
		r.apply(row, now)
		changed = append(changed, row)
	}
	return changed, nil
}

// changes reports whether the request changes s, which is no tombstone.
func (r ChangeSchedulesRequest) changes(s *Schedule) bool {
	switch r.Action {
	case PauseSchedules:
		return s.PausedAt.IsZero() || !s.PausedUntil.Equal(r.Until.Truncate(time.Microsecond))
	case ResumeSchedules:
		return !s.PausedAt.IsZero() || s.Failures > 0
	}
	return true
}

// apply applies the request to s.
func (r ChangeSchedulesRequest) apply(s *Schedule, now time.Time) {
	switch r.Action {
	case PauseSchedules:
		s.pause(now, r.Until.UTC().Truncate(time.Microsecond))
	case ResumeSchedules:
		s.PausedAt, s.PausedUntil, s.Failures = time.Time{}, time.Time{}, 0
	case DeleteSchedules:
		s.Bury(now)
	case ResetSchedules:
		s.resetMark(now)
		s.NextAt = now
	}
}

// Extends reports whether a record is written by extending the newest record of
// its schedule.
func (r SlotRecord) Extends(newest SlotRecord) bool {
	return r.Extend && newest.Outcome == r.Outcome && newest.Reason == r.Reason && newest.Last.Before(r.Slot)
}
