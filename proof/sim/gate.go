package sim

import (
	"cmp"
	"container/heap"
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
	settle  func() // waits until all goroutines are blocked

	// The driver uses the following fields.
	rng    *rand.Rand
	ready  []*stop        // may go on
	later  queue          // may go on later
	seen   int            // stops that have arrived
	counts map[string]int // stops by key
	timer  *time.Timer
}

// stop is a goroutine that waits at the gate, or something that the driver does at an instant.
type stop struct {
	key string // stable: it does not depend on the order of goroutines
	// arrive is called by the driver when it sees the stop, in the order of the keys; n counts the stops of the key. It
	// returns when the stop may go on. nil: at once.
	arrive func(n int) time.Time
	do     func() // instead of a goroutine that waits

	at     time.Time
	number int // in the order in which the driver has seen the stops
	pass   chan struct{}
	gone   bool // guarded by mu: the goroutine does not wait any more
}

// queue has stops that go on later, the next one first.
type queue []*stop

// Len implements heap.Interface.
func (q queue) Len() int { return len(q) }

// Less implements heap.Interface.
func (q queue) Less(i, k int) bool {
	return cmp.Or(q[i].at.Compare(q[k].at), cmp.Compare(q[i].number, q[k].number)) < 0
}

// Swap implements heap.Interface.
func (q queue) Swap(i, k int) { q[i], q[k] = q[k], q[i] }

// Push implements heap.Interface.
func (q *queue) Push(s any) { *q = append(*q, s.(*stop)) }

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func newGate(rng *rand.Rand) *gate {
	timer := time.NewTimer(0)
	timer.Stop()
	return &gate{rng: rng, bell: make(chan struct{}, 1), settle: synctest.Wait, counts: map[string]int{}, timer: timer}
}

// await stops the calling goroutine until the driver lets it go on, or until ctx ends.
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
	select {
	case <-s.pass:
		return nil
	case <-ctx.Done():
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
		g.settle()
		g.look()
		if done() {
			return
		}
		next := g.advance()
		if len(g.ready) > 0 {
			g.let()
			continue
		}
		g.sleep(next)
	}
}

// advance makes the stops ready whose instant has come, and returns the instant of the next one; zero: there is none.
func (g *gate) advance() time.Time {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.later) > 0 {
		s := g.later[0]
		if !s.gone && s.at.After(now) {
			return s.at
		}
		if heap.Pop(&g.later); !s.gone {
			g.ready = append(g.ready, s)
		}
	}
	return time.Time{}
}

// let lets one of the ready stops go on.
func (g *gate) let() {
	chosen := 0
	if n := len(g.ready); n > 1 {
		slices.SortFunc(g.ready, byKey)
		chosen = g.rng.IntN(n)
	}
	s := g.ready[chosen]
	g.ready = slices.Delete(g.ready, chosen, chosen+1)
	if s.do != nil {
		s.do()
	} else {
		close(s.pass)
	}
}

// look takes what has arrived, and forgets what has gone.
func (g *gate) look() {
	g.mu.Lock()
	isGone := func(s *stop) bool { return s.gone }
	arrived := slices.DeleteFunc(g.arrived, isGone)
	g.arrived = nil
	g.ready = slices.DeleteFunc(g.ready, isGone)
	g.mu.Unlock()
	now := time.Now()
	for i, s := range arrived { // of one key, in the order of their arrival
		s.number = g.seen + i
	}
	slices.SortFunc(arrived, byKey)
	for _, s := range arrived {
		if s.arrive != nil {
			s.at = s.arrive(g.counts[s.key])
		}
		g.counts[s.key]++
		s.number = g.seen
		g.seen++
		if s.at.After(now) {
			heap.Push(&g.later, s)
		} else {
			g.ready = append(g.ready, s)
		}
	}
}

// sleep lets time pass until an instant, or until something arrives.
func (g *gate) sleep(until time.Time) {
	if until.IsZero() {
		<-g.bell
		return
	}
	g.timer.Reset(time.Until(until))
	select {
	case <-g.bell:
	case <-g.timer.C:
	}
	g.timer.Stop()
}

// hold changes when stops go on that are pending, and lets those go on at once for which when is the zero time.
func (g *gate) hold(of func(s *stop) bool, when func(s *stop) time.Time) {
	g.later, g.ready = append(g.later, g.ready...), nil
	for _, s := range g.later {
		if of(s) {
			s.at = when(s)
		}
	}
	heap.Init(&g.later)
}

// free lets everything go on, and stops nothing any more.
func (g *gate) free() {
	g.mu.Lock()
	g.open = true
	waiting := slices.Concat(g.later, g.ready, g.arrived)
	g.later, g.ready, g.arrived = nil, nil, nil
	g.mu.Unlock()
	for _, s := range waiting {
		if s.do == nil {
			close(s.pass)
		}
	}
}

// byKey orders stops by their keys, and stops of one key by their numbers.
func byKey(a, b *stop) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.number, b.number)) }
