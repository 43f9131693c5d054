// Package recur computes the instants of recurring rules.
//
// There are three kinds of rule, and unions of rules. A cron rule is a set of
// wall-clock times in a zone ("0 9 * * 1-5"). An every rule is a start plus
// whole multiples of an interval, of elapsed time (90s) or on the calendar of a
// zone (1 month). An at rule is one instant. A [Spec] is a rule as users write
// it, made by [Cron], [Every], [Months], [At] and others or read from a file; a
// [Rule] computes the instants, and [Parse] reads the text that a Rule prints.
// A [Calendar] excludes instants. A rule rings at each of its instants.
//
// Everything in this package is a pure function of its arguments. Nothing reads
// a clock, sleeps or keeps state, except [Zones], which caches zones. The only
// outside data is the zone data that [time.LoadLocation] finds. A program that
// may run on a machine without zone data imports time/tzdata, which adds half a
// megabyte to the program; this package does not import it, because that is the
// program's choice.
//
// # Range and precision
//
// Instants lie after 0001-01-01T00:00:00Z (the zero time, which stands for
// "none") and end with the year 9999. An argument before the range counts as
// the zero time; an argument after the range has no next instant. Cron rules
// and intervals of days and longer ring at whole seconds, all other rules at
// whole microseconds, which is the precision of databases.
//
// Every call ends soon, for every rule: the longest search, for a rule with
// times in gaps of the clock only, takes less than a millisecond.
//
// # Clock changes
//
// A cron rule without a star at the start of its fields of second, minute and
// hour names fixed times. If the clock jumps forward over such times, the rule
// rings once, at the first instant after the gap, even if several of its times
// are in the gap. If the clock shows a time twice, the rule rings the first
// time. A day that the zone skipped completely is not made up for. Intervals of
// days and longer behave in the same way. All other cron rules ring at an even
// pace: at every real instant whose wall clock matches, and nothing is made up
// for. This is the behaviour of Vixie cron; zone.go explains how it is
// computed. [Spec.Gap] and [Spec.Fold] select other behaviours, and
// [ClockChanges] lists the clock changes that affected a rule.
//
// The words used here are defined in docs/glossary.md.
package recur

import "time"

// Rule is a set of instants, computed on request.
//
// Every Rule of this package is immutable and safe for concurrent use; Next and
// Prev do not block and do not allocate.
type Rule interface {
	// Next returns the first instant strictly after the given time, or the zero
	// time if there is none. Cron rules and intervals of days and longer return
	// instants in their own zone, all other rules in UTC.
	Next(after time.Time) time.Time

	// Prev returns the last instant strictly before the given time, or the zero
	// time if there is none, in the same zone as Next.
	Prev(before time.Time) time.Time

	// String returns the canonical text of the rule. [Parse] makes an equal
	// rule from that text.
	String() string

	// Describe returns the rule in plain English, such as "at 09:00 on
	// weekdays, Europe/Prague", so that users can check what they wrote.
	Describe() string
}

// The range of instants, in seconds of Unix time.
const (
	minSecond = -62135596800 // 0001-01-01T00:00:00Z, the zero time
	maxSecond = 253402300799 // 9999-12-31T23:59:59Z
	maxYear   = 9999
)

// The same range in microseconds of Unix time, which fit 64 bits even after any
// interval is added.
const (
	minMicro = minSecond * 1e6
	maxMicro = maxSecond*1e6 + 999_999
)

// inRange moves a time outside the range to the nearest end of the range,
// because the time package compares times billions of years away wrongly.
func inRange(t time.Time) time.Time {
	switch second := t.Unix(); {
	case second < minSecond:
		return time.Time{}
	case second > maxSecond:
		return time.Unix(maxSecond+1, 0)
	}
	return t
}

// afterSecond returns the last whole second not later than t. A time before the
// range counts as the zero time; ok is false for a time after the range.
func afterSecond(t time.Time) (second int64, ok bool) {
	second = t.Unix()
	return max(second, minSecond), second <= maxSecond
}

// afterMicro is afterSecond in microseconds.
func afterMicro(t time.Time) (micro int64, ok bool) {
	second := t.Unix()
	if second < minSecond {
		return minMicro, true
	}
	return t.UnixMicro(), second <= maxSecond
}

// beforeSecond returns the first whole second not earlier than t. A time after
// the range counts as the first second after the range; ok is false for a time
// before the range.
func beforeSecond(t time.Time) (second int64, ok bool) {
	second = t.Unix()
	if second >= maxSecond+1 {
		return maxSecond + 1, true
	}
	if t.Nanosecond() > 0 {
		second++
	}
	return second, second > minSecond
}

// beforeMicro is beforeSecond in microseconds.
func beforeMicro(t time.Time) (micro int64, ok bool) {
	switch second := t.Unix(); {
	case second > maxSecond:
		return maxMicro + 1, true
	case second < minSecond:
		return 0, false
	}
	micro = t.UnixMicro()
	if t.Nanosecond()%1000 != 0 {
		micro++
	}
	return micro, true
}

// instantOf returns an instant in UTC, or the zero time for an instant outside
// the range.
func instantOf(micro int64) time.Time {
	if micro <= minMicro || micro > maxMicro {
		return time.Time{}
	}
	return time.UnixMicro(micro).UTC()
}

// instantMicro returns the first whole microsecond not earlier than t, because
// work must not start before the time that was given for it. ok is false
// outside the range.
func instantMicro(t time.Time) (micro int64, ok bool) {
	if second := t.Unix(); second < minSecond || second > maxSecond {
		return 0, false
	}
	micro = t.UnixMicro()
	if t.Nanosecond()%1000 != 0 {
		micro++
	}
	return micro, micro <= maxMicro
}

// formatMicro writes an instant as RFC 3339 in UTC.
func formatMicro(micro int64) string {
	return time.UnixMicro(micro).UTC().Format(time.RFC3339Nano)
}
