package store

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	for _, c := range []struct {
		rate  int
		per   time.Duration
		burst int
		want  Rate
	}{
		{100, time.Second, 20, Rate{10 * time.Millisecond, 20}},
		{3, time.Second, 1, Rate{333334 * time.Microsecond, 1}},
		{1, time.Hour, 0, Rate{time.Hour, 1}},
		{1_000_000, time.Second, 5, Rate{time.Microsecond, 5}},
		{10_000_000, time.Second, 5, Rate{time.Microsecond, 5}},
	} {
		got, ok := (&Limit{Rate: c.rate, Per: c.per, Burst: c.burst}).Pace()
		if !ok || got != c.want {
			t.Errorf("%d per %v, burst %d: %+v, %v", c.rate, c.per, c.burst, got, ok)
		}
	}
	if _, ok := (&Limit{Concurrency: 3}).Pace(); ok {
		t.Error("a limit without a rate has one")
	}
}

func TestRateStarts(t *testing.T) {
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	second := Rate{Every: time.Second, Burst: 3}
	ms := func(n int64) time.Time { return begin.Add(time.Duration(n) * time.Millisecond) }
	slack := maxSlack.Milliseconds()
	for _, c := range []struct {
		name      string
		rate      Rate
		tat       time.Time
		now, next int64
		room      int
	}{
		{"rested", second, time.Time{}, 0, 0, 2}, // the third would leave no room for a late start
		{"rested for long", second, ms(-3_600_000), 0, 0, 2},
		{"just after one", second, ms(1000), 0, 0, 1},
		{"just after two", second, ms(2000), 0, slack, 0},
		{"far ahead", second, ms(10_000), 0, 8000 + slack, 0},
		{"a burst of one", Rate{time.Second, 1}, time.Time{}, 0, 0, 1},
		{"a burst of one, just after it", Rate{time.Second, 1}, ms(1000), 0, 1000, 0},
		{"a burst of one, due", Rate{time.Second, 1}, ms(1000), 1000, 1000, 1},
		{"quick", Rate{time.Millisecond, 1000}, time.Time{}, 0, 0, 1000 - int(slack)},
		{"quicker than the slack", Rate{time.Millisecond, 10}, time.Time{}, 0, 0, 1},
	} {
		if room := c.rate.Room(c.tat, ms(c.now), 1000); room != c.room {
			t.Errorf("%s: room for %d, want %d", c.name, room, c.room)
		}
		if next := c.rate.Next(c.tat, ms(c.now)); !next.Equal(ms(c.next)) {
			t.Errorf("%s: next at %v, want %v", c.name, next, ms(c.next))
		}
	}
	if room := second.Room(time.Time{}, begin, 1); room != 1 {
		t.Errorf("room for %d, though 1 is asked for", room)
	}
}

func TestSlack(t *testing.T) {
	for _, c := range []struct {
		rate   Rate
		others time.Duration
		want   time.Duration
	}{
		{Rate{10 * time.Millisecond, 21}, 0, 50 * time.Millisecond},
		{Rate{10 * time.Millisecond, 42}, 0, maxSlack},
		{Rate{time.Minute, 100}, 0, maxSlack},
		{Rate{time.Millisecond, 10}, 0, minSlack},
		{Rate{100 * time.Millisecond, 1}, 0, minSlack},
		{Rate{time.Second, 1}, 0, 50 * time.Millisecond},
		{Rate{time.Second, 1}, 40 * time.Millisecond, 40 * time.Millisecond},
		{Rate{time.Second, 1}, 60 * time.Millisecond, 50 * time.Millisecond},
	} {
		if slack := c.rate.SlackWith(c.others); slack != c.want {
			t.Errorf("%+v with %v: %v, want %v", c.rate, c.others, slack, c.want)
		}
	}
}

// TestRateHolds draws starts at random instants, which a job begins up to Slack later, and checks every
// window of time: no more than Burst starts and Rate starts per interval. It also checks that a caller
// who always waits for Next gets the whole rate.
func TestRateHolds(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for range 60 {
		rate := Rate{Every: time.Duration(1+r.IntN(200)) * time.Millisecond, Burst: 1 + r.IntN(30)}
		late := rate.Slack()
		if rate.tolerance() == rate.Every { // so small a burst leaves no room
			late = 0
		}
		var tat time.Time
		var starts []time.Time
		now := begin
		for range 100 {
			switch r.IntN(4) {
			case 0:
				now = now.Add(time.Duration(r.Int64N(int64(5 * rate.Every))))
			case 1:
				now = now.Add(time.Duration(r.Int64N(int64(50 * rate.Every))))
			default:
				if next := rate.Next(tat, now); next.After(now) {
					now = next
				}
				if rate.Room(tat, now, 1) == 0 {
					t.Fatalf("seed %d: nothing starts at the instant of Next", seed)
				}
			}
			n := rate.Room(tat, now, 1+r.IntN(40))
			if n == 0 {
				continue
			}
			tat = rate.After(tat, now, n)
			for range n {
				starts = append(starts, now.Add(time.Duration(r.Int64N(int64(late)+1))))
			}
		}
		for i := range starts {
			for j := i; j < len(starts); j++ {
				window := starts[j].Sub(starts[i]).Abs()
				if most := float64(rate.Burst) + float64(window)/float64(rate.Every); float64(j-i+1) > most+1e-9 {
					t.Fatalf("seed %d: %+v: %d starts within %v", seed, rate, j-i+1, window)
				}
			}
		}
		tat, now = time.Time{}, begin
		n := 0
		for ; now.Before(begin.Add(1000 * rate.Every)); n++ {
			tat = rate.After(tat, now, 1)
			now = rate.Next(tat, now)
		}
		if n < 1000 {
			t.Fatalf("seed %d: %+v: only %d of 1000 starts", seed, rate, n)
		}
	}
}
