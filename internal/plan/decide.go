package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

const (
	// maxSingleRecords is the greatest number of slots of one decision for which each slot gets a
	// record of its own. Of more slots, consecutive slots with the same outcome share a record.
	maxSingleRecords = 60
	// maxSlots is the greatest number of slots that one decision computes, and so the greatest
	// count of a record.
	maxSlots = 100_000
	// badScheduleDelay is how long a schedule that cannot be used is put off. It is much shorter
	// than defaultGrace, because in a cluster of several releases another node may be able to use
	// the schedule.
	badScheduleDelay = 5 * time.Second
	// MaxAhead is how far a mark may be ahead of the store's clock without an event.
	MaxAhead = time.Minute
)

// Plan is a schedule's definition, decoded and ready for use.
type Plan struct {
	Definition
	Rule      recur.Rule
	calendars []*recur.Calendar // the calendars of Exclude
	bounds    bounds            // of a schedule that follows others
	lost      bool              // see AfterLoss
	noNode    bool              // see Unattended
	why       string            // see Because
	planned   time.Time         // when a slot was due by other data of its time zone, if that was later; else zero
}

// AfterLoss returns the plan for slots that were due while the store had gone back in time. Such
// slots may have fired, but the store has lost the record of it. With refire they fire again, as
// under the misfire policy all; else they count as missed.
func (p Plan) AfterLoss(refire bool) Plan {
	p.lost = !refire
	p.Misfire = MisfireSkip
	if refire {
		p.Misfire = MisfireAll
	}
	return p
}

// Unattended returns the plan for slots that have to be accounted for while no node of the schedule's place lives: they count as late.
// If the place is gone for good, no slot is made up for, because its job would wait for ever.
func (p Plan) Unattended(gone bool) Plan {
	if p.noNode = true; gone {
		p.Misfire = MisfireSkip
	}
	return p
}

// Because returns the plan with the reason why no node has fired slots that are late, for their
// records. Empty: the reason is not known.
func (p Plan) Because(why string) Plan {
	p.why = why
	return p
}

// New decodes a schedule's definition. stored contains the calendars that it names.
func New(s store.Schedule, stored StoredCalendars) (Plan, error) { return newPlan(s, stored, nil) }

// newPlan is New with time zones that several plans share; nil: the plan loads its own.
func newPlan(s store.Schedule, stored StoredCalendars, zones *recur.Zones) (Plan, error) {
	d, err := DecodeDefinition(s.Definition)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Definition: d, Rule: never{}}
	if d.Follows() {
		p.bounds, err = boundsOf(d.Rule, zones)
	} else {
		p.Rule, err = zones.Rule(d.Rule, d.AnchorOf(s))
	}
	if err == nil && d.Count > 0 && d.onHosts() && !d.Follows() {
		err = p.boundInstants(s, zones)
	}
	if err != nil {
		return Plan{}, err
	}
	for _, c := range d.Exclude {
		calendar, err := stored.find(c, zones)
		if err != nil {
			return Plan{}, fmt.Errorf("calendar %q: %w", c.Name, err)
		}
		p.calendars = append(p.calendars, calendar)
	}
	return p, nil
}

// Next returns the first slot after both now and the schedule's mark, also if a calendar excludes
// it; zero: none.
func (p Plan) Next(s store.Schedule, now time.Time) time.Time {
	if p.countReached(s) {
		return time.Time{}
	}
	s, _ = p.aligned(s)
	return p.Rule.Next(later(now, s.Mark))
}

// NextOpen returns the first slot after both now and the mark that no calendar excludes; zero:
// none. If very many slots in a row are excluded, it returns one of these.
func (p Plan) NextOpen(s store.Schedule, now time.Time) time.Time {
	if p.countReached(s) {
		return time.Time{}
	}
	s, _ = p.aligned(s)
	next, _ := recur.NextOpen(p.Rule, later(now, s.Mark), p.calendars...)
	return next
}

// countReached reports whether the schedule has fired as many slots as its count allows.
func (p Plan) countReached(s store.Schedule) bool { return p.Count > 0 && s.Fired >= p.Count }

