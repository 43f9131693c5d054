package recur

import (
	"fmt"
	"slices"
	"time"
)

// ClockChange is a change of the clock that affected times of a rule. It
// explains why the rule rang, or did not ring, at an instant.
type ClockChange struct {
	// At is the first instant after the change, in the rule's zone.
	At time.Time

	// Gap reports whether the clock jumped forward over times of the rule; if
	// false, the clock showed them twice.
	Gap bool

	// Times is how many times of the rule the change affected. More than
	// 100,000 count as 100,000.
	Times int

	// Text describes the change in one sentence: how the clock changed, which
	// times were affected, and at which instants they ring.
	Text string
}

// ClockChanges returns the changes of the clock that affected times of r, after
// the first and not after the second instant, in order, at most most of them.
// Only cron rules and intervals of a day or longer are affected by clock
// changes.
func ClockChanges(r Rule, after, until time.Time, most int) (changes []ClockChange) {
	after, until = inRange(after), inRange(until)
	switch r := r.(type) {
	case *cron:
		return r.changes(r.fields, after, until, most)
	case *interval:
		if start := time.Unix(r.start, 0); after.Before(start) {
			after = start
		}
		return r.changes(r, after, until, most)
	case bounded:
		if start := time.UnixMicro(r.start); after.Before(start) {
			after = start.Add(-1)
		}
		if stop := time.UnixMicro(r.stop); until.After(stop) {
			until = stop
		}
		return ClockChanges(r.rule, after, until, most)
	case union:
		for _, one := range r {
			changes = append(changes, ClockChanges(one, after, until, most)...)
		}
		slices.SortStableFunc(changes, func(a, b ClockChange) int { return a.At.Compare(b.At) })
		return changes[:min(most, len(changes))]
	}
	return nil
}

// EvenPace reports whether r rings at each instant whose wall time matches, or does not depend
// on wall times at all. Any other rule rings once for each of its wall times, also if the clock shows
// the wall time twice.
func EvenPace(r Rule) bool {
	switch r := r.(type) {
	case *cron:
		return r.fold == FoldBoth
	case *interval:
		return r.fold == FoldBoth
	case bounded:
		return EvenPace(r.rule)
	case union:
		return !slices.ContainsFunc(r, func(one Rule) bool { return !EvenPace(one) })
	}
	return true
}

// changes searches the stretches of the zone for clock changes.
func (c *clock) changes(times wallTimes, after, until time.Time, most int) (changes []ClockChange) {
	at, ok := afterSecond(after)
	if !ok {
		return nil
	}
	last, _ := afterSecond(until)
	for at < min(last, maxSecond) && len(changes) < most {
		offset, end := c.stretch(at)
		if end > last {
			break
		}
		if change, ok := c.change(times, end, offset); ok {
			changes = append(changes, change)
		}
		at = end
	}
	return changes
}

// change examines the clock change at an instant; before is the offset that was
// in force before it.
func (c *clock) change(times wallTimes, at, before int64) (ClockChange, bool) {
	was, is := at+before, at+c.offset(at)
	from, to := min(was, is), max(was, is)
	if from == to {
		return ClockChange{}, false
	}
	const most = 100_000
	n := min(times.countWalls(from, to, most), most)
	if n == 0 {
		return ClockChange{}, false
	}
	first, _ := times.nextWall(from)
	last, _ := times.prevWall(to - 1)
	change := ClockChange{At: c.time(at), Gap: was < is, Times: int(n)}
	jump := fmt.Sprintf("the clock goes from %s to %s: ", stamp(time.Unix(was, 0).UTC()), wallStamp(is, was))
	subject, verb, rings := wallStamp(first, is)+" is", "rings", "does not ring"
	if n > 1 {
		subject, verb, rings = fmt.Sprintf("%d times from %s to %s are", n, wallStamp(first, is), wallStamp(last, is)), "ring", "do not ring"
	}
	outcome := map[string]string{FoldFirst: verb + " the first time", FoldLast: verb + " the last time", FoldBoth: verb + " each time"}[c.fold]
	switch {
	case !change.Gap:
		change.Text = jump + subject + " shown twice and " + outcome
	case c.makesUp(first) || c.makesUp(last):
		change.Text = jump + subject + " skipped and " + verb + " once, right after"
	default:
		change.Text = jump + subject + " skipped and " + rings
	}
	return change, true
}

// wallStamp writes a wall time, with its date if the date differs from the date
// of the other wall time.
func wallStamp(wall, other int64) string {
	t := time.Unix(wall, 0).UTC()
	if wall-floorMod(wall, secondsPerDay) == other-floorMod(other, secondsPerDay) {
		return clockTime(int(floorMod(wall, secondsPerDay)))
	}
	return stamp(t)
}
