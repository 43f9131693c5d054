package node

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/uptime"
)

// session is the node's registration in the store: the number of the node, the trust in its lease,
// and the parent context of its runs. It is safe for concurrent use.
//
// States of the lease, as the node sees them:
//
//	          confirm                    expire, lose
//	lost ───────────────────▶ trusted ───────────────────▶ lost
//
//	state    ctx       new claims   runs
//	lost     nil       none         contexts are cancelled
//	trusted  not nil   allowed      contexts live until now ≥ clock.trustedUntil
//
// The lease begins as lost. Each confirmed heartbeat (confirm) moves trustedUntil. watchLease calls
// expire; lose is called when another node declared this node dead, when the store went back in
// time, and when a drain has waited long enough. A confirmed registration under another number also
// cancels the contexts of runs, because the lease of the number before, which has their claims, will end.
type session struct {
	uptime func() uptime.Instant // the present instant

	base context.Context // parent of the contexts of runs; never cancelled; set before the first confirm

	node         atomic.Int64 // written under mu
	trustedUntil atomic.Int64 // equals clock.trustedUntil; read by trusted; written under mu
	checkedUntil atomic.Int64 // until this instant, trusted does not read the uptime again

	mu     sync.Mutex
	clock  leaseClock
	beat   int64           // of the last heartbeat that was confirmed; 0: none was under this number, or since the program was replaced
	ctx    context.Context // nil while the lease is not trusted
	cancel context.CancelCauseFunc
}

func newSession(lease time.Duration, now func() uptime.Instant) *session {
	return &session{uptime: now, base: context.Background(), clock: leaseClock{length: lease}}
}

// confirm records that the store confirmed node as alive, by a heartbeat that it counted as beat or,
// if beat is 0, by a registration. It reports whether the lease was lost before.
func (s *session) confirm(node, beat int64, sent, received uptime.Instant, storeNow time.Time) (regained bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if node != s.node.Load() {
		s.loseLocked(ErrClaimLost)
	}
	s.node.Store(node)
	s.beat = beat
	s.clock.confirmed(sent, received, storeNow)
	s.trustedUntil.Store(int64(s.clock.trustedUntil))
	if s.ctx != nil || !s.clock.trusted(s.uptime()) {
		return false
	}
	s.ctx, s.cancel = context.WithCancelCause(s.base)
	return true
}

// heartbeatFailed records that a heartbeat failed.
func (s *session) heartbeatFailed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.failed()
}

// lose cancels the contexts of all runs with cause, and reports whether the lease was trusted.
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

// expire loses the lease if it may no longer be trusted, and reports whether this call lost it.
func (s *session) expire() (lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clock.trusted(s.uptime()) {
		return false
	}
	return s.loseLocked(ErrClaimLost)
}

// current returns the number of the node and the parent context of new runs; ok is false while the
// lease is not trusted.
func (s *session) current() (node int64, ctx context.Context, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx == nil || !s.clock.trusted(s.uptime()) {
		return s.node.Load(), nil, false
	}
	return s.node.Load(), s.ctx, true
}

// trustCheckInterval is how long trusted relies on one reading of the uptime. Reading the uptime
// needs a system call; reading the monotonic clock does not. The two clocks differ only by the time
// that the machine was suspended. Removing this costs 31 % of the node's CPU time of a job
// (BenchmarkJob of internal/engine, medians of seven alternating runs).
const trustCheckInterval = time.Millisecond

// trusted reports whether the lease may be trusted at now, the present instant. After the process
// or the machine was stopped, trusted is correct at once; the contexts of runs end later, at the
// next check of watchLease.
func (s *session) trusted(now loop.Instant) bool {
	if int64(now) < s.checkedUntil.Load() {
		return true
	}
	left := uptime.Instant(s.trustedUntil.Load()).Sub(s.uptime())
	if left <= 0 {
		return false
	}
	s.checkedUntil.Store(int64(now.Add(min(left, trustCheckInterval))))
	return true
}

// storeNow returns what the store's clock shows if it has run as the uptime since the last heartbeat.
func (s *session) storeNow() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.lastStore.Add(s.uptime().Sub(s.clock.lastBeat))
}

// left returns how long the lease may be trusted from now on, and the length of the lease.
func (s *session) left() (left, lease time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.left(s.uptime()), s.clock.length
}

// number returns the number of the node.
func (s *session) number() int64 { return s.node.Load() }

// mayDeclareDead reports whether this node may declare other nodes dead, and returns its number and the
// heartbeat from which it knows that. A later heartbeat may show that it may not.
func (s *session) mayDeclareDead() (node, beat int64, may bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.node.Load(), s.beat, s.clock.mayDeclareDead(s.uptime())
}
