package engine

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// TestPausedJobsAreNotLetBegin checks that jobs which were claimed ahead, and are paused before the
// store lets them begin, are handed back.
func TestPausedJobsAreNotLetBegin(t *testing.T) {
	backend := memory.New()
	g, n, ids, end := startGated(t, backend)
	pause(t, backend, store.SubjectKind, "k")
	close(g.let)
	waitUntil(t, "three jobs are handed back", func() bool { return n.count(event.JobReleased) == 3 })
	close(end)
	waitUntil(t, "the first job to complete", finished(t, backend, store.StateCompleted, ids[0]))
	if got := n.count(event.JobStarted); got != 1 {
		t.Errorf("%d jobs have begun", got)
	}
	if err := backend.Delete(t.Context(), store.DeleteRequest{Of: store.OfPauses, Subject: store.SubjectKind, Names: []string{"k"}}); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "all completed", finished(t, backend, store.StateCompleted, ids...))
}

// watchedClaims is a store that counts the answers about paused claims.
type watchedClaims struct {
	store.Backend
	answers atomic.Int64
}

func (w *watchedClaims) Claims(ctx context.Context, req store.ClaimsRequest) ([]store.ClaimRef, error) {
	claims, err := w.Backend.Claims(ctx, req)
	if req.Paused && len(claims) > 0 {
		w.answers.Add(1)
	}
	return claims, err
}

// TestPrefetchedJobsArePaused checks that jobs which wait for a worker of their node, and which the
// store has let begin, do not begin after their queue was paused.
func TestPrefetchedJobsArePaused(t *testing.T) {
	const short = 300
	backend := &watchedClaims{Backend: memory.New()}
	ids := insert(t, backend, 2*short)
	end, blocked := make(chan struct{}), make(chan struct{})
	var began atomic.Int64
	n := startNode(t, backend, func(ctx context.Context, _ *work.Run) error {
		if began.Add(1) == short {
			close(blocked)
			select {
			case <-end:
			case <-ctx.Done():
			}
		}
		return ctx.Err()
	}, func(cfg *Config) {
		cfg.Lease, cfg.Heartbeat, cfg.Queues = time.Minute, time.Minute, map[string]int{"q": 1}
	})
	<-blocked
	pause(t, backend, store.SubjectQueue, "q")
	waitUntil(t, "the node to have marked its runs", func() bool { return backend.answers.Load() > 1 }) // before it asks again
	close(end)
	waitUntil(t, "all other jobs are handed back", func() bool {
		claims, err := backend.Backend.Claims(t.Context(), store.ClaimsRequest{Node: 1})
		return err == nil && len(claims) == 0 && n.count(event.JobCompleted) == short
	})
	if began.Load() != short || n.count(event.JobReleased) == 0 {
		t.Errorf("%d jobs have begun instead of %d; %d were handed back", began.Load(), short, n.count(event.JobReleased))
	}
	if err := backend.Delete(t.Context(), store.DeleteRequest{Of: store.OfPauses, Subject: store.SubjectQueue, Names: []string{"q"}}); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "all completed", finished(t, backend, store.StateCompleted, ids...))
}

func pause(t *testing.T, backend store.Backend, subject store.PauseSubject, name string) {
	t.Helper()
	if _, err := backend.Put(t.Context(), store.PutRequest{Pauses: []store.PutPause{{Subject: subject, Name: name}}}); err != nil {
		t.Fatal(err)
	}
}
