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
// heartbeat reads them too. Requests for jobs that do not run are carried out here only, so that a
// failure is tried again without a wake-up.
func (r *Runner) WatchCancels(ctx context.Context) {
	failures := 0
	for {
		var timer <-chan time.Time
		switch {
		case failures > 0:
			timer = time.After(loop.RetryWait(failures))
		case !r.wakes.Pushed():
			timer = time.After(r.cfg.PollIdle)
		}
		select {
		case <-ctx.Done():
			return
		case <-r.wakes.Cancels():
		case <-timer:
		}
		// Each has a time of its own, because settleCancels may wait for a job that a transaction has
		// locked.
		r.bounded(ctx, r.readCancels)
		r.bounded(ctx, func(call context.Context) {
			if failures++; r.settleCancels(call) {
				failures = 0
			}
		})
		r.bounded(ctx, r.releaseDependents)
		if loop.Sleep(ctx, cancelReadGap) != nil {
			return
		}
	}
}

// bounded calls do with a context that ends after the time for one call.
func (r *Runner) bounded(ctx context.Context, do func(context.Context)) {
	call, cancel := context.WithTimeout(ctx, r.cfg.CallTimeout)
	defer cancel()
	do(call)
}

// settleCancels cancels jobs that do not run, on behalf of transactions of programs, and reports
// whether nothing is left to do.
func (r *Runner) settleCancels(ctx context.Context) bool {
	const doing = "carry out cancel requests"
	settler, ok := store.Able[store.CancelSettler](r.cfg.Store)
	if !ok {
		return true
	}
	err := settler.SettleCancels(ctx)
	switch {
	case err == nil:
		r.report.StoreWorks(doing)
	case ctx.Err() == nil:
		r.report.StoreFailed(doing, err)
	}
	return err == nil
}

// releaseDependents releases the dependents of jobs that ended in transactions of programs, and of
// jobs whose node died after it had recorded their ends.
func (r *Runner) releaseDependents(ctx context.Context) {
	const doing = "release dependents"
	releaser, ok := store.Able[store.Releaser](r.cfg.Store)
	if !ok {
		return
	}
	switch err := releaser.ReleaseDependents(ctx, store.ReleaseRequest{}); {
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
