package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

// Why a job's context ended.
var (
	ErrCancelled = errors.New("the job was cancelled")
	ErrTimeout   = errors.New("the attempt took longer than its timeout")
	ErrStopping  = errors.New("the node is stopping")
	ErrClaimLost = errors.New("the claim could not be held")
)

// finalError is a worker's error with an opinion on what to do.
type finalError struct {
	err    error
	result store.Result
	delay  time.Duration
}

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

// Final wraps a worker's error: store.Failed and store.Cancelled end the job,
// store.Retry asks for another attempt after delay, at least minDelay. A nil
// error stays nil.
func Final(err error, result store.Result, delay time.Duration) error {
	if err == nil {
		return nil
	}
	return &finalError{err: err, result: result, delay: max(delay, minDelay)}
}

// textLimit bounds what is kept of an error or a stack.
const textLimit = 64 << 10

// cleanText makes text storable everywhere: valid UTF-8, no NUL, bounded.
func cleanText(text string) string { return event.Text(text, textLimit) }

// verdict is what an attempt came to: err is what the worker returned, cause
// why its context ended, or nil. It is pure but for the back-off's jitter.
func attemptOutcome(job store.Claimed, err, cause error) store.Outcome {
	out := store.Outcome{ID: job.ID, Token: job.Token}
	if err == nil {
		out.Result = store.Completed
		return out
	}
	out.Error = cleanText(err.Error())
	if out.Error == "" {
		out.Error = fmt.Sprintf("an error without text (%T)", err)
	}
	var panicked *PanicError
	if errors.As(err, &panicked) {
		out.Trace = cleanText(string(panicked.Stack))
	}
	var final *finalError
	if (errors.Is(cause, ErrClaimLost) || errors.Is(err, ErrClaimLost)) && !refundable(job) {
		out.Error = cleanText(fmt.Sprintf("its node lost its lease, and %d attempts were refunded for that already: %v", maxRefunds, err))
	}
	switch {
	case errors.Is(cause, ErrCancelled):
		out.Result = store.Cancelled
	case errors.As(err, &final) && final.result != store.Retry:
		out.Result = final.result
	case errors.Is(cause, ErrStopping):
		return interrupted(job, fmt.Errorf("%w (%w)", cause, err))
	case errors.Is(cause, ErrClaimLost) && refundable(job):
		return leaseLost(job, fmt.Errorf("%w (%w)", cause, err))
	case errors.Is(err, ErrClaimLost) && refundable(job): // a worker that was told sooner than its context
		return leaseLost(job, err)
	case job.Attempt >= job.MaxAttempts:
		out.Result = store.Failed
	case final != nil:
		out.Result, out.Delay = store.Retry, final.delay
	default:
		out.Result, out.Delay = store.Retry, backoff(int(job.Attempt))
	}
	return out
}

// interrupted is the outcome of an attempt that its node, not the job, ended:
// it does not count, unless the job must never start twice.
func interrupted(job store.Claimed, why error) store.Outcome {
	out := store.Outcome{ID: job.ID, Token: job.Token, Result: store.Release}
	if job.OnLoss == store.OnLossFail {
		out.Result = store.Failed
		out.Error = cleanText("lost: it was interrupted, and may not start twice: " + why.Error())
	}
	return out
}

// mostRefunds is how many attempts of a job are refunded because its node lost its
// lease. Refunds at an orderly stop are not counted.
const maxRefunds = 5

// refundable reports whether an attempt that ended with its node's lease need not
// count. A job that loses every lease, because it keeps its node from prolonging
// them, would otherwise never end.
func refundable(job store.Claimed) bool {
	return job.OnLoss == store.OnLossFail || job.Refunds < maxRefunds
}

// leaseLost is the outcome of an attempt that ended with its node's lease.
func leaseLost(job store.Claimed, why error) store.Outcome {
	out := interrupted(job, why)
	out.LeaseLost = out.Result == store.Release
	return out
}

// cancelledEarly is the outcome of a claim that was cancelled before its job
// began.
func cancelledEarly(job store.Claimed) store.Outcome {
	return store.Outcome{ID: job.ID, Token: job.Token, Result: store.Cancelled}
}

// unstarted is the outcome of a claim whose job never began.
func unstarted(job store.Claimed) store.Outcome {
	return store.Outcome{ID: job.ID, Token: job.Token, Result: store.Release}
}
