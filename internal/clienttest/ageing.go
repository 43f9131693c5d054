package clienttest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// Ageing checks that a job of the last priority starts while jobs of the first priority need all workers all the time, if and only if
// its queue has an ageing (hourbell.Config.Ageing). options are of the worker of all these jobs.
func Ageing(t *testing.T, open Open, options ...hourbell.WorkerOption) {
	with(t, open, func(e *env) { ageing(e, options) })
}

func ageing(e *env, options []hourbell.WorkerOption) {
	const backlog, queue, bound = 30, "default", time.Second
	var client *hourbell.Client
	var first, last atomic.Int64 // jobs of these priorities that have begun
	workers := hourbell.NewWorkers()
	job := hourbell.RawArgs{Name: kind, JSON: []byte("1")}
	workers.Handle(kind, func(ctx context.Context, row *hourbell.JobRow) error {
		if row.Priority != store.FirstPriority {
			last.Add(1)
			return nil
		}
		first.Add(1)
		_, err := client.Enqueue(ctx, job, hourbell.Priority(store.FirstPriority)) // the backlog stays as long as it is
		time.Sleep(25 * time.Millisecond)                                          // so that the node claims few jobs in advance
		return err
	}, options...)
	client = e.newClient(e.backend, hourbell.Config{Workers: workers, Queues: map[string]int{queue: 2}})
	requests := make([]hourbell.Request, backlog)
	for i := range requests {
		requests[i] = hourbell.Request{Args: job, Options: []hourbell.Option{hourbell.Priority(store.FirstPriority)}}
	}
	_, err := client.EnqueueMany(e.Context(), requests)
	e.must(err)
	enqueueLast := func() hourbell.Enqueued {
		e.Helper()
		old, err := client.Enqueue(e.Context(), job, hourbell.Priority(store.LastPriority))
		e.must(err)
		return old
	}
	enqueueLast()
	e.start(client)
	e.eventually("each job of the first priority could have begun", func() bool { return first.Load() > backlog })
	if last.Load() > 0 {
		e.Fatal("a job of the last priority began before jobs of the first, without an ageing")
	}
	e.must(client.SetAgeing(queue, bound))
	e.eventually("the job of the last priority has begun", func() bool { return last.Load() == 1 })
	second := enqueueLast()
	e.eventually("a second job of the last priority has begun", func() bool { return last.Load() == 2 })
	info, err := client.Jobs.Get(e.Context(), second.ID)
	e.must(err)
	if waited := info.StartedAt.Sub(info.RunAt); waited < bound {
		e.Errorf("a job of the last priority began after %v, before jobs of the first, with an ageing of %v", waited, bound)
	} else {
		e.Logf("a job of the last priority began after %v", waited)
	}
	e.must(client.SetAgeing(queue, 0))
	begun := first.Load()
	e.eventually("claims under the ageing are over", func() bool { return first.Load() > begun+20 })
	enqueueLast()
	begun = first.Load()
	e.eventually("each job of the first priority could have begun again", func() bool { return first.Load() > begun+backlog })
	if last.Load() > 2 {
		e.Error("a job of the last priority began before jobs of the first after the ageing was removed")
	}
}
