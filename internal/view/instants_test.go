package view

import (
	"testing"
	"time"
)

// TestTypedInstant reads instants as people write them.
func TestTypedInstant(t *testing.T) {
	now := time.Date(2027, 3, 27, 23, 30, 0, 0, time.UTC) // in Prague it is half past midnight of the next day, on which the clock changes
	for _, c := range []struct{ text, zone, want string }{
		{"now", "Europe/Prague", "2027-03-27T23:30:00Z"},
		{"today", "", "2027-03-27T00:00:00Z"},
		{"Tomorrow 9:00", "", "2027-03-28T09:00:00Z"},
		{"tomorrow 9:00", "Europe/Prague", "2027-03-29T07:00:00Z"},
		{"yesterday 18:00:30", "Europe/Prague", "2027-03-27T17:00:30Z"},
		{"9:05", "Europe/Prague", "2027-03-28T07:05:00Z"},
		{"2027-03-01 9:00", "Europe/Prague", "2027-03-01T08:00:00Z"},
		{"2027-03-01", "", "2027-03-01T00:00:00Z"},
		{"2027-03-01T09:00:00", "Europe/Prague", "2027-03-01T08:00:00Z"},
		{"2027-03-01T09:00:00+02:00", "", "2027-03-01T07:00:00Z"},
		{"soon", "", ""},
		{"tomorrow 25:00", "", ""},
		{"soon 9:00", "", ""},
		{"tomorrow", "Nowhere/Zone", ""},
		{"", "", ""},
		{"today at 9:00", "", ""},
		{"now now", "", ""},
	} {
		at, err := TypedInstant("from", c.text, c.zone, now)
		got := ""
		if err == nil {
			got = at.UTC().Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%q in %q: got %q (%v), want %q", c.text, c.zone, got, err, c.want)
		}
	}
}
