package engine

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// feed is a store with a given number of jobs, all equal, that accepts all outcomes. Its calls cost
// next to nothing.
type feed struct {
	store.Backend
	job store.Claimed

	mu     sync.Mutex
	claims int // jobs left to claim
	ends   int // jobs left to finish
	over   chan struct{}
}

func newFeed(jobs int) *feed {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	job := store.Claimed{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Priority: 5, MaxAttempts: 25, Args: []byte(`{"number":1}`)}, Attempt: 1, RunAt: noon, CreatedAt: noon}
	return &feed{Backend: memory.New(), job: job, claims: jobs, ends: jobs, over: make(chan struct{})}
}

func (f *feed) Claim(_ context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	res := store.ClaimResult{Now: time.Now(), Jobs: make([]store.Claimed, min(req.Limit, f.claims))}
	for i := range res.Jobs {
		res.Jobs[i] = f.job
		res.Jobs[i].ID, res.Jobs[i].Token = int64(f.claims), int64(f.claims)
		f.claims--
	}
	return res, nil
}

func (f *feed) Finish(_ context.Context, req store.FinishRequest) (store.FinishResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ends -= len(req.Outcomes); f.ends == 0 {
		close(f.over)
	}
	return store.FinishResult{}, nil
}

// BenchmarkJob measures the node's own cost of a job, from the answer of the claim to the call with
// the outcome, with 100 workers that do nothing. One op is one job.
func BenchmarkJob(b *testing.B) {
	f := newFeed(b.N)
	b.ReportAllocs()
	startNode(b, f, func(context.Context, *work.Run) error { return nil }, func(cfg *Config) {
		cfg.Queues = map[string]int{"q": 100}
		cfg.Lease, cfg.Heartbeat = time.Minute, 20*time.Second // a lost lease would release jobs, and the feed waits for their ends
		cfg.Sink = func(event.Event) {}
	})
	<-f.over
}
