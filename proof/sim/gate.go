package sim

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing/synctest"
	"time"
)

// gate is where everything stops whose order matters: calls of the store, steps of workers, and what the plan has.
// One goroutine, the driver, lets one stop go on at a time, and waits until all goroutines of the bubble are blocked
// again before it chooses the next.
type gate struct {
	mu      sync.Mutex
	arrived []*stop // since the driver last looked
	open    bool    // nothing stops any more
	bell    chan struct{}

	// The driver uses the following fields.
	rng     *rand.Rand
	pending []*stop
	counts  map[string]int // stops by key
}

// stop is a goroutine that waits at the gate, or something that the driver does at an instant.
type stop struct {
	key string // stable: it does not depend on the order of goroutines
	// arrive is called by the driver when it sees the stop, in the order of the keys; n counts the stops of the key. It
	// returns when the stop may go on. nil: at once.
	arrive func(n int) time.Time
	do     func() // instead of a goroutine that waits

	at   time.Time
	pass chan struct{}
	gone bool // guarded by mu: the goroutine does not wait any more
}

func newGate(rng *rand.Rand) *gate {
	return &gate{rng: rng, bell: make(chan struct{}, 1), counts: map[string]int{}}
}

// await stops the calling goroutine until the driver lets it go on, or until ctx ends, which may be nil.
func (g *gate) await(ctx context.Context, s *stop) error {
	s.pass = make(chan struct{})
	g.mu.Lock()
	if g.open {
		g.mu.Unlock()
		return nil
	}
	g.arrived = append(g.arrived, s)
	g.mu.Unlock()
	g.ring()
	var ended <-chan struct{}
	if ctx != nil {
		ended = ctx.Done()
	}
	select {
	case <-s.pass:
		return nil
	case <-ended:
		g.mu.Lock()
		s.gone = true
		g.mu.Unlock()
		g.ring()
		return context.Cause(ctx)
	}
}

// at makes the driver do something at an instant.
func (g *gate) at(when time.Time, key string, do func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.arrived = append(g.arrived, &stop{key: key, do: do, arrive: func(int) time.Time { return when }})
}

// ring wakes the driver.
func (g *gate) ring() {
	select {
	case g.bell <- struct{}{}:
	default:
	}
}

// drive lets stops go on until done, which the driver calls whenever all goroutines are blocked.
func (g *gate) drive(done func() bool) {
	for {
		synctest.Wait()
		g.look()
		if done() {
			return
		}
		now := time.Now()
		next, ready := time.Time{}, 0
		for i, s := range g.pending { // the ready ones come first, in the order of their keys
			if !s.at.After(now) {
				g.pending[ready], g.pending[i] = g.pending[i], g.pending[ready]
				ready++
			} else if next.IsZero() || s.at.Before(next) {
				next = s.at
			}
		}
		if ready > 0 {
			g.let(ready)
			continue
		}
		g.sleep(next)
	}
}

// let lets one of the first stops that are pending go on.
func (g *gate) let(ready int) {
	chosen := 0
	if ready > 1 {
		slices.SortFunc(g.pending[:ready], byKey)
		chosen = g.rng.IntN(ready)
	}
	s := g.pending[chosen]
	g.pending = slices.Delete(g.pending, chosen, chosen+1)
	if s.do != nil {
		s.do()
	} else {
		close(s.pass)
	}
}

// look takes what has arrived, and forgets what has gone.
func (g *gate) look() {
	g.mu.Lock()
	arrived := g.arrived
	g.arrived = nil
	g.pending = slices.DeleteFunc(g.pending, func(s *stop) bool { return s.gone })
	arrived = slices.DeleteFunc(arrived, func(s *stop) bool { return s.gone })
	g.mu.Unlock()
	slices.SortStableFunc(arrived, byKey)
	for _, s := range arrived {
		if s.arrive != nil {
			s.at = s.arrive(g.counts[s.key])
		}
		g.counts[s.key]++
		g.pending = append(g.pending, s)
	}
}

// sleep lets time pass until an instant, or until something arrives.
func (g *gate) sleep(until time.Time) {
	if until.IsZero() {
		<-g.bell
		return
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-g.bell:
	case <-timer.C:
	}
}

// hold changes when stops go on that are pending, and lets those go on at once for which when is the zero time.
func (g *gate) hold(of func(s *stop) bool, when func(s *stop) time.Time) {
	for _, s := range g.pending {
		if of(s) {
			s.at = when(s)
		}
	}
}

// free lets everything go on, and stops nothing any more.
func (g *gate) free() {
	g.mu.Lock()
	g.open = true
	waiting := slices.Concat(g.pending, g.arrived)
	g.pending, g.arrived = nil, nil
	g.mu.Unlock()
	for _, s := range waiting {
		if s.do == nil {
			close(s.pass)
		}
	}
}

func byKey(a, b *stop) int { return cmp.Compare(a.key, b.key) }
