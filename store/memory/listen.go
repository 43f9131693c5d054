package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// listener is one call of Listen. Wake-ups accumulate in pending, equal
// wake-ups once, so that a slow reader costs nothing.
type listener struct {
	pending map[store.Wake]bool // guarded by Store.mu
	signal  chan struct{}       // holds one token when pending is not empty
}

// wake adds a wake-up for every listener. The caller holds the mutex.
func (s *Store) wake(w store.Wake) {
	for l := range s.listeners {
		l.pending[w] = true
		select {
		case l.signal <- struct{}{}:
		default: // a signal is pending already
		}
	}
}

// Connection implements store.Connected. No wake-up of this store is ever lost.
func (s *Store) Connection() store.Connection { return store.Connection{SharedPolls: time.Second} }

// Flush implements store.Flusher. Wake-ups are sent with their commits.
func (s *Store) Flush(context.Context) error { return nil }

// polled passes on the note of a poll. The caller holds the mutex.
func (s *Store) polled(note string) {
	if note != "" {
		s.wake(store.Wake{Kind: store.WakePolled, Note: note})
	}
}

// Listen calls wake for each change; see store.Listener. Unlike with a
// database, a client of this store also gets the wake-ups of its own changes.
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
		for _, w := range slices.SortedFunc(maps.Keys(pending), byWake) {
			wake(w)
		}
	}
}

// byWake orders wake-ups, so that what a simulated node does can be repeated.
func byWake(a, b store.Wake) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Note, b.Note))
}
