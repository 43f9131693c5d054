package recur

import (
	"math"
	"time"
)

// The values of [Spec.Gap] and [Spec.Fold].
const (
	GapShift  = "shift" // a time in a gap rings at the first instant after the gap
	GapSkip   = "skip"  // a time in a gap does not ring
	FoldFirst = "first" // a time that the clock shows twice rings the first time
	FoldLast  = "last"  // a time that the clock shows twice rings the last time
	FoldBoth  = "both"  // a time that the clock shows twice rings each time
)

// wallTimes is a set of wall times. zone.go explains how wall times are
// counted.
type wallTimes interface {
	// nextWall returns the first wall time of the set that is not before the
	// given wall time; ok is false if there is none.
	nextWall(wall int64) (_ int64, ok bool)

	// prevWall returns the last wall time of the set that is not after the
	// given wall time.
	prevWall(wall int64) (_ int64, ok bool)

	// countWalls returns how many wall times of the set lie from the first
	// given wall time up to, but not including, the second, which is later. The
	// result may be any number above most if the exact number is above most.
	countWalls(from, to, most int64) int64
}

// clock turns a set of wall times into instants. It implements the rules that
// zone.go explains for wall times that a zone never shows, and for wall times
// that it shows more than once.
type clock struct {
	zone
	skip  bool   // GapSkip rather than GapShift
	fold  string // FoldFirst, FoldLast or FoldBoth
	cycle int64  // how long a search without a result may continue, see below
}

// Where a search may stop, in seconds. From the year 2100 on, every zone of the
// IANA database repeats one yearly pattern (the longest table, of Morocco, ends
// in 2087). Any forty successive years of the Gregorian calendar contain all
// fourteen kinds of year: with and without a leap day, beginning on each day of
// the week. Therefore a cron rule that has not rung in such a cycle, for
// instance because every match is in a gap, never rings again. A cron rule that
// did not ring in the cycle before a settled instant did not ring in the
// earlier settled years either. Intervals do not follow the years, but their
// slots cannot be in a gap many times in succession.
const (
	settled       = 4_102_444_800 // 2100-01-01T00:00:00Z
	cronCycle     = 42 * 366 * secondsPerDay
	intervalCycle = maxSecond - minSecond
)

// time converts an instant for the caller: an instant outside the range becomes
// the zero time.
func (c *clock) time(instant int64) time.Time {
	if instant <= minSecond || instant > maxSecond {
		return time.Time{}
	}
	return time.Unix(instant, 0).In(c.loc)
}

// next returns the first instant after the given instant at which one of the
// wall times rings.
func (c *clock) next(times wallTimes, after int64) (instant int64, ok bool) {
	switch {
	case c.fold == FoldFirst:
		return c.nextFirst(times, after)
	case c.fold == FoldLast:
		return c.nextLast(times, after)
	case c.skip:
		return c.nextShown(times, after)
	}
	// The candidates are each instant that shows a wall time of the set, and
	// the ends of gaps. The ends of gaps are among the instants of FoldFirst;
	// every other instant of FoldFirst shows a wall time, so it is a candidate
	// already.
	shown, ok := c.nextShown(times, after)
	first, okFirst := c.nextFirst(times, after)
	if !ok || okFirst && first < shown {
		return first, okFirst
	}
	return shown, true
}

// prev returns the last instant before the given instant at which one of the
// wall times rings.
func (c *clock) prev(times wallTimes, before int64) (instant int64, ok bool) {
	switch {
	case c.fold == FoldFirst:
		return c.prevFirst(times, before)
	case c.fold == FoldLast:
		return c.prevLast(times, before)
	case c.skip:
		return c.prevShown(times, before)
	}
	shown, ok := c.prevShown(times, before)
	first, okFirst := c.prevFirst(times, before)
	if !ok || okFirst && first > shown {
		return first, okFirst
	}
	return shown, true
}

