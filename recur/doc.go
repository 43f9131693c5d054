// Package recur says when: it computes the instants of a recurring rule.
//
// Three kinds of rule exist. A cron rule is a set of wall-clock times in a
// zone ("0 9 * * 1-5"), an every rule is an anchor plus whole multiples of a
// duration, an at rule is one instant. [Spec] is how people write them down,
// [Rule] is what a scheduler asks.
//
// Everything here is a pure function of its arguments. Nothing reads a clock,
// sleeps or keeps state; the only outside fact is the zone data that
// [time.LoadLocation] finds. (A program that may run on a machine without
// zone data imports time/tzdata.)
//
// # Range and precision
//
// Instants lie after 0001-01-01T00:00:00Z (the zero time, which stands for
// "none") and end with the year 9999. An earlier argument counts as the zero
// time, a later one has no next instant. Cron instants are whole seconds, all
// others whole microseconds, the precision that databases keep.
//
// # Clock changes
//
// A cron rule whose minute and hour fields both do not start with a star
// names fixed times. If the clock jumps over such a time, the rule rings once
// at the first instant after the gap; if the clock shows it twice, the rule
// rings the first time. A day that the zone skipped altogether is not made up.
// All other cron rules are intervals: they ring at every real instant whose
// wall clock matches, and nothing is made up. This is the behaviour of Vixie
// cron; zone.go explains how it is computed.
package recur

import (
	"strings"
	"time"
)

// Rule says when something happens.
//
// Every Rule of this package is immutable and safe for concurrent use; Next
// does not block and does not allocate.
type Rule interface {
	// Next returns the first instant strictly after the given one, or the
	// zero time when there is none. A cron rule answers in its own zone, the
	// others in UTC.
	Next(after time.Time) time.Time

	// String returns the canonical text of the rule, from which [Parse]
	// makes an equal one.
	String() string
}

// Parse reads the text that a rule's String method prints:
//
//	CRON_TZ=Europe/Prague 0 9 * * 1-5
//	every 90s from 2026-01-01T00:00:00Z
//	at 2026-03-01T09:00:00Z
//
// Whatever starts with neither "every" nor "at" is read as [ParseCron] would,
// in UTC unless it names a zone. The error is an [*Error].
func Parse(text string) (Rule, error) {
	switch word, rest := cutWord(text); word {
	case "every":
		return parseEveryFrom(rest)
	case "at":
		return parseAt(strings.TrimSpace(rest), time.UTC)
	default:
		return ParseCron(text, nil)
	}
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
