package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

const (
	// mostSingly is how many slots of one decision are recorded one by one;
	// of more, neighbours with the same fate become one record with a range.
	maxSingleRecords = 60
	// mostSlots bounds the slots that are looked at in one decision, and so
	// the count of a range.
	maxSlots = 100_000
)

// Plan is a schedule's definition, ready for use.
type Plan struct {
	Definition
	Rule      recur.Rule
	calendars []*recur.Calendar // those of Exclude
	lost      bool              // see AfterLoss
}

// AfterLoss is the plan by which slots are accounted for that were due while the
// store went back in time: they may have fired, and the store does not know. They
// count as missed, or fire by the policy misfire all, if that is asked for.
func (p Plan) AfterLoss(refire bool) Plan {
	p.lost = !refire
	p.Misfire = MisfireSkip
	if refire {
		p.Misfire = MisfireAll
	}
	return p
}

// NewPlan decodes a schedule's definition. stored are the calendars that it names.
func NewPlan(s store.Schedule, stored StoredCalendars) (Plan, error) { return newPlan(s, stored, nil) }

// newPlan shares time zones between plans; nil: this one loads its own.
func newPlan(s store.Schedule, stored StoredCalendars, zones *recur.Zones) (Plan, error) {
	d, err := DecodeDefinition(s.Definition)
	if err != nil {
		return Plan{}, err
	}
	rule, err := zones.Rule(d.Rule, s.Anchor)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Definition: d, Rule: rule}
	for _, c := range d.Exclude {
		calendar, err := stored.find(c, zones)
		if err != nil {
			return Plan{}, fmt.Errorf("calendar %q: %w", c.Name, err)
		}
		p.calendars = append(p.calendars, calendar)
	}
	return p, nil
}

// Next is the schedule's first slot after both now and its mark, one that a
// calendar excludes too; zero: none.
func (p Plan) Next(s store.Schedule, now time.Time) time.Time {
	if p.countReached(s) {
		return time.Time{}
	}
	return p.Rule.Next(later(now, s.Mark))
}

// NextOpen is the first slot after now and the mark that no calendar excludes;
// zero: none. Where very many in a row are excluded it is one of them.
func (p Plan) NextOpen(s store.Schedule, now time.Time) time.Time {
	if p.countReached(s) {
		return time.Time{}
	}
	next, _ := recur.NextOpen(p.Rule, later(now, s.Mark), p.calendars...)
	return next
}

// over says whether as many slots as the schedule is to have have fired.
func (p Plan) countReached(s store.Schedule) bool { return p.Count > 0 && s.Fired >= p.Count }

// Decide accounts for all slots of a schedule from its mark to now, the
// store's clock: which fire, which do not and why, and which comes next. It
// is pure. Overlaps with running jobs are settled later, in the transaction
// that writes the decision (store.Firing.Settle). Where not all slots can be
// decided on at once, the next one is due already, and the rest is the next
// decision's.
func (p Plan) Decide(s store.Schedule, now time.Time) store.Firing {
	f := store.Firing{
		Schedule: s.ID, Revision: s.Revision, Mark: s.Mark, NextAt: s.NextAt, PausedAt: s.PausedAt,
		NewMark: s.Mark, NewNextAt: p.Next(s, now), Overlap: p.overlap(),
	}
	if p.countReached(s) {
		return f
	}
	due, more := p.due(s.Mark, now)
	if len(due) == 0 {
		return f
	}
	records := slotRecords{oneByOne: len(due) <= maxSingleRecords}
	var end time.Time // of what is accounted for without being looked at
	if more {
		due, end = p.tooLate(s, due, now)
	}
	outcomes := p.slotOutcomes(s, due, now, !end.IsZero())
	outcomes = p.untilCount(s, outcomes)
	for i, outcome := range outcomes {
		if outcome.outcome == store.SlotFired {
			f.Jobs = append(f.Jobs, p.job(s, due[i]))
			continue
		}
		records.add(due[i], outcome)
	}
	f.NewMark = later(due[len(outcomes)-1], end)
	if more || len(outcomes) < len(due) {
		f.NewNextAt = p.Rule.Next(f.NewMark)
	}
	if !end.IsZero() {
		records.extendTo(f.NewMark)
	}
	f.Slots = p.withGaps(s, records.records, f.NewMark)
	f.After = p.missedFollowUp(s, f.Slots)
	return f
}

