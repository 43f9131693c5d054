package lock

import "time"

// Rule is a rule of time, such as a cron rule of package recur.
type Rule interface {
	// Next returns the first instant strictly after the given one, or the zero
	// time when there is none.
	Next(after time.Time) time.Time
}

// # Once per interval
//
// A grid of instants divides time into intervals. What is granted is a slot, an
// instant of the grid: the one that the present interval began with, or, in its
// last quarter, the one it will end with. A slot is granted if it is later than
// the last that was, and if a quarter of an interval has passed since that was
// granted: of the interval that the slot ends, for under a cron rule the one that
// it begins may be much longer. So callers need not be punctual: one a little early gets the slot to
// come, one a little late the same, and either way it is spent. Slots are kept
// as instants of the grid, never as the time of the call, so that lateness does
// not add up and cost a run some day.
//
// The decision holds for a stretch of the store's time, which goes with the
// request as a [Slot]; outside of it the provider refuses, with the state to
// decide anew.

// decision is what once per interval comes to for a state.
type decision struct {
	due  bool
	slot Slot // to ask for, if due
	// What is next, if not: an instant of the grid and when it would be granted.
	next, dueAt time.Time
}

// decide is a pure function of a name's state and the grid.
func decide(s State, g grid) decision {
	now := s.Now.Truncate(time.Millisecond)
	g = g.anchored(s.Mark, now)
	prev, next := g.around(now)
	quarter := quarterOf(prev, next)
	slot, from, until, rest := prev, prev, endOfTime, g.quarterBefore(prev)
	if !next.IsZero() {
		until = next.Add(-quarter)
		if !now.Before(until) {
			slot, from, until, rest = next, until, next, quarter
		}
	}
	rested := s.rested(rest)
	switch {
	case slot.IsZero() || !slot.After(s.Mark.Slot):
		return g.upcoming(later(now, s.Mark.Slot), s)
	case now.Before(rested):
		return decision{next: slot, dueAt: rested}
	}
	return decision{due: true, slot: Slot{
		Seen: s.Token, From: later(from, rested), Until: until,
		Mark: Mark{Slot: slot, Anchor: g.anchor, Interval: g.interval},
	}}
}

// rested is when so much time has passed since the last grant; zero if there
// was none.
func (s State) rested(rest time.Duration) time.Time {
	if s.GrantedAt.IsZero() {
		return time.Time{}
	}
	return ceil(s.GrantedAt.Add(rest))
}

// upcoming says what is granted next: the first instant after t, from a quarter
// of the interval before it, but not before as much has passed since the last
// grant.
func (g grid) upcoming(t time.Time, s State) decision {
	prev, next := g.around(t)
	if next.IsZero() {
		return decision{}
	}
	quarter := quarterOf(prev, next)
	return decision{next: next, dueAt: later(next.Add(-quarter), s.rested(quarter))}
}

// quarterBefore is a quarter of the interval that an instant of the grid ends.
func (g grid) quarterBefore(instant time.Time) time.Duration {
	if instant.IsZero() {
		return 0
	}
	prev, _ := g.around(instant.Add(-time.Millisecond))
	return quarterOf(prev, instant)
}

// endOfTime is later than any store's clock.
var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// quarterOf is a quarter of an interval of the grid, in whole milliseconds; 0
// for one that does not begin or does not end.
func quarterOf(prev, next time.Time) time.Duration {
	if prev.IsZero() || next.IsZero() {
		return 0
	}
	return (next.Sub(prev) / 4).Truncate(time.Millisecond)
}

// grid is instants: a rule's, or an anchor plus multiples of an interval.
type grid struct {
	rule     Rule
	anchor   time.Time
	interval time.Duration
}

// anchored keeps the anchor that a name remembers for the same interval; else
// its first slot is now. A rule needs none.
func (g grid) anchored(m Mark, now time.Time) grid {
	switch {
	case g.rule != nil:
	case m.Interval == g.interval && !m.Anchor.IsZero():
		g.anchor = m.Anchor
	default:
		g.anchor = now
	}
	return g
}

// around returns the last instant that is not after t and the first that is;
// zero where there is none.
func (g grid) around(t time.Time) (prev, next time.Time) {
	if g.rule != nil {
		return lastUntil(g.rule, t), g.next(t)
	}
	since := t.Sub(g.anchor)
	prev = g.anchor.Add(since - since%g.interval)
	if prev.After(t) { // the remainder is negative where t lies before the anchor
		prev = prev.Add(-g.interval)
	}
	return prev, prev.Add(g.interval)
}

// next returns the first instant after t, or the zero time.
func (g grid) next(t time.Time) time.Time {
	if g.rule == nil {
		_, next := g.around(t)
		return next
	}
	next := g.rule.Next(t)
	if next.IsZero() {
		return next
	}
	return ceil(next.UTC())
}

// lastUntil returns the last instant of a rule that is not after t, or the
// zero time. A rule can only be asked for what comes next, so this goes back in
// growing steps until it meets an instant early enough, then closes in on the
// last of them by bisection.
func lastUntil(rule Rule, t time.Time) time.Time {
	early := func(instant time.Time) bool { return !instant.IsZero() && !instant.After(t) }
	low, high := t, t // there is no instant after high that is early
	for step := time.Minute; !early(rule.Next(low)); step *= 2 {
		if step > farthest {
			return time.Time{}
		}
		low, high = t.Add(-step), low
	}
	for {
		next := rule.Next(low)
		if !early(next) {
			return ceil(low.UTC())
		}
		low = next
		middle := low.Add(high.Sub(low) / 2)
		if next := rule.Next(middle); early(next) {
			low = next
		} else {
			high = middle
		}
	}
}

// farthest is how far back an instant is looked for: longer than any date of a
// cron rule stays away.
const farthest = 64 * 366 * 24 * time.Hour

// ceil rounds up to whole milliseconds, the precision of stores.
func ceil(t time.Time) time.Time {
	if whole := t.Truncate(time.Millisecond); whole.Before(t) {
		return whole.Add(time.Millisecond)
	}
	return t
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
