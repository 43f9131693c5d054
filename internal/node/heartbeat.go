package node

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

// heartbeats sends a heartbeat every Heartbeat, more often while heartbeats fail, and at once on
// the signal heartbeatNow. After each confirmed heartbeat it calls after.
func (n *Node) heartbeats(ctx context.Context, after func(context.Context)) {
	timer := time.NewTimer(n.cfg.Heartbeat)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-n.heartbeatNow:
		}
		if ctx.Err() != nil { // both may have come, and then the end counts
			return
		}
		wait := n.cfg.Heartbeat
		if !n.heartbeat(ctx, after) {
			wait = min(wait, time.Second) / 2
		}
		timer.Reset(wait)
	}
}

// heartbeat sends one heartbeat, and calls after if it was confirmed. If the node was declared dead,
// heartbeat registers it again.
func (n *Node) heartbeat(ctx context.Context, after func(context.Context)) (ok bool) {
	call, cancel := context.WithTimeout(ctx, n.cfg.Heartbeat)
	defer cancel()
	if n.history.mustRenumber() {
		return n.registerAgain(call)
	}
	ended := n.cfg.Claims.TakeEnded()
	sent, before := n.around.Uptime(), n.history.known()
	res, err := n.cfg.Store.Heartbeat(call, store.HeartbeatRequest{Node: n.session.number(), EndedBatches: ended})
	switch {
	case err == nil:
		n.heartbeatError.clear()
		n.checkHistory(call, before, res.Position, n.history.heartbeatConfirmed(before, res.Beat))
		if n.history.mustRenumber() {
			return n.registerAgain(call)
		}
		regained := n.session.confirm(n.session.number(), res.Beat, sent, n.around.Uptime(), res.Now)
		n.expiry.set(sent, res) // after confirm, which may withdraw the right to declare others dead
		if regained && !n.Stopping() {
			n.report.Emit(event.Event{Kind: event.LeaseRegained})
		}
		if res.Releases {
			n.cfg.Wakes.Wake(store.Wake{Kind: store.WakeCancels})
		}
		n.report.StoreWorks("heartbeat")
		n.report.Step("heartbeat", "", n.cfg.Claims.Len())
		n.registerProblems(call, res.Now)
		after(call)
		return true
	case errors.Is(err, store.ErrNodeGone):
		n.session.heartbeatFailed()
		n.loseLease(n.heartbeatError.explain("another node declared this one dead"))
		return n.registerAgain(call)
	}
	n.cfg.Claims.PutBackEnded(ended)
	if ctx.Err() != nil {
		return false
	}
	n.session.heartbeatFailed()
	n.heartbeatError.set(err)
	n.report.StoreFailed("heartbeat", err)
	return false
}

// registerAgain registers the node under a new number, after another node declared it dead or the
// store went back in time.
func (n *Node) registerAgain(ctx context.Context) bool {
	before := n.session.number()
	if err := n.register(ctx); err != nil {
		n.report.StoreFailed("register", err)
		return false
	}
	n.report.StoreWorks("register")
	n.report.Emit(event.Event{Kind: event.LeaseRegained, Detail: fmt.Sprintf("registered again; was node %d", before)})
	return true
}

// watchLease cancels the contexts of all runs when the lease may no longer be trusted, because the
// store did not answer, or the process or the machine was stopped. It also starts a rescue when the
// lease of another node has expired.
func (n *Node) watchLease(ctx context.Context) {
	ticker := time.NewTicker(n.leaseCheckInterval())
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		n.ExpireLease()
		if _, _, may := n.session.mayDeclareDead(); may && n.expiry.due(n.around.Uptime()) {
			n.rescueNow.Notify()
		}
	}
}

// leaseCheckInterval is the interval at which watchLease checks the lease.
func (n *Node) leaseCheckInterval() time.Duration {
	return min(max(n.cfg.Lease/60, 10*time.Millisecond), 250*time.Millisecond)
}

// ExpireLease cancels the contexts of all runs if the lease has expired.
func (n *Node) ExpireLease() {
	if n.session.expire() {
		n.lost(n.heartbeatError.explain("no heartbeat got through in time"))
		n.heartbeatNow.Notify()
	}
}

func (n *Node) loseLease(why string) {
	if n.session.lose(ErrClaimLost) {
		n.lost(why)
	}
}

func (n *Node) lost(why string) {
	n.report.Emit(event.Event{Kind: event.LeaseLost, Count: int64(n.cfg.Claims.Len()), Detail: why})
}

// heartbeatError is the error of the last heartbeat; nil if the heartbeat succeeded. It is safe for
// concurrent use.
type heartbeatError struct{ last atomic.Pointer[error] }

// set records the error of a heartbeat.
func (s *heartbeatError) set(err error) { s.last.Store(&err) }

// clear records that a heartbeat succeeded.
func (s *heartbeatError) clear() { s.last.Store(nil) }

// explain adds the error of the last heartbeat, if it failed, to a description of what happened.
func (s *heartbeatError) explain(what string) string {
	if err := s.last.Load(); err != nil {
		return fmt.Sprintf("%s; the last one failed: %v", what, *err)
	}
	return what
}