// Decide accounts for all slots of a schedule from its mark to now, an instant of the store's
// clock: it decides which slots fire, why the other slots do not fire, and which slot is next.
// Decide is pure. Overlaps with live jobs are decided later, in the transaction that writes the
// decision (store.Firing.Settle). If there are too many slots for one decision, the next slot of
// the result is due already, and the next decision continues there.
func (p Plan) Decide(s store.Schedule, now time.Time) store.Firing {
	f := store.Firing{
		Schedule: s.ID, Revision: s.Revision, Mark: s.Mark, NextAt: s.NextAt, PausedAt: s.LastPausedAt(),
		NewMark: s.Mark, Overlap: p.overlap(),
	}
	if p.countReached(s) {
		return f
	}
	s, moved := p.aligned(s)
	if moved < 0 {
		p.planned = f.NextAt
	}
	f.NewMark, f.NewNextAt = s.Mark, p.Rule.Next(later(now, s.Mark))
	f.Slots = p.passedOver(f.Mark, s.Mark, moved)
	due, more := p.due(s.Mark, now)
	if len(due) == 0 {
		return f
	}
	records := slotRecords{oneByOne: len(due) <= maxSingleRecords}
	var end time.Time // end of the slots that are accounted for without being computed
	if more {
		due, end = p.notFiring(s, due, now)
	}
	outcomes := p.slotOutcomes(s, due, now, !end.IsZero())
	outcomes = p.untilCount(s, outcomes)
	for i, outcome := range outcomes {
		if outcome.outcome == store.SlotFired {
			f.Jobs = append(f.Jobs, p.job(s, due[i], now))
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
	f.Slots = append(f.Slots, p.withGaps(s, records.records, f.NewMark)...)
	p.addEvents(s, &f)
	return f
}

// Resolve is Decide for a schedule that may have no plan because of planErr. Such a schedule is put
// off. Its slots are accounted for when another release or an edit has made it usable. ends are the ends
// of the predecessors of a schedule that has any.
func Resolve(s store.Schedule, plan Plan, planErr error, ends []store.ScheduleEnd, now time.Time) store.Firing {
	switch {
	case planErr == nil && plan.On.Every:
		return plan.awaitComparison(s, now)
	case planErr == nil && plan.Follows():
		return plan.Follow(s, ends)
	case planErr == nil:
		return plan.Decide(s, now)
	}
	return store.Firing{
		Schedule: s.ID, Revision: s.Revision, Mark: s.Mark, NextAt: s.NextAt, PausedAt: s.LastPausedAt(),
		NewMark: s.Mark, NewNextAt: later(now, s.Mark).Add(badScheduleDelay),
	}
}

// due returns the slots after mark and not after now; more: there are more than maxSlots, and the
// rest is left out.
func (p Plan) due(mark, now time.Time) (slots []time.Time, more bool) {
	for slot := p.Rule.Next(mark); !slot.IsZero() && !slot.After(now); slot = p.Rule.Next(slot) {
		if len(slots) == maxSlots {
			return slots, true
		}
		slots = append(slots, slot)
	}
	return slots, false
}

// notFiring returns the first due slots that certainly do not fire, because they are too late or
// paused, and the end of the span in which no slot fires, so that its slots need not be computed. If
// the first slot may fire, notFiring returns all due slots and no end.
func (p Plan) notFiring(s store.Schedule, due []time.Time, now time.Time) (late []time.Time, end time.Time) {
	end = p.earliestDecision(s, now).Add(-time.Microsecond)
	for _, pause := range []struct {
		paused bool
		until  time.Time
	}{{s.PausedFor(due[0]), s.PausedUntil}, {s.GroupPausedFor(due[0]), s.GroupPausedUntil}} {
		if pause.paused && !pause.until.IsZero() && !pause.until.After(end) {
			end = pause.until.Add(-time.Microsecond)
		}
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

// untilCount drops the outcomes after the last slot that the schedule's count allows to fire.
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

// withGaps adds records, in order, of times up to end that a clock change skipped and that are not
// shifted to the end of the gap.
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

// slotRecords builds the records of slots. Unless oneByOne is true, consecutive slots with the same
// outcome share a record.
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

// extendTo extends the last record to end, over slots that were not counted.
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
