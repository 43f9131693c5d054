package clienttest

import (
	"context"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

// errand is a job whose worker sends statements in its transaction and outside of it.
type errand struct{}

func (errand) Kind() string { return "errand" }

// SmallPool checks that workers with transactions do not wait for each other without end if each of them also needs a second
// connection, and the pool has fewer connections than the queue has workers. statement sends a statement on another connection of the pool.
func SmallPool[T any](t *testing.T, backend store.Backend, txs store.Transactions[T], statement func(ctx context.Context) error) {
	t.Parallel() // it waits most of the time
	const jobs = 30
	if pool, size := txs.Pool(); pool == nil || size < 2 || size > 4 {
		t.Fatalf("the pool has %d connections; this test needs a small pool", size)
	}
	e := &env{T: t, backend: backend}
	workers := hourbell.NewWorkers()
	hourbell.RegisterTx(workers, txs, func(ctx context.Context, _ *hourbell.Job[errand], _ T) error {
		time.Sleep(10 * time.Millisecond) // so that other workers have their transactions, too
		return statement(ctx)
	})
	client := e.newClient(backend, hourbell.Config{Workers: workers, Queues: map[string]int{"default": 8}})
	requests := make([]hourbell.Request, jobs)
	for i := range requests {
		requests[i] = hourbell.Request{Args: errand{}, Options: []hourbell.Option{hourbell.MaxAttempts(1)}}
	}
	_, err := client.EnqueueMany(t.Context(), requests)
	e.must(err)
	e.start(client)
	e.eventually("all jobs have completed", func() bool {
		counts := client.Events.Counts()
		if failed := counts[event.JobFailed]; failed > 0 {
			t.Fatalf("%d jobs failed", failed)
		}
		return counts[event.JobCompleted] == jobs
	})
}
