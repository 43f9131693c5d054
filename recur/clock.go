package recur

import (
	"math"
	"time"
)

// The choices of [Spec.Gap] and [Spec.Fold].
const (
	GapShift  = "shift" // a time that the clock jumps over rings at the first instant after the gap
	GapSkip   = "skip"  // it does not ring
	FoldFirst = "first" // a time that the clock shows twice rings the first time
	FoldLast  = "last"  // it rings the last time
	FoldBoth  = "both"  // it rings each time
)

// wallTimes is a set of wall times, see zone.go for how they are counted.
type wallTimes interface {
	// nextWall returns the first wall time of the set not before the given
	// one; ok is false when there is none.
	nextWall(wall int64) (_ int64, ok bool)

	// prevWall returns the last wall time of the set not after the given one.
	prevWall(wall int64) (_ int64, ok bool)

	// countWalls returns how many wall times of the set lie from the first
	// up to, but without, the second, which is later. It may stop above most.
	countWalls(from, to, most int64) int64
}

// clock turns a set of wall times into instants. It is the essay of zone.go
// as code: what to do with the wall times that a zone never shows, and with
// those that it shows more than once.
type clock struct {
	zone
	skip  bool   // GapSkip rather than GapShift
	fold  string // FoldFirst, FoldLast or FoldBoth
	cycle int64  // see below
}

// Where a search may stop, in seconds. From the year 2100 on every zone of the
// IANA database repeats one yearly pattern (its longest table, that of Morocco,
// ends in 2087). In any forty years in a row of the Gregorian calendar there
// are all the kinds of year it has, which are fourteen: with and without a
// leap day, beginning on each day of the week. So what a cron rule has not
// done in such a cycle, for instance because every match falls into a gap, it
// never will; and what it has not done in the cycle before a settled instant
// it did not do in the settled years before that either. Intervals keep in
// step with no year, but cannot meet a gap often in a row.
const (
	settled       = 4_102_444_800 // 2100-01-01T00:00:00Z
	cronCycle     = 42 * 366 * secondsPerDay
	intervalCycle = maxSecond - minSecond
)

// time returns an instant as callers want it: none outside the range.
func (c *clock) time(instant int64) time.Time {
	if instant <= minSecond || instant > maxSecond {
		return time.Time{}
	}
	return time.Unix(instant, 0).In(c.loc)
}

// next returns the first instant after the given one at which one of the
// times rings.
func (c *clock) next(times wallTimes, after int64) (instant int64, ok bool) {
	switch {
	case c.fold == FoldFirst:
		return c.nextFirst(times, after)
	case c.fold == FoldLast:
		return c.nextLast(times, after)
	case c.skip:
		return c.nextShown(times, after)
	}
	// Each instant that shows a time, and the ends of gaps: the latter are
	// among the instants of FoldFirst, the others of which are shown too.
	shown, ok := c.nextShown(times, after)
	first, okFirst := c.nextFirst(times, after)
	if !ok || okFirst && first < shown {
		return first, okFirst
	}
	return shown, true
}

// prev returns the last instant before the given one at which one of the
// times rings.
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

// nextFirst is next where a time rings when the clock shows it first.
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

// prevFirst mirrors nextFirst.
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

// nextLast is next where a time rings when the clock shows it last.
func (c *clock) nextLast(times wallTimes, after int64) (instant int64, ok bool) {
	wall := c.lowWater(after) - 1
	limit := max(wall, settled) + c.cycle
	for wall <= limit {
		if wall, ok = times.nextWall(wall + 1); !ok {
			return 0, false
		}
		instant = c.last(wall)
		if instant+c.offset(instant) != wall { // it is in the gap that follows
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

// prevLast mirrors nextLast.
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

// nextShown is next where a time rings whenever the clock shows it.
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
		// A short stretch may be followed by a fold that shows earlier wall
		// times than this search began with; a long one cannot, and all up
		// to the match found may be left out.
		if end-at < reach {
			at = end
		} else {
			at = max(end, wall-reach)
		}
	}
	return 0, false
}

// prevShown mirrors nextShown. It looks through the stretches of two days at
// a time, and goes back to where the match before them may be.
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
		wall, found := times.prevWall(at + maxOffset) // no clock shows more
		if !found {
			return 0, false
		}
		at = c.skipCycles(min(at, wall+maxOffset), before)
	}
	return 0, false
}

// skipCycles lets a search backwards, which has come to at, go on before the
// settled years once it has been through a whole cycle of them.
func (c *clock) skipCycles(at, before int64) int64 {
	if at > settled+reach && at < before-c.cycle-reach {
		return settled + reach
	}
	return at
}

// count returns the number of instants after the first and not after the
// second, or any number above most. Within a stretch it counts wall times.
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

// ringsForGap reports whether there is a ring at the instant for times in the
// gap that ends then, and for none that the clock shows then.
func (c *clock) ringsForGap(times wallTimes, end, before int64) bool {
	if c.skip {
		return false
	}
	shown := end + c.offset(end)
	first, upTo := end+before, shown
	if shown <= first {
		return false // no gap
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

// makesUp reports whether a wall time that the clock does not show rings at
// the first instant after its gap. That of a date that was skipped altogether
// does not.
func (c *clock) makesUp(wall int64) bool {
	if c.skip {
		return false
	}
	midnight := wall - floorMod(wall, secondsPerDay)
	return c.first(midnight) != c.first(midnight+secondsPerDay)
}

// endOfSkipped returns the last wall time after which a search goes on when
// one that lies in a gap does not ring. The clock shows after the gap what is
// given as shown.
func (c *clock) endOfSkipped(wall, shown int64) int64 {
	if c.skip {
		return shown - 1
	}
	return wall + secondsPerDay - 1 - floorMod(wall, secondsPerDay) // its date was skipped
}

// beginOfSkipped returns the first wall time before which a search goes on.
// shown is what the clock shows last before the gap.
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

// lowWater returns the earliest wall time that the clock shows at the instant
// or later.
func (z zone) lowWater(instant int64) (mark int64) {
	mark = math.MaxInt64
	for at := instant; at <= instant+reach; {
		offset, end := z.stretch(at)
		mark = min(mark, at+offset)
		at = end
	}
	return mark
}

// last returns the last instant at which the clock shows the wall time or an
// earlier one.
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
