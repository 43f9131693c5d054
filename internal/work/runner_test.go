package work

import (
	"context"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// newNode returns a registered node that sends heartbeats only while Live runs.
func newNode(t *testing.T, lease time.Duration, sink event.Sink) *node.Node {
	t.Helper()
	if sink == nil {
		sink = func(event.Event) {}
	}
	n := node.New(node.Config{
		Store: memory.New(), Sink: sink, Wakes: loop.NewWakes(nil, time.Second, time.Second, 0, loop.RealAmbient{}), Claims: NewInFlight(),
		Name: t.Name(), Lease: lease, Heartbeat: time.Second, CallTimeout: time.Second,
	})
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return n
}

// newRunner returns a runner of a node; nil: of a node of its own.
func newRunner(t *testing.T, n *node.Node, cfg Config) *Runner {
	t.Helper()
	if n == nil {
		n = newNode(t, time.Minute, nil)
	}
	cfg.Node, cfg.InFlight, cfg.Wakes = n, NewInFlight(), loop.NewWakes(nil, time.Second, time.Second, 0, loop.RealAmbient{})
	cfg.Timeout = func(store.Claimed) time.Duration { return 0 }
	return New(cfg)
}

func TestWhatIsUnknownForLongIsHandedBackOnce(t *testing.T) {
	var u unknownClaims
	a, b := store.ClaimRef{ID: 1}, store.ClaimRef{ID: 2}
	const patience = 10 * time.Second
	for _, step := range []struct {
		at      time.Duration
		unknown []store.ClaimRef
		ripe    int
	}{
		{0, []store.ClaimRef{a}, 0},
		{10 * time.Second, []store.ClaimRef{a, b}, 0},
		{11 * time.Second, []store.ClaimRef{a, b}, 1},
		{12 * time.Second, []store.ClaimRef{a, b}, 0}, // the release of a is on its way
		{15 * time.Second, []store.ClaimRef{a}, 0},    // b was in a call in progress
		{16 * time.Second, []store.ClaimRef{b}, 0},    // and is unknown again
		{25 * time.Second, []store.ClaimRef{b}, 0},
		{27 * time.Second, []store.ClaimRef{b}, 1},
	} {
		if got := u.ripe(step.unknown, loop.Instant(step.at), patience); len(got) != step.ripe {
			t.Errorf("at %v: %v", step.at, got)
		}
	}
}

func TestTwoOutcomesOfOneJobNeverMeet(t *testing.T) {
	o := newOutcomes(nil, 0, nil, nil, nil)
	for token := range int64(3) {
		o.put(result{outcome: store.Outcome{ID: 7, Token: token}})
		o.put(result{outcome: store.Outcome{ID: 8 + token, Token: token}})
	}
	var sizes []int
	for batch := o.take(nil); len(batch) > 0; batch = o.take(nil) {
		sizes = append(sizes, len(batch))
		o.done(batch)
	}
	if len(sizes) != 3 || sizes[0] != 2 || sizes[1] != 2 || sizes[2] != 2 {
		t.Errorf("batches of %v", sizes)
	}
}

func TestASecondBatchIsBegunOnlyWhenItIsFull(t *testing.T) {
	o := newOutcomes(nil, 0, nil, nil, nil)
	put := func(from, n int) {
		for id := from; id < from+n; id++ {
			o.put(result{outcome: store.Outcome{ID: int64(id)}})
		}
	}
	put(0, 1)
	first := o.take(nil)
	put(1, maxOutcomes-1)
	if len(first) != 1 || o.take(nil) != nil {
		t.Fatalf("a first batch of %d, then another though it was not full", len(first))
	}
	put(maxOutcomes, 1)
	second := o.take(nil)
	if len(second) != maxOutcomes || o.backlog() != maxOutcomes+1 {
		t.Fatalf("a second batch of %d, backlog %d", len(second), o.backlog())
	}
	if put(5000, maxOutcomes); o.putBack(second) != 0 || o.take(nil) != nil {
		t.Error("after a failure, a second batch was begun")
	}
	o.done(first)
	if third := o.take(nil); len(third) == 0 || o.backlog() != 2*maxOutcomes {
		t.Errorf("a third batch of %d, backlog %d", len(third), o.backlog())
	}
}

func TestAJobCancelledBeforeItBeginsDoesNotBegin(t *testing.T) {
	r := newRunner(t, nil, Config{Work: func(context.Context, *Run) error {
		t.Error("it began")
		return nil
	}})
	run := &Run{Claimed: store.Claimed{ID: 1, Token: 1}, sessionCtx: t.Context()}
	run.requestCancel()
	r.execute(run)
	if got := r.outcomes.take(nil); len(got) != 1 || got[0].outcome.Result != store.Cancelled {
		t.Errorf("outcome: %+v", got)
	}
}

func TestARunIsNotHeldByALaterLease(t *testing.T) {
	if left, lease := new(Run).HeldFor(); left != 0 || lease != 0 {
		t.Errorf("a run without a claim: %v of %v", left, lease)
	}
	n := newNode(t, time.Minute, nil)
	_, ctx, _ := n.Session()
	run := &Run{sessionCtx: ctx, node: n}
	if left, lease := run.HeldFor(); left < 50*time.Second || left > 54*time.Second || lease != time.Minute {
		t.Errorf("%v of %v are left", left, lease)
	}
	lost, lose := context.WithCancelCause(t.Context())
	run.sessionCtx = lost
	lose(node.ErrClaimLost)
	if left, _ := run.HeldFor(); left != 0 {
		t.Errorf("%v are left of a lost claim, though the node has a lease again", left)
	}
}

// TestNothingStartsAfterTheLease stops the node between a claim and the start of its jobs, for
// longer than the lease. The contexts of the jobs have not ended yet.
func TestNothingStartsAfterTheLease(t *testing.T) {
	for name, lease := range map[string]time.Duration{"in time": time.Minute, "too late": 500 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			var ran, lost int
			n := newNode(t, lease, func(ev event.Event) {
				if ev.Kind == event.LeaseLost {
					lost++
				}
			})
			r := newRunner(t, n, Config{Work: func(context.Context, *Run) error { ran++; return nil }})
			_, session, ok := n.Session()
			if !ok {
				t.Fatal("the lease is not trusted")
			}
			time.Sleep(520 * time.Millisecond)
			if session.Err() != nil {
				t.Fatal("the context ended before a job could begin")
			}
			r.execute(&Run{Claimed: store.Claimed{JobSpec: store.JobSpec{MaxAttempts: 3}, ID: 1, Token: 2, Attempt: 1}, sessionCtx: session, node: n})
			late := lease < time.Minute
			if (ran == 0) != late || (lost == 1) != late || (session.Err() != nil) != late {
				t.Errorf("it ran %d times, the lease was reported lost %d times, its context: %v", ran, lost, session.Err())
			}
			if got := r.outcomes.waiting[0].outcome.Result; (got == store.Release) != late {
				t.Errorf("the outcome is %d", got)
			}
		})
	}
}
