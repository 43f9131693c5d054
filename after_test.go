package hourbell_test

import (
	"errors"
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
		"key":     {hourbell.After(first, hourbell.OnSuccess, 0), hourbell.Unique("x")},
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
