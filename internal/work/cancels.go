package work

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
)

// cancelReadGap is the shortest interval between two reads of cancel requests. Some stores send a
// wake-up after every change, of any kind.
const cancelReadGap = 50 * time.Millisecond

// WatchCancels passes cancel requests to the runs of this node. It reads them after a wake-up; each
// heartbeat reads them too.
func (r *Runner) WatchCancels(ctx context.Context) {
	for {
		var timer <-chan time.Time
		if !r.wakes.Pushed() {
			timer = time.After(r.cfg.PollIdle)
		}
		select {
		case <-ctx.Done():
			return
		case <-r.wakes.Cancels():
		case <-timer:
		}
		call, cancel := context.WithTimeout(ctx, r.cfg.CallTimeout)
		r.settleCancels(call)
		r.readCancels(call)
		cancel()
		if loop.Sleep(ctx, cancelReadGap) != nil {
			return
		}
	}
}

// settleCancels cancels jobs that do not run, on behalf of transactions of programs.
func (r *Runner) settleCancels(ctx context.Context) {
	const doing = "carry out cancel requests"
	settler, ok := r.cfg.Store.(store.CancelSettler)
	if !ok {
		return
	}
	switch err := settler.SettleCancels(ctx); {
	case err == nil:
		r.report.StoreWorks(doing)
	case ctx.Err() == nil:
		r.report.StoreFailed(doing, err)
	}
}

func (r *Runner) readCancels(ctx context.Context) {
	if r.inFlight.Len() == 0 {
		return
	}
	claims, err := r.cfg.Store.Claims(ctx, store.ClaimsRequest{Node: r.node.Number(), Cancelled: true})
	if err != nil {
		if ctx.Err() == nil {
			r.report.StoreFailed("read cancel requests", err)
		}
		return
	}
	r.report.StoreWorks("read cancel requests")
	known, _ := r.inFlight.split(claims)
	for _, run := range known {
		run.requestCancel()
	}
}
