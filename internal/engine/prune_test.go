package engine

import (
	"context"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

func TestPruneGoesOnInSmallBatches(t *testing.T) {
	backend := memory.New()
	n := startNode(t, backend, func(context.Context, *work.Run) error { return nil })
	ids := insert(t, backend, 25)
	waitUntil(t, "all completed", finished(t, backend, store.StateCompleted, ids...))
	n.stop()

	var events journal
	p := New(Config{Backend: backend, CallTimeout: time.Second, Sink: events.note, Keep: store.PruneRequest{Completed: time.Hour, Limit: 10}}).pruner()
	if deleted, more := p.once(t.Context(), 10); deleted > 0 || more || events.count(event.Pruned) != 0 {
		t.Fatal("it pruned what is to be kept")
	}
	p.keep.Completed = time.Nanosecond
	rounds := 0
	for more := true; more; rounds++ {
		_, more = p.once(t.Context(), 10)
	}
	if rounds != 3 || events.count(event.Pruned) != 3 {
		t.Errorf("25 jobs went in %d rounds, %d of them with an event", rounds, events.count(event.Pruned))
	}
	if left, _ := backend.ListJobs(t.Context(), store.ListJobsRequest{Limit: 100}); len(left) != 0 {
		t.Errorf("%d jobs are left", len(left))
	}
}

// slowPrune is a store in which deleting a row takes a while.
type slowPrune struct {
	store.Backend
	left    int
	perRow  time.Duration
	longest time.Duration
	steps   int
}

func (s *slowPrune) Prune(_ context.Context, req store.PruneRequest) (store.PruneResult, error) {
	n := min(req.Limit, s.left)
	took := time.Duration(n) * s.perRow
	time.Sleep(took)
	s.left -= n
	if s.steps++; s.steps > 1 { // the first step does not know the store yet and may take longer
		s.longest = max(s.longest, took)
	}
	return store.PruneResult{Jobs: n, More: n == req.Limit}, nil
}

// TestPruneStepsAreBoundedInTime checks that the number of deleted rows follows the time that
// deleting takes, and that pauses take most of the time.
func TestPruneStepsAreBoundedInTime(t *testing.T) {
	for name, perRow := range map[string]time.Duration{"fast": 2 * time.Microsecond, "slow": 400 * time.Microsecond} {
		t.Run(name, func(t *testing.T) {
			s := &slowPrune{left: 10_000, perRow: perRow}
			if name == "slow" {
				s.left = 500
			}
			e := New(Config{Backend: s, CallTimeout: time.Minute, Sink: new(journal).note, Keep: store.PruneRequest{Completed: time.Hour, Limit: 1000}})
			var rested, least time.Duration
			e.pruner().all(t.Context(), func(_ context.Context, d time.Duration) error {
				rested, least = rested+d, max(least, d)
				return nil
			})
			if s.left != 0 {
				t.Fatalf("%d rows are left", s.left)
			}
			if s.longest > pruneAim {
				t.Errorf("a step of %v was asked for", s.longest)
			}
			if name == "fast" && s.steps > 16 {
				t.Errorf("%d steps for 10,000 rows of a fast store", s.steps)
			}
			if name == "slow" && rested < (pruneShare-1)*200*time.Millisecond {
				t.Errorf("%v of pauses for 200ms of work", rested)
			}
		})
	}
}

// TestPruneIsRareWhileThereIsNothing: rounds that delete nothing come less often, and the first that deletes something ends that.
func TestPruneIsRareWhileThereIsNothing(t *testing.T) {
	wait := pruneEvery
	for _, want := range []time.Duration{2 * time.Minute, 4 * time.Minute, 4 * time.Minute} {
		if wait = nextPrune(wait, false); wait != want {
			t.Errorf("the pause is %v, want %v", wait, want)
		}
	}
	if wait = nextPrune(wait, true); wait != time.Minute {
		t.Errorf("the pause after a deletion is %v", wait)
	}
}
