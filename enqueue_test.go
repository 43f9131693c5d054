package hourbell_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// slowInserts is a store whose inserts wait until open is closed.
type slowInserts struct {
	store.Backend
	open chan struct{}

	mu    sync.Mutex
	sizes []int // of inserts, in the order in which they were sent
}

func (s *slowInserts) Insert(ctx context.Context, req store.InsertRequest) (store.InsertResult, error) {
	s.mu.Lock()
	s.sizes = append(s.sizes, len(req.Jobs))
	s.mu.Unlock()
	<-s.open
	return s.Backend.Insert(ctx, req)
}

// Jobs that are enqueued during an insert share the next insert, except jobs with a key, which may
// have to wait for other transactions.
func TestConcurrentEnqueuesShareAnInsert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &slowInserts{Backend: memory.New(), open: make(chan struct{})}
		client, err := hourbell.New(backend, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		var calls sync.WaitGroup
		enqueue := func(options ...hourbell.Option) {
			calls.Go(func() {
				if _, err := client.Enqueue(t.Context(), Note{}, options...); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		for range 6 {
			enqueue()
		}
		enqueue(hourbell.Unique("key"))
		close(backend.open)
		calls.Wait()
		if len(backend.sizes) != 3 || backend.sizes[0] != 1 || backend.sizes[1] != 1 || backend.sizes[2] != 5 {
			t.Errorf("inserts of %v jobs, want 1, then the job with a key, then 5", backend.sizes)
		}
	})
}
