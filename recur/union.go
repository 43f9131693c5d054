package recur

import (
	"strings"
	"time"
)

// unionMark is the text between the rules of a union.
const unionMark = " | "

// union rings when any of its rules rings.
type union []Rule

// Next implements [Rule].
func (u union) Next(after time.Time) (next time.Time) {
	for _, rule := range u {
		if t := rule.Next(after); !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next
}

// Prev implements [Rule].
func (u union) Prev(before time.Time) (prev time.Time) {
	for _, rule := range u {
		if t := rule.Prev(before); t.After(prev) {
			prev = t
		}
	}
	return prev
}

// String implements [Rule].
func (u union) String() string {
	texts := make([]string, len(u))
	for i, rule := range u {
		texts[i] = rule.String()
	}
	return strings.Join(texts, unionMark)
}

// count implements counter. It merges the rules; a rule computes its next
// instant only after its current instant was counted.
func (u union) count(after, until time.Time, most int64) (n int64) {
	heads := make([]time.Time, len(u))
	for i, rule := range u {
		if n := count(rule, after, until, most); n > most {
			return n
		}
		heads[i] = rule.Next(after)
	}
	for ; n <= most; n++ {
		first := earliest(heads)
		if first.IsZero() || first.After(until) {
			break
		}
		for i, rule := range u {
			if heads[i].Equal(first) {
				heads[i] = rule.Next(first)
			}
		}
	}
	return n
}

// earliest returns the first of some instants, zero instants left out.
func earliest(instants []time.Time) (first time.Time) {
	for _, t := range instants {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}
