package work

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// deferringStore is a store that carries out what transactions left, the first times in vain.
type deferringStore struct {
	Store
	calls, fails atomic.Int64
	waits        bool // a call that fails takes as long as it may
}

func (s *deferringStore) CarryOut(ctx context.Context, _ store.CarryOutRequest) error {
	if s.calls.Add(1) > s.fails.Load() {
		return nil
	}
	if s.waits {
		<-ctx.Done()
	}
	return errors.New("not now")
}

// TestCarryingOutIsTriedAgain checks that what transactions left, such as cancel requests for jobs that do not run, is not
// forgotten if a call of the store fails, although no wake-up follows.
func TestCarryingOutIsTriedAgain(t *testing.T) {
	for _, waits := range []bool{false, true} {
		s := &deferringStore{Store: memory.New(), waits: waits}
		s.fails.Store(2)
		r := newRunner(t, nil, Config{Store: s, CallTimeout: 50 * time.Millisecond, PollIdle: time.Hour})
		r.wakes.SetPushed(true)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); r.WatchCancels(ctx) }()
		r.wakes.Cancels().Notify()
		for began := loop.Now(); s.calls.Load() < 3 && began.Elapsed() < 10*time.Second; {
			time.Sleep(time.Millisecond)
		}
		stop()
		<-done
		if s.calls.Load() < 3 {
			t.Errorf("waits %v: %d calls", waits, s.calls.Load())
		}
	}
}
