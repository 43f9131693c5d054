package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/internal/uptime"
	"github.com/hourbell/hourbell/store"
)

// session is the node's standing in the store: its number, how far its lease
// may be trusted, and the context all its runs hang on. It is safe for
// concurrent use.
type session struct {
	base context.Context // of the runs; never cancelled itself

	node         atomic.Int64 // written under mu
	trustedUntil atomic.Int64 // clock.trustedUntil, for trusted; written under mu
	checkedUntil atomic.Int64 // by monotonic: until then trusted need not look again

	mu     sync.Mutex
	clock  leaseClock
	ctx    context.Context // nil while the lease is not trusted
	cancel context.CancelCauseFunc
}

func newSession(base context.Context, lease time.Duration) *session {
	return &session{base: base, clock: leaseClock{length: lease}}
}

// confirm records that the store confirmed node alive, and says whether the
// lease had been lost before.
func (s *session) confirm(node int64, sent, received time.Duration, storeNow time.Time) (regained bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.node.Store(node)
	s.clock.confirmed(sent, received, storeNow)
	s.trustedUntil.Store(int64(s.clock.trustedUntil))
	if s.ctx != nil || !s.clock.trusted(uptime.Now()) {
		return false
	}
	s.ctx, s.cancel = context.WithCancelCause(s.base)
	return true
}

// missed records a heartbeat that failed.
func (s *session) heartbeatFailed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.failed()
}

// lose ends the contexts of all runs with cause, and says whether there was a
// trusted lease to lose.
func (s *session) lose(cause error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loseLocked(cause)
}

func (s *session) loseLocked(cause error) bool {
	if s.ctx == nil {
		return false
	}
	s.cancel(cause)
	s.ctx, s.cancel = nil, nil
	return true
}

// expire loses the lease if its time is over.
func (s *session) expire() (lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clock.trusted(uptime.Now()) {
		return false
	}
	return s.loseLocked(ErrClaimLost)
}

// standing returns the node's number and the context of new runs; ok is false
// while the lease is not trusted.
func (s *session) current() (node int64, ctx context.Context, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx == nil || !s.clock.trusted(uptime.Now()) {
		return s.node.Load(), nil, false
	}
	return s.node.Load(), s.ctx, true
}

// lookEvery is for how long, by monotonic, a look at the uptime is believed. The
// monotonic clock is read without a call of the system, which the uptime needs: that
// would cost a start as much as half of all else. It stands still only while the
// machine is suspended.
const trustCheckInterval = time.Millisecond

// trusted reports whether the lease may be trusted at this moment, which is now by
// monotonic. After the process or the machine was stopped it answers at once, where
// the contexts of runs end only when watchLease has come round.
func (s *session) trusted(now instant) bool {
	if int64(now) < s.checkedUntil.Load() {
		return true
	}
	left := time.Duration(s.trustedUntil.Load()) - uptime.Now()
	if left <= 0 {
		return false
	}
	s.checkedUntil.Store(int64(now.add(min(left, trustCheckInterval))))
	return true
}

// left returns for how long from now the lease may be trusted, and its length.
func (s *session) left() (left, lease time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.left(uptime.Now()), s.clock.length
}

// number returns the node's number.
func (s *session) number() int64 { return s.node.Load() }

// mayJudge says whether the node may declare others dead.
func (s *session) mayDeclareDead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.mayDeclareDead(uptime.Now())
}

// register enters the node in the store.
func (e *Engine) register(ctx context.Context) error {
	sent, before := uptime.Now(), e.history.known()
	res, err := e.cfg.Backend.Register(ctx, store.RegisterRequest{
		Name:    e.cfg.Name,
		Lease:   e.cfg.Lease,
		Version: e.cfg.Version,
		Queues:  e.queueNames(),
		Kinds:   e.kindNames(),
	})
	if err != nil {
		return err
	}
	e.session.confirm(res.Node, sent, uptime.Now(), res.Now)
	if e.readStateFile(res.Position.Store) {
		before = e.history.known()
	}
	position := res.Position
	position.Node = min(position.Node, res.Node-1) // a number that was given before now is not greater
	e.checkHistory(ctx, before, position, "")
	e.history.registered()
	return nil
}
