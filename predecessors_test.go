package hourbell_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// TestPredecessors reads the results of predecessors, one of a kind that keeps nothing, one that left
// no result, and one that was deleted.
func TestPredecessors(t *testing.T) {
	type answer struct {
		predecessors []hourbell.Predecessor
		sum          int
		err          error
	}
	answers := make(chan answer, 1)
	workers := hourbell.NewWorkers()
	workers.Handle("number", func(ctx context.Context, job *hourbell.JobRow) error {
		if got, err := job.Predecessors(ctx); job.Follows() || len(got) > 0 || err != nil {
			return hourbell.Fail(fmt.Errorf("a job without predecessors has %v, %v", got, err))
		}
		return job.SetResult(job.ID)
	}, hourbell.KeepFor(hourbell.Keep{Completed: hourbell.KeepNone}))
	workers.Handle("none", func(context.Context, *hourbell.JobRow) error { return nil })
	workers.Handle("sum", func(ctx context.Context, job *hourbell.JobRow) error {
		var a answer
		a.predecessors, a.err = job.Predecessors(ctx)
		for _, p := range a.predecessors {
			var n int
			if p.Decode(&n) == nil {
				a.sum += n
			}
		}
		if len(job.Headers) > 0 {
			a.err = fmt.Errorf("a worker sees Hourbell's own headers: %v", job.Headers)
		}
		answers <- a
		return nil
	})
	client, err := hourbell.New(memory.New(), hourbell.Config{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	raw := func(kind string) hourbell.RawArgs { return hourbell.RawArgs{Name: kind} }
	gone, err := client.Enqueue(t.Context(), raw("never"))
	if err != nil {
		t.Fatal(err)
	}
	success := hourbell.GraphEdge{}
	out, err := client.EnqueueGraph(t.Context(), hourbell.Graph{Jobs: map[string]hourbell.GraphJob{
		"a": {Args: raw("number")}, "b": {Args: raw("number")}, "c": {Args: raw("none")},
		"d": {Args: raw("sum"), After: map[string]hourbell.GraphEdge{"a": success, "b": success, "c": success}, Options: []hourbell.Option{hourbell.After(gone.ID, hourbell.OnFailure, 0)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Jobs.Delete(t.Context(), hourbell.JobFilter{IDs: []int64{gone.ID}}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- client.Run(ctx) }()
	defer func() { stop(); <-ended }()
	select {
	case got := <-answers:
		want := []hourbell.Predecessor{
			{ID: gone.ID},
			{ID: out.IDs["a"], Name: "a", Kind: "number", State: store.StateCompleted, Result: []byte(fmt.Sprint(out.IDs["a"]))},
			{ID: out.IDs["b"], Name: "b", Kind: "number", State: store.StateCompleted, Result: []byte(fmt.Sprint(out.IDs["b"]))},
			{ID: out.IDs["c"], Name: "c", Kind: "none", State: store.StateCompleted},
		}
		if got.err != nil || fmt.Sprint(got.predecessors) != fmt.Sprint(want) || got.sum != int(out.IDs["a"]+out.IDs["b"]) {
			t.Errorf("got %v, %d, %v, not %v", got.predecessors, got.sum, got.err, want)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the last job did not run")
	}
	if _, err := client.Jobs.Predecessors(t.Context(), 999); !errors.Is(err, hourbell.ErrNotFound) {
		t.Error(err)
	}
}
