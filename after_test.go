package hourbell_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// TestAfterOfTheCallIsNotShared gives several jobs of a call edges of their own besides the
// edges of the call, and a job so many edges that copies of all of them for each edge
// would take minutes.
func TestAfterOfTheCallIsNotShared(t *testing.T) {
	client, err := hourbell.New(memory.New(), hourbell.Config{})
	if err != nil {
		t.Fatal(err)
	}
	const n = 50_000
	requests := make([]hourbell.Request, n)
	for i := range requests {
		requests[i].Args = order(`{}`)
	}
	first, err := client.EnqueueMany(t.Context(), requests)
	if err != nil {
		t.Fatal(err)
	}
	var many []hourbell.Option
	for _, job := range first {
		many = append(many, hourbell.After(job.ID, hourbell.OnSuccess, 0))
	}
	began := time.Now()
	own := []hourbell.Request{{Args: order(`{}`), Options: many[3:4]}, {Args: order(`{}`), Options: many[4:5]}, {Args: order(`{}`), Options: many[3:]}}
	stored, err := client.EnqueueMany(t.Context(), own, many[:3]...)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("%d edges took %v", n, took)
	}
	for i, want := range []struct{ edges, last int }{{4, 3}, {4, 4}, {n, n - 1}} {
		job, err := client.Jobs.Get(t.Context(), stored[i].ID)
		if err != nil || len(job.After) != want.edges || job.After[want.edges-1].Job != first[want.last].ID {
			t.Errorf("job %d has %d edges: %v", i, len(job.After), err)
		}
	}
}

