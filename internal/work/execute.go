package work

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/backoff"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// execute runs one attempt, or goes on with an attempt that was left, delivers its outcome, and
// returns how long the attempt took; 0: the attempt did not begin, or the worker has left it.
func (r *Runner) execute(run *Run) (took time.Duration) {
	if !run.takeUp() && !r.begin(run) {
		return 0
	}
	var ctx context.Context = attemptContext{run}
	left := false
	defer func() {
		if !left {
			run.end(context.Canceled)
		}
	}()
	if node := r.cfg.Travel; node != nil {
		var end func()
		ctx, end = node.Attempt(ctx, run.Claimed)
		defer end()
	}
	ctx, stop := r.withTimeout(ctx, run)
	defer stop()
	run.runsIn(ctx)
	err := errExited
	defer func() { // runs also when the worker called runtime.Goexit
		cause := context.Cause(ctx)
		abandoned := run.returns().abandoned
		if left = run.leave(err); left {
			return
		}
		if abandoned && run.completing.Load() == notCompleting {
			r.refuseLate(run, err)
			return
		}
		took = run.started.Elapsed()
		res := result{outcome: r.outcomeOf(run, err, cause), took: took, err: err, why: whyEnded(err, cause)}
		res.closes = closes(&res.outcome, err)
		if run.completing.Load() == notCompleting {
			r.deliver(run, res)
		} else {
			r.settle(run, res, cause)
		}
	}()
	if err = try(ctx, r.cfg.Work, run); err == nil {
		err = run.stepsLeft()
	}
	return 0 // the deferred function sets took
}

// withTimeout returns the context of an attempt that ends with the timeout of its job, if the job has a timeout.
func (r *Runner) withTimeout(ctx context.Context, run *Run) (context.Context, context.CancelFunc) {
	timeout := r.cfg.Timeout(run.Claimed)
	if timeout <= 0 {
		return ctx, func() {}
	}
	if node := r.cfg.Travel; node != nil {
		return node.WithTimeout(ctx, timeout, ErrTimeout)
	}
	return context.WithTimeoutCause(ctx, timeout-run.started.Elapsed(), ErrTimeout)
}

// whyEnded describes why an attempt ended whose worker returned err, if that is not the worker's own reason.
func whyEnded(err, cause error) string {
	switch {
	case cause != nil && err != nil:
		return cause.Error()
	case errors.Is(err, node.ErrClaimLost):
		return err.Error()
	}
	return ""
}

// begin begins an attempt, and reports whether it may begin; if not, its outcome is delivered.
func (r *Runner) begin(run *Run) bool {
	if outcome, why := r.refusal(run); why != "" {
		r.refuse(run, outcome, why)
		return false
	}
	if run.starts != nil && r.trusted(run, loop.Now()) && !run.starts.await(run) {
		r.refuse(run, unstarted(run.Claimed), "it could not begin in time")
	}
	if run.paused.Load() {
		r.refuse(run, unstarted(run.Claimed), "a pause concerns it")
	}
	run.started = loop.Now()
	// This is the last check before the start, because the process may have been stopped at any line before, longer than its lease
	if run.delivered.Load() || !r.trusted(run, run.started) {
		return false
	}
	if run.beginBy != 0 && run.started > run.beginBy {
		r.refuse(run, unstarted(run.Claimed), "it was claimed too long ago for a rate")
		return false
	}
	begun := run.event(event.JobStarted)
	begun.Late = run.late(run.started)
	r.report.Emit(begun)
	return true
}

// refusal returns why an attempt may not begin before it waits for its start, and its outcome then; empty: it may.
func (r *Runner) refusal(run *Run) (outcome store.Outcome, why string) {
	switch {
	case r.node.Stopping() || r.leaving.noStart() || run.sessionCtx.Err() != nil:
		return unstarted(run.Claimed), "it had not begun"
	case !r.allow(&run.Claimed):
		return unstarted(run.Claimed), "this node may not run it any more"
	case run.cancelled():
		return cancelledEarly(run.Claimed), "it had not begun"
	}
	return store.Outcome{}, ""
}

// refuse gives back a run that may not begin. Many runs may be refused at once: workers of a node take them, and its lease ends.
func (r *Runner) refuse(run *Run, outcome store.Outcome, why string) {
	r.around.Step(context.Background(), fmt.Sprintf("%s refuses %d", run.Queue, run.ID))
	r.deliver(run, result{outcome: outcome, why: why})
}

// trusted reports whether the node has its lease at an instant; otherwise the run is released.
func (r *Runner) trusted(run *Run, at loop.Instant) bool {
	if r.node.Trusted(at) {
		return true
	}
	r.node.ExpireLease()
	r.refuse(run, unstarted(run.Claimed), "the lease of its node had passed before it began")
	return false
}

// outcomeOf returns the outcome of a run whose worker returned err; cause is why the context of the
// attempt ended, or nil.
func (r *Runner) outcomeOf(run *Run, err, cause error) store.Outcome {
	out := attemptOutcome(run.Claimed, err, cause)
	if out.Result == store.Retry && out.Delay == 0 {
		out.Delay = r.backoff(run.Claimed, &out, err)
	}
	run.addTo(&out)
	return out
}

// backoff returns the delay after a failed attempt. A panic of the function that computes the delay
// is added to the error that the attempt leaves, and the default applies.
func (r *Runner) backoff(job store.Claimed, out *store.Outcome, err error) (delay time.Duration) {
	chance := r.around.Random(fmt.Sprintf("back-off of job %d", job.ID))
	defer func() {
		if value := recover(); value != nil {
			out.Error = cleanText(fmt.Sprintf("%s (and the function for the back-off failed: panic: %v)", out.Error, value))
			delay = backoff.Policy{}.After(int(job.Attempt), chance)
		}
	}()
	if r.cfg.Backoff == nil {
		return backoff.Policy{}.After(int(job.Attempt), chance)
	}
	return Within(r.cfg.Backoff(job, err, chance))
}

// errExited is the error of a worker that called runtime.Goexit, as FailNow of package testing
// does.
var errExited = errors.New("the worker ended its goroutine")

// deliver passes the outcome of a run to the outcomes to be written, unless the run already has an
// outcome because it did not end in time when its node stopped.
func (r *Runner) deliver(run *Run, res result) {
	if run.delivered.Swap(true) {
		return
	}
	defer r.closed()
	res.run = run
	r.addConsequences(run, &res.outcome)
	r.outcomes.put(res)
}

// addConsequences adds to an outcome what it causes besides the end of its job.
func (r *Runner) addConsequences(run *Run, outcome *store.Outcome) {
	outcome.After = plan.FollowUp(run.Claimed, *outcome, r.node.Name())
	outcome.Job = &run.Claimed
	outcome.Alone = run.Schedule == 0
	if r.cfg.KeepFor != nil {
		outcome.Keep = r.cfg.KeepFor(run.Kind, outcome.Result)
		if run.Batch != 0 && outcome.Keep == store.Forget {
			outcome.Keep = time.Microsecond // Prune keeps it until its batch has ended
		}
	}
}
