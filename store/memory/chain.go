package memory

import (
	"cmp"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// scheduleEnd is an end of a predecessor's job; open: Fire has not accounted for it.
type scheduleEnd struct {
	store.ScheduleEnd
	open bool
}

// checkCycle returns an error if the puts close a circle of schedules.
func (s *Store) checkCycle(puts []store.PutSchedule) error {
	edges, from := map[string][]string{}, []string(nil)
	for id, names := range s.follows {
		if row := s.schedules[id]; row.DeletedAt.IsZero() {
			edges[row.Name] = names
		}
	}
	for _, put := range puts {
		edges[put.Name] = put.After
		from = append(from, put.Name)
	}
	return store.CheckCycle(edges, from)
}

// passOn makes the end of a job of a schedule a slot of each dependent of the schedule.
func (s *Store) passOn(schedule int64, end store.Ended) {
	predecessor := s.schedules[schedule]
	if predecessor == nil || !predecessor.DeletedAt.IsZero() {
		return
	}
	for _, row := range s.schedules {
		if !row.DeletedAt.IsZero() || !slices.ContainsFunc(s.follows[row.ID], predecessor.IsOrIsMadeFrom) {
			continue
		}
		var last time.Time
		for _, e := range s.ends {
			if e.Schedule == row.ID {
				last = laterOf(last, e.Slot)
			}
		}
		e := store.PassOn(end, predecessor, row, last)
		s.ends = append(s.ends, &scheduleEnd{e, true})
		row.NextAt = earliest(row.NextAt, e.Slot)
		s.wake(store.Wake{Kind: store.WakeSchedules})
	}
}

// jobEnded passes the end of a job on to the dependents of its schedule.
func (s *Store) jobEnded(j *job, state store.State, reason string, now time.Time) {
	if j.Schedule != 0 && j.Origin.SetsOff() {
		s.passOn(j.Schedule, store.Ended{ID: j.ID, State: state, At: now, Reason: reason})
	}
}

func (s *Store) listEnds(req store.ListRequest) (out []store.ScheduleEnd) {
	for _, e := range s.ends {
		if e.open && slices.Contains(req.IDs, e.Schedule) {
			out = append(out, e.ScheduleEnd)
		}
	}
	slices.SortFunc(out, func(a, b store.ScheduleEnd) int {
		return cmp.Or(cmp.Compare(a.Schedule, b.Schedule), a.Slot.Compare(b.Slot))
	})
	return out[:min(len(out), req.Limit)]
}

// followed reports whether a schedule has made a job for an end of another job.
func (s *Store) followed(schedule, job int64) bool {
	return slices.ContainsFunc(s.ends, func(e *scheduleEnd) bool {
		return e.Schedule == schedule && e.ID == job && s.firedBefore(schedule, e.Slot)
	})
}

// account closes the ends of a schedule up to its mark, and makes it due for the next end.
func (s *Store) account(row *store.Schedule) {
	row.NextAt = time.Time{}
	for _, e := range s.ends {
		if e.Schedule != row.ID || !e.open {
			continue
		}
		if e.open = e.Slot.After(row.Mark); e.open {
			row.NextAt = earliest(row.NextAt, e.Slot)
		}
	}
}

// endOf returns the end that is a slot, or nil.
func (s *Store) endOf(schedule int64, slot time.Time) *scheduleEnd {
	for _, e := range s.ends {
		if e.Schedule == schedule && e.Slot.Equal(slot) {
			return e
		}
	}
	return nil
}

// pruneEnds deletes ends that are accounted for and older than keep, at most limit.
func (s *Store) pruneEnds(keep time.Duration, limit int, now time.Time) (n int) {
	slices.SortFunc(s.ends, func(a, b *scheduleEnd) int {
		return cmp.Or(a.Slot.Compare(b.Slot), cmp.Compare(a.Schedule, b.Schedule))
	})
	s.ends = slices.DeleteFunc(s.ends, func(e *scheduleEnd) bool {
		gone := n < limit && !e.open && old(e.Slot, keep, now)
		if gone {
			n++
		}
		return gone
	})
	return n
}
