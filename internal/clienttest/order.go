package clienttest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

const (
	failing = 10_000
	fresh   = 40
	// most is how long a fresh job may wait, in one of the rounds, on a machine that
	// keeps up with the failing jobs: one that runs keepsUp of them a second.
	most    = time.Second
	keepsUp = 0.8 * failing
	rounds  = 5
)

// Order checks that jobs that fail do not hold up new jobs, although due jobs run in the
// order of run_at, not of their attempts. It lets 10,000 jobs fail again and again with a back-off of one second, and
// enqueues fresh jobs, which must start within a second. On a machine that cannot
// run 8,000 of the failing jobs a second, a fresh job must start after each of them
// has run once at most.
func Order(t *testing.T, backend store.Backend) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	var failures atomic.Int64
	var mu sync.Mutex
	begun := map[int64]time.Time{} // by job
	workers := hourbell.NewWorkers()
	workers.Handle("failing", func(context.Context, *hourbell.JobRow) error {
		failures.Add(1)
		return errors.New("not yet")
	}, hourbell.DefaultBackoff("constant:1s"))
	workers.Handle("fresh", func(_ context.Context, job *hourbell.JobRow) error {
		mu.Lock()
		defer mu.Unlock()
		begun[job.ID] = time.Now()
		return nil
	})
	e := &env{T: t, backend: backend}
	client := e.runWorkers(backend, workers)
	jobs := make([]hourbell.Request, failing)
	for i := range jobs {
		jobs[i].Args = hourbell.RawArgs{Name: "failing", JSON: []byte("1")}
	}
	_, err := client.EnqueueMany(t.Context(), jobs, hourbell.MaxAttempts(1000))
	e.must(err)
	e.eventually("each job has failed twice", func() bool { return failures.Load() >= 2*failing })

	var worst, bound time.Duration
	for range rounds { // other programs may take the cores for a while
		before, began := failures.Load(), time.Now()
		enqueued := map[int64]time.Time{}
		for range fresh {
			job, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: "fresh", JSON: []byte("1")})
			e.must(err)
			enqueued[job.ID] = time.Now()
			time.Sleep(75 * time.Millisecond)
		}
		rate := float64(failures.Load()-before) / time.Since(began).Seconds()
		var sum time.Duration
		worst = 0
		for id, at := range enqueued {
			var start time.Time
			e.eventually("the fresh job has begun", func() bool {
				mu.Lock()
				defer mu.Unlock()
				start = begun[id]
				return !start.IsZero()
			})
			worst, sum = max(worst, start.Sub(at)), sum+start.Sub(at)
		}
		t.Logf("%.0f failures a second; fresh jobs waited %v on average, %v at most", rate, sum/fresh, worst)
		bound = most
		if rate < keepsUp { // a fresh job waits for the failing jobs that were due before it
			bound += time.Duration(failing / rate * float64(time.Second))
		}
		if worst < bound {
			return
		}
	}
	t.Errorf("fresh jobs waited %v, with %d jobs that fail; want less than %v", worst, failing, bound)
}
