package clienttest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// Overlap is the acceptance test of overlap skip: while no node serves the queue of a schedule, one job waits, and further slots are
// skipped with the reason; when a node comes that serves it, no two of the jobs run at once. The same while the queue is
// paused.
func Overlap(t *testing.T, open Open) {
	t.Parallel() // it waits most of the time
	with(t, open, overlap)
}

func overlap(e *env) {
	var mu sync.Mutex
	running, most, ended := 0, 0, 0
	count := func(change func()) (n int) {
		mu.Lock()
		defer mu.Unlock()
		change()
		most = max(most, running)
		return ended
	}
	workers := func() *hourbell.Workers {
		workers := hourbell.NewWorkers()
		workers.Handle(kind, func(ctx context.Context, _ *hourbell.JobRow) error {
			count(func() { running++ })
			defer count(func() { running--; ended++ })
			select {
			case <-ctx.Done():
			case <-time.After(300 * time.Millisecond): // longer than the interval of the schedule
			}
			return nil
		})
		return workers
	}
	client := e.runNode(e.backend, hourbell.Config{Workers: workers()})
	_, err := client.Schedules.Put(context.Background(), hourbell.Schedule{
		Name: "report", Queue: "reports", Rule: recur.Every(200 * time.Millisecond), Job: hourbell.RawArgs{Name: kind},
	})
	e.must(err)
	skipped := func(why string) func() bool {
		return func() bool {
			slots, err := client.Slots.List(context.Background(), hourbell.SlotFilter{Schedule: "report", Limit: 3})
			e.must(err)
			for _, slot := range slots {
				if slot.Outcome != store.SlotSkipped || !strings.Contains(slot.Reason, " has not started: "+why) {
					return false
				}
			}
			return len(slots) == 3
		}
	}
	waiting := func() {
		e.Helper()
		jobs, err := client.Jobs.List(context.Background(), hourbell.JobFilter{States: []store.State{store.StateReady}})
		e.must(err)
		if len(jobs) != 1 {
			e.Errorf("%d jobs wait, want 1", len(jobs))
		}
	}
	e.eventually("slots are skipped while no node serves the queue", skipped(`no living node serves queue "reports"`))
	waiting()
	e.runNode(e.other, hourbell.Config{Workers: workers(), Queues: map[string]int{"reports": 10}})
	e.eventually("jobs have run", func() bool { return count(func() {}) >= 4 })
	e.must(client.Queues.Pause(context.Background(), "reports", hourbell.Pause{}))
	e.eventually("slots are skipped while the queue is paused", skipped("queue reports is paused"))
	waiting()
	before := count(func() {})
	_, err = client.Queues.Resume(context.Background(), "reports")
	e.must(err)
	e.eventually("jobs run after the pause", func() bool { return count(func() {}) >= before+3 })
	count(func() {
		if most != 1 {
			e.Errorf("%d jobs of the schedule ran at once", most)
		}
	})
}
