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

// heartbeats tells the store every Heartbeat that the node lives, more often
// while it does not answer, and at once when asked by the bell.
func (e *Engine) heartbeats(ctx context.Context) {
	timer := time.NewTimer(e.cfg.Heartbeat)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-e.beatNow:
		}
		wait := e.cfg.Heartbeat
		if !e.heartbeat(ctx) {
			wait = min(wait, time.Second) / 2
		}
		timer.Reset(wait)
	}
}

// heartbeat sends one, and registers anew if the node was declared dead.
func (e *Engine) heartbeat(ctx context.Context) (ok bool) {
	call, cancel := context.WithTimeout(ctx, e.cfg.Heartbeat)
	defer cancel()
	if e.history.mustRenumber() {
		return e.registerAgain(call)
	}
	ended := e.held.takeEnded()
	sent, before := uptime.Now(), e.history.glance()
	res, err := e.cfg.Backend.Heartbeat(call, store.HeartbeatRequest{Node: e.session.number(), EndedBatches: ended})
	switch {
	case err == nil:
		e.silence.end()
		e.observe(call, before, res.Position, e.history.beaten(before, res.Beat))
		if e.history.mustRenumber() {
			return e.registerAgain(call)
		}
		regained := e.session.confirm(e.session.number(), sent, uptime.Now(), res.Now)
		e.expiry.set(sent, res) // after confirm, which may have seen that nobody can be judged now
		if regained && !e.stopping.Load() {
			e.emit(event.Event{Kind: event.LeaseRegained})
		}
		e.outage.over("heartbeat")
		e.step("heartbeat", "", e.held.len())
		e.reconcile(call)
		e.readCancels(call)
		return true
	case errors.Is(err, store.ErrNodeGone):
		e.session.missed()
		e.loseLease(e.silence.explain("another node declared this one dead"))
		return e.registerAgain(call)
	case ctx.Err() != nil:
		return false
	}
	e.held.putBackEnded(ended)
	e.session.missed()
	e.silence.note(err)
	e.outage.fail("heartbeat", err)
	return false
}

// registerAgain enters the node under a new number after it was declared dead.
func (e *Engine) registerAgain(ctx context.Context) bool {
	before := e.session.number()
	if err := e.register(ctx); err != nil {
		e.outage.fail("register", err)
		return false
	}
	e.outage.over("register")
	e.emit(event.Event{Kind: event.LeaseRegained, Detail: fmt.Sprintf("registered anew; was node %d", before)})
	return true
}

// watchLease ends the contexts of all runs when the lease can no longer be
// trusted: the store did not answer, or the machine or the process was stopped.
func (e *Engine) watchLease(ctx context.Context) {
	ticker := time.NewTicker(e.tick())
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		e.expireLease()
		if e.expiry.due() && e.session.mayJudge() {
			e.rescueNow.ring()
		}
	}
}

// tick is how often the lease is looked at.
func (e *Engine) tick() time.Duration {
	return min(max(e.cfg.Lease/60, 10*time.Millisecond), 250*time.Millisecond)
}

// expireLease ends the contexts of all runs if the time of the lease is over.
func (e *Engine) expireLease() {
	if e.session.expire() {
		e.lost(e.silence.explain("no heartbeat got through in time"))
		e.beatNow.ring()
	}
}

func (e *Engine) loseLease(why string) {
	if e.session.lose(ErrClaimLost) {
		e.lost(why)
	}
}

func (e *Engine) lost(why string) {
	e.emit(event.Event{Kind: event.LeaseLost, Count: int64(e.held.len()), Detail: why})
}

// silence is why the store has not heard of this node: the error of the last
// heartbeat, if that failed. It is safe for concurrent use.
type silence struct{ last atomic.Pointer[error] }

// note records the error of a heartbeat.
func (s *silence) note(err error) { s.last.Store(&err) }

// end records that a heartbeat got through.
func (s *silence) end() { s.last.Store(nil) }

// explain adds to what happened why no heartbeat got through, if that is known.
func (s *silence) explain(what string) string {
	if err := s.last.Load(); err != nil {
		return fmt.Sprintf("%s; the last one failed: %v", what, *err)
	}
	return what
}
