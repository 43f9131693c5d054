package lock

import (
	"testing"
	"time"
)

// day returns an instant of the day that the tests use.
func day(clock string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05.999", "2035-03-04 "+clock)
	if err != nil {
		panic(err)
	}
	return t
}

// hourly returns the state after a slot of "every 1h", anchored at 10:00.
func hourly(now, slot, granted string) State {
	return State{
		Now: day(now), Token: 7, GrantedAt: day(granted),
		Mark: Mark{Slot: day(slot), Anchor: day("10:00:00"), Interval: time.Hour},
	}
}

// at3 has an instant each day at 03:00, and two instants on the test's day, at
// 03:00 and 03:01.
type at3 struct{}

func (at3) Next(after time.Time) time.Time {
	day := after.Truncate(24 * time.Hour).Add(-24 * time.Hour)
	for {
		for _, minute := range []int{180, 181} {
			t := day.Add(time.Duration(minute) * time.Minute)
			if t.After(after) && (minute == 180 || t.Day() == 4) {
				return t
			}
		}
		day = day.Add(24 * time.Hour)
	}
}

func TestDecide(t *testing.T) {
	every := func(d time.Duration) grid { return grid{interval: d} }
	for _, test := range []struct {
		name        string
		state       State
		grid        grid
		slot        string // if due
		from, until string
		next, dueAt string // if not
	}{
		{"the first grant anchors the grid", State{Now: day("10:00:00.7")}, every(time.Hour), "10:00:00.7", "10:00:00.7", "10:45:00.7", "", ""},
		{"an instant has come", hourly("11:00:00", "10:00:00", "10:00:00"), every(time.Hour), "11:00:00", "11:00:00", "11:45:00", "", ""},
		{"an instant is near", hourly("10:59:41", "10:00:00", "10:00:00"), every(time.Hour), "11:00:00", "10:45:00", "11:00:00", "", ""},
		{"a quarter before it", hourly("10:45:00", "10:00:00", "10:00:00"), every(time.Hour), "11:00:00", "10:45:00", "11:00:00", "", ""},
		{"not sooner", hourly("10:44:59.999", "10:00:00", "10:00:00"), every(time.Hour), "", "", "", "11:00:00", "10:45:00"},
		{"just granted", hourly("11:00:20", "11:00:00", "10:59:41"), every(time.Hour), "", "", "", "12:00:00", "11:45:00"},
		{"granted ahead", hourly("10:59:45", "11:00:00", "10:59:41"), every(time.Hour), "", "", "", "12:00:00", "11:45:00"},
		{"those between are not made up", hourly("15:20:00", "11:00:00", "11:00:00"), every(time.Hour), "15:00:00", "15:00:00", "15:45:00", "", ""},
		{"a quarter has to pass since a late grant", hourly("11:50:00", "11:00:00", "11:40:00"), every(time.Hour), "", "", "", "12:00:00", "11:55:00"},
		{"and has passed", hourly("11:56:00", "11:00:00", "11:40:00"), every(time.Hour), "12:00:00", "11:55:00", "12:00:00", "", ""},
		{"another interval begins a new grid", hourly("11:20:00", "11:00:00", "11:00:00"), every(30 * time.Minute), "11:20:00", "11:20:00", "11:42:30", "", ""},
		{"but not at once", hourly("11:05:00", "11:00:00", "11:00:00"), every(30 * time.Minute), "", "", "", "11:05:00", "11:07:30"},
		{"the clock was set back a little", hourly("10:57:00", "11:00:00", "11:01:00"), every(time.Hour), "", "", "", "12:00:00", "11:45:00"},
		{"and to before the anchor", hourly("08:10:00", "10:00:00", "10:00:00"), every(time.Hour), "", "", "", "11:00:00", "10:45:00"},
		{"a cron rule, never granted", State{Now: day("10:00:00")}, grid{rule: at3{}}, "03:01:00", "03:01:00", "21:00:15", "", ""},
		{"a minute after", State{Now: day("03:00:50"), GrantedAt: day("03:00:30"), Mark: Mark{Slot: day("03:00:00")}}, grid{rule: at3{}}, "03:01:00", "03:00:45", "03:01:00", "", ""},
		{"the slot is spent", State{Now: day("03:00:40"), GrantedAt: day("03:00:00"), Mark: Mark{Slot: day("03:00:00")}}, grid{rule: at3{}}, "", "", "", "03:01:00", "03:00:45"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := decide(test.state, test.grid)
			if d.due != (test.slot != "") {
				t.Fatalf("due: %v", d)
			}
			check := func(what string, got time.Time, want string) {
				if want != "" && !got.Equal(day(want)) {
					t.Errorf("%s: got %v, want %s", what, got, want)
				}
			}
			check("slot", d.slot.Mark.Slot, test.slot)
			check("from", d.slot.From, test.from)
			if test.name != "a cron rule, never granted" { // this rule's interval ends the day after
				check("until", d.slot.Until, test.until)
			}
			check("next", d.next, test.next)
			check("due at", d.dueAt, test.dueAt)
			if d.due && d.slot.Seen != test.state.Token {
				t.Errorf("the decision must rest on the token that was read: %+v", d.slot)
			}
		})
	}
}

