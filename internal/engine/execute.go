package engine

import (
	"context"
	"errors"
	"time"

	"github.com/hourbell/hourbell/event"
)

// execute runs one attempt, passes its outcome on, and returns how long it took; 0: it
// did not begin.
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
	if !e.session.trusted(started) { // looked at last: a process may be stopped at any line, for longer than its lease
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
	defer func() { // also when the worker ended its goroutine
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
	return 0 // told when the outcome is passed on
}

// errExited: the worker called runtime.Goexit, as testing's FailNow does.
var errExited = errors.New("the worker ended its goroutine")

// deliver passes on the outcome of a run, unless the node has handed the run
// back already because it would not end.
func (e *Engine) deliver(run *Run, r result) {
	if run.delivered.Swap(true) {
		return
	}
	r.run = run
	r.outcome.After = followUp(run.Claimed, r.outcome, e.cfg.Name)
	r.outcome.Alone = run.Schedule == 0
	e.outcomes.put(r)
}
