package hourbell_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// effect is a job that a worker enqueues in its transaction. No node runs it.
var effect = hourbell.RawArgs{Name: "effect"}

// txCase is a worker whose one attempt runs in a transaction.
type txCase struct {
	name    string
	work    func(ctx context.Context, job *hourbell.Job[Note]) error
	options []hourbell.Option
	change  func(*hourbell.Config)
	cancel  bool // cancel the job while it runs
	want    store.State
	reason  string // part of the reason
	effects int
}

// check runs the case. The worker gets a transaction in which it has enqueued an
// effect already.
func (tc txCase) check(t *testing.T, register func(c *cluster, client func() *hourbell.Client, workers *hourbell.Workers)) {
	t.Helper()
	c := newCluster(t)
	var client *hourbell.Client
	workers := hourbell.NewWorkers()
	register(c, func() *hourbell.Client { return client }, workers)
	client = c.client(workers, func(cfg *hourbell.Config) {
		cfg.Lease = 2 * time.Second
		if tc.change != nil {
			tc.change(cfg)
		}
	})
	job, err := client.Enqueue(t.Context(), Note{}, append([]hourbell.Option{hourbell.MaxAttempts(1)}, tc.options...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer c.run(client)()
	if tc.cancel {
		eventually(t, "the job runs", func() bool { return state(t, client, job.ID) == store.StateRunning })
		time.Sleep(20 * time.Millisecond)
		if _, err := client.Jobs.Cancel(t.Context(), hourbell.JobFilter{IDs: []int64{job.ID}}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the job has ended", func() bool { return state(t, client, job.ID).Finished() })
	info, err := client.Jobs.Get(t.Context(), job.ID)
	if err != nil {
		t.Fatal(err)
	}
	if info.State != tc.want || !strings.Contains(info.Reason, tc.reason) {
		t.Errorf("the job is %v, %q; want %v, %q", info.State, info.Reason, tc.want, tc.reason)
	}
	if n := effects(t, client); n != tc.effects {
		t.Errorf("%d effects, want %d", n, tc.effects)
	}
	want := map[store.State]event.Kind{store.StateCompleted: event.JobCompleted, store.StateFailed: event.JobFailed, store.StateCancelled: event.JobCancelled}
	eventually(t, "the event of its end", func() bool { return client.Events.Counts()[want[tc.want]] == 1 })
}

// effects returns how many effects were committed.
func effects(t *testing.T, client *hourbell.Client) int {
	t.Helper()
	jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{Kind: "effect"})
	if err != nil {
		t.Fatal(err)
	}
	return len(jobs)
}

func TestRegisterTx(t *testing.T) {
	wait := func(ctx context.Context, _ *hourbell.Job[Note]) error { <-ctx.Done(); return nil }
	broken := errors.New("broken")
	for _, tc := range []txCase{
		{name: "nil", work: func(context.Context, *hourbell.Job[Note]) error { return nil }, want: store.StateCompleted, effects: 1},
		{name: "error", work: func(context.Context, *hourbell.Job[Note]) error { return broken }, want: store.StateFailed, reason: "broken"},
		{name: "panic", work: func(context.Context, *hourbell.Job[Note]) error { panic("oops") }, want: store.StateFailed, reason: "oops"},
		{name: "goexit", work: func(context.Context, *hourbell.Job[Note]) error { runtime.Goexit(); return nil }, want: store.StateFailed, reason: "ended its goroutine"},
		{name: "fail", work: func(context.Context, *hourbell.Job[Note]) error { return hourbell.Fail(broken) }, options: []hourbell.Option{hourbell.MaxAttempts(9)}, want: store.StateFailed, reason: "broken"},
		{name: "cancel itself", work: func(context.Context, *hourbell.Job[Note]) error { return hourbell.Cancel(broken) }, want: store.StateCancelled, reason: "broken"},
		{name: "timeout", work: wait, options: []hourbell.Option{hourbell.Timeout(50 * time.Millisecond)}, want: store.StateFailed, reason: "timeout"},
		{name: "tx timeout", work: wait, change: func(cfg *hourbell.Config) { cfg.TxTimeout = 50 * time.Millisecond }, want: store.StateFailed, reason: "TxTimeout"},
		{name: "cancelled", work: wait, cancel: true, want: store.StateCancelled},
		{
			name: "output", work: func(_ context.Context, job *hourbell.Job[Note]) error { job.SetOutput([]byte("said")); return nil },
			want: store.StateCompleted, effects: 1,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.check(t, func(c *cluster, client func() *hourbell.Client, workers *hourbell.Workers) {
				hourbell.RegisterTx(workers, memory.Transactions(c.store), func(ctx context.Context, job *hourbell.Job[Note], tx *memory.Tx) error {
					if _, err := client().Enqueue(ctx, effect, hourbell.InTx(tx), hourbell.Queue("effects")); err != nil {
						return err
					}
					return tc.work(ctx, job)
				})
			})
		})
	}
}

// TestASuccessorGetsTheKey: a worker of RegisterTx enqueues its successor with its own key; the last of them none.
func TestASuccessorGetsTheKey(t *testing.T) {
	c := newCluster(t)
	var client *hourbell.Client
	workers := hourbell.NewWorkers()
	hourbell.RegisterTx(workers, memory.Transactions(c.store), func(ctx context.Context, job *hourbell.Job[Note], tx *memory.Tx) error {
		if job.ID >= 3 {
			return nil
		}
		next, err := client.Enqueue(ctx, Note{}, hourbell.Unique("key"), hourbell.InTx(tx))
		if err == nil && next.Existed {
			err = errors.New("the successor is not stored")
		}
		return err
	})
	client = c.client(workers)
	if _, err := client.Enqueue(t.Context(), Note{}, hourbell.Unique("key"), hourbell.MaxAttempts(1)); err != nil {
		t.Fatal(err)
	}
	defer c.run(client)()
	eventually(t, "three jobs completed", func() bool {
		jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{States: []store.State{store.StateCompleted}})
		return err == nil && len(jobs) == 3
	})
}

func TestCompleteByHand(t *testing.T) {
	broken := errors.New("broken")
	for _, tc := range []struct {
		txCase
		end func(tx *memory.Tx) error // after Complete
	}{
		{txCase{name: "committed", want: store.StateCompleted, effects: 1}, func(tx *memory.Tx) error { return tx.Commit() }},
		{txCase{name: "committed, then an error", want: store.StateCompleted, effects: 1}, func(tx *memory.Tx) error { return errors.Join(tx.Commit(), broken) }},
		{txCase{name: "committed, then a panic", want: store.StateCompleted, effects: 1}, func(tx *memory.Tx) error { _ = tx.Commit(); panic("oops") }},
		{txCase{name: "rolled back", want: store.StateFailed, reason: "not committed"}, func(tx *memory.Tx) error { return tx.Rollback() }},
		{txCase{name: "rolled back, then an error", want: store.StateFailed, reason: "broken"}, func(tx *memory.Tx) error { return errors.Join(tx.Rollback(), broken) }},
		{txCase{name: "committed after the return", want: store.StateCompleted, effects: 1}, func(tx *memory.Tx) error {
			time.AfterFunc(100*time.Millisecond, func() { _ = tx.Commit() })
			return nil
		}},
		{txCase{name: "rolled back after the return", want: store.StateFailed, reason: "not committed"}, func(tx *memory.Tx) error {
			time.AfterFunc(100*time.Millisecond, func() { _ = tx.Rollback() })
			return nil
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.check(t, func(c *cluster, client func() *hourbell.Client, workers *hourbell.Workers) {
				hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[Note]) error {
					tx := c.store.Begin()
					if _, err := client().Enqueue(ctx, effect, hourbell.InTx(tx), hourbell.Queue("effects")); err != nil {
						return err
					}
					if err := job.Complete(ctx, tx); err != nil {
						return err
					}
					return tc.end(tx)
				})
			})
		})
	}
}

