package stores

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// TestSleepsAndSignals travels over a sleep and the timeout of a wait, and sends signals before, during and after the wait.
func TestSleepsAndSignals(t *testing.T) {
	const sleep, timeout = 72 * time.Hour, 7 * 24 * time.Hour
	onEach(t, func(s target) {
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[mail]) error {
			if err := job.Sleep(ctx, sleep); err != nil {
				return err
			}
			answer, err := hourbell.Wait[string](ctx, job, "approval", timeout)
			if errors.Is(err, hourbell.ErrNoSignal) {
				return hourbell.Fail(err)
			}
			if err != nil {
				return err
			}
			return job.SetResult(answer)
		})
		kit := s.kit(workers)
		ids := map[string]int64{}
		for _, when := range []string{"before", "during", "never"} {
			job, err := kit.Client.Enqueue(s.t.Context(), mail{To: when})
			must(s.t, err)
			ids[when] = job.ID
		}
		check := func(when string, state store.State, result string) {
			s.t.Helper()
			job, err := kit.Client.Jobs.Get(s.t.Context(), ids[when])
			must(s.t, err)
			want(s.t, job.State, state, when+": the state")
			want(s.t, string(job.Result), result, when+": the result")
		}

		kit.RunDue()
		kit.Signal(ids["before"], "approval", "early")
		kit.Advance(sleep - time.Second)
		check("before", store.StateReady, "")
		kit.Advance(time.Second)
		check("before", store.StateCompleted, `"early"`)
		check("during", store.StateReady, "")
		want(s.t, len(kit.Signal(ids["during"], "approval", "in time")), 1, "attempts by the signal")
		check("during", store.StateCompleted, `"in time"`)
		kit.Advance(timeout - time.Second)
		check("never", store.StateReady, "")
		kit.Advance(time.Second)
		check("never", store.StateFailed, "")
		if err := kit.Client.Signals.Send(s.t.Context(), ids["never"], "approval", "late"); !errors.Is(err, hourbell.ErrJobEnded) {
			s.t.Errorf("a signal after the end: %v", err)
		}
	})
}
