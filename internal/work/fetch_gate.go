package work

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// fetchGate is whether jobs that a fetcher claims may begin.
type fetchGate struct {
	permits *permits           // of the queue, or of the queue within which its place is
	granted store.QueuePermits // what the next claim says of permits
	leads   bool               // the next claim has a permit, because it is the turn of the fetcher
	rated   bool               // a rate of a kind or of keys concerns the queue, as far as is known
	handled bool               // the last claim found a handler of starts (store.ClaimResult.Handled)
	starts  starts

	claiming int          // jobs that the claim in progress may return; guarded by permits.mu
	closed   bool         // no worker waits for a permit any more; guarded by permits.mu
	gated    atomic.Int64 // workers that wait for a permit

	// short reports whether the last claim may have left jobs of a kind that has as many runs as it may
	// have on this node.
	short   atomic.Bool
	rebound atomic.Bool // the bound of a kind has changed
}

// hand passes claimed jobs to the workers: the first jobs at once, because the claim recorded that
// they may begin, and the other jobs after the store has recorded that they may begin. A job whose
// start sets off a hook or a handler is passed on at once, too: it begins when a worker has it.
func (f *fetcher) hand(ctx, session context.Context, res store.ClaimResult, first int) {
	runs := f.addRuns(session, res)
	first = min(first, len(runs))
	f.start(runs[:first])
	var rest []*Run
	for _, run := range runs[first:] {
		if run.starts == nil {
			rest = append(rest, run)
		} else {
			f.start([]*Run{run})
		}
	}
	for len(rest) > 0 {
		n := beginTogether(rest)
		if ctx.Err() != nil || f.runner.solo.closed() != nil || !f.begin(ctx, rest[:n]) {
			f.releaseRuns(rest, "it could not begin in time")
			return
		}
		f.start(rest[:n])
		rest = rest[n:]
	}
}

// start puts runs into the channel of the workers.
func (f *fetcher) start(runs []*Run) {
	for _, run := range runs {
		f.jobs <- run // the channel has room for the jobs of a claim, or a worker is free
	}
}

// begin records in the store that runs of one claim may begin, and reports whether they may, except
// the runs that are paused then.
func (f *fetcher) begin(ctx context.Context, runs []*Run) bool {
	r := f.runner
	what := "begin jobs of queue " + f.queue
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.CallTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(min(r.cfg.Heartbeat, maxStopWait), cancel) })()
	req := store.BeginRequest{
		Node: r.node.Number(), Name: r.node.Name(), Batch: runs[0].batch.number,
		Claims: make([]store.ClaimRef, len(runs)), Starts: make([]store.Start, len(runs)),
	}
	for i, run := range runs {
		req.Claims[i], req.Starts[i] = run.ref(), store.Start{Job: &run.Claimed, Hooks: plan.StartHooks(&run.Claimed, req.Name)}
	}
	res, err := r.cfg.Store.BeginJobs(call, req)
	switch {
	case errors.Is(err, store.ErrNodeGone):
		r.node.HeartbeatNow()
		return false
	case err != nil:
		r.report.StoreFailed(what, err)
		return false
	}
	r.report.StoreWorks(what)
	for _, run := range runs {
		if slices.Contains(res.Paused, run.ID) {
			run.paused.Store(true)
		}
	}
	return true
}

// addRuns makes runs of claimed jobs and adds them to the jobs in flight.
func (f *fetcher) addRuns(session context.Context, res store.ClaimResult) []*Run {
	if f.dormant && len(res.Jobs) > 0 {
		f.hire()
	}
	runs := make([]*Run, len(res.Jobs))
	startsFrom := f.askedAt
	if !res.StartsFrom.IsZero() {
		startsFrom = max(startsFrom, loop.InstantOf(res.StartsFrom))
	}
	greatest := int64(0)
	for i, job := range res.Jobs {
		runs[i] = &Run{Claimed: job, sessionCtx: session, node: f.runner.node, declared: &f.runner.allowList, runner: f.runner}
		if res.Handled || plan.HasStartHooks(&job) {
			runs[i].starts = &f.starts
		}
		if slack := store.LeastSlack(f.granted.Slack, job.Slack); slack > 0 {
			runs[i].beginBy = startsFrom.Add(slack)
		}
		greatest = max(greatest, job.Token)
	}
	f.runner.node.TokenSeen(greatest)
	f.inFlight.Add(int64(len(runs)))
	f.runner.inFlight.add(res, runs)
	return runs
}
