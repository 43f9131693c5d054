package engine

import (
	"context"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

func TestPruneGoesOnInSmallBatches(t *testing.T) {
	backend := memory.New()
	n := startNode(t, backend, func(context.Context, *Run) error { return nil })
	ids := insert(t, backend, 25)
	waitUntil(t, "all completed", finished(t, backend, store.StateCompleted, ids...))
	n.stop()

	var told journal
	e := New(Config{Backend: backend, CallTimeout: time.Second, Sink: told.note, Keep: store.PruneRequest{Completed: time.Hour, Limit: 10}})
	if e.pruneOnce(t.Context()) || told.count(event.Pruned) != 0 {
		t.Fatal("it pruned what is to be kept")
	}
	e.cfg.Keep.Completed = time.Nanosecond
	rounds := 1
	for e.pruneOnce(t.Context()) {
		rounds++
	}
	if rounds != 3 || told.count(event.Pruned) != 3 {
		t.Errorf("25 jobs went in %d rounds, %d of them told", rounds, told.count(event.Pruned))
	}
	if left, _ := backend.ListJobs(t.Context(), store.ListJobsRequest{Limit: 100}); len(left) != 0 {
		t.Errorf("%d jobs are left", len(left))
	}
}