// once is a rule with a single instant.
type once struct{ at time.Time }

func (o once) Next(after time.Time) time.Time {
	if o.at.After(after) {
		return o.at
	}
	return time.Time{}
}

func TestLastUntil(t *testing.T) {
	now := day("12:00:00")
	for _, ago := range []time.Duration{0, time.Millisecond, time.Second, time.Hour, 366 * 24 * time.Hour, 40 * 366 * 24 * time.Hour} {
		if got := lastUntil(once{now.Add(-ago)}, now); !got.Equal(now.Add(-ago)) {
			t.Errorf("an instant %v ago: got %v", ago, got)
		}
	}
	for _, rule := range []Rule{once{now.Add(time.Millisecond)}, once{}, once{now.Add(-70 * 366 * 24 * time.Hour)}} {
		if got := lastUntil(rule, now); !got.IsZero() {
			t.Errorf("no instant before: got %v", got)
		}
	}
	if got := lastUntil(at3{}, day("03:00:59")); !got.Equal(day("03:00:00")) {
		t.Errorf("the last of two near ones: got %v", got)
	}
}

func TestRuleThatEnded(t *testing.T) {
	rule := grid{rule: once{day("09:00:00")}}
	if d := decide(State{Now: day("10:00:00")}, rule); !d.due || !d.slot.Mark.Slot.Equal(day("09:00:00")) {
		t.Errorf("the last instant is granted: %+v", d)
	}
	spent := State{Now: day("10:00:00"), GrantedAt: day("09:00:00"), Mark: Mark{Slot: day("09:00:00")}}
	if d := decide(spent, rule); d.due || !d.next.IsZero() || !d.dueAt.IsZero() {
		t.Errorf("and then nothing: %+v", d)
	}
}

// office has an instant at each full hour from 9 to 17.
type office struct{}

func (office) Next(after time.Time) time.Time {
	t := after.Truncate(time.Hour).Add(time.Hour)
	for t.Hour() < 9 || t.Hour() > 17 {
		t = t.Add(time.Hour)
	}
	return t
}

// TestPunctualCallersLoseNoSlotOfAnUnevenRule calls at each instant of a rule
// whose last instant of the day begins an interval of 16 hours.
func TestPunctualCallersLoseNoSlotOfAnUnevenRule(t *testing.T) {
	state := State{}
	for now := day("09:00:00"); now.Before(day("09:00:00").Add(48 * time.Hour)); now = (office{}).Next(now) {
		state.Now = now.Add(30 * time.Millisecond)
		d := decide(state, grid{rule: office{}})
		if !d.due || !d.slot.Mark.Slot.Equal(now) {
			t.Fatalf("the slot of %v: %+v", now, d)
		}
		state.Token, state.Mark, state.GrantedAt = state.Token+1, d.slot.Mark, state.Now
	}
}
