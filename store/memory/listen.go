package memory

import (
	"context"
	"fmt"

	"github.com/hourbell/hourbell/store"
)

// listener is one call of Listen. Wake-ups gather in pending, equal ones once,
// so that a slow reader costs nothing.
type listener struct {
	pending map[store.Wake]bool // guarded by Store.mu
	signal  chan struct{}       // holds one token when pending is not empty
}

// wake leaves a wake-up with every listener. The caller holds the mutex.
func (s *Store) wake(w store.Wake) {
	for l := range s.listeners {
		l.pending[w] = true
		select {
		case l.signal <- struct{}{}:
		default: // it has been signalled already
		}
	}
}

// Listen calls wake for each change; see store.Listener. All holders of the
// store share one connection, so to speak: they hear their own changes too.
func (s *Store) Listen(ctx context.Context, wake func(store.Wake)) error {
	l := &listener{pending: map[store.Wake]bool{}, signal: make(chan struct{}, 1)}
	s.mu.Lock()
	s.listeners[l] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.listeners, l)
		s.mu.Unlock()
	}()
	wake(store.Wake{Kind: store.WakeAll})
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("listen: %w", ctx.Err())
		case <-l.signal:
		}
		s.mu.Lock()
		pending := l.pending
		l.pending = map[store.Wake]bool{}
		s.mu.Unlock()
		for w := range pending {
			wake(w)
		}
	}
}
