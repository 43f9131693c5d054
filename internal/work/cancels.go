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

// WatchCancels passes cancel requests and pauses to the runs of this node. It reads them after a
// wake-up; each heartbeat reads them too. What transactions left to later transactions is carried out here only, so that
// a failure is tried again without a wake-up.
func (r *Runner) WatchCancels(ctx context.Context) {
	failures := 0
	for {
		var timer <-chan time.Time
		switch {
		case failures > 0:
			timer = time.After(loop.RetryWait(failures, r.around.Random("cancels")))
		case !r.wakes.Pushed():
			timer = time.After(r.cfg.PollIdle)
		}
		select {
		case <-ctx.Done():
			return
		case <-r.wakes.Cancels():
		case <-timer:
		}
		if ctx.Err() != nil {
			return
		}
		// Each has a time of its own, because carryOut may wait for a job that a transaction has locked.
		r.bounded(ctx, r.ReadCancels)
		r.bounded(ctx, r.readPauses)
		r.bounded(ctx, func(call context.Context) {
			if failures++; r.carryOut(call) {
				failures = 0
			}
		})
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

// carryOut cancels jobs that do not run, on behalf of transactions of programs, and releases the dependents of jobs that ended in
// such transactions, or whose node died after it had recorded their ends. It reports whether nothing is left to do.
func (r *Runner) carryOut(ctx context.Context) bool {
	const doing = "release dependents and carry out cancel requests"
	deferring, ok := store.Able[store.Deferring](r.cfg.Store)
	if !ok {
		return true
	}
	err := deferring.CarryOut(ctx, store.CarryOutRequest{})
	switch {
	case err == nil:
		r.report.StoreWorks(doing)
	case ctx.Err() == nil:
		r.report.StoreFailed(doing, err)
	}
	return err == nil
}

// ReadCancels reads the cancel requests for jobs of this node, and passes them to the runs.
func (r *Runner) ReadCancels(ctx context.Context) {
	for _, run := range r.claimed(ctx, "read cancel requests", store.ClaimsRequest{Cancelled: true}) {
		run.requestCancel()
	}
}

// readPauses keeps the runs from beginning that pauses concern. Runs that have begun go on.
func (r *Runner) readPauses(ctx context.Context) {
	for _, run := range r.claimed(ctx, "read paused claims", store.ClaimsRequest{Paused: true}) {
		run.paused.Store(true)
	}
}

// claimed returns the runs in flight that are among the claims which a request selects.
func (r *Runner) claimed(ctx context.Context, doing string, req store.ClaimsRequest) []*Run {
	if r.inFlight.Len() == 0 {
		return nil
	}
	req.Node = r.node.Number()
	claims, err := r.cfg.Store.Claims(ctx, req)
	if err != nil {
		if ctx.Err() == nil {
			r.report.StoreFailed(doing, err)
		}
		return nil
	}
	r.report.StoreWorks(doing)
	known, _ := r.inFlight.split(claims)
	return known
}
