package clienttest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// LostClaims checks that a claim whose commit has an unknown end is settled: the store commits the first claims of a node, and the node learns
// only that their end is unknown. The node runs no job with such a claim, hands the claims back, and then runs each job once.
func LostClaims(t *testing.T, backend store.Backend) {
	t.Parallel() // it waits most of the time
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	const jobs = 3
	losing := &losing{Backend: backend, left: 2}
	var mu sync.Mutex
	ran := map[int64][]int64{} // the tokens of each job
	e := &env{T: t, backend: backend}
	workers := hourbell.NewWorkers()
	workers.Handle(kind, func(_ context.Context, job *hourbell.JobRow) error {
		mu.Lock()
		defer mu.Unlock()
		ran[job.ID] = append(ran[job.ID], job.Token)
		return nil
	})
	client := e.runNode(losing, hourbell.Config{Workers: workers, Lease: 3 * time.Second})
	for range jobs {
		_, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: kind, JSON: []byte("1")})
		e.must(err)
	}
	e.eventually("all jobs have completed", func() bool {
		n, err := client.Jobs.Count(t.Context(), hourbell.JobFilter{States: []store.State{store.StateCompleted}})
		e.must(err)
		return n == jobs
	})
	mu.Lock()
	defer mu.Unlock()
	for id, tokens := range ran {
		if len(tokens) != 1 {
			t.Errorf("job %d ran with the tokens %v, want one run", id, tokens)
		}
	}
	lost := losing.tokens()
	if len(lost) == 0 {
		t.Error("the store has lost no claim")
	}
	for ref := range lost {
		for _, token := range ran[ref.ID] {
			if token <= ref.Token {
				t.Errorf("job %d ran with token %d, and a claim with token %d was lost", ref.ID, token, ref.Token)
			}
		}
	}
}

// losing is a store that loses the answers of its first claims that have jobs.
type losing struct {
	store.Backend
	mu   sync.Mutex
	left int
	lost map[store.ClaimRef]bool
}

// Claim implements store.Jobs.
func (l *losing) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	res, err := l.Backend.Claim(ctx, req)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil || len(res.Jobs) == 0 || l.left == 0 {
		return res, err
	}
	l.left--
	if l.lost == nil {
		l.lost = map[store.ClaimRef]bool{}
	}
	for _, job := range res.Jobs {
		l.lost[store.ClaimRef{ID: job.ID, Token: job.Token}] = true
	}
	return store.ClaimResult{}, fmt.Errorf("claim jobs: %w", store.ErrUnknown)
}

// tokens returns the claims whose answers were lost.
func (l *losing) tokens() map[store.ClaimRef]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}