// nextFirst is next for wall times that ring when the clock shows them first.
func (c *clock) nextFirst(times wallTimes, after int64) (instant int64, ok bool) {
	wall, offset, end := c.highWater(after)
	limit := max(wall, settled) + c.cycle
	for wall <= limit {
		if wall, ok = times.nextWall(wall + 1); !ok {
			return 0, false
		}
		if wall-offset < end { // before the next clock change
			return wall - offset, true
		}
		instant = c.first(wall)
		shown := instant + c.offset(instant)
		if shown == wall || c.makesUp(wall) {
			return instant, true
		}
		wall = c.endOfSkipped(wall, shown)
	}
	return 0, false
}

// prevFirst is nextFirst backwards.
func (c *clock) prevFirst(times wallTimes, before int64) (instant int64, ok bool) {
	wall, _, _ := c.highWater(before - 1)
	for wall++; ; {
		if wall, ok = times.prevWall(wall - 1); !ok {
			return 0, false
		}
		instant = c.first(wall)
		if instant+c.offset(instant) == wall || c.makesUp(wall) {
			return instant, true
		}
		last := instant - 1
		wall = c.beginOfSkipped(wall, last+c.offset(last))
		wall = c.skipCycles(wall, before)
	}
}

// nextLast is next for wall times that ring when the clock shows them last.
func (c *clock) nextLast(times wallTimes, after int64) (instant int64, ok bool) {
	wall := c.lowWater(after) - 1
	limit := max(wall, settled) + c.cycle
	for wall <= limit {
		if wall, ok = times.nextWall(wall + 1); !ok {
			return 0, false
		}
		instant = c.last(wall)
		if instant+c.offset(instant) != wall { // the wall time is in the gap that follows
			instant++
			if !c.makesUp(wall) {
				wall = c.endOfSkipped(wall, instant+c.offset(instant))
				continue
			}
		}
		if instant > after {
			return instant, true
		}
	}
	return 0, false
}

// prevLast is nextLast backwards.
func (c *clock) prevLast(times wallTimes, before int64) (instant int64, ok bool) {
	for wall := c.lowWater(before); ; {
		if wall, ok = times.prevWall(wall - 1); !ok {
			return 0, false
		}
		instant = c.last(wall)
		shown := instant + c.offset(instant)
		if shown == wall {
			return instant, true
		}
		if c.makesUp(wall) && instant+1 < before {
			return instant + 1, true
		}
		wall = c.beginOfSkipped(wall, shown)
		wall = c.skipCycles(wall, before)
	}
}

// nextShown is next for wall times that ring each time the clock shows them.
func (c *clock) nextShown(times wallTimes, after int64) (instant int64, ok bool) {
	at := after + 1
	limit := max(at, settled) + c.cycle
	for at <= limit {
		offset, end := c.stretch(at)
		wall, ok := times.nextWall(at + offset)
		if !ok {
			return 0, false
		}
		if wall-offset < end {
			return wall - offset, true
		}
		// After a short stretch, a fold may show earlier wall times than the
		// wall time with which this search began. After a long stretch this is
		// impossible, and all wall times before the match may be skipped.
		if end-at < reach {
			at = end
		} else {
			at = max(end, wall-reach)
		}
	}
	return 0, false
}

// prevShown is nextShown backwards. It searches the stretches of two days at a
// time and continues where the previous match may be.
func (c *clock) prevShown(times wallTimes, before int64) (instant int64, ok bool) {
	for at := before - 1; at >= minSecond; {
		for from := at - reach; from <= at; {
			offset, end := c.stretch(from)
			wall, found := times.prevWall(min(end-1, at) + offset)
			if found && wall-offset >= from {
				instant, ok = wall-offset, true
			}
			from = end
		}
		if ok {
			return instant, true
		}
		at -= reach + 1
		wall, found := times.prevWall(at + maxOffset) // no clock shows a later wall time
		if !found {
			return 0, false
		}
		at = c.skipCycles(min(at, wall+maxOffset), before)
	}
	return 0, false
}

