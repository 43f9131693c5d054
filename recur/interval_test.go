package recur

import (
	"testing"
	"time"
)

// TestCalendarOfSlots checks the promises of a calendar rule: the next slot is
// counted from the start, never from the last run, and is strictly later.
func TestCalendarOfSlots(t *testing.T) {
	cases := []struct{ name, every, start, after, want string }{
		{"started two days late", "1 hour", "2026-03-01T01:00:00Z", "2026-03-03T03:05:00Z", "2026-03-03T04:00:00Z"},
		{"down for three hours", "1 hour", "2026-03-01T01:00:00Z", "2026-03-04T07:30:00Z", "2026-03-04T08:00:00Z"},
		{"before the outage", "1 hour", "2026-03-01T01:00:00Z", "2026-03-04T04:05:00Z", "2026-03-04T05:00:00Z"},
		{"changed from half an hour to an hour", "1 hour", "2026-03-01T02:00:00Z", "2026-03-01T03:45:00Z", "2026-03-01T04:00:00Z"},
		{"before the change", "30 minutes", "2026-03-01T02:00:00Z", "2026-03-01T03:15:00Z", "2026-03-01T03:30:00Z"},
		{"asked at a slot", "1 hour", "2026-03-01T01:00:00Z", "2026-03-01T04:00:00Z", "2026-03-01T05:00:00Z"},
		{"asked long before", "1 month", "2026-03-01T01:00:00Z", "2020-01-01T00:00:00Z", "2026-03-01T01:00:00Z"},
		{"the day of the start is back after February", "1 month", "2024-01-31T09:00:00Z", "2024-02-29T09:00:00Z", "2024-03-31T09:00:00Z"},
	}
	for _, c := range cases {
		for _, spec := range []Spec{{Every: c.every, Start: c.start}, {Every: c.every}, {Cron: "@every " + c.every}} {
			anchor := time.Unix(0, 0)
			if spec.Start == "" {
				anchor = mustTime(t, c.start)
			}
			rule, err := spec.Rule(anchor)
			if err != nil {
				t.Fatal(err)
			}
			if got := rule.Next(mustTime(t, c.after)); !got.Equal(mustTime(t, c.want)) {
				t.Errorf("%s: %s: after %s got %s, want %s", c.name, rule, c.after, got, c.want)
			}
		}
	}
}

// TestMonthsDoNotDrift checks forty years of month ends.
func TestMonthsDoNotDrift(t *testing.T) {
	rule := mustRule(t, "every 1 month from 2000-01-31T12:00:00Z")
	at := mustTime(t, "2000-01-31T12:00:00Z")
	for range 480 {
		at = rule.Next(at)
		if tomorrow := at.AddDate(0, 0, 1); tomorrow.Day() != 1 || at.Hour() != 12 {
			t.Fatalf("%s rings at %s", rule, at)
		}
	}
	if want := mustTime(t, "2040-01-31T12:00:00Z"); !at.Equal(want) {
		t.Errorf("480 months later it is %s, want %s", at, want)
	}
}

