package recur

import "time"

// bounded rings like its rule from start to stop, both included, in
// microseconds of Unix time.
type bounded struct {
	rule        Rule
	start, stop int64
}

// Next implements [Rule].
func (b bounded) Next(after time.Time) time.Time {
	after = inRange(after)
	if first := time.UnixMicro(b.start); after.Before(first) {
		after = first.Add(-1)
	}
	next := b.rule.Next(after)
	if next.IsZero() || next.UnixMicro() > b.stop {
		return time.Time{}
	}
	return next
}

// Prev implements [Rule].
func (b bounded) Prev(before time.Time) time.Time {
	before = inRange(before)
	if last := time.UnixMicro(b.stop); before.After(last) {
		before = last.Add(1)
	}
	prev := b.rule.Prev(before)
	if prev.IsZero() || prev.UnixMicro() < b.start {
		return time.Time{}
	}
	return prev
}

// String implements [Rule].
func (b bounded) String() string {
	text := b.rule.String()
	if b.start != minMicro {
		text += " from " + formatMicro(b.start)
	}
	if b.stop != maxMicro {
		text += " until " + formatMicro(b.stop)
	}
	return text
}

// count implements counter.
func (b bounded) count(after, until time.Time, most int64) int64 {
	if first := time.UnixMicro(b.start); after.Before(first) {
		after = first.Add(-1)
	}
	if last := time.UnixMicro(b.stop); until.After(last) {
		until = last
	}
	return count(b.rule, after, until, most)
}