// uncertain is a memory store whose commits of completions get no answer.
type uncertain struct {
	*memory.Store
	commits     bool // the commit happens
	lostAnswers atomic.Int64
	blind       atomic.Int64 // how many look-ups fail first
}

func (u *uncertain) Finish(ctx context.Context, req store.FinishRequest) (store.FinishResult, error) {
	if !req.Commit || u.lostAnswers.Add(-1) < 0 {
		return u.Store.Finish(ctx, req)
	}
	if u.commits {
		if _, err := u.Store.Finish(ctx, req); err != nil {
			return store.FinishResult{}, err
		}
	}
	return store.FinishResult{}, fmt.Errorf("finish: %w: the connection broke", store.ErrUnknown)
}

func (u *uncertain) FindClaim(ctx context.Context, ref store.ClaimRef) (store.ClaimState, error) {
	if u.blind.Add(-1) >= 0 {
		return 0, errors.New("the store is away")
	}
	return u.Store.FindClaim(ctx, ref)
}

// TestAnUnknownCommitIsLookedUp loses the answer to a commit that happened, and to
// a commit that did not.
func TestAnUnknownCommitIsLookedUp(t *testing.T) {
	for _, commits := range []bool{true, false} {
		t.Run(fmt.Sprint(commits), func(t *testing.T) {
			u := &uncertain{Store: memory.New(), commits: commits}
			u.lostAnswers.Store(1)
			u.blind.Store(3)
			c := &cluster{t: t, store: u.Store}
			workers := hourbell.NewWorkers()
			var client *hourbell.Client
			attempts := 0
			hourbell.RegisterTx(workers, memory.Transactions(u.Store), func(ctx context.Context, job *hourbell.Job[Note], tx *memory.Tx) error {
				attempts = job.Attempt
				_, err := client.Enqueue(ctx, effect, hourbell.InTx(tx), hourbell.Queue("effects"))
				return err
			})
			var err error
			client, err = hourbell.New(u, hourbell.Config{Workers: workers, Lease: 2 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			job, err := client.Enqueue(t.Context(), Note{})
			if err != nil {
				t.Fatal(err)
			}
			stop := c.run(client)
			eventually(t, "the job has ended", func() bool { return state(t, client, job.ID).Finished() })
			eventually(t, "the event", func() bool { return client.Events.Counts()[event.JobCompleted] == 1 })
			stop()
			want := 1
			if !commits {
				want = 2
			}
			if n := effects(t, client); n != 1 || attempts != want || state(t, client, job.ID) != store.StateCompleted {
				t.Errorf("%d effects after %d attempts (want 1 after %d), state %v", n, attempts, want, state(t, client, job.ID))
			}
		})
	}
}

// TestALostClaimRollsBack takes the job away while the worker runs.
func TestALostClaimRollsBack(t *testing.T) {
	c := newCluster(t)
	workers := hourbell.NewWorkers()
	var client *hourbell.Client
	var errs []error
	hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[Note]) error {
		if job.Attempt > 1 {
			return nil
		}
		tx := c.store.Begin()
		if _, err := client.Enqueue(ctx, effect, hourbell.InTx(tx), hourbell.Queue("effects")); err != nil {
			return err
		}
		take(t, c.store, job.ID)
		// Without the attempt's end, because the node may have noticed by now that the claim is lost.
		errs = append(errs, job.Complete(context.WithoutCancel(ctx), tx), tx.Commit())
		return errs[0]
	})
	client = c.client(workers, func(cfg *hourbell.Config) { cfg.Lease = time.Minute })
	job, err := client.Enqueue(t.Context(), Note{})
	if err != nil {
		t.Fatal(err)
	}
	stop := c.run(client)
	eventually(t, "the claim is reported lost", func() bool { return client.Events.Counts()[event.ClaimLost] == 1 })
	stop()
	if !errors.Is(errs[0], hourbell.ErrClaimLost) || !errors.Is(errs[1], hourbell.ErrTxEnded) {
		t.Errorf("Complete: %v; Commit: %v", errs[0], errs[1])
	}
	if n := effects(t, client); n != 0 {
		t.Errorf("%d effects of job %d, whose claim was lost", n, job.ID)
	}
}

