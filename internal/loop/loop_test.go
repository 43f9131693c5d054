package loop

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

func TestEachFailingOperationIsReportedOnce(t *testing.T) {
	var kinds []event.Kind
	var failures []string
	r := NewReport(func(e event.Event) {
		if kinds = append(kinds, e.Kind); e.Node != 7 || e.Time.IsZero() {
			t.Errorf("event of node %d at %v", e.Node, e.Time)
		}
	}, func() int64 { return 7 }, func(what string, _ error) { failures = append(failures, what) })
	away := errors.New("the store is away")
	r.StoreWorks("claim")
	r.StoreFailed("claim", away)
	r.StoreFailed("claim", away)
	r.StoreFailed("prune", away)
	r.StoreWorks("claim")
	r.StoreWorks("claim")
	if want := []event.Kind{event.StoreFailed, event.StoreRetried, event.StoreFailed, event.StoreBack}; !slices.Equal(kinds, want) {
		t.Errorf("events %v, want %v", kinds, want)
	}
	if want := []string{"claim", "claim", "prune"}; !slices.Equal(failures, want) {
		t.Errorf("failures %v, want %v", failures, want)
	}
}

func TestWakesReachTheirLoops(t *testing.T) {
	for _, test := range []struct {
		wake                  store.Wake
		a, b, schedule, ended bool
	}{
		{store.Wake{Kind: store.WakeJobs, Queue: "a"}, true, false, false, false},
		{store.Wake{Kind: store.WakeJobs, Queue: "of other nodes"}, false, false, false, false},
		{store.Wake{Kind: store.WakeJobs}, true, true, false, false},
		{store.Wake{Kind: store.WakeSchedules}, false, false, true, false},
		{store.Wake{Kind: store.WakeCancels}, false, false, false, true},
		{store.Wake{Kind: store.WakeAll}, true, true, true, true},
	} {
		w := NewWakes([]string{"a", "b"}, time.Second, time.Minute, 0, RealAmbient{})
		w.Wake(test.wake)
		w.Wake(test.wake) // counts as one
		for name, one := range map[string]struct {
			signal Signal
			want   bool
		}{"a": {w.Jobs("a"), test.a}, "b": {w.Jobs("b"), test.b}, "schedules": {w.Schedules(), test.schedule}, "cancels": {w.Cancels(), test.ended}} {
			if got := len(one.signal) == 1; got != one.want {
				t.Errorf("%+v: %s is woken: %v", test.wake, name, got)
			}
		}
	}
}

// TestPollsWithWakeUpsAreRare: what a lost wake-up may have been for decides how often a loop polls.
func TestPollsWithWakeUpsAreRare(t *testing.T) {
	const place = "a@host=web1"
	w := NewWakes([]string{"a", place}, time.Second, time.Minute, 0, RealAmbient{})
	for _, pushed := range []bool{true, false, true} {
		w.SetPushed(pushed)
		for name, one := range map[string]struct {
			turn *Turn
			want time.Duration
		}{"a queue": {w.JobTurn("a"), time.Minute}, "schedules": {w.ScheduleTurn(), 4 * time.Minute}, "a place": {w.JobTurn(place), 4 * time.Minute}} {
			if !pushed {
				one.want = time.Second
			}
			if got := one.turn.Interval(); got != one.want {
				t.Errorf("wake-ups %v: %s is polled every %v, want %v", pushed, name, got, one.want)
			}
		}
	}
}

func TestRetriesSlowDown(t *testing.T) {
	for n, want := range map[int]time.Duration{0: 50 * time.Millisecond, 1: 100 * time.Millisecond, 4: 800 * time.Millisecond, 5: time.Second, 1000: time.Second} {
		for chance, part := range map[float64]int{0: 90, 0.5: 100, 1: 110} {
			if got := RetryWait(n, chance); got != want*time.Duration(part)/100 {
				t.Errorf("before call %d: %v, want %d %% of %v", n, got, part, want)
			}
		}
	}
}
