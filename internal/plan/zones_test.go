package plan

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/zonetest"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

func TestMain(m *testing.M) { zonetest.Main(m) }

// day returns an instant of a day of June 2026, at a time such as 11:46.
func day(t *testing.T, day int, clock string) time.Time {
	t.Helper()
	at, err := time.Parse("15:04", clock)
	if err != nil {
		t.Fatal(err)
	}
	return time.Date(2026, 6, day, at.Hour(), at.Minute(), 0, 0, time.UTC)
}

// moving returns a schedule that was planned while its zone was an hour ahead of UTC, after the slots up to mark, and its plan with data
// by which the zone is ahead by offset.
func moving(t *testing.T, rule string, mark time.Time, offset time.Duration, change ...func(*Definition)) (Plan, store.Schedule) {
	t.Helper()
	const zone = "Test/Plan"
	zonetest.Write(t, zone, time.Hour)
	d := Definition{Rule: recur.Spec{Cron: rule, Zone: zone}, Kind: "k", Queue: "q"}
	for _, f := range change {
		f(&d)
	}
	text, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s := store.Schedule{ID: 1, Revision: 1, Definition: text, Anchor: day(t, 1, "00:00"), Mark: mark}
	before, err := New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.NextAt = before.Next(s, mark)
	zonetest.Write(t, zone, offset)
	after, err := New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return after, s
}

func TestReplan(t *testing.T) {
	const daily, quarters = "46 12 * * *", "0,15,30,45 9-17 * * *"
	at := func(d int, clock string) time.Time { return day(t, d, clock) }
	for _, test := range []struct {
		name      string
		rule      string
		mark, now time.Time
		offset    time.Duration
		want      string // what becomes of slots; empty and the same next slot: nothing changed
		next      time.Time
	}{
		{"the same data", daily, at(1, "11:46"), at(2, "08:00"), time.Hour, "", at(2, "11:46")},
		{"two minutes earlier", daily, at(1, "11:46"), at(2, "08:00"), 62 * time.Minute, "", at(2, "11:44")},
		{"two minutes later", daily, at(1, "11:46"), at(2, "08:00"), 58 * time.Minute, "skipped/time zone", at(2, "11:48")},
		{"an hour earlier", daily, at(1, "11:46"), at(2, "08:00"), 2 * time.Hour, "", at(2, "10:46")},
		{"an hour later", daily, at(1, "11:46"), at(2, "08:00"), 0, "skipped/time zone", at(2, "12:46")},
		{"the slot of the day had fired: not a second time", daily, at(2, "11:46"), at(2, "12:00"), 0, "skipped/time zone", at(3, "12:46")},
		{"the slot of the day had fired: earlier on the next day", daily, at(2, "11:46"), at(2, "12:00"), 2 * time.Hour, "", at(3, "10:46")},
		{"put since the last slot: the slot of the day is to come", daily, at(2, "11:40"), at(2, "11:41"), 0, "", at(2, "12:46")},
		{"the data put the slot before now: it is due", daily, at(1, "11:46"), at(2, "11:00"), 2 * time.Hour, "fired", at(3, "10:46")},
		{"once a week, and it had fired", "46 12 * * 2", at(2, "11:46"), at(2, "12:00"), 0, "skipped/time zone", at(9, "12:46")},
		{"a date that is skipped", daily, at(1, "11:46"), at(2, "08:00"), 25 * time.Hour, "", at(2, "11:46")},
		{"many times a day, in between: the same instants", quarters, at(2, "11:15"), at(2, "11:16"), 0, "", at(2, "11:30")},
		{"many times a day, before the first: earlier", quarters, at(1, "16:45"), at(2, "05:00"), 2 * time.Hour, "", at(2, "07:00")},
		{"many times a day, before the first: later", quarters, at(1, "16:45"), at(2, "05:00"), 0, "skipped/time zone skipped/time zone skipped/time zone skipped/time zone", at(2, "09:00")},
		{"an even pace: the next instant after the last slot", "*/10 * * * *", at(2, "11:10"), at(2, "11:15"), 65 * time.Minute, "fired", at(2, "11:25")},
		{"an even pace, the instants are the same", "*/30 * * * *", at(2, "11:00"), at(2, "11:15"), 2 * time.Hour, "", at(2, "11:30")},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, s := moving(t, test.rule, test.mark, test.offset)
			next := s.NextAt
			f, changed := p.Replan(s, test.now)
			if got := outcomesOf(f); got != test.want || !f.NewNextAt.Equal(test.next) {
				t.Errorf("%q, next %v; want %q, next %v", got, f.NewNextAt, test.want, test.next)
			}
			if want := test.want != "" || !next.Equal(test.next); changed != want {
				t.Errorf("changed: %v, want %v", changed, want)
			}
			if got, want := p.Next(s, test.now), test.next; !got.Equal(want) {
				t.Errorf("Next returns %v, want %v", got, want)
			}
			// What was written is right by the present data, so that nothing changes again.
			s.Mark, s.NextAt = f.NewMark, f.NewNextAt
			if f, changed := p.Replan(s, test.now); changed {
				t.Errorf("decided again: %q, next %v", outcomesOf(f), f.NewNextAt)
			}
			if f := p.Decide(s, s.NextAt); outcomesOf(f) != "fired" || !f.Jobs[0].Slot.Equal(test.next) {
				t.Errorf("at the next slot: %q", outcomesOf(f))
			}
		})
	}
}

