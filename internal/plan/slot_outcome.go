package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// slotOutcome is the outcome of a slot, as far as the schedule alone determines it.
type slotOutcome struct {
	outcome store.SlotOutcome
	reason  string
	extend  bool // the record may be joined with the record before it
	late    bool // later than the grace; fires only if it is made up for
}

// slotOutcomes decides on consecutive due slots; bulk: none of them fires.
func (p Plan) slotOutcomes(s store.Schedule, due []time.Time, now time.Time, bulk bool) []slotOutcome {
	out := make([]slotOutcome, len(due))
	for i, slot := range due {
		out[i] = p.slotOutcome(s, slot, now)
	}
	if bulk {
		return out
	}
	p.makeUp(out, due, now)
	if p.Overlap != OverlapAllow && p.Misfire != MisfireAll {
		p.newestOnly(out)
	}
	return out
}

// slotOutcome decides on one slot, without regard to the other slots.
func (p Plan) slotOutcome(s store.Schedule, slot, now time.Time) slotOutcome {
	if why := p.paused(s, slot); why != "" {
		return slotOutcome{outcome: store.SlotSkipped, reason: why, extend: true}
	}
	if why := p.excluded(slot); why != "" {
		return slotOutcome{outcome: store.SlotSkipped, reason: why, extend: true}
	}
	if p.lost {
		return slotOutcome{outcome: store.SlotMissed, reason: "history: the store went back in time, and it is not known whether the slot had fired", extend: true}
	}
	if p.late(slot, now) {
		return slotOutcome{outcome: store.SlotMissed, reason: p.unfired(), late: true}
	}
	return slotOutcome{outcome: store.SlotFired}
}

// late reports whether a slot fires only if it is made up for.
func (p Plan) late(slot, now time.Time) bool { return p.lateness(slot, now) > p.grace() || p.noNode }

// lateness returns how long a slot has been due. A slot that was stored as later was due at the stored instant, or is due since the node
// knows it.
func (p Plan) lateness(slot, now time.Time) time.Duration {
	if p.planned.After(now) {
		return 0
	}
	return now.Sub(later(slot, p.planned))
}

// unfired returns the reason of a slot that no node has fired in time.
func (p Plan) unfired() string {
	if p.noNode {
		return misfire + "no node" + p.On.Whose() + " lived when the schedule was changed"
	}
	reason := fmt.Sprintf("misfire: no node%s fired it within %v", p.On.Whose(), p.grace())
	if p.why != "" {
		reason += " (" + p.why + ")"
	}
	return reason
}

// paused returns why a slot does not fire because of a pause; empty: there is no pause.
func (p Plan) paused(s store.Schedule, slot time.Time) string {
	switch {
	case s.PausedFor(slot) && s.PausedUntil.IsZero():
		return "paused: the schedule was paused at " + s.PausedAt.Format(time.RFC3339)
	case s.PausedFor(slot):
		return "paused: the schedule was paused at " + s.PausedAt.Format(time.RFC3339) + " until " + s.PausedUntil.Format(time.RFC3339)
	case s.GroupPausedFor(slot) && s.GroupPausedUntil.IsZero():
		return fmt.Sprintf("group paused: group %s was paused at %s", s.Group, s.GroupPausedAt.Format(time.RFC3339))
	case s.GroupPausedFor(slot):
		return fmt.Sprintf("group paused: group %s was paused at %s until %s", s.Group, s.GroupPausedAt.Format(time.RFC3339), s.GroupPausedUntil.Format(time.RFC3339))
	case p.Failing(s) && s.Failures == 1:
		return "paused: the last job failed"
	case p.Failing(s):
		return fmt.Sprintf("paused: %d jobs in a row failed", s.Failures)
	}
	return ""
}

// excluded returns which calendar excludes a slot and why; empty: none does.
func (p Plan) excluded(slot time.Time) string {
	for i, calendar := range p.calendars {
		if why, excluded := calendar.Excludes(slot); excluded {
			return fmt.Sprintf("calendar: %s excludes %s", p.Exclude[i].Name, why)
		}
	}
	return ""
}

// Failing reports whether the schedule is paused because PauseAfter of its jobs failed in a row.
func (d Definition) Failing(s store.Schedule) bool {
	return d.PauseAfter > 0 && s.Failures >= int64(d.PauseAfter)
}

// makeUp lets the newest slots that are later than the grace fire: as many as the misfire policy
// allows, and none older than the window.
func (p Plan) makeUp(outcomes []slotOutcome, due []time.Time, now time.Time) {
	left := p.maxMadeUp()
	for i := range slices.Backward(outcomes) {
		f := &outcomes[i]
		switch {
		case !f.late || p.Misfire == MisfireSkip:
		case p.Window > 0 && now.Sub(due[i]) > p.Window:
			f.reason = fmt.Sprintf("%s, and it is not made up for after %v", p.unfired(), p.Window)
		case left == 0 && p.Misfire == MisfireOnce:
			f.reason = p.unfired() + "; a newer slot is made up for"
		case left == 0:
			f.reason = fmt.Sprintf("%s; the newest %d are made up for", p.unfired(), p.maxMadeUp())
		default:
			left--
			f.outcome, f.reason = store.SlotFired, ""
		}
	}
}

// newestOnly lets only the newest fire of several slots that would fire together.
func (p Plan) newestOnly(outcomes []slotOutcome) {
	newest := true
	for i := range slices.Backward(outcomes) {
		f := &outcomes[i]
		switch {
		case f.outcome != store.SlotFired:
		case newest:
			newest = false
		case f.late:
			*f = slotOutcome{outcome: store.SlotMissed, reason: p.unfired() + "; a newer slot fired instead"}
		default:
			*f = slotOutcome{outcome: store.SlotSkipped, reason: "late: found together with a newer slot, which fired instead"}
		}
	}
}

// earliestDecision returns the earliest instant from which on a slot needs a decision of its own:
// it may fire at now, or has a reason of its own not to fire.
func (p Plan) earliestDecision(s store.Schedule, now time.Time) time.Time {
	if p.paused(s, now) != "" {
		return now.Add(time.Microsecond)
	}
	at := now.Add(-p.grace())
	for left, most := p.maxMadeUp(), maxSlots; left > 0 && most > 0; most-- {
		slot := p.Rule.Prev(at)
		if slot.IsZero() || p.Window > 0 && now.Sub(slot) > p.Window {
			break
		}
		if at = slot; p.excluded(slot) == "" {
			left--
		}
	}
	return later(at, endOfPauses(s))
}

// endOfPauses returns the later end of the pauses of a schedule and of its group; zero: neither has an end.
func endOfPauses(s store.Schedule) (end time.Time) {
	if !s.PausedAt.IsZero() {
		end = s.PausedUntil
	}
	if !s.GroupPausedAt.IsZero() {
		end = later(end, s.GroupPausedUntil)
	}
	return end
}

// grace returns how late a slot may be found and still fire as on time.
func (d Definition) grace() time.Duration {
	if d.Grace == 0 {
		return defaultGrace
	}
	return d.Grace
}

// maxMadeUp returns the greatest number of slots later than the grace that fire.
func (d Definition) maxMadeUp() int {
	switch {
	case d.Misfire == MisfireOnce:
		return 1
	case d.Misfire != MisfireAll:
		return 0
	case d.MisfireCap == 0:
		return defaultMisfireCap
	}
	return d.MisfireCap
}
