package hourbell_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/internal/intercept"
	"github.com/hourbell/hourbell/store/memory"
)

// TestAFullBoundCostsNoClaims checks that a node whose bound of a kind is reached claims with pauses, also under a limit.
func TestAFullBoundCostsNoClaims(t *testing.T) {
	for name, limit := range map[string]hourbell.Limit{
		"a rate of another kind":    {Name: "l", Kind: "other", Rate: hourbell.Rate{Jobs: 1, Per: time.Hour}},
		"a limit of the queue":      {Name: "l", Queue: "default", Concurrency: 9},
		"a limit of all other keys": {Name: "l", ByKey: true, Concurrency: 1},
	} {
		t.Run(name, func(t *testing.T) {
			clienttest.Bubble(t, func(t *testing.T) {
				var claims atomic.Int64
				backend := intercept.New(memory.New(), func(ctx context.Context, c intercept.Call, next func(context.Context) error) error {
					if c.Operation == "claim" {
						claims.Add(1)
					}
					time.Sleep(time.Millisecond)
					return next(ctx)
				})
				began := make(chan struct{})
				workers := hourbell.NewWorkers()
				workers.Handle("bounded", func(ctx context.Context, _ *hourbell.JobRow) error {
					close(began)
					<-ctx.Done()
					return nil
				}, hourbell.MaxRunning(1))
				workers.Handle("other", func(context.Context, *hourbell.JobRow) error { return nil })
				client, err := hourbell.New(backend, hourbell.Config{Workers: workers, Drain: time.Millisecond})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := client.Limits.Put(t.Context(), limit, 0); err != nil {
					t.Fatal(err)
				}
				if _, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: "bounded"}); err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				go func() { _ = client.Run(ctx) }()
				<-began
				time.Sleep(10 * time.Second) // until the node pauses as an idle node does
				before := claims.Load()
				const observed = 20 * time.Second
				time.Sleep(observed)
				// While a bound holds up jobs, the node claims every 100 ms from the queue, and from the queue of its host.
				if n := claims.Load() - before; n > int64(2*observed/(80*time.Millisecond)) {
					t.Errorf("%d claims in %v", n, observed)
				}
				stop()
				<-client.Done()
			})
		})
	}
}