// TestDecideWithOtherData has nodes that decide at an instant that other data gave.
func TestDecideWithOtherData(t *testing.T) {
	at := func(d int, clock string) time.Time { return day(t, d, clock) }
	once := func(d *Definition) { d.Misfire = MisfireOnce }
	for _, test := range []struct {
		name      string
		mark, now time.Time
		offset    time.Duration
		want      string
		next      time.Time
	}{
		{"the slot was earlier: it fires on time", at(1, "11:46"), at(2, "11:46"), 2 * time.Hour, "fired", at(3, "10:46")},
		{"the slot is later", at(1, "11:46"), at(2, "11:46"), 0, "skipped/time zone", at(2, "12:46")},
		{"no node lived at the slot: it is made up for", at(1, "11:46"), at(2, "15:00"), 2 * time.Hour, "fired", at(3, "10:46")},
		{"no node lived for days: the newest is made up for", at(1, "11:46"), at(4, "15:00"), 0, "fired skipped/time zone missed/misfire missed/misfire", at(5, "12:46")},
	} {
		p, s := moving(t, "46 12 * * *", test.mark, test.offset, once)
		f := p.Decide(s, test.now)
		if got := outcomesOf(f); got != test.want || !f.NewNextAt.Equal(test.next) {
			t.Errorf("%s: %q, next %v; want %q, next %v", test.name, got, f.NewNextAt, test.want, test.next)
		}
	}
	p, s := moving(t, "46 12 * * *", at(1, "11:46"), 2*time.Hour)
	if got := outcomesOf(p.Decide(s, at(2, "11:48"))); got != "missed/misfire" {
		t.Errorf("found later than the grace after the stored instant: %q", got)
	}
	if got := outcomesOf(p.Decide(s, at(2, "11:46").Add(30*time.Second))); got != "fired" {
		t.Errorf("found within the grace after the stored instant: %q", got)
	}
}

// TestPutOffIsNotMoved checks that a schedule which was put off, because no node could use it, is not taken for a schedule whose zone has
// other data: all its slots are accounted for.
func TestPutOffIsNotMoved(t *testing.T) {
	p, s := moving(t, "46 12 * * *", day(t, 1, "11:46"), time.Hour)
	s.NextAt = day(t, 3, "12:00").Add(5*time.Second + 123_456*time.Microsecond)
	if got := outcomesOf(p.Decide(s, s.NextAt)); got != "missed/misfire missed/misfire" {
		t.Errorf("%q", got)
	}
}
