package lock

import "time"

// Rule is a rule of time, such as a cron rule of package recur.
type Rule interface {
	// Next returns the first instant strictly after the given time, or the zero
	// time if there is none.
	Next(after time.Time) time.Time
}

// # Once per interval
//
// A grid of instants divides time into intervals. A grant is for a slot, which
// is an instant of the grid: the instant with which the present interval began,
// or, in the last quarter of the interval, the instant with which it will end.
// A slot is granted if it is later than the slot that was granted last, and if
// a quarter of an interval has passed since the last grant. This quarter is
// measured on the interval that ends with the slot, because under a cron rule
// the interval that begins with the slot may be much longer. So callers need
// not be punctual: a caller that is a little early gets the slot to come, a
// caller that is a little late gets the same slot, and the grant uses up the
// slot in both cases. Slots are stored as instants of the grid, never as the
// time of the call, so that delays do not add up until an interval has no call.
//
// The decision is valid for a range of the store's time, which the request
// carries as a [Slot]; outside this range the provider refuses the request and
// returns the state for a new decision.

// decision is the result of once per interval for a state.
type decision struct {
	due  bool
	slot Slot // the slot to request, if due
	// If not due: the next instant of the grid, and the instant from which it
	// can be granted.
	next, dueAt time.Time
}

// decide decides, from a name's state and the grid, which slot is due. It is a
// pure function.
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

// rested returns the instant at which the given time has passed since the last
// grant; zero if there was no grant.
func (s State) rested(rest time.Duration) time.Time {
	if s.GrantedAt.IsZero() {
		return time.Time{}
	}
	return ceil(s.GrantedAt.Add(rest))
}

// upcoming returns the next possible grant: the first instant after t. It can
// be granted from a quarter of its interval before the instant, but not before
// a quarter of its interval has passed since the last grant.
func (g grid) upcoming(t time.Time, s State) decision {
	prev, next := g.around(t)
	if next.IsZero() {
		return decision{}
	}
	quarter := quarterOf(prev, next)
	return decision{next: next, dueAt: later(next.Add(-quarter), s.rested(quarter))}
}

// quarterBefore returns a quarter of the interval that ends with an instant of
// the grid.
func (g grid) quarterBefore(instant time.Time) time.Duration {
	if instant.IsZero() {
		return 0
	}
	prev, _ := g.around(instant.Add(-time.Millisecond))
	return quarterOf(prev, instant)
}

// endOfTime is later than any store's clock.
var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// quarterOf returns a quarter of an interval of the grid, in whole
// milliseconds; 0 if the interval has no beginning or no end.
func quarterOf(prev, next time.Time) time.Duration {
	if prev.IsZero() || next.IsZero() {
		return 0
	}
	return (next.Sub(prev) / 4).Truncate(time.Millisecond)
}

// grid is a set of instants: the instants of a rule, or an anchor plus
// multiples of an interval.
type grid struct {
	rule     Rule
	anchor   time.Time
	interval time.Duration
}

// anchored sets the anchor that the name's mark has for the same interval;
// without such a mark, the anchor is now. A grid with a rule needs no anchor.
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

// around returns the last instant that is not after t and the first instant
// after t; zero if there is none.
func (g grid) around(t time.Time) (prev, next time.Time) {
	if g.rule != nil {
		return lastUntil(g.rule, t), g.next(t)
	}
	since := t.Sub(g.anchor)
	prev = g.anchor.Add(since - since%g.interval)
	if prev.After(t) { // the remainder is negative if t is before the anchor
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

// lastUntil returns the last instant of a rule that is not after t, or the zero
// time. Rules can only compute the next instant, so the search goes back in
// growing steps until it finds an instant that is not after t, and then finds
// the last such instant by bisection.
func lastUntil(rule Rule, t time.Time) time.Time {
	early := func(instant time.Time) bool { return !instant.IsZero() && !instant.After(t) }
	low, high := t, t // every instant after high is after t
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

// farthest is how far back lastUntil searches: longer than the greatest gap
// between two dates of a cron rule.
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
