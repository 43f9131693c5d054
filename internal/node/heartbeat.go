package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/uptime"
	"github.com/hourbell/hourbell/store"
)

// heartbeats sends a heartbeat every Heartbeat, more often while heartbeats fail, and at once on
// the signal heartbeatNow.
func (e *Engine) heartbeats(ctx context.Context) {
	timer := time.NewTimer(e.cfg.Heartbeat)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-e.heartbeatNow:
		}
		wait := e.cfg.Heartbeat
		if !e.heartbeat(ctx) {
			wait = min(wait, time.Second) / 2
		}
		timer.Reset(wait)
	}
}

// heartbeat sends one heartbeat. If the node was declared dead, heartbeat registers it again.
func (e *Engine) heartbeat(ctx context.Context) (ok bool) {
	call, cancel := context.WithTimeout(ctx, e.cfg.Heartbeat)
	defer cancel()
	if e.history.mustRenumber() {
		return e.registerAgain(call)
	}
	ended := e.inFlight.takeEnded()
	sent, before := uptime.Now(), e.history.known()
	res, err := e.cfg.Backend.Heartbeat(call, store.HeartbeatRequest{Node: e.session.number(), EndedBatches: ended})
	switch {
	case err == nil:
		e.heartbeatError.clear()
		e.checkHistory(call, before, res.Position, e.history.heartbeatConfirmed(before, res.Beat))
		if e.history.mustRenumber() {
			return e.registerAgain(call)
		}
		regained := e.session.confirm(e.session.number(), sent, uptime.Now(), res.Now)
		e.expiry.set(sent, res) // after confirm, which may withdraw the right to declare others dead
		if regained && !e.stopping.Load() {
			e.emit(event.Event{Kind: event.LeaseRegained})
		}
		e.storeErrors.clear("heartbeat")
		e.step("heartbeat", "", e.inFlight.len())
		e.reconcile(call)
		e.readCancels(call)
		return true
	case errors.Is(err, store.ErrNodeGone):
		e.session.heartbeatFailed()
		e.loseLease(e.heartbeatError.explain("another node declared this one dead"))
		return e.registerAgain(call)
	case ctx.Err() != nil:
		return false
	}
	e.inFlight.putBackEnded(ended)
	e.session.heartbeatFailed()
	e.heartbeatError.set(err)
	e.storeErrors.add("heartbeat", err)
	return false
}

// registerAgain registers the node under a new number, after another node declared it dead or the
// store went back in time.
func (e *Engine) registerAgain(ctx context.Context) bool {
	before := e.session.number()
	if err := e.register(ctx); err != nil {
		e.storeErrors.add("register", err)
		return false
	}
	e.storeErrors.clear("register")
	e.emit(event.Event{Kind: event.LeaseRegained, Detail: fmt.Sprintf("registered again; was node %d", before)})
	return true
}

// watchLease cancels the contexts of all runs when the lease may no longer be trusted, because the
// store did not answer, or the process or the machine was stopped. It also starts a rescue when the
// lease of another node has expired.
func (e *Engine) watchLease(ctx context.Context) {
	ticker := time.NewTicker(e.leaseCheckInterval())
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		e.expireLease()
		if e.expiry.due() && e.session.mayDeclareDead() {
			e.rescueNow.notify()
		}
	}
}

// leaseCheckInterval is the interval at which watchLease checks the lease.
func (e *Engine) leaseCheckInterval() time.Duration {
	return min(max(e.cfg.Lease/60, 10*time.Millisecond), 250*time.Millisecond)
}

// expireLease cancels the contexts of all runs if the lease has expired.
func (e *Engine) expireLease() {
	if e.session.expire() {
		e.lost(e.heartbeatError.explain("no heartbeat got through in time"))
		e.heartbeatNow.notify()
	}
}

func (e *Engine) loseLease(why string) {
	if e.session.lose(ErrClaimLost) {
		e.lost(why)
	}
}

func (e *Engine) lost(why string) {
	e.emit(event.Event{Kind: event.LeaseLost, Count: int64(e.inFlight.len()), Detail: why})
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
