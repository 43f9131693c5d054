package recur

import (
	"strconv"
	"strings"
	"time"
)

// The least and the greatest interval of [Every]. Below the least, the cost
// of a slot in a shared database is greater than the interval; the greatest
// is a hundred years of 365.25 days.
const (
	MinEvery = 100 * time.Millisecond
	MaxEvery = 876_600 * time.Hour
)

// every rings at anchor + n × interval for each n ≥ 0. Both are in
// microseconds, the anchor counted from the Unix epoch.
type every struct {
	interval, anchor int64
}

// Every returns the rule that rings at the anchor and at each whole multiple
// of d after it, and never before it. The arithmetic is exact: the instants
// do not drift and do not depend on when Next is asked.
//
// The interval must be whole microseconds from [MinEvery] to [MaxEvery]; it
// is elapsed time, so clock changes do not touch it. The anchor must lie in
// the years 1 to 9999 and is rounded up to a microsecond. The error is an
// [*Error].
func Every(d time.Duration, anchor time.Time) (Rule, error) {
	return newEvery(d, d.String(), anchor)
}

// newEvery checks an interval; text is how the user wrote it.
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
	if next > maxMicro {
		return time.Time{}
	}
	return time.UnixMicro(next).UTC()
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

// parseEvery reads an interval such as "90s".
func parseEvery(text string, anchor time.Time) (Rule, error) {
	const remedy = "write a duration such as 90s, 15m or 1h30m"
	if len(text) > 64 {
		return nil, newError("every", text, "the text is longer than 64 bytes", remedy)
	}
	d, err := time.ParseDuration(text)
	if err == nil {
		return newEvery(d, text, anchor)
	}
	if unit := calendarUnit(text); unit != "" {
		return nil, newError("every", text, unit+" are calendar units, which are not supported yet",
			"write hours (24h is exactly 24 hours, whatever the clock does) or a cron rule")
	}
	return nil, newError("every", text, "this is not a duration", remedy)
}

// calendarUnit tells "1d" or "2 months" from mere nonsense: it returns the
// unit that the text counts, in the plural, or "".
func calendarUnit(text string) string {
	unit := strings.ToLower(strings.TrimSpace(strings.TrimLeft(text, "0123456789.+- ")))
	if len(unit) == len(text) {
		return ""
	}
	switch strings.TrimSuffix(unit, "s") {
	case "d", "day":
		return "days"
	case "w", "week":
		return "weeks"
	case "mo", "month":
		return "months"
	case "y", "year":
		return "years"
	}
	return ""
}

// parseEveryFrom reads what follows the word "every" in a rule's text.
func parseEveryFrom(text string) (Rule, error) {
	words := strings.Fields(text)
	if len(words) != 3 || words[1] != "from" {
		return nil, newError("every", text, "the interval and the instant it counts from are needed",
			"write it like: every 90s from 2026-01-01T00:00:00Z")
	}
	anchor, err := parseInstant("every", words[2], time.UTC)
	if err != nil {
		return nil, err
	}
	return parseEvery(words[0], anchor)
}
