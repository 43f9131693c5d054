package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"
)

// The rules of PutSchedules and ChangeSchedules as pure functions on a row, and
// those of an Aftermath, for drivers that read rows, decide, and write them
// back. (store/memory has its own words for them: it is the model that drivers
// are compared with.)

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

// Consequences are what a run of aftermaths has to write.
type Consequences struct {
	Jobs []NewJob // to be inserted, in order
	// Begun, Again and Ended are schedules by number, in order, each in one of
	// them at most: those that fail and did not, those that fail again after
	// they were well in between, and those that failed and are well.
	Begun, Again, Ended []int64
}

// Follow says what aftermaths come to, one after the other, of which nil ones
// are nothing; failing are those of their schedules that fail as yet.
func Follow(aftermaths []*Aftermath, failing map[int64]bool) Consequences {
	var out Consequences
	fails, well := map[int64]bool{}, map[int64]bool{} // now; at any time
	for _, a := range aftermaths {
		switch {
		case a == nil:
			continue
		case a.Schedule == 0:
			if a.Failing {
				out.Jobs = append(out.Jobs, a.Jobs...)
			}
			continue
		}
		before, seen := fails[a.Schedule]
		if !seen {
			before = failing[a.Schedule]
		}
		if a.Failing || before {
			out.Jobs = append(out.Jobs, a.Jobs...)
		}
		fails[a.Schedule] = a.Failing
		well[a.Schedule] = well[a.Schedule] || !a.Failing
	}
	for _, id := range slices.Sorted(maps.Keys(fails)) {
		switch {
		case fails[id] && !failing[id]:
			out.Begun = append(out.Begun, id)
		case fails[id] && well[id]:
			out.Again = append(out.Again, id)
		case failing[id] && !fails[id]:
			out.Ended = append(out.Ended, id)
		}
	}
	return out
}
