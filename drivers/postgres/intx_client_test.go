package postgres

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

type holdJob struct{}

func (holdJob) Kind() string { return "hold" }

type slotJob struct{}

func (slotJob) Kind() string { return "slot" }

// TestNodesFollowTheTransactionsOfPrograms runs a node. In transactions by each driver, a
// program cancels the running job and the job of a schedule that waits for its time, and
// puts a schedule: after the commit, and not before, the context of the running job ends,
// the waiting job is cancelled, and the schedule fires.
func TestNodesFollowTheTransactionsOfPrograms(t *testing.T) {
	for name, begin := range programTxs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := fresh(t)
			ended, fired := make(chan struct{}), make(chan struct{}, 100)
			workers := hourbell.NewWorkers()
			hourbell.Register(workers, func(ctx context.Context, _ *hourbell.Job[holdJob]) error {
				<-ctx.Done()
				close(ended)
				return ctx.Err()
			})
			hourbell.Register(workers, func(context.Context, *hourbell.Job[slotJob]) error {
				fired <- struct{}{}
				return nil
			})
			client, err := hourbell.New(b, hourbell.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
			must(t, err)
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- client.Run(ctx) }()
			defer func() { stop(); must(t, <-done) }()

			running, err := client.Enqueue(t.Context(), holdJob{})
			must(t, err)
			awaitState(t, b, running.ID, store.StateRunning)
			_, err = client.Schedules.Put(t.Context(), hourbell.Schedule{Name: "yearly", Rule: recur.Cron("@yearly"), Job: slotJob{}})
			must(t, err)
			rows, err := store.List[store.Schedule](t.Context(), b, store.ListRequest{Names: []string{"yearly"}, Limit: 1})
			must(t, err)
			later := noop(1)
			later[0].Schedule, later[0].Delay = rows[0].ID, time.Hour
			waiting, err := b.Insert(t.Context(), store.InsertRequest{Jobs: later})
			must(t, err)

			program := begin(t)
			in := hourbell.InTx(program.tx)
			changes, err := client.Jobs.Cancel(t.Context(), hourbell.JobFilter{IDs: []int64{running.ID, waiting.Jobs[0].ID}}, in)
			must(t, err)
			_, err = client.Schedules.Put(t.Context(), hourbell.Schedule{Name: "seconds", Rule: recur.Every(time.Second), Job: slotJob{}}, in)
			must(t, err)
			select {
			case <-ended:
				t.Fatalf("before the commit the job's context has ended: %+v", changes)
			case <-fired:
				t.Fatal("before the commit a schedule fires")
			case <-time.After(1500 * time.Millisecond): // longer than a slot of the schedule
			}
			must(t, program.commit())
			late := time.After(20 * time.Second)
			for _, what := range []chan struct{}{ended, fired} {
				select {
				case <-what:
				case <-late:
					t.Fatal("a node does not follow the commit")
				}
			}
			awaitState(t, b, running.ID, store.StateCancelled)
			awaitState(t, b, waiting.Jobs[0].ID, store.StateCancelled)
		})
	}
}

func awaitState(t *testing.T, b *Backend, id int64, want store.State) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); stateOf(t, b, id) != want; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("job %d is %v, want %v", id, stateOf(t, b, id), want)
		}
	}
}
