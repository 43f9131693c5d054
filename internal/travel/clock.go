// Package travel has the clock that tests move: a store and all nodes over it go by that clock
// together. Only module hourbelltest makes such clocks, because packages of other modules cannot
// import this package: no setting of a client moves a clock.
//
//	clock.go    the clock: its timers, and the attempts that sleep by it
//	backend.go  gives each request of a store the instant of the clock
//	node.go     what the clock knows of a node: its reads of the store, and what they found
//	death.go    lets a node die, and others take its jobs
//	prune.go    lets nodes delete old rows
//	settle.go   lets everything run that is due, and finds out when nothing more is due
//
// A Clock stands still, except when Set moves it, and a node under a Clock claims and fires only
// while Settle or SettleJob runs.
package travel

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Clock is the clock of a store and of the nodes over it. It is safe for concurrent use.
type Clock struct {
	below store.Backend // the store, once Over was called

	changed chan struct{} // holds one token when something has happened that Settle waits for

	mu     sync.Mutex
	now    time.Time
	timers []*timer
	nodes  []*Node
	ended  []Ended
	joined int // how many nodes were registered so far
	// open is whether nodes may claim and fire; only, if not 0, is the one job that they may claim, or
	// taken.
	open bool
	only int64
	kind store.ExactJob // of only
	// tick counts what may have made more work due: a read of the store that began at an earlier tick
	// does not prove that nothing is due.
	tick   int64
	opened int64 // the tick at which open became true last

	expired expired
	prunes  bool  // nodes may prune; see Prune
	unclean error // why pruning failed
}

// timer calls do when the clock reaches at.
type timer struct {
	at time.Time
	do func()
}

// Ended is the end of an attempt: the job as it was claimed, and its outcome.
type Ended struct {
	store.Claimed
	Outcome store.Outcome
}

// NewClock returns a clock that shows start, with a precision of one microsecond.
func NewClock(start time.Time) *Clock {
	return &Clock{now: start.UTC().Truncate(time.Microsecond), changed: make(chan struct{}, 1), expired: expired{}}
}

// Of returns the clock of a backend that Clock.Over returned, or of a backend over it; nil: the
// backend goes by the clock of its store.
func Of(b store.Backend) *Clock {
	if under, ok := store.Able[interface{ Clock() *Clock }](b); ok {
		return under.Clock()
	}
	return nil
}

// Now returns the instant that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set moves the clock forward to an instant, and carries out the timers until then. An instant that
// has passed changes nothing.
func (c *Clock) Set(to time.Time) {
	c.mu.Lock()
	if to.After(c.now) {
		c.now = to
		c.tick++
	}
	var due []*timer
	c.timers = slices.DeleteFunc(c.timers, func(t *timer) bool {
		if t.at.After(c.now) {
			return false
		}
		due = append(due, t)
		return true
	})
	c.mu.Unlock()
	slices.SortStableFunc(due, func(a, b *timer) int { return a.at.Compare(b.at) })
	for _, t := range due {
		t.do()
	}
	c.note()
}

// after calls do when the clock has moved by d. stop prevents the call.
func (c *Clock) after(d time.Duration, do func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{c.now.Add(d), do}
	c.timers = append(c.timers, t)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.timers = slices.DeleteFunc(c.timers, func(other *timer) bool { return other == t })
	}
}

// Next returns the first instant after the present at which something may become due: a slot, a
// job, the timeout of an attempt, or the end of a Sleep. The zero time: none. It is known after
// Settle.
func (c *Clock) Next() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	var next time.Time
	meet := func(at time.Time) {
		if at.After(c.now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	for _, t := range c.timers {
		meet(t.at)
	}
	for _, n := range c.nodes {
		meet(n.slots.next)
		for _, q := range n.queues {
			meet(q.next)
		}
	}
	return next
}

// TakeEnded returns the ends of attempts since the last call, in their order.
func (c *Clock) TakeEnded() []Ended {
	c.mu.Lock()
	defer c.mu.Unlock()
	ended := c.ended
	c.ended = nil
	for i := len(ended) - 1; i >= 0; i-- { // a completion in a transaction that was not committed is not the end
		same := func(e Ended) bool { return e.ID == ended[i].ID && e.Token == ended[i].Token }
		if slices.ContainsFunc(ended[i+1:], same) {
			ended = slices.Delete(ended, i, i+1)
		}
	}
	return ended
}

// note lets Settle look again.
func (c *Clock) note() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// touch records that more work may be due.
func (c *Clock) touch() {
	c.mu.Lock()
	c.tick++
	c.mu.Unlock()
	c.note()
}

// attempt is an attempt that a node runs. The mutex of the clock guards its fields.
type attempt struct {
	node  *Node
	job   store.Claimed
	sleep map[*sleeper]bool
}

// sleeper is a call of Sleep that has not returned.
type sleeper struct {
	ctx  context.Context
	over chan struct{} // closed when the time is over
}

// attemptKey is the key of an attempt in its context.
type attemptKey struct{}

// asleep reports whether the attempt waits for the clock. The caller holds the mutex.
func (a *attempt) asleep() bool {
	for s := range a.sleep {
		if s.ctx.Err() == nil {
			return true
		}
	}
	return false
}

// Sleep waits until the clock of the attempt to which ctx belongs has moved by d, or until ctx ends,
// and returns the cause then. Where ctx belongs to no attempt of a node under a Clock, the time of
// the process passes instead.
func Sleep(ctx context.Context, d time.Duration) error {
	a, ok := ctx.Value(attemptKey{}).(*attempt)
	if !ok {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
			return nil
		}
	}
	if d <= 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c := a.node.clock
	s := &sleeper{ctx, make(chan struct{})}
	c.mu.Lock()
	a.sleep[s] = true
	c.mu.Unlock()
	wake := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(a.sleep, s) // at once, so that the attempt counts as running before its goroutine runs
	}
	defer c.after(d, func() { wake(); close(s.over) })()
	defer wake()
	c.note()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.over:
		return nil
	}
}

// Joined returns how many nodes have been registered.
func (c *Clock) Joined() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.joined
}
