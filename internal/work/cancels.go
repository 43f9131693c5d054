package engine

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// cancelReadGap is the shortest interval between two reads of cancel requests. Some stores send a
// wake-up after every change, of any kind.
const cancelReadGap = 50 * time.Millisecond

// watchCancels passes cancel requests to the runs of this node. It reads them after a wake-up; each
// heartbeat reads them too.
func (e *Engine) watchCancels(ctx context.Context) {
	for {
		var timer <-chan time.Time
		if !e.wakes.pushed.Load() {
			timer = time.After(e.cfg.PollIdle)
		}
		select {
		case <-ctx.Done():
			return
		case <-e.wakes.cancels:
		case <-timer:
		}
		call, cancel := context.WithTimeout(ctx, e.cfg.CallTimeout)
		e.readCancels(call)
		cancel()
		if sleep(ctx, cancelReadGap) != nil {
			return
		}
	}
}

func (e *Engine) readCancels(ctx context.Context) {
	if e.inFlight.len() == 0 {
		return
	}
	claims, err := e.cfg.Backend.Claims(ctx, store.ClaimsRequest{Node: e.session.number(), Cancelled: true})
	if err != nil {
		if ctx.Err() == nil {
			e.storeErrors.add("read cancel requests", err)
		}
		return
	}
	e.storeErrors.clear("read cancel requests")
	known, _ := e.inFlight.split(claims)
	for _, run := range known {
		run.requestCancel()
	}
}
