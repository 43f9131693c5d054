package engine

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// leastCancelGap keeps stores whose pushes say only "something changed" from
// being asked for cancel requests at every change.
const leastCancelGap = 50 * time.Millisecond

// watchCancels carries cancel requests to the runs of this node, when a push
// says that there may be one; each heartbeat looks as well.
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
		if sleep(ctx, leastCancelGap) != nil {
			return
		}
	}
}

func (e *Engine) readCancels(ctx context.Context) {
	if e.held.len() == 0 {
		return
	}
	claims, err := e.cfg.Backend.Claims(ctx, store.ClaimsRequest{Node: e.session.number(), Cancelled: true})
	if err != nil {
		if ctx.Err() == nil {
			e.outage.fail("read cancel requests", err)
		}
		return
	}
	e.outage.over("read cancel requests")
	known, _ := e.held.split(claims)
	for _, run := range known {
		run.stop()
	}
}
