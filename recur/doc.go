// Package recur says when: it computes the instants of a recurring rule.
//
// There are three kinds of rule, and unions of them. A cron rule is a set of
// wall-clock times in a zone ("0 9 * * 1-5"); an every rule is a start plus
// whole multiples of an interval, of elapsed time (90s) or on the calendar of
// a zone (1 month); an at rule is one instant. [Spec] is how people write
// them down, [Rule] is what a scheduler asks, [Parse] reads what a Rule
// prints. A [Calendar] says when not.
//
// Everything here is a pure function of its arguments. Nothing reads a clock,
// sleeps or keeps state (but for [Zones], which keeps zones for those who want
// that); the only outside fact is the zone data that [time.LoadLocation]
// finds. A program that may run on a machine without zone data imports
// time/tzdata, which adds half a megabyte to it; this package does not, since
// that is the program's choice.
//
// # Range and precision
//
// Instants lie after 0001-01-01T00:00:00Z (the zero time, which stands for
// "none") and end with the year 9999. An earlier argument counts as the zero
// time, a later one has no next instant. Cron rules and intervals of days and
// longer ring at whole seconds, all others at whole microseconds, the
// precision that databases keep.
//
// Every call ends soon, whatever the rule: the longest search, for a rule that
// only ever names times in gaps of the clock, takes less than a millisecond.
//
// # Clock changes
//
// A cron rule none of whose fields of second, minute and hour starts with a star
// names fixed times. If the clock jumps over such a time, the rule rings once
// at the first instant after the gap, however many of its times lie in there;
// if the clock shows it twice, the rule rings the first time. A day that the
// zone skipped altogether is not made up. Intervals of days and longer do the
// same. All other cron rules ring at an even pace: at every real instant whose
// wall clock matches, and nothing is made up. This is the behaviour of Vixie
// cron; zone.go explains how it is computed. [Spec.Gap] and [Spec.Fold] choose
// otherwise, and [ClockChanges] tells which times of a rule were touched.
//
// The words used here are defined in docs/glossary.md.
package recur

import "time"

// Rule says when something happens.
//
// Every Rule of this package is immutable and safe for concurrent use; Next
// and Prev do not block and do not allocate.
type Rule interface {
	// Next returns the first instant strictly after the given one, or the
	// zero time when there is none. Cron rules and intervals of days and
	// longer answer in their own zone, the others in UTC.
	Next(after time.Time) time.Time

	// Prev returns the last instant strictly before the given one, or the
	// zero time when there is none, in the same zone as Next.
	Prev(before time.Time) time.Time

	// String returns the canonical text of the rule, from which [Parse]
	// makes an equal one.
	String() string

	// Describe returns the rule in plain English, such as "at 09:00 on
	// weekdays, Europe/Prague", for people to check what they wrote.
	Describe() string
}

// The range of instants, in seconds of Unix time.
const (
	minSecond = -62135596800 // 0001-01-01T00:00:00Z, the zero time
	maxSecond = 253402300799 // 9999-12-31T23:59:59Z
	maxYear   = 9999
)

// The same range in microseconds of Unix time, which 64 bits hold with room
// to add any interval.
const (
	minMicro = minSecond * 1e6
	maxMicro = maxSecond*1e6 + 999_999
)

// inRange moves a time from outside the range to its nearest end. The time
// package itself compares times billions of years away wrongly.
func inRange(t time.Time) time.Time {
	switch second := t.Unix(); {
	case second < minSecond:
		return time.Time{}
	case second > maxSecond:
		return time.Unix(maxSecond+1, 0)
	}
	return t
}

// afterSecond returns the last whole second not later than t. It counts a
// time before the range as the zero time; ok is false for a time after it.
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

// beforeSecond returns the first whole second not earlier than t. It counts a
// time after the range as the first second beyond it; ok is false for a time
// before it.
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

// instantOf returns an instant in UTC: none outside the range.
func instantOf(micro int64) time.Time {
	if micro <= minMicro || micro > maxMicro {
		return time.Time{}
	}
	return time.UnixMicro(micro).UTC()
}

// instantMicro returns the first whole microsecond not earlier than t, for
// work must not start before the time it was given. ok is false outside the
// range.
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
