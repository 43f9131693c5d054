package hourbell_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// pauser is what the services of groups, queues, kinds and keys have in common.
type pauser interface {
	Pause(ctx context.Context, name string, pause hourbell.Pause) error
	Resume(ctx context.Context, name string) (bool, error)
}

// TestPauseOfQueuesKindsAndKeys checks what pauses of queues, kinds and keys do to jobs and slots while nodes
// run, also a node that starts later.
func TestPauseOfQueuesKindsAndKeys(t *testing.T) {
	for noun, name := range map[string]string{"queue": "default", "kind": "note", "key": "c"} {
		t.Run(noun, func(t *testing.T) {
			c := newCluster(t)
			var ran atomic.Int64
			workers := func() *hourbell.Workers {
				return noteWorkers(func(context.Context, *hourbell.Job[Note]) error {
					ran.Add(1)
					return nil
				})
			}
			client := c.client(workers())
			c.run(client)
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			service := map[string]pauser{"queue": client.Queues, "kind": client.Kinds, "key": client.Keys}[noun]
			_, err := client.Schedules.Put(t.Context(), hourbell.Schedule{Name: "bell", Rule: recur.Spec{Every: "100ms"}, Key: "c", Job: hourbell.RawArgs{Name: "note", JSON: []byte(`{}`)}})
			must(err)
			eventually(t, "some slots", func() bool { return ran.Load() >= 2 })
			must(service.Pause(t.Context(), name, hourbell.Pause{Reason: "repair", Actor: "me"}))
			eventually(t, "the jobs that run", func() bool {
				n, err := client.Jobs.Count(t.Context(), hourbell.JobFilter{States: []store.State{store.StateRunning}})
				return err == nil && n == 0
			})
			before := ran.Load()
			waiting, err := client.Enqueue(t.Context(), Note{}, hourbell.Key("c"))
			must(err)
			c.run(c.client(workers()))
			eventually(t, "the job of another slot", func() bool {
				records, err := client.Slots.List(t.Context(), hourbell.SlotFilter{Schedule: "bell", Limit: 1})
				if err != nil || len(records) == 0 || records[0].Job == 0 {
					return false
				}
				job, err := client.Jobs.Get(t.Context(), records[0].Job)
				return err == nil && job.State == store.StateReady && job.ID > waiting.ID
			})
			if got := ran.Load(); got != before {
				t.Errorf("%d jobs ran in the pause", got-before)
			}
			job, err := client.Jobs.Get(t.Context(), waiting.ID)
			must(err)
			reasons, err := client.Jobs.Waits(t.Context(), job)
			must(err)
			if reason := reasons[job.ID]; !strings.HasPrefix(reason, noun+" "+name+" is paused since ") || !strings.HasSuffix(reason, " by me: repair") {
				t.Errorf("the job waits because %q", reason)
			}
			queues, err := client.Queues.List(t.Context())
			must(err)
			kinds, err := client.Kinds.List(t.Context())
			must(err)
			if len(queues) != 1 || len(kinds) != 1 || kinds[0].Ready == 0 || queues[0].Ready == 0 || (queues[0].Pause.Reason == "repair") != (noun == "queue") || (kinds[0].Pause.Reason == "repair") != (noun == "kind") {
				t.Errorf("queues %+v, kinds %+v", queues, kinds)
			}
			resumed, err := service.Resume(t.Context(), name)
			must(err)
			if !resumed {
				t.Error("it was paused")
			}
			eventually(t, "the job that has waited", func() bool {
				job, err := client.Jobs.Get(t.Context(), waiting.ID)
				return err == nil && job.State == store.StateCompleted
			})
			if _, err := client.Queues.Get(t.Context(), "typo"); !errors.Is(err, hourbell.ErrNotFound) {
				t.Errorf("a queue that does not exist: %v", err)
			}
			if _, err := client.Kinds.Get(t.Context(), "typo"); !errors.Is(err, hourbell.ErrNotFound) {
				t.Errorf("a kind that does not exist: %v", err)
			}
		})
	}
}

// TestPauseCancelsRunningJobs checks Pause.CancelRunning: running jobs of the subject end as
// cancelled, jobs that wait and jobs of others stay.
func TestPauseCancelsRunningJobs(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		workers := noteWorkers(func(ctx context.Context, _ *hourbell.Job[Note]) error {
			<-ctx.Done()
			return ctx.Err()
		})
		client := c.client(workers, func(cfg *hourbell.Config) { cfg.Queues, cfg.Host = map[string]int{"default": 1, "other": 1}, "web1" })
		c.run(client)
		enqueue := func(options ...hourbell.Option) func(store.State) func() bool {
			t.Helper()
			job, err := client.Enqueue(t.Context(), Note{}, options...)
			if err != nil {
				t.Fatal(err)
			}
			return func(state store.State) func() bool {
				return func() bool {
					info, err := client.Jobs.Get(t.Context(), job.ID)
					return err == nil && info.State == state
				}
			}
		}
		runs, place, other := enqueue(), enqueue(hourbell.Queue("default@web1")), enqueue(hourbell.Queue("other"))
		eventually(t, "the job to run", runs(store.StateRunning))
		eventually(t, "the job of the place to run", place(store.StateRunning))
		eventually(t, "the other job to run", other(store.StateRunning))
		later := enqueue(hourbell.In(time.Hour))
		if err := client.Queues.Pause(t.Context(), "default", hourbell.Pause{CancelRunning: true, Actor: "me", Reason: "repair"}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the job to end", runs(store.StateCancelled))
		eventually(t, "the job of the place to end", place(store.StateCancelled))
		if !later(store.StateReady)() || !other(store.StateRunning)() {
			t.Error("only running jobs of the queue are cancelled")
		}
		jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{States: []store.State{store.StateCancelled}})
		if err != nil || len(jobs) != 2 {
			t.Fatalf("%d jobs are cancelled, %v", len(jobs), err)
		}
		for _, job := range jobs {
			if want := "queue default was paused by me: repair"; job.Reason != want {
				t.Errorf("job %d was cancelled because %q, want %q", job.ID, job.Reason, want)
			}
		}
		entries, err := client.Audit.List(t.Context(), hourbell.AuditFilter{Action: store.AuditQueuesPause, Limit: 10})
		if err != nil || len(entries) != 1 || entries[0].Detail != "running jobs are cancelled; repair" {
			t.Errorf("the audit has %+v, %v", entries, err)
		}
	})
}
