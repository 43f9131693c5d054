package work

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/store"
)

// Causes for which the context of one job ends. Package node has the causes for which the contexts of
// all jobs of a node end.
var (
	ErrCancelled = errors.New("the job was cancelled")
	ErrTimeout   = errors.New("the attempt took longer than its timeout")
)

// The bounds of the delays that a worker can ask for. Without the least delay, a worker that asks for
// no delay would run again and again without a pause.
const (
	minDelay = 100 * time.Millisecond
	maxDelay = 100 * 365 * 24 * time.Hour
)

// finalError is a worker's error that selects the result of the attempt.
type finalError struct {
	err     error
	result  store.Result
	delay   time.Duration
	limited bool   // nothing starts under the limits of the job before delay has passed
	wait    string // the name of the step for which the job waits; empty: none
}

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

// Final wraps a worker's error, so that it selects the result: store.Failed and store.Cancelled end
// the job, store.Retry asks for another attempt after delay, and store.Snooze for the same attempt
// again after delay, which is brought into its bounds. Final returns nil for a nil error.
func Final(err error, result store.Result, delay time.Duration) error {
	if err == nil {
		return nil
	}
	return &finalError{err: err, result: result, delay: Within(delay)}
}

// Limited returns an error that snoozes the job for delay, and asks that until then no job starts under the limits that concern
// this job (store.Permits.CloseLanes).
func Limited(err error, delay time.Duration) error {
	return &finalError{err: err, result: store.Snooze, delay: Within(delay), limited: true}
}

// closes returns for how long nothing starts under the limits of a job whose attempt has this outcome and whose worker returned err; 0:
// the worker did not ask for it.
func closes(out *store.Outcome, err error) time.Duration {
	var final *finalError
	if out.Result == store.Snooze && errors.As(err, &final) && final.limited {
		return out.Delay
	}
	return 0
}

// Selected returns the result that a worker's error selects; false: the error selects none.
func Selected(err error) (store.Result, bool) {
	var final *finalError
	if !errors.As(err, &final) {
		return 0, false
	}
	return final.result, true
}

// Within returns a delay that is at least minDelay and at most maxDelay.
func Within(delay time.Duration) time.Duration { return min(max(delay, minDelay), maxDelay) }

// textLimit is the greatest number of bytes that is kept of an error or a stack.
const textLimit = 64 << 10

// cleanText makes a text that every store can keep: valid UTF-8, without NUL, with at most
// textLimit bytes.
func cleanText(text string) string { return event.Text(text, textLimit) }

// attemptOutcome returns the outcome of an attempt. err is the error of the worker; cause is why
// the context of the attempt ended, or nil. A retry without a delay is a retry after the back-off.
// attemptOutcome is pure.
func attemptOutcome(job store.Claimed, err, cause error) store.Outcome {
	out := store.Outcome{ID: job.ID, Token: job.Token}
	if err == nil {
		out.Result = store.Completed
		return out
	}
	var final *finalError
	if errors.As(err, &final) && final.result == store.Snooze {
		out.Wait = final.wait
		return snoozed(out, final.delay, cause)
	}
	lost := claimLost(err, cause)
	out.Error, out.Trace = textsOf(job, err, lost)
	switch {
	case errors.Is(cause, ErrCancelled):
		out.Result = store.Cancelled
	case final != nil && final.result != store.Retry:
		out.Result = final.result
	case errors.Is(cause, node.ErrStopping):
		return interrupted(job, withCause(cause, err))
	case lost != nil && refundable(job):
		return leaseLost(job, lost)
	default:
		out.Result, out.Delay = retryOrFail(job, final)
	}
	return out
}

// retryOrFail returns the result of an attempt that went wrong, and the delay before the next attempt.
func retryOrFail(job store.Claimed, final *finalError) (store.Result, time.Duration) {
	switch {
	case job.Attempt >= job.MaxAttempts:
		return store.Failed, 0
	case final != nil:
		return store.Retry, final.delay
	}
	return store.Retry, 0
}

// textsOf returns the text of a worker's error, and the stack of a panic. lost is the error of claimLost.
func textsOf(job store.Claimed, err, lost error) (text, trace string) {
	text = cleanText(err.Error())
	if lost != nil && !refundable(job) {
		text = cleanText(fmt.Sprintf("its node lost its lease, and %d attempts were refunded for that already: %v", maxRefunds, err))
	}
	if text == "" {
		text = fmt.Sprintf("an error without text (%T)", err)
	}
	var panicked *panicError
	if errors.As(err, &panicked) {
		trace = cleanText(string(panicked.stack))
	}
	return text, trace
}

// claimLost returns the error of an attempt whose node has lost its lease; nil: it has not.
func claimLost(err, cause error) error {
	switch {
	case errors.Is(cause, node.ErrClaimLost):
		return withCause(cause, err)
	case errors.Is(err, node.ErrClaimLost): // a worker that noticed the loss before its context ended
		return err
	}
	return nil
}

// withCause returns the error of a worker whose context ended because of cause, with the cause. It
// says the cause once.
func withCause(cause, err error) error {
	switch {
	case err == nil || isContextsError(err):
		return cause
	case errors.Is(err, cause):
		return err
	}
	return fmt.Errorf("%w (%w)", cause, err)
}

// isContextsError reports whether err says no more than that a context has ended, as the context does,
// or a driver: "timeout: context deadline exceeded".
func isContextsError(err error) bool {
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	text := err.Error()
	return text == context.Canceled.Error() || text == context.DeadlineExceeded.Error() || strings.HasPrefix(text, "timeout: ")
}

// snoozed returns the outcome of an attempt that asks to run again later. Also an attempt that ended
// while its node stopped may ask. A request to cancel the job comes first, with its own reason.
func snoozed(out store.Outcome, delay time.Duration, cause error) store.Outcome {
	if errors.Is(cause, ErrCancelled) {
		out.Result = store.Cancelled
		return out
	}
	out.Result, out.Delay = store.Snooze, delay
	return out
}

// interrupted returns the outcome of an attempt that its node ended, not the job. The attempt does
// not count, unless the job must not start twice.
func interrupted(job store.Claimed, why error) store.Outcome {
	out := store.Outcome{ID: job.ID, Token: job.Token, Result: store.Release, Error: cleanText("handed back: " + why.Error())}
	if job.OnLoss == store.OnLossFail {
		out.Result = store.Failed
		out.Error = cleanText("lost: it was interrupted, and may not start twice: " + why.Error())
	}
	return out
}

// maxRefunds is how many attempts of a job do not count because its node lost its lease. Attempts
// that an orderly stop ended never count.
const maxRefunds = 5

// refundable reports whether an attempt that ended with its node's lease does not count. Without a
// limit, a job that keeps its node from sending heartbeats would be retried for ever.
func refundable(job store.Claimed) bool {
	return job.OnLoss == store.OnLossFail || job.Refunds < maxRefunds
}

// leaseLost returns the outcome of an attempt that ended with its node's lease.
func leaseLost(job store.Claimed, why error) store.Outcome {
	out := interrupted(job, why)
	out.LeaseLost = out.Result == store.Release
	return out
}

// cancelledEarly returns the outcome of a job that was cancelled before it began.
func cancelledEarly(job store.Claimed) store.Outcome {
	return store.Outcome{ID: job.ID, Token: job.Token, Result: store.Cancelled}
}

// unstarted returns the outcome of a claimed job that did not begin.
func unstarted(job store.Claimed) store.Outcome {
	return store.Outcome{ID: job.ID, Token: job.Token, Result: store.Release}
}
