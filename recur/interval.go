package recur

import (
	"strconv"
	"time"
)

// interval rings at the same time of day every n days or months on the calendar
// of its zone. Slot n is the start plus n times the interval, whatever happened
// to earlier slots. If the month of a slot is too short for the day of the
// start, the slot is on the last day of the month; later slots do not drift. An
// interval is a set of wall times.
type interval struct {
	clock
	n     int64
	unit  unit
	step  int64 // in days, or in months
	start int64 // the first instant, in seconds of Unix time

	// The start on the wall clock.
	wall      int64
	month     int64 // counted from the year 0
	day       int
	timeOfDay int64

	options options
}

// newInterval checks an interval; text is the interval as the user wrote it.
// The start is rounded up to a second.
func newInterval(n int64, u unit, text string, loc *time.Location, start time.Time, opts options) (Rule, error) {
	if err := opts.checkFor("calendar"); err != nil {
		return nil, err
	}
	const mostDays, mostMonths = int64(MaxEvery / (24 * time.Hour)), 1200
	switch {
	case n < 1:
		return nil, newError("every", text, "the interval is empty", "write at least 1 "+u.name)
	case n > mostDays || n*u.days > mostDays || n*u.months > mostMonths:
		return nil, newError("every", text, "the interval is longer than 100 years", "write a shorter one")
	}
	micro, ok := instantMicro(start)
	if !ok {
		return nil, newError("every", text, "the instant it counts from lies outside the years 1 to 9999", "give another start")
	}
	second := (micro - floorMod(micro, 1e6)) / 1e6
	if micro > second*1e6 {
		second++
	}
	i := &interval{clock: opts.clock(loc, true), n: n, unit: u, step: n * (u.days + u.months), start: second, options: opts}
	i.cycle = intervalCycle
	i.wall = second + i.offset(second)
	year, month, day := time.Unix(i.wall, 0).UTC().Date()
	i.month, i.day, i.timeOfDay = monthNumber(year, month), day, floorMod(i.wall, secondsPerDay)
	return i, nil
}

// String implements [Rule].
func (i *interval) String() string {
	text := "every " + i.length() + " from " + formatMicro(i.start*1e6)
	if name := i.loc.String(); name != "UTC" {
		text += " tz " + name
	}
	return text + i.options.String()
}

// length returns the length of the interval as text, such as "2 weeks".
func (i *interval) length() string {
	return strconv.FormatInt(i.n, 10) + " " + plural(i.unit.name, i.n)
}

// Next implements [Rule].
func (i *interval) Next(after time.Time) time.Time {
	second, ok := afterSecond(after)
	if !ok {
		return time.Time{}
	}
	if second < i.start {
		return i.time(i.start)
	}
	if second, ok = i.next(i, second); !ok {
		return time.Time{}
	}
	return i.time(second)
}

// Prev implements [Rule].
func (i *interval) Prev(before time.Time) time.Time {
	second, ok := beforeSecond(before)
	if !ok || second <= i.start {
		return time.Time{}
	}
	second, ok = i.prev(i, second)
	if !ok || second < i.start {
		second = i.start
	}
	return i.time(second)
}

// count implements counter.
func (i *interval) count(after, until time.Time, most int64) (n int64) {
	from, ok := afterSecond(after)
	if !ok {
		return 0
	}
	to, _ := afterSecond(until)
	to = min(to, maxSecond)
	if from < i.start {
		if to < i.start {
			return 0
		}
		from, n = i.start, 1
	}
	return n + i.clock.count(i, from, to, most)
}

// least returns the number of the first slot in the set of wall times. The
// start itself always rings, whatever the clock does then, and is not in the
// set. With FoldBoth the start is in the set, because it may ring a second
// time.
func (i *interval) least() int64 {
	if i.fold == FoldBoth {
		return 0
	}
	return 1
}

// wallOf returns the wall time of a slot.
func (i *interval) wallOf(n int64) int64 {
	if i.unit.days != 0 {
		return i.wall + n*i.step*secondsPerDay
	}
	number := i.month + n*i.step
	year, month := int(number/12), int(number%12)+1
	day := min(i.day, daysIn(year, month))
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix() + i.timeOfDay
}

// slotBefore returns the number of the last slot whose wall time is not after
// the given wall time; it is negative if there is none.
func (i *interval) slotBefore(wall int64) int64 {
	if wall < i.wall {
		return -1
	}
	if i.unit.days != 0 {
		return (wall - i.wall) / (i.step * secondsPerDay)
	}
	year, month, _ := time.Unix(wall, 0).UTC().Date()
	n := (monthNumber(year, month) - i.month) / i.step
	if i.wallOf(n) > wall {
		n--
	}
	return n
}

// nextWall implements wallTimes.
func (i *interval) nextWall(wall int64) (int64, bool) {
	if wall > maxSecond+reach {
		return 0, false
	}
	return i.wallOf(max(i.slotBefore(wall-1)+1, i.least())), true
}

// prevWall implements wallTimes.
func (i *interval) prevWall(wall int64) (int64, bool) {
	n := i.slotBefore(wall)
	if n < i.least() {
		return 0, false
	}
	return i.wallOf(n), true
}

// countWalls implements wallTimes.
func (i *interval) countWalls(from, to, _ int64) int64 {
	least := i.least() - 1
	return max(i.slotBefore(to-1), least) - max(i.slotBefore(from-1), least)
}

// monthNumber counts months from January of the year 0.
func monthNumber(year int, month time.Month) int64 {
	return int64(year)*12 + int64(month) - 1
}

// plural returns the name of a unit, in the plural if the number is not 1.
func plural(name string, n int64) string {
	if n == 1 {
		return name
	}
	return name + "s"
}
