package recur

import (
	"strconv"
	"strings"
	"time"
)

// The least and the greatest interval of [Every]. Below the least interval,
// firing a slot in a shared database takes longer than the interval. The
// greatest interval is a hundred years of 365.25 days.
const (
	MinEvery = 100 * time.Millisecond
	MaxEvery = 876_600 * time.Hour
)

// every rings at anchor + n × interval for each n ≥ 0. Both are in
// microseconds, the anchor counted from the Unix epoch. The arithmetic is
// exact: the instants do not drift and do not depend on when Next is called.
type every struct {
	interval, anchor int64
}

// newEvery checks an interval, which must be whole microseconds from MinEvery
// to MaxEvery; text is the interval as the user wrote it. The anchor must lie
// in the years 1 to 9999 and is rounded up to a microsecond.
func newEvery(d time.Duration, text string, anchor time.Time) (Rule, error) {
	switch {
	case d < MinEvery:
		return nil, newError("every", text, "the interval is shorter than 100ms", "write at least 100ms")
	case d > MaxEvery:
		return nil, newError("every", text, "the interval is longer than 876600h (100 years)", "write a shorter one")
	case d%time.Microsecond != 0:
		return nil, newError("every", text, "the interval is finer than a microsecond", "write whole microseconds")
	}
	start, ok := instantMicro(anchor)
	if !ok {
		return nil, newError("every", text, "the instant it counts from lies outside the years 1 to 9999", "give another start")
	}
	return every{interval: d.Microseconds(), anchor: start}, nil
}

// Next implements [Rule].
func (e every) Next(after time.Time) time.Time {
	now, ok := afterMicro(after)
	if !ok {
		return time.Time{}
	}
	next := e.anchor
	if now >= e.anchor {
		next += ((now-e.anchor)/e.interval + 1) * e.interval
	}
	return instantOf(next)
}

// String implements [Rule].
func (e every) String() string {
	return "every " + formatInterval(e.interval) + " from " + formatMicro(e.anchor)
}

// formatInterval writes microseconds as one number of the largest unit that
// divides them.
func formatInterval(micros int64) string {
	units := [...]struct {
		name string
		size time.Duration
	}{{"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}}
	for _, u := range units {
		if size := u.size.Microseconds(); micros%size == 0 {
			return strconv.FormatInt(micros/size, 10) + u.name
		}
	}
	return strconv.FormatInt(micros, 10) + "us"
}

// Prev implements [Rule].
func (e every) Prev(before time.Time) time.Time {
	now, ok := beforeMicro(before)
	if !ok || now <= e.anchor {
		return time.Time{}
	}
	return instantOf(e.anchor + (now-1-e.anchor)/e.interval*e.interval)
}

// count implements counter.
func (e every) count(after, until time.Time, _ int64) int64 {
	from, ok := afterMicro(after)
	if !ok {
		return 0
	}
	to, ok := afterMicro(until)
	if !ok {
		to = maxMicro
	}
	// upTo returns how many instants there are up to and including an instant.
	upTo := func(micro int64) int64 {
		if micro < e.anchor {
			return 0
		}
		return (micro-e.anchor)/e.interval + 1
	}
	return upTo(to) - upTo(max(from, minMicro))
}

// parseEvery reads an interval such as "90s" or "1 month".
func parseEvery(text string, loc *time.Location, anchor time.Time, opts options) (Rule, error) {
	const remedy = "write a duration such as 90s, 15m or 1h30m, or a number and a unit such as 1 month"
	if len(text) > 64 {
		return nil, newError("every", text, "the text is longer than 64 bytes", remedy)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		n, u, ok := cutUnit(text)
		switch {
		case !ok:
			return nil, newError("every", text, "this is not a duration", remedy)
		case u.elapsed == 0:
			return newInterval(n, u, text, loc, anchor, opts)
		case n > int64(MaxEvery/u.elapsed): // also keeps the product below within 64 bits
			d = MaxEvery + 1
		default:
			d = time.Duration(n) * u.elapsed
		}
	}
	if err := opts.checkFor("every"); err != nil {
		return nil, err
	}
	return newEvery(d, text, anchor)
}

// unit is a unit of intervals: either of elapsed time, or a number of days or
// months on the calendar.
type unit struct {
	name         string
	short        string // the usual abbreviation
	elapsed      time.Duration
	days, months int64
}

var units = [...]unit{
	{name: "second", short: "s", elapsed: time.Second},
	{name: "minute", short: "min", elapsed: time.Minute},
	{name: "hour", short: "h", elapsed: time.Hour},
	{name: "day", short: "d", days: 1},
	{name: "week", short: "w", days: 7},
	{name: "month", short: "mo", months: 1},
	{name: "year", short: "y", months: 12},
}

// cutUnit reads a whole number and a unit.
func cutUnit(text string) (n int64, u unit, ok bool) {
	digits := 0
	for digits < len(text) && '0' <= text[digits] && text[digits] <= '9' {
		digits++
	}
	n, err := strconv.ParseInt(text[:digits], 10, 64)
	name := strings.ToLower(strings.TrimSpace(text[digits:]))
	for _, u := range units {
		if name == u.name || name == u.name+"s" || name == u.short {
			return n, u, err == nil
		}
	}
	return 0, unit{}, false
}