func TestEnqueueAfter(t *testing.T) {
	client, err := hourbell.New(memory.New(), hourbell.Config{})
	if err != nil {
		t.Fatal(err)
	}
	enqueue := func(options ...hourbell.Option) int64 {
		t.Helper()
		job, err := client.Enqueue(t.Context(), order(`{"a":1}`), options...)
		if err != nil {
			t.Fatal(err)
		}
		return job.ID
	}
	first, second := enqueue(), enqueue()
	all := enqueue(hourbell.After(first, hourbell.OnSuccess, 0), hourbell.After(second, hourbell.OnEither, 90*time.Minute))
	some := enqueue(hourbell.After(first, hourbell.OnFailure, 0), hourbell.After(second, hourbell.OnFailure, 0), hourbell.AfterAny())
	job, err := client.Jobs.Get(t.Context(), all)
	if err != nil || job.State != store.StateWaiting || len(job.After) != 2 || job.After[1].Delay != 90*time.Minute {
		t.Fatalf("%v, %+v", err, job)
	}
	reasons, err := client.Jobs.Waits(t.Context(), job)
	if want := "waits for job 1 (success), job 2 (either)"; err != nil || reasons[all] != want {
		t.Errorf("%v, %q, not %q", err, reasons[all], want)
	}
	if _, err := client.Jobs.Cancel(t.Context(), hourbell.JobFilter{IDs: []int64{first}}); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[int64]store.State{all: store.StateNotStarted, some: store.StateReady} {
		if job, err := client.Jobs.Get(t.Context(), id); err != nil || job.State != want {
			t.Errorf("job %d: %v, %v, not %v", id, err, job.State, want)
		}
	}
	for name, options := range map[string][]hourbell.Option{
		"number":  {hourbell.After(0, hourbell.OnSuccess, 0)},
		"outcome": {hourbell.After(first, 7, 0)},
		"delay":   {hourbell.After(first, hourbell.OnSuccess, -1)},
		"unknown": {hourbell.After(1000, hourbell.OnSuccess, 0)},
		"replace": {hourbell.After(first, hourbell.OnSuccess, 0), hourbell.Unique("x"), hourbell.OnConflict(hourbell.ReplaceOnConflict)},
		"twice":   {hourbell.After(first, hourbell.OnSuccess, 0), hourbell.After(first, hourbell.OnFailure, 0)},
	} {
		_, err := client.Enqueue(t.Context(), order(`{"a":1}`), options...)
		var field *check.FieldError
		if !errors.As(err, &field) || field.Field != "after" {
			t.Errorf("%s: %v", name, err)
		}
		if name == "unknown" && !errors.Is(err, hourbell.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAfterInTx enqueues jobs after jobs of the same transaction and after older jobs, by a client that requires
// transactions.
func TestAfterInTx(t *testing.T) {
	backend := memory.New()
	older, err := newClient(t, backend, hourbell.Config{}).Enqueue(t.Context(), order(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	client := newClient(t, backend, hourbell.Config{RequireTx: true})
	after := hourbell.After(older.ID, hourbell.OnSuccess, 0)
	if _, err := client.Enqueue(t.Context(), order(`{}`), after); !errors.Is(err, hourbell.ErrTxRequired) {
		t.Errorf("without a transaction: %v", err)
	}
	for _, commit := range []bool{false, true} {
		tx := backend.Begin()
		in := hourbell.InTx(tx)
		charge, err := client.Enqueue(t.Context(), order(`{"charge":1}`), in)
		if err != nil {
			t.Fatal(err)
		}
		ship, err := client.EnqueueMany(t.Context(), []hourbell.Request{
			{Args: order(`{"ship":1}`), Options: []hourbell.Option{hourbell.After(charge.ID, hourbell.OnSuccess, 0)}},
			{Args: order(`{"tell":1}`), Options: []hourbell.Option{hourbell.After(charge.ID, hourbell.OnFailure, 0), hourbell.UniqueArgs()}},
		}, after, in)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Enqueue(t.Context(), order(`{}`), in, hourbell.After(1000, hourbell.OnSuccess, 0)); !errors.Is(err, hourbell.ErrNotFound) {
			t.Errorf("an unknown predecessor: %v", err)
		}
		if !commit {
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
			if jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{}); err != nil || len(jobs) != 1 {
				t.Errorf("after a rollback: %+v, %v", jobs, err)
			}
			continue
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		job, err := client.Jobs.Get(t.Context(), ship[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		reasons, err := client.Jobs.Waits(t.Context(), job)
		if want := fmt.Sprintf("waits for job %d (success), job %d (success)", older.ID, charge.ID); err != nil || reasons[job.ID] != want {
			t.Errorf("%v, %q, not %q", err, reasons[job.ID], want)
		}
		if _, err := client.Jobs.Cancel(t.Context(), hourbell.JobFilter{IDs: []int64{charge.ID}}); err != nil {
			t.Fatal(err)
		}
		if job, err := client.Jobs.Get(t.Context(), ship[0].ID); err != nil || job.State != store.StateNotStarted {
			t.Errorf("after the cancellation of its predecessor the job is %v: %v", job.State, err)
		}
	}
}

// TestAfterWithUnique enqueues jobs with keys and predecessors; the second job of each key exists already.
func TestAfterWithUnique(t *testing.T) {
	client := newClient(t, memory.New(), hourbell.Config{})
	enqueue := func(args string, options ...hourbell.Option) hourbell.Enqueued {
		t.Helper()
		job, err := client.Enqueue(t.Context(), order(args), options...)
		if err != nil {
			t.Fatal(err)
		}
		return job
	}
	first, second := enqueue(`{}`), enqueue(`{}`)
	for name, key := range map[string]hourbell.Option{"unique": hourbell.Unique("k"), "unique args": hourbell.UniqueArgs("ship")} {
		made := enqueue(`{"ship":1}`, key, hourbell.After(first.ID, hourbell.OnSuccess, 0))
		again := enqueue(`{"ship":1}`, key, hourbell.After(second.ID, hourbell.OnSuccess, 0))
		if made.Existed || !again.Existed || again.ID != made.ID || again.Conflict != store.ConflictKept {
			t.Errorf("%s: %+v, then %+v", name, made, again)
		}
		if job, err := client.Jobs.Get(t.Context(), made.ID); err != nil || len(job.After) != 1 || job.After[0].Job != first.ID {
			t.Errorf("%s: %+v, %v", name, job.After, err)
		}
		_, err := client.Enqueue(t.Context(), order(`{"ship":1}`), key, hourbell.After(second.ID, hourbell.OnSuccess, 0), hourbell.OnConflict(hourbell.ErrorOnConflict))
		if !errors.Is(err, hourbell.ErrDuplicate) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func newClient(t *testing.T, backend store.Backend, cfg hourbell.Config) *hourbell.Client {
	t.Helper()
	client, err := hourbell.New(backend, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}
