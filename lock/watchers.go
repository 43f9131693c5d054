package lock

import (
	"slices"
	"sync"
)

// Watchers is a list of callers that wait for locks, by name. A provider that
// implements [Notifier] can keep its callers in such a list. The zero value is
// empty. Concurrent calls are allowed.
type Watchers struct {
	mu     sync.Mutex
	byName map[string][]chan struct{}
}

// Add adds a caller. Its channel receives when it is the caller's turn to try.
// remove removes the caller from the list, and reports whether no other caller
// waits for the name; it must be called once. If the caller has not used its
// turn, remove passes the turn to the next caller.
func (w *Watchers) Add(name string) (turn <-chan struct{}, remove func() (last bool)) {
	own := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byName == nil {
		w.byName = map[string][]chan struct{}{}
	}
	w.byName[name] = append(w.byName[name], own)
	return own, func() bool { return w.remove(name, own) }
}

func (w *Watchers) remove(name string, own chan struct{}) (last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := slices.DeleteFunc(w.byName[name], func(c chan struct{}) bool { return c == own })
	if len(rest) == 0 {
		delete(w.byName, name)
		return true
	}
	w.byName[name] = rest
	select {
	case <-own:
		give(rest[0])
	default:
	}
	return false
}

// Wake gives a turn to the caller that has waited longest for a name. Only one
// caller can have the lock, and its release wakes the next caller.
func (w *Watchers) Wake(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if waiting := w.byName[name]; len(waiting) > 0 {
		give(waiting[0])
	}
}

// Names returns the names for which callers wait, in no order.
func (w *Watchers) Names() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := make([]string, 0, len(w.byName))
	for name := range w.byName {
		names = append(names, name)
	}
	return names
}

// give never blocks: a caller that already has a turn needs no second turn.
func give(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
