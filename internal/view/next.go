package main

import (
	"time"

	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/recur"
)

// nextRecord is an instant in machine-readable output. Fields are only ever
// added.
type nextRecord struct {
	Slot string `json:"slot"` // on the clock of the rule
}

// mostClosed bounds the search for an instant that is not excluded: each step
// examines at most 1,000 instants, and skips whole excluded days.
const mostClosed = 1000

// upcoming returns the next three instants that the file does not exclude;
// stored calendars are not read. An interval counts from now, as it would if
// the schedule were put now.
func upcoming(entry declared.Entry, now time.Time) []time.Time {
	now = now.Truncate(time.Second)
	rule, err := entry.Rule.Rule(now)
	if err != nil { // the file was checked, or the entry has no rule
		return nil
	}
	var calendars []*recur.Calendar
	for _, c := range entry.Exclude {
		if calendar, err := c.Calendar(); err == nil && !c.Stored {
			calendars = append(calendars, calendar)
		}
	}
	var next []time.Time
	looked := 0
	for t, open := recur.NextOpen(rule, now, calendars...); len(next) < 3 && !t.IsZero() && looked < mostClosed; t, open = recur.NextOpen(rule, t, calendars...) {
		if looked++; open {
			next = append(next, t)
		}
	}
	return next
}
