package engine

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// restless is a store that sends wake-ups for all queues all the time, and counts claims by their queues.
type restless struct {
	store.Backend
	mu     sync.Mutex
	claims map[string]int
}

func (r *restless) Listen(ctx context.Context, wake func(store.Wake)) error {
	for ctx.Err() == nil {
		wake(store.Wake{Kind: store.WakeAll})
		time.Sleep(5 * time.Millisecond)
	}
	return ctx.Err()
}

func (r *restless) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	r.mu.Lock()
	if !req.Suspects {
		r.claims[req.Queue]++
	}
	r.mu.Unlock()
	return r.Backend.Claim(ctx, req)
}

func (r *restless) count(queue string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.claims[queue]
}

// A place without jobs costs next to nothing, however often the node is woken for other queues; its first job begins all the
// same, and then it is as other queues.
func TestAPlaceIsDormantUntilItsFirstJob(t *testing.T) {
	backend := &restless{Backend: memory.New(), claims: map[string]int{}}
	n := startNode(t, backend, func(context.Context, *work.Run) error { return nil }, func(c *Config) {
		c.Backend, c.Host, c.PollIdle, c.PollPushed = backend, "web1", time.Minute, time.Minute
	})
	waitUntil(t, "the queue is claimed from again and again", func() bool { return backend.count("q") >= 40 })
	if claims := backend.count("q@web1"); claims == 0 || claims > 10 {
		t.Errorf("%d claims from the queue of the place, and %d from the queue", claims, backend.count("q"))
	}
	ids := insert(t, n.Backend, 1, func(job *store.NewJob) { job.Queue = "q@web1" })
	waitUntil(t, "the job of the place has run", finished(t, n.Backend, store.StateCompleted, ids...))
	before := backend.count("q@web1")
	waitUntil(t, "the queue of the place is as others", func() bool { return backend.count("q@web1") >= before+20 })
}
