package plan

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// The data of a time zone change when a government changes its clock. Then the next slot that is stored with a schedule was computed
// with other data than the slots that a node computes now (docs/adr/0082-stored-slots-follow-the-data-of-time-zones.md).

const (
	// mostMoved is the longest time by which other data of a zone move its clock: a date is skipped, or comes twice, with an hour to spare.
	mostMoved = 26 * time.Hour
	// zoneYears is for how many years from the beginning of the decade the data of zones are compared. The decade makes nodes compare the
	// same years.
	zoneYears = 20
)

// ZoneSpan returns the span for which the data of time zones are compared.
func ZoneSpan(now time.Time) (from, until time.Time) {
	decade := now.UTC().Year() / 10 * 10
	return time.Date(decade, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(decade+zoneYears, 1, 1, 0, 0, 0, 0, time.UTC)
}

// Replan decides on a schedule that is not due, with the present data of time zones. changed reports whether the stored next slot was
// computed with other data; only then the decision is to be written, with store.FireRequest.Replan. A slot that the present data
// put before now is due now.
func (p Plan) Replan(s store.Schedule, now time.Time) (f store.Firing, changed bool) {
	if s.NextAt.IsZero() || !s.NextAt.After(now) || p.Follows() || p.On.Every {
		return f, false
	}
	f = p.Decide(s, now)
	return f, !f.NewNextAt.Equal(s.NextAt) || !f.NewMark.Equal(s.Mark)
}

// aligned returns the schedule with the next slot, and the mark before it, that the present data of time zones give, and by how much the
// data have moved the slot. It is 0 for a schedule whose NextAt is right, or is no slot.
//
// A rule with an even pace goes on with its first slot after the mark. Any other rule has one slot for each of its wall times, and
// only instants are stored; so the slot is the NextAt moved by the least number of minutes by which the clock may have
// moved: no slot of the rule lies between the mark and NextAt if both are moved. Slots before it had fired, or were accounted for, at their old
// instants.
func (p Plan) aligned(s store.Schedule) (_ store.Schedule, moved time.Duration) {
	if s.NextAt.IsZero() || !s.NextAt.After(s.Mark) || p.Follows() || p.On.Every {
		return s, 0
	}
	first := p.Rule.Next(s.Mark)
	moved = first.Sub(s.NextAt)
	if first.IsZero() || moved == 0 || moved%time.Minute != 0 { // such as a schedule that was put off
		return s, 0
	}
	if !recur.EvenPace(p.Rule) {
		if by := p.leastMove(s, min(moved.Abs(), mostMoved)); by != 0 {
			s.NextAt = s.NextAt.Add(by)
			s.Mark = later(s.Mark, p.Rule.Prev(s.NextAt))
			return s, by
		}
	}
	if moved.Abs() > mostMoved {
		return s, 0
	}
	s.NextAt = first
	return s, moved
}

// leastMove returns the least number of minutes, at most most, by which the clock of a schedule may have moved, or 0. Of two equal
// numbers it is the later, so that no wall time fires twice.
func (p Plan) leastMove(s store.Schedule, most time.Duration) time.Duration {
	for length := time.Minute; length <= most; length += time.Minute {
		for _, by := range []time.Duration{length, -length} {
			next := s.NextAt.Add(by)
			if next.After(s.Mark) && p.Rule.Next(s.Mark.Add(by)).Equal(next) {
				return by
			}
		}
	}
	return 0
}

// passedOver returns the record of the slots after a mark, up to another, that had fired, or were accounted for, when the clock was
// elsewhere.
func (p Plan) passedOver(from, to time.Time, moved time.Duration) []store.SlotRecord {
	slots, _ := p.due(from, to)
	if len(slots) == 0 {
		return nil
	}
	return []store.SlotRecord{{
		Slot: slots[0], Last: to, Count: int64(len(slots)), Outcome: store.SlotSkipped,
		Reason: fmt.Sprintf("time zone: other data moved the clock by %v, and this time was accounted for before", moved),
	}}
}
