package engine

import (
	"context"
	"errors"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/plan"
)

// execute runs one attempt, delivers its outcome, and returns how long the attempt took; 0: the
// attempt did not begin.
func (e *Engine) execute(run *Run) (took time.Duration) {
	if e.stopping.Load() || run.sessionCtx.Err() != nil {
		e.deliver(run, result{outcome: unstarted(run.Claimed), why: "it had not begun"})
		return 0
	}
	if !e.allow(&run.Claimed) {
		e.deliver(run, result{outcome: unstarted(run.Claimed), why: "this node may not run it any more"})
		return 0
	}
	if run.cancelled() {
		e.deliver(run, result{outcome: cancelledEarly(run.Claimed), why: "it had not begun"})
		return 0
	}
	started := monotonic()
	if !e.session.trusted(started) { // the last check before the start, because the process may have been stopped at any line before, longer than its lease
		e.expireLease()
		e.deliver(run, result{outcome: unstarted(run.Claimed), why: "the lease of its node had passed before it began"})
		return 0
	}
	var ctx context.Context = attemptContext{run}
	defer run.end(context.Canceled)
	if timeout := e.cfg.Timeout(run.Claimed); timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, timeout, ErrTimeout)
		defer stop()
	}
	e.emit(run.event(event.JobStarted))
	err := errExited
	defer func() { // runs also when the worker called runtime.Goexit
		cause := context.Cause(ctx)
		took = started.elapsed()
		r := result{outcome: attemptOutcome(run.Claimed, err, cause), took: took, err: err}
		r.outcome.Output = run.Output()
		if cause != nil && err != nil {
			r.why = cause.Error()
		} else if errors.Is(err, ErrClaimLost) {
			r.why = err.Error()
		}
		e.deliver(run, r)
	}()
	err = try(ctx, e.cfg.Work, run)
	return 0 // the deferred function sets took
}

// errExited is the error of a worker that called runtime.Goexit, as FailNow of package testing
// does.
var errExited = errors.New("the worker ended its goroutine")

// deliver passes the outcome of a run to the outcomes to be written, unless the run already has an
// outcome because it did not end in time when its node stopped.
func (e *Engine) deliver(run *Run, r result) {
	if run.delivered.Swap(true) {
		return
	}
	r.run = run
	r.outcome.After = plan.FollowUp(run.Claimed, r.outcome, e.cfg.Name)
	r.outcome.Alone = run.Schedule == 0
	e.outcomes.put(r)
}