// skipCycles makes a backward search that has searched one whole cycle of
// settled years, and is now at the instant at, continue before the settled
// years.
func (c *clock) skipCycles(at, before int64) int64 {
	if at > settled+reach && at < before-c.cycle-reach {
		return settled + reach
	}
	return at
}

// count returns the number of instants after the first and not after the second
// given instant, or any number above most if there are more than most. Within a
// stretch it counts wall times.
func (c *clock) count(times wallTimes, after, until, most int64) (n int64) {
	for at := after; at <= until && n <= most; {
		offset, end := c.stretch(at)
		first := max(at, after+1)
		from, to := first+offset, min(end-1, until)+offset+1
		switch c.fold {
		case FoldFirst:
			mark, _, _ := c.highWater(first - 1)
			from = max(from, mark+1)
		case FoldLast:
			if end <= until+reach {
				to = min(to, c.lowWater(end))
			}
		}
		if from < to {
			n += times.countWalls(from, to, most)
		}
		if end <= until && c.ringsForGap(times, end, offset) {
			n++
		}
		at = end
	}
	return n
}

// ringsForGap reports whether the instant end, at which a gap ends, is an
// instant of the rule because of wall times in that gap only, and not because
// of the wall time that the clock shows at end.
func (c *clock) ringsForGap(times wallTimes, end, before int64) bool {
	if c.skip {
		return false
	}
	shown := end + c.offset(end)
	first, upTo := end+before, shown
	if shown <= first {
		return false // not a gap
	}
	if c.fold == FoldLast {
		upTo = c.lowWater(end)
	} else {
		mark, _, _ := c.highWater(end - 1)
		first = max(first, mark+1)
	}
	for first < upTo {
		wall, ok := times.nextWall(first)
		if !ok || wall >= upTo {
			return false
		}
		if c.makesUp(wall) {
			wall, ok = times.nextWall(shown)
			return !ok || wall != shown
		}
		first = c.endOfSkipped(wall, shown) + 1
	}
	return false
}

// makesUp reports whether a wall time that the clock does not show rings at the
// first instant after its gap. A wall time on a date that was skipped
// completely does not.
func (c *clock) makesUp(wall int64) bool {
	if c.skip {
		return false
	}
	midnight := wall - floorMod(wall, secondsPerDay)
	return c.first(midnight) != c.first(midnight+secondsPerDay)
}

// endOfSkipped returns the last wall time to skip when a wall time in a gap
// does not ring; the search continues after it. shown is the wall time that the
// clock shows first after the gap.
func (c *clock) endOfSkipped(wall, shown int64) int64 {
	if c.skip {
		return shown - 1
	}
	return wall + secondsPerDay - 1 - floorMod(wall, secondsPerDay) // its whole date was skipped
}

// beginOfSkipped returns the first wall time to skip; a backward search
// continues before it. shown is the wall time that the clock shows last before
// the gap.
func (c *clock) beginOfSkipped(wall, shown int64) int64 {
	if c.skip {
		return shown + 1
	}
	return max(shown+1, wall-floorMod(wall, secondsPerDay))
}

// offset returns the offset from UTC in force at an instant.
func (z zone) offset(instant int64) int64 {
	_, seconds := time.Unix(instant, 0).In(z.loc).Zone()
	return int64(seconds)
}

// lowWater returns the earliest wall time that the clock shows at the given
// instant or later.
func (z zone) lowWater(instant int64) (mark int64) {
	mark = math.MaxInt64
	for at := instant; at <= instant+reach; {
		offset, end := z.stretch(at)
		mark = min(mark, at+offset)
		at = end
	}
	return mark
}

// last returns the last instant at which the clock shows the given wall time or
// an earlier wall time.
func (z zone) last(wall int64) (instant int64) {
	for at := wall - reach; at <= wall+reach; {
		offset, end := z.stretch(at)
		if at+offset <= wall {
			instant = min(wall-offset, end-1)
		}
		at = end
	}
	return instant
}
