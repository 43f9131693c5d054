package stores

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/hourbelltest"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// TestDeathOfANode lets a node die again and again while it runs a job that may run again and a job that may not.
func TestDeathOfANode(t *testing.T) {
	onEach(t, func(s target) {
		var causes []error
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[invoice]) error {
			if job.Attempt <= 3 {
				causes = append(causes, hourbelltest.Sleep(ctx, time.Hour))
			}
			return nil
		})
		hourbell.Register(workers, func(ctx context.Context, _ *hourbell.Job[mail]) error { return hourbelltest.Sleep(ctx, time.Hour) })
		hourbell.Register(workers, func(context.Context, *hourbell.Job[alarm]) error { return nil })
		kit := s.kit(workers)
		ctx := s.t.Context()
		enqueue := func(args hourbell.Args, options ...hourbell.Option) int64 {
			s.t.Helper()
			job, err := kit.Client.Enqueue(ctx, args, options...)
			must(s.t, err)
			return job.ID
		}
		state := func(id int64, want store.State, reason string) {
			s.t.Helper()
			job, err := kit.Client.Jobs.Get(ctx, id)
			must(s.t, err)
			if job.State != want || job.Reason != reason {
				s.t.Errorf("%v: job %d is %v (%s), want %v (%s)", kit.Now(), id, job.State, job.Reason, want, reason)
			}
		}
		again := enqueue(invoice{})
		once := enqueue(mail{}, hourbell.OnLoss(hourbell.FailOnLoss))
		want(s.t, lines(kit.RunDue()), "", "attempts at first")

		kit.KillNode(again)
		want(s.t, lines(kit.Advance(15*time.Second-time.Microsecond)), "", "attempts within the lease")
		state(again, store.StateRunning, "")
		state(once, store.StateRunning, "")
		kit.Advance(time.Microsecond)
		state(again, store.StateReady, "")
		state(once, store.StateFailed, store.LostReason)
		kit.Advance(250 * time.Millisecond)
		state(again, store.StateRunning, "")

		kit.KillNode(again)
		enqueue(alarm{})
		want(s.t, lines(kit.RunDue()), "alarm 1 0", "attempts after the second death")
		kit.Advance(20 * time.Second)
		state(again, store.StateRunning, "") // as a suspect
		kit.KillNode(again)
		want(s.t, lines(kit.Advance(time.Minute)), "invoice 4 0", "attempts after the third death")
		if len(causes) != 3 || slices.ContainsFunc(causes, func(err error) bool { return !errors.Is(err, hourbell.ErrClaimLost) }) {
			s.t.Errorf("causes: %v", causes)
		}
		nodes, err := kit.Client.Nodes.List(ctx)
		must(s.t, err)
		living := slices.DeleteFunc(nodes, func(n store.NodeInfo) bool { return !n.EndedAt.IsZero() })
		want(s.t, len(living), 1, "living nodes")
	})
}

// TestDeathOfOneOfTwoNodes checks that the other node of two lives on, though the clock has moved further than its lease, and keeps
// its job.
func TestDeathOfOneOfTwoNodes(t *testing.T) {
	onEach(t, func(s target) {
		sleeps := func(served string) (*hourbell.Workers, map[string]int) {
			workers := hourbell.NewWorkers()
			hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[invoice]) error { return hourbelltest.Sleep(ctx, time.Hour) })
			return workers, map[string]int{served: 5}
		}
		workers, queues := sleeps("one")
		kit := hourbelltest.Over(s.t, s.backend, hourbell.Config{Workers: workers, Queues: queues}, hourbelltest.StartAt(january))
		workers, queues = sleeps("other")
		other, err := hourbell.New(kit.Backend, hourbell.Config{Workers: workers, Queues: queues, Logger: slog.New(slog.DiscardHandler)})
		must(s.t, err)
		kit.Run(other)
		for _, queue := range []string{"one", "other"} {
			_, err := kit.Client.Enqueue(s.t.Context(), invoice{}, hourbell.Queue(queue))
			must(s.t, err)
		}
		kit.Advance(time.Minute)
		kit.KillNode(1)
		want(s.t, lines(kit.Advance(20*time.Second)), "", "attempts after the lease")
		want(s.t, lines(kit.Advance(2*time.Hour)), "invoice 1 0; invoice 2 0", "attempts in the end")
	})
}

// TestSlotsAreKeptFor30Days checks how long the records of slots are kept by default.
func TestSlotsAreKeptFor30Days(t *testing.T) {
	onEach(t, func(s target) {
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(context.Context, *hourbell.Job[invoice]) error { return nil })
		kit := s.kit(workers)
		ctx := s.t.Context()
		_, err := kit.Client.Schedules.Put(ctx, hourbell.Schedule{Name: "once", Rule: recur.At(january.Add(time.Hour)), Job: invoice{}})
		must(s.t, err)
		kit.Advance(time.Hour)
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{30*24*time.Hour - time.Second, 1}, {time.Hour, 0}} {
			kit.Advance(step.after)
			kit.Prune()
			slots, err := kit.Client.Slots.List(ctx, hourbell.SlotFilter{Schedule: "once"})
			must(s.t, err)
			want(s.t, len(slots), step.want, fmt.Sprintf("records at %v", kit.Now()))
		}
	})
}

// TestPruning checks that history is deleted when it is old enough and the test says so.
func TestPruning(t *testing.T) {
	onEach(t, func(s target) {
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(context.Context, *hourbell.Job[invoice]) error { return nil })
		hourbell.Register(workers, func(context.Context, *hourbell.Job[mail]) error { return errors.New("the address does not exist") })
		kit := s.kit(workers)
		count := func(want int64, when string) {
			s.t.Helper()
			got, err := kit.Client.Jobs.Count(s.t.Context(), hourbell.JobFilter{})
			must(s.t, err)
			if got != want {
				s.t.Errorf("%s: %d jobs, want %d", when, got, want)
			}
		}
		for range 150 { // more than a step deletes at first
			_, err := kit.Client.Enqueue(s.t.Context(), invoice{})
			must(s.t, err)
		}
		_, err := kit.Client.Enqueue(s.t.Context(), mail{}, hourbell.MaxAttempts(1))
		must(s.t, err)
		kit.RunDue()
		kit.Advance(24*time.Hour - time.Second)
		kit.Prune()
		count(151, "before a day has passed")
		kit.Advance(time.Hour)
		count(151, "before Prune")
		kit.Prune()
		count(1, "after a day")
		kit.Advance(30 * 24 * time.Hour)
		kit.Prune()
		count(0, "after a month")
	})
}
