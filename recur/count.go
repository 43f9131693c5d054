package recur

import "time"

// Count returns how many instants of r lie after the first and not after the
// second given time. If there are more than most, it returns most and true.
//
// Cron rules and intervals are counted by arithmetic: counting the seconds of a
// year takes microseconds. A union is counted instant by instant, up to most.
func Count(r Rule, after, until time.Time, most int64) (n int64, more bool) {
	n = count(r, inRange(after), inRange(until), max(most, 0))
	if n > most {
		return max(most, 0), true
	}
	return n, false
}

// counter is a rule that can count its instants without visiting each of them.
// If the exact number is above most, the result may be any number above most.
type counter interface {
	count(after, until time.Time, most int64) int64
}

func count(r Rule, after, until time.Time, most int64) (n int64) {
	if !after.Before(until) {
		return 0
	}
	if c, ok := r.(counter); ok {
		return c.count(after, until, most)
	}
	for t := r.Next(after); !t.IsZero() && !t.After(until) && n <= most; t = r.Next(t) {
		n++
	}
	return n
}
