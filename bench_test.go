package hourbell_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// free is a store that costs almost nothing: it returns a given number of jobs
// from claims, accepts all outcomes, and forgets inserted jobs. The tokens are 0,
// because a heartbeat that shows a lower token than a claim suspends the node.
type free struct {
	store.Backend
	inserted []store.Inserted // of a call with many jobs; the numbers are not read

	mu     sync.Mutex
	claims int // still to be claimed
	ends   int // still to be finished
	over   chan struct{}
}

func newFree(jobs int) *free {
	return &free{Backend: memory.New(), inserted: make([]store.Inserted, benchMany), claims: jobs, ends: jobs, over: make(chan struct{})}
}

func (f *free) Insert(_ context.Context, req store.InsertRequest) (store.InsertResult, error) {
	return store.InsertResult{Jobs: f.inserted[:len(req.Jobs)]}, nil
}

func (f *free) Claim(_ context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	res := store.ClaimResult{Now: time.Now(), Jobs: make([]store.Claimed, min(req.Limit, f.claims))}
	for i := range res.Jobs {
		id := int64(f.claims)
		res.Jobs[i] = store.Claimed{
			JobSpec: store.JobSpec{Kind: "letter", Queue: "default", Priority: 5, MaxAttempts: 25, Args: []byte(`{"to":"someone@example.org","subject":"hello"}`)},
			ID:      id, Attempt: 1, RunAt: res.Now, CreatedAt: res.Now,
		}
		f.claims--
	}
	return res, nil
}

func (f *free) Finish(_ context.Context, req store.FinishRequest) (store.FinishResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ends -= len(req.Outcomes); f.ends == 0 {
		close(f.over)
	}
	return store.FinishResult{}, nil
}

// letter is the args of a job.
type letter struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
}

func (letter) Kind() string { return "letter" }

// benchMany is how many jobs EnqueueMany gets in a call.
const benchMany = 1000

// BenchmarkWork measures the cost of a job in a node, from the claim's answer
// to the call that writes the outcome, with 100 workers that do nothing with
// its arguments. One op is a job.
func BenchmarkWork(b *testing.B) { benchmarkWork(b) }

// BenchmarkWorkThroughMiddleware is BenchmarkWork with middleware that does
// nothing.
func BenchmarkWorkThroughMiddleware(b *testing.B) {
	benchmarkWork(b, func(ctx context.Context, job *hourbell.JobRow, next hourbell.Handler) error { return next(ctx, job) })
}

func benchmarkWork(b *testing.B, middleware ...hourbell.WorkMiddleware) {
	b.Helper()
	store := newFree(b.N)
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(context.Context, *hourbell.Job[letter]) error { return nil })
	client := newBenchClient(b, store, hourbell.Config{Workers: workers, Queues: map[string]int{"default": 100}, WorkMiddleware: middleware})
	b.ReportAllocs()
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- client.Run(ctx) }()
	<-store.over
	b.StopTimer()
	stop()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}

// BenchmarkEnqueue measures the cost of a job in a client, with one job per
// call.
func BenchmarkEnqueue(b *testing.B) {
	client := newBenchClient(b, newFree(0), hourbell.Config{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Enqueue(b.Context(), letter{To: "someone@example.org", Subject: "hello"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEnqueueThroughMiddleware is BenchmarkEnqueue with middleware that does
// nothing.
func BenchmarkEnqueueThroughMiddleware(b *testing.B) {
	client := newBenchClient(b, newFree(0), hourbell.Config{EnqueueMiddleware: []hourbell.EnqueueMiddleware{passOn}})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Enqueue(b.Context(), letter{To: "someone@example.org", Subject: "hello"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEnqueueMany is BenchmarkEnqueue with 1,000 jobs per call. One op is
// a job.
func BenchmarkEnqueueMany(b *testing.B) { benchmarkEnqueueMany(b, hourbell.Config{}) }

// BenchmarkEnqueueManyThroughMiddleware is BenchmarkEnqueueMany with middleware that
// does nothing.
func BenchmarkEnqueueManyThroughMiddleware(b *testing.B) {
	benchmarkEnqueueMany(b, hourbell.Config{EnqueueMiddleware: []hourbell.EnqueueMiddleware{passOn}})
}

// passOn is enqueue middleware that does nothing.
func passOn(ctx context.Context, _ []*hourbell.Draft, next func(context.Context) error) error {
	return next(ctx)
}

func benchmarkEnqueueMany(b *testing.B, cfg hourbell.Config) {
	b.Helper()
	client := newBenchClient(b, newFree(0), cfg)
	requests := make([]hourbell.Request, benchMany)
	for i := range requests {
		requests[i].Args = letter{To: "someone@example.org", Subject: "hello"}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for left := b.N; left > 0; left -= benchMany {
		if _, err := client.EnqueueMany(b.Context(), requests[:min(left, benchMany)]); err != nil {
			b.Fatal(err)
		}
	}
}

func newBenchClient(b *testing.B, backend store.Backend, cfg hourbell.Config) *hourbell.Client {
	b.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	client, err := hourbell.New(backend, cfg)
	if err != nil {
		b.Fatal(err)
	}
	return client
}
