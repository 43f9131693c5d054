package clienttest

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/storetest"
)

// Control tests how jobs are controlled while nodes run them. open is called for each test.
func Control(t *testing.T, open Open) {
	t.Parallel() // it waits most of the time
	for _, test := range []struct {
		name string
		run  func(e *env)
	}{
		{"a cancel ends a context within two seconds", cancelInTime},
		{"a change of all jobs while nodes drain them", changeWhileDraining},
	} {
		t.Run(test.name, func(t *testing.T) { with(t, open, test.run) })
		t.Run(test.name+", without wake-ups", func(t *testing.T) {
			with(t, open, func(e *env) {
				e.backend, e.other = storetest.Plain(e.backend), storetest.Plain(e.other)
				test.run(e)
			})
		})
	}
}

// enqueueMany enqueues n jobs.
func (e *env) enqueueMany(client *hourbell.Client, n int) {
	e.Helper()
	requests := make([]hourbell.Request, n)
	for i := range requests {
		requests[i] = hourbell.Request{Args: hourbell.RawArgs{Name: kind}}
	}
	_, err := client.EnqueueMany(e.Context(), requests)
	e.must(err)
}

func (e *env) count(client *hourbell.Client, f hourbell.JobFilter) int {
	e.Helper()
	n, err := client.Jobs.Count(e.Context(), f)
	e.must(err)
	return int(n)
}

// cancelTime is how long a cancel may take: two seconds, and more on a busy machine.
const cancelTime = 6 * time.Second

// cancelInTime cancels jobs of one node by the client of another, several times, because
// the node may have just looked.
func cancelInTime(e *env) {
	ended := make(chan time.Time, 1)
	begun := make(chan struct{}, 1)
	wait := func(ctx context.Context, _ *hourbell.JobRow) error {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- time.Now()
		return context.Cause(ctx)
	}
	runner := e.run(e.backend, wait)
	elsewhere, err := hourbell.New(e.other, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	e.must(err)
	for range 3 {
		e.enqueueMany(runner, 1)
		<-begun
		asked := time.Now()
		res, err := elsewhere.Jobs.Cancel(e.Context(), hourbell.JobFilter{Kind: kind, States: []store.State{store.StateRunning}})
		e.must(err)
		if res.Requested != 1 || len(res.Jobs) != 1 {
			e.Fatalf("the running job: %+v", res)
		}
		if took := (<-ended).Sub(asked); took > cancelTime {
			e.Errorf("the context ended after %v", took)
		}
		e.eventually("the job is cancelled", func() bool {
			return e.count(elsewhere, hourbell.JobFilter{IDs: []int64{res.Jobs[0].ID}, States: []store.State{store.StateCancelled}}) == 1
		})
	}
}

// changeWhileDraining moves, reprioritises and cancels jobs while two nodes run them:
// each job runs once, or is cancelled before it has run.
func changeWhileDraining(e *env) {
	const jobs = 1500
	var mu sync.Mutex
	runs := map[int64]int{}
	work := func(_ context.Context, job *hourbell.JobRow) error {
		mu.Lock()
		runs[job.ID]++
		mu.Unlock()
		time.Sleep(time.Millisecond)
		return nil
	}
	runner := e.run(e.backend, work)
	e.run(e.other, work)
	for range 3 {
		e.enqueueMany(runner, jobs/3)
		for _, change := range []func() (hourbell.JobChanges, error){
			func() (hourbell.JobChanges, error) {
				return runner.Jobs.Reprioritise(e.Context(), hourbell.JobFilter{Kind: kind}, 2)
			},
			func() (hourbell.JobChanges, error) {
				return runner.Jobs.Move(e.Context(), hourbell.JobFilter{Kind: kind}, "default")
			},
		} {
			_, err := change()
			e.must(err)
		}
	}
	f := hourbell.JobFilter{Kind: kind, States: []store.State{store.StateReady}}
	res, err := runner.Jobs.Cancel(e.Context(), f)
	e.must(err)
	e.eventually("all jobs have ended", func() bool {
		return e.count(runner, hourbell.JobFilter{States: []store.State{store.StateReady, store.StateRunning}}) == 0
	})
	completed := e.count(runner, hourbell.JobFilter{States: []store.State{store.StateCompleted}})
	mu.Lock()
	defer mu.Unlock()
	for id, n := range runs {
		if n != 1 {
			e.Errorf("job %d ran %d times", id, n)
		}
	}
	if completed != len(runs) || completed+res.Changed != jobs {
		e.Errorf("%d jobs ran, %d completed and %d were cancelled of %d", len(runs), completed, res.Changed, jobs)
	}
	for _, job := range res.Jobs {
		if runs[job.ID] != 0 {
			e.Errorf("job %d ran, and was cancelled as ready", job.ID)
		}
	}
}
