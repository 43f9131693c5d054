package hourbell_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// TestAGraphGrows runs a graph whose first job adds jobs to it; the last job runs after
// all of them, although their kinds keep nothing.
func TestAGraphGrows(t *testing.T) {
	var client *hourbell.Client
	done := make(chan int64, 1)
	workers := hourbell.NewWorkers()
	none := hourbell.KeepFor(hourbell.Keep{Completed: hourbell.KeepNone})
	workers.Handle("start", func(ctx context.Context, job *hourbell.JobRow) error {
		more := hourbell.Request{Args: hourbell.RawArgs{Name: "more"}}
		_, err := client.EnqueueMany(ctx, []hourbell.Request{more, more}, hourbell.InBatch(job.Batch))
		return err
	}, none)
	workers.Handle("more", func(context.Context, *hourbell.JobRow) error { return nil }, none)
	workers.Handle("last", func(_ context.Context, job *hourbell.JobRow) error { done <- job.Batch; return nil })
	var err error
	client, err = hourbell.New(memory.New(), hourbell.Config{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- client.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	out, err := client.EnqueueBatch(t.Context(), []hourbell.Request{{Args: hourbell.RawArgs{Name: "start"}}}, &hourbell.Finally{Args: hourbell.RawArgs{Name: "last"}})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case id := <-done:
		if id != out.Batch {
			t.Errorf("the last job has batch %d, not %d", id, out.Batch)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the last job did not run")
	}
	b, err := client.Batches.Get(t.Context(), out.Batch)
	if err != nil || b.Counts[store.StateCompleted] != 3 || b.Finally != out.Finally {
		t.Errorf("%+v, %v", b, err)
	}
}

// TestTheLastJobOfABatch: a batch and a graph may consist of their last jobs, and a cancel by a
// condition leaves last jobs alone, whatever the condition is.
func TestTheLastJobOfABatch(t *testing.T) {
	client, err := hourbell.New(memory.New(), hourbell.Config{})
	if err != nil {
		t.Fatal(err)
	}
	state := func(id int64) store.State {
		t.Helper()
		job, err := client.Jobs.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return job.State
	}
	last := &hourbell.Finally{Args: order(`{}`)}
	batch, err := client.EnqueueBatch(t.Context(), nil, last)
	if err != nil || len(batch.Jobs) != 0 || state(batch.Finally) != store.StateReady {
		t.Errorf("an empty batch: %+v, %v", batch, err)
	}
	graph, err := client.EnqueueGraph(t.Context(), hourbell.Graph{Finally: last})
	if err != nil || len(graph.IDs) != 0 || state(graph.Finally) != store.StateReady {
		t.Errorf("an empty graph: %+v, %v", graph, err)
	}
	last = &hourbell.Finally{Args: order(`{}`), On: hourbell.FinallyAlways}
	for name, cancel := range map[string]func(batch int64) (hourbell.JobChanges, error){
		"batch": func(batch int64) (hourbell.JobChanges, error) {
			return client.Jobs.Cancel(t.Context(), hourbell.JobFilter{Batch: batch})
		},
		"group": func(int64) (hourbell.JobChanges, error) { return client.Groups.Cancel(t.Context(), "g") },
		"kind": func(int64) (hourbell.JobChanges, error) {
			return client.Jobs.Cancel(t.Context(), hourbell.JobFilter{Kind: order(``).Kind()})
		},
		"all": func(int64) (hourbell.JobChanges, error) {
			return client.Jobs.Cancel(t.Context(), hourbell.JobFilter{All: true})
		},
	} {
		out, err := client.EnqueueBatch(t.Context(), []hourbell.Request{{Args: order(`{}`)}}, last, hourbell.Group("g"))
		if err != nil {
			t.Fatal(err)
		}
		changes, err := cancel(out.Batch)
		if err != nil || changes.Changed != 1 || state(out.Finally) != store.StateReady {
			t.Errorf("%s: %+v, %v; the last job is %v", name, changes, err, state(out.Finally))
		}
		if changes, err = client.Jobs.Cancel(t.Context(), hourbell.JobFilter{IDs: []int64{out.Finally}}); err != nil || changes.Changed != 1 {
			t.Errorf("%s: by its number: %+v, %v", name, changes, err)
		}
	}
}

func TestBatchesAreRefused(t *testing.T) {
	client, err := hourbell.New(memory.New(), hourbell.Config{})
	if err != nil {
		t.Fatal(err)
	}
	one := []hourbell.Request{{Args: order(`{}`)}}
	last := &hourbell.Finally{Args: order(`{}`)}
	for name, call := range map[string]func() error{
		"empty":       func() error { _, err := client.EnqueueBatch(t.Context(), nil, nil); return err },
		"empty graph": func() error { _, err := client.EnqueueGraph(t.Context(), hourbell.Graph{}); return err },
		"outcome": func() error {
			_, err := client.EnqueueBatch(t.Context(), one, &hourbell.Finally{Args: order(`{}`), On: "x"})
			return err
		},
		"args": func() error { _, err := client.EnqueueBatch(t.Context(), one, &hourbell.Finally{}); return err },
		"after": func() error {
			_, err := client.EnqueueBatch(t.Context(), one, &hourbell.Finally{Args: order(`{}`), Options: []hourbell.Option{hourbell.After(1, 0, 0)}})
			return err
		},
		"last of old": func() error { _, err := client.EnqueueBatch(t.Context(), one, last, hourbell.InBatch(1)); return err },
		"number":      func() error { _, err := client.Enqueue(t.Context(), order(`{}`), hourbell.InBatch(-1)); return err },
		"one of many": func() error {
			_, err := client.EnqueueMany(t.Context(), []hourbell.Request{{Args: order(`{}`), Options: []hourbell.Option{hourbell.InBatch(1)}}})
			return err
		},
		"transaction": func() error {
			_, err := client.Enqueue(t.Context(), order(`{}`), hourbell.InBatch(1), hourbell.InTx(memory.New().Begin()))
			return err
		},
		"key": func() error {
			_, err := client.Enqueue(t.Context(), order(`{}`), hourbell.InBatch(1), hourbell.Unique("k"))
			return err
		},
		"name": func() error {
			_, err := client.EnqueueGraph(t.Context(), hourbell.Graph{Finally: last, Jobs: map[string]hourbell.GraphJob{"finally": {Args: order(`{}`)}}})
			return err
		},
		"filter":  func() error { _, err := client.Jobs.List(t.Context(), hourbell.JobFilter{Batch: -1}); return err },
		"unknown": func() error { _, err := client.Enqueue(t.Context(), order(`{}`), hourbell.InBatch(9)); return err },
	} {
		var field *check.FieldError
		if err := call(); !errors.As(err, &field) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n, err := client.Jobs.Count(t.Context(), hourbell.JobFilter{}); n != 0 || err != nil {
		t.Errorf("%d jobs are stored, %v", n, err)
	}
	if _, err := client.Batches.Get(t.Context(), 1); !errors.Is(err, hourbell.ErrNotFound) {
		t.Error(err)
	}
}
