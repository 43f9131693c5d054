package view

import (
	"fmt"
	"iter"
	"time"

	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/recur"
)

// NextRecord is an instant in machine-readable output. Fields are only ever
// added.
type NextRecord struct {
	Slot string `json:"slot"` // on the clock of the rule
}

// Slots yields up to count instants of a rule strictly after from that no
// calendar excludes. An error, after the last instant, means that the search
// ended because too many successive instants are excluded; its text names the
// instant in the zone.
func Slots(rule recur.Rule, from time.Time, count int, zone string, calendars ...*recur.Calendar) iter.Seq2[time.Time, error] {
	return func(yield func(time.Time, error) bool) {
		left, looked := count, 0
		for t, open := recur.NextOpen(rule, from, calendars...); left > 0 && !t.IsZero(); t, open = recur.NextOpen(rule, t, calendars...) {
			switch looked++; {
			case open:
				if !yield(t, nil) {
					return
				}
				left, looked = left-1, 0
			case looked == mostClosed:
				yield(time.Time{}, fmt.Errorf("all instants up to %s are excluded, and the search ended there", plain.InZone(t, zone)))
				return
			}
		}
	}
}

// mostClosed bounds the search for an instant that is not excluded: each step
// examines at most 1,000 instants, and skips whole excluded days.
const mostClosed = 1000

// Upcoming returns the next three instants of an entry that its file does not
// exclude; stored calendars are not read. An interval counts from now, as it
// would if the schedule were put now.
func Upcoming(entry declared.Entry, now time.Time) []time.Time {
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
	for t, err := range Slots(rule, now, 3, entry.Rule.Zone, calendars...) {
		if err != nil { // the instants before it are enough
			break
		}
		next = append(next, t)
	}
	return next
}