func TestCount(t *testing.T) {
	cases := []struct {
		rule, after, until string
		want               int64
	}{
		{"* * * * * *", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", 365 * 86400},
		{"CRON_TZ=America/New_York * * * * * *", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", 365 * 86400},
		{"every 1s from 2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", 365 * 86400},
		{"every 1s from 2026-01-01T00:00:00Z", "2025-12-31T00:00:00Z", "2026-01-01T00:00:00Z", 1},
		{"every 1s from 2026-01-01T00:00:00Z", "2025-12-30T00:00:00Z", "2025-12-31T23:59:59Z", 0},
		{"every 1s from 2026-01-01T00:00:00Z until 2026-01-01T00:01:00Z", "2025-12-30T00:00:00Z", "2026-12-31T23:59:59Z", 61},
		{"CRON_TZ=America/New_York * * * * *", "2024-03-10T00:00:00-05:00", "2024-03-11T00:00:00-04:00", 23 * 60},
		{"CRON_TZ=America/New_York * * * * *", "2024-11-03T00:00:00-04:00", "2024-11-04T00:00:00-05:00", 25 * 60},
		{"CRON_TZ=America/New_York * * * * * fold last", "2024-11-03T00:00:00-04:00", "2024-11-04T00:00:00-05:00", 24 * 60},
		{"CRON_TZ=America/New_York 0-59 0-23 * * *", "2024-03-10T00:00:00-05:00", "2024-03-11T00:00:00-04:00", 23 * 60},
		{"CRON_TZ=America/New_York 30 2 * * *", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z", 366},
		{"CRON_TZ=America/New_York 30 2 * * * gap skip", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z", 365},
		{"CRON_TZ=America/New_York 30 1 * * * fold both", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z", 367},
		{"CRON_TZ=Pacific/Apia 0 9 * * *", "2011-12-01T00:00:00-10:00", "2012-01-01T00:00:00+14:00", 30},
		{"0 0 29 2 *", "0001-01-01T00:00:00Z", "9999-12-31T00:00:00Z", 2424},
		{"0 0 30 2 *", "0001-01-01T00:00:00Z", "9999-12-31T00:00:00Z", 0},
		{"0 0 1 1 *", "0001-01-01T00:00:00Z", "9999-12-31T00:00:00Z", 9998},
		{"every 1 month from 2026-01-31T00:00:00Z", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", 12},
		{"every 1 day from 2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", 365},
		{"at 2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", 0},
		{"at 2026-01-01T00:00:00Z", "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z", 1},
		{"0 9 * * * | 0 9,17 * * *", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", 730},
		{"CRON_TZ=Europe/London 0 9 * * * | 0 9 * * *", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", 31},
		{"0 9 * * *", "2027-01-01T00:00:00Z", "2026-01-01T00:00:00Z", 0},
	}
	for _, c := range cases {
		got, more := Count(mustRule(t, c.rule), mustTime(t, c.after), mustTime(t, c.until), 1<<40)
		if got != c.want || more {
			t.Errorf("%s: got %d, %v after %s to %s, want %d", c.rule, got, more, c.after, c.until, c.want)
		}
	}
}

func TestCountStopsAtMost(t *testing.T) {
	for _, text := range []string{"* * * * * *", "CRON_TZ=America/New_York * * * * *", "every 1s from 2026-01-01T00:00:00Z", "every 1 day from 2026-01-01T00:00:00Z", "0 * * * * | 30 * * * *"} {
		for _, most := range []int64{-1, 0, 1, 100} {
			if n, more := Count(mustRule(t, text), anchor, year(2030), most); n != max(most, 0) || !more {
				t.Errorf("%s: got %d, %v, want %d and more", text, n, more, most)
			}
		}
	}
	// Exactly as many instants as the bound are not more than the bound.
	if n, more := Count(mustRule(t, "* * * * * *"), anchor, anchor.Add(100*time.Second), 100); n != 100 || more {
		t.Errorf("got %d, %v, want 100", n, more)
	}
}

// TestJitter compares exact values, which must never change: otherwise a slot
// would run at a different time after an upgrade.
func TestJitter(t *testing.T) {
	slot := mustTime(t, "2026-03-01T09:00:00Z")
	first := Jitter("report", slot, time.Minute)
	if want := 45_889_864 * time.Microsecond; first != want {
		t.Errorf("got %v, want %v", first, want)
	}
	if again := Jitter("report", slot.In(time.FixedZone("", 3600)), time.Minute); again != first {
		t.Errorf("the same slot in another zone: got %v, want %v", again, first)
	}
	if other := Jitter("reports", slot, time.Minute); other == first {
		t.Errorf("two names share %v", first)
	}
	if other := Jitter("report", slot.Add(time.Second), time.Minute); other == first {
		t.Errorf("two slots share %v", first)
	}
	for _, most := range []time.Duration{-1, 0, 999} {
		if got := Jitter("report", slot, most); got != 0 {
			t.Errorf("at most %v: got %v", most, got)
		}
	}
}

// TestJitterIsSpread sorts the delays of ten thousand slots into ten equal
// parts of the maximum.
func TestJitterIsSpread(t *testing.T) {
	var parts [10]int
	for i := range 10_000 {
		d := Jitter("name", anchor.Add(time.Duration(i)*time.Minute), time.Hour)
		if d < 0 || d >= time.Hour || d%time.Microsecond != 0 {
			t.Fatalf("got %v", d)
		}
		parts[d/(6*time.Minute)]++
	}
	for i, n := range parts {
		if n < 850 || n > 1150 { // five standard deviations
			t.Errorf("part %d has %d of 10000", i, n)
		}
	}
}