// take lets another node take a running job.
func take(t *testing.T, s *memory.Store, job int64) {
	t.Helper()
	later := time.Now().Add(time.Hour)
	other, err := s.Register(t.Context(), store.RegisterRequest{Now: later, Name: "other", Lease: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Rescue(t.Context(), store.RescueRequest{Now: later, Node: other.Node}); err != nil {
		t.Fatal(err)
	}
	claimed, err := s.Claim(t.Context(), store.ClaimRequest{Now: later.Add(time.Hour), Node: other.Node, Queue: "default", Kinds: []string{"note"}, Limit: 1})
	if err != nil || len(claimed.Jobs) != 1 || claimed.Jobs[0].ID != job {
		t.Fatalf("claimed %v, %v", claimed.Jobs, err)
	}
}

func TestRequireTx(t *testing.T) {
	c := newCluster(t)
	free := c.client(nil)
	if _, err := free.Schedules.Put(t.Context(), hourbell.Schedule{Name: "s", Rule: recur.Every(time.Hour), Job: Note{}}); err != nil {
		t.Fatal(err)
	}
	client := c.client(nil, func(cfg *hourbell.Config) { cfg.RequireTx = true })
	for name, call := range map[string]func() error{
		"enqueue":    func() error { _, err := client.Enqueue(t.Context(), Note{}); return err },
		"with a key": func() error { _, err := client.Enqueue(t.Context(), Note{}, hourbell.Unique("k")); return err },
		"enqueue many": func() error {
			_, err := client.EnqueueMany(t.Context(), []hourbell.Request{{Args: Note{}}})
			return err
		},
		"trigger": func() error { _, err := client.Schedules.Trigger(t.Context(), "s"); return err },
		"run once": func() error {
			_, err := client.Schedules.RunOnce(t.Context(), hourbell.Schedule{Name: "x", Job: Note{}})
			return err
		},
		"backfill": func() error {
			_, err := client.Schedules.Backfill(t.Context(), "s", hourbell.BackfillRequest{From: time.Now().Add(-3 * time.Hour), To: time.Now()})
			return err
		},
	} {
		if err := call(); !errors.Is(err, hourbell.ErrTxRequired) {
			t.Errorf("%s: %v, want ErrTxRequired", name, err)
		}
	}
	if jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{}); err != nil || len(jobs) != 0 {
		t.Errorf("%d jobs were made: %v", len(jobs), err)
	}
	tx := c.store.Begin()
	if _, err := client.Enqueue(t.Context(), Note{}, hourbell.InTx(tx)); err != nil {
		t.Error(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Enqueue(t.Context(), Note{}, hourbell.InTx(tx)); !errors.Is(err, hourbell.ErrTxEnded) {
		t.Errorf("in a transaction that has ended: %v", err)
	}
	if _, err := client.Enqueue(t.Context(), Note{}, hourbell.InTx(memory.New().Begin())); !errors.Is(err, hourbell.ErrForeignTx) {
		t.Errorf("in a transaction of another store: %v", err)
	}
}

func TestMistakesWithTransactions(t *testing.T) {
	workers := hourbell.NewWorkers()
	hourbell.RegisterTx[Note, *memory.Tx](workers, nil, nil)
	for _, cfg := range []hourbell.Config{
		{Workers: workers},
		{TxTimeout: time.Millisecond},
		{TxTimeout: -1},
	} {
		if _, err := hourbell.New(memory.New(), cfg); err == nil {
			t.Errorf("accepted: %+v", cfg)
		}
	}
	if err := new(hourbell.JobRow).Complete(t.Context(), memory.New().Begin()); err == nil {
		t.Error("a job without a claim was completed")
	}
}