// due lists the slots after mark and not after now; more: there are too many
// to be looked at one by one.
func (p Plan) due(mark, now time.Time) (slots []time.Time, more bool) {
	for slot := p.Rule.Next(mark); !slot.IsZero() && !slot.After(now); slot = p.Rule.Next(slot) {
		if len(slots) == maxSlots {
			return slots, true
		}
		slots = append(slots, slot)
	}
	return slots, false
}

// inBulk returns those of the first due slots that are certainly too late to
// fire, and the end of the time in which all are: before it, none need be looked
// at. Where one of them may fire it returns all, and no end.
func (p Plan) tooLate(s store.Schedule, due []time.Time, now time.Time) (late []time.Time, end time.Time) {
	end = p.earliestDecision(s, now).Add(-time.Microsecond)
	if pause := s.PausedUntil; s.PausedFor(due[0]) && !pause.IsZero() && !pause.After(end) {
		end = pause.Add(-time.Microsecond)
	}
	n, _ := slices.BinarySearchFunc(due, end, func(slot, end time.Time) int {
		if slot.After(end) {
			return 1
		}
		return -1
	})
	if n == 0 {
		return due, time.Time{}
	}
	return due[:n], end
}

// untilSpent cuts fates after the last slot that the schedule may have fire.
func (p Plan) untilCount(s store.Schedule, outcomes []slotOutcome) []slotOutcome {
	if p.Count == 0 {
		return outcomes
	}
	left := p.Count - s.Fired
	for i, f := range outcomes {
		if f.outcome == store.SlotFired {
			left--
		}
		if left == 0 {
			return outcomes[:i+1]
		}
	}
	return outcomes
}

func (p Plan) overlap() store.Overlap {
	switch p.Overlap {
	case OverlapAllow:
		return store.OverlapAllow
	case OverlapQueue:
		return store.OverlapQueue
	case OverlapReplace:
		return store.OverlapReplace
	}
	return store.OverlapSkip
}

// withGaps adds, in their order, records of the times up to end that a change of
// the clock jumped over and that are not made up.
func (p Plan) withGaps(s store.Schedule, records []store.SlotRecord, end time.Time) []store.SlotRecord {
	n := len(records)
	for _, change := range recur.ClockChanges(p.Rule, s.Mark, end, maxSingleRecords) {
		if !change.Gap || p.Rule.Next(change.At.Add(-time.Microsecond)).Equal(change.At) || p.paused(s, change.At) != "" {
			continue
		}
		records = append(records, store.SlotRecord{
			Slot: change.At, Last: change.At, Count: int64(change.Times), Outcome: store.SlotSkipped, Reason: "gap: " + change.Text,
		})
	}
	if len(records) > n {
		slices.SortStableFunc(records, func(a, b store.SlotRecord) int { return a.Slot.Compare(b.Slot) })
	}
	return records
}

// slotBook writes records, of many neighbours with the same fate as one range.
type slotRecords struct {
	oneByOne bool
	records  []store.SlotRecord
}

func (b *slotRecords) add(slot time.Time, f slotOutcome) {
	if n := len(b.records); n > 0 && !b.oneByOne {
		if last := &b.records[n-1]; last.Outcome == f.outcome && last.Reason == f.reason {
			last.Last = slot
			last.Count++
			return
		}
	}
	b.records = append(b.records, store.SlotRecord{
		Slot: slot, Last: slot, Count: 1, Outcome: f.outcome, Reason: f.reason, Extend: f.extend,
	})
}

// openEnd stretches the last record to end, over slots that were not counted.
func (b *slotRecords) extendTo(end time.Time) {
	last := &b.records[len(b.records)-1]
	last.Last = end
	last.Reason += fmt.Sprintf(" (more than %d slots; the count stops there)", last.Count)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
