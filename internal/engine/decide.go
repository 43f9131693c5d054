package engine

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

const (
	// Grace is how late a slot may be found and still fire.
	Grace = time.Minute
	// mostSingly is how many slots of one decision are recorded one by one;
	// of more, neighbours with the same fate become one record with a range.
	mostSingly = 60
	// mostSlots bounds the slots that are looked at in one decision, and so
	// the count of a range.
	mostSlots = 100_000
)

// Plan is a schedule's definition, ready for use.
type Plan struct {
	Definition
	Rule recur.Rule
}

// NewPlan decodes a schedule's definition.
func NewPlan(s store.Schedule) (Plan, error) {
	d, err := DecodeDefinition(s.Definition)
	if err != nil {
		return Plan{}, err
	}
	rule, err := d.Rule.Rule(s.Anchor)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Definition: d, Rule: rule}, nil
}

// Next is the schedule's first slot after both now and its mark; zero: none.
func (p Plan) Next(s store.Schedule, now time.Time) time.Time {
	return p.Rule.Next(later(now, s.Mark))
}

// Decide accounts for all slots of a schedule from its mark to now, the
// store's clock: which fire, which do not and why, and which comes next. It
// is pure. Overlaps with running jobs are settled later, in the transaction
// that writes the decision (store.Firing.Settle).
func (p Plan) Decide(s store.Schedule, now time.Time) store.Firing {
	f := store.Firing{
		Schedule: s.ID, Revision: s.Revision, Mark: s.Mark, NextAt: s.NextAt,
		NewMark: s.Mark, NewNextAt: p.Next(s, now), Overlap: p.overlap(),
	}
	due, more := p.due(s.Mark, now)
	if len(due) == 0 {
		return f
	}
	f.NewMark = due[len(due)-1]
	book := slotBook{singly: len(due) <= mostSingly}
	for i, slot := range due {
		outcome, reason := p.fate(s, slot, now, i == len(due)-1 && !more)
		if outcome == store.SlotFired {
			f.Jobs = append(f.Jobs, p.job(s.ID, slot))
			continue
		}
		book.add(slot, outcome, reason, !s.PausedAt.IsZero())
	}
	if more { // the last range covers what is too late in any case; the rest is the next decision's
		f.NewMark = later(f.NewMark, now.Add(-Grace))
		f.NewNextAt = p.Rule.Next(f.NewMark)
		book.openEnd(f.NewMark)
	}
	f.Slots = book.records
	f.After = p.missedAftermath(s, f.Slots)
	return f
}

// due lists the slots after mark and not after now; more: there are too many
// to be looked at one by one.
func (p Plan) due(mark, now time.Time) (slots []time.Time, more bool) {
	for slot := p.Rule.Next(mark); !slot.IsZero() && !slot.After(now); slot = p.Rule.Next(slot) {
		if len(slots) == mostSlots {
			return slots, true
		}
		slots = append(slots, slot)
	}
	return slots, false
}

// fate decides on one slot. last says that it is the latest of those due.
func (p Plan) fate(s store.Schedule, slot, now time.Time, last bool) (store.SlotOutcome, string) {
	switch late := now.Sub(slot); {
	case !s.PausedAt.IsZero():
		return store.SlotSkipped, "paused: the schedule was paused at " + s.PausedAt.Format(time.RFC3339)
	case late > Grace:
		return store.SlotMissed, fmt.Sprintf("misfire: no node fired it within %v", Grace)
	case p.Overlap == OverlapSkip && !last:
		return store.SlotSkipped, "late: found together with a newer slot, which fired instead"
	}
	return store.SlotFired, ""
}

func (p Plan) overlap() store.Overlap {
	if p.Overlap == OverlapAllow {
		return store.OverlapAllow
	}
	return store.OverlapSkip
}

// slotBook writes records, of many neighbours with the same fate as one range.
type slotBook struct {
	singly  bool
	records []store.SlotRecord
}

func (b *slotBook) add(slot time.Time, outcome store.SlotOutcome, reason string, extend bool) {
	if n := len(b.records); n > 0 && !b.singly {
		if last := &b.records[n-1]; last.Outcome == outcome && last.Reason == reason {
			last.Last = slot
			last.Count++
			return
		}
	}
	b.records = append(b.records, store.SlotRecord{
		Slot: slot, Last: slot, Count: 1, Outcome: outcome, Reason: reason, Extend: extend,
	})
}

// openEnd stretches the last record to end, over slots that were not counted.
func (b *slotBook) openEnd(end time.Time) {
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
