package hourbell

import (
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
)

// InvalidError is the error of every call for input that is not valid, with each
// mistake: what a server answers with the status 400 and not 500.
//
//	var invalid *hourbell.InvalidError
//	if errors.As(err, &invalid) {
//		for _, f := range invalid.Fields {
//			fmt.Println(f.Field, f.Value, f.Problem, f.Remedy)
//		}
//	}
//
// Nothing was changed then. What a method Validate of args returns is passed on as it is.
type InvalidError = check.InvalidError

// Errors for comparison with errors.Is.
var (
	// ErrNotFound means that the given job, schedule or other thing does not
	// exist.
	ErrNotFound = store.ErrNotFound
	// ErrConflict means that it was changed after it was read, or that it
	// belongs to another owner.
	ErrConflict = store.ErrConflict
	// ErrExists is the ErrConflict of a call that only creates (OnlyNew): something
	// has the name.
	ErrExists = store.ErrExists
	// ErrStale means that the store has a newer revision of the owner's
	// schedules.
	ErrStale = store.ErrStale
	// ErrRejected means that the database refuses a value because of its
	// encoding, or because of a constraint or trigger that the database's owner
	// added; nothing was written.
	ErrRejected = store.ErrRejected
	// ErrDuplicate means that another job has the key of a job with
	// ErrorOnConflict; errors.As finds a *store.DuplicateError with its number.
	// Nothing was stored.
	ErrDuplicate = store.ErrDuplicate
	// ErrUnknown means that no answer to a commit arrived, so that the call may
	// have taken effect or not. Read the state, or give jobs a key (Unique) and
	// enqueue again.
	ErrUnknown = store.ErrUnknown
	// ErrTxRequired means that a call that makes jobs had no InTx, though
	// Config.RequireTx is set. Nothing was sent to the store.
	ErrTxRequired = errors.New("this client makes jobs only in a transaction (Config.RequireTx): pass the option InTx")
	// ErrTxEnded means that the transaction of InTx was committed or rolled back
	// before the call.
	ErrTxEnded = store.ErrTxEnded
	// ErrForeignTx means that a transaction was made by the driver of another
	// database, or is on another database than the client.
	ErrForeignTx = store.ErrForeignTx
	// ErrNotInTx means that a call cannot be made in a transaction, because it
	// would hold up other jobs until the transaction ends; see InTx.
	ErrNotInTx = store.ErrNotInTx
	// ErrNotCommitted is the error of an attempt that called JobRow.Complete and
	// returned before the transaction was committed, or after it was rolled back.
	ErrNotCommitted = work.ErrNotCommitted
	// ErrSchema means that the database schema does not fit this release.
	ErrSchema = store.ErrSchema
	// ErrSuspended means that the store went back in time, and that no operator
	// has accepted this yet; see NodeService.AcceptHistory.
	ErrSuspended = node.ErrSuspended
	// ErrNothingLost means that NodeService.AcceptHistory found no report of a
	// loss.
	ErrNothingLost = errors.New("no node has reported that the store went back in time")
	// ErrRunning means that the client is running already.
	ErrRunning = errors.New("the client is running already")
	// ErrStopped means that the client was stopped; make a new client.
	ErrStopped = errors.New("the client was stopped")
)

// The reasons why a job's context ended: compare context.Cause(ctx) with
// errors.Is.
var (
	// ErrCancelled means that the job was cancelled.
	ErrCancelled = work.ErrCancelled
	// ErrTimeout means that the attempt took longer than the job's timeout.
	ErrTimeout = work.ErrTimeout
	// ErrStopping means that the node stops.
	ErrStopping = node.ErrStopping
	// ErrBatchEnded means that jobs were to be added to a batch that has ended.
	ErrBatchEnded = store.ErrBatchEnded

	// ErrStepsChanged means that the program takes other steps than an earlier attempt of the job has stored. The job fails.
	ErrStepsChanged = work.ErrStepsChanged
	// ErrNoSignal means that the signal for which Wait has waited did not come in time.
	ErrNoSignal = errors.New("the signal did not come in time")
	// ErrAnswered means that a signal with this name has come to the job before. The earlier signal counts.
	ErrAnswered = errors.New("the job was answered before")
	// ErrNoCallback means that no key of Config.Callbacks has signed a callback URL.
	ErrNoCallback = errors.New("this is no callback URL of the cluster")
	// ErrExpired means that a callback URL is not valid any more.
	ErrExpired = errors.New("the callback URL has expired")
	// ErrJobEnded means that a signal is for a job that has ended.
	ErrJobEnded = store.ErrJobEnded

	// ErrClaimLost means that the node could not extend its lease in time, so
	// that another node may start the job soon, or has started it.
	ErrClaimLost = node.ErrClaimLost
)

// Fail makes a handler's error final: no further attempt.
func Fail(err error) error { return work.Final(err, store.Failed, 0) }

// Cancel ends the job as cancelled rather than failed.
func Cancel(err error) error { return work.Final(err, store.Cancelled, 0) }

// RetryIn requests the next attempt after delay instead of the usual back-off.
// A delay below 100 ms, including a negative delay, counts as 100 ms, so that a
// job that fails at once does not run again and again without a pause. Without
// attempts left the job fails nevertheless.
func RetryIn(delay time.Duration, err error) error { return work.Final(err, store.Retry, delay) }

// IsSnooze reports whether a handler's error is a Snooze, which is no failure: for middleware that
// counts failures.
func IsSnooze(err error) bool {
	result, is := work.Selected(err)
	return is && result == store.Snooze
}

// LimitedFor is a Snooze for a handler whose job was refused by a limit of another system, as with the answer 429 and its Retry-After:
// the job waits for delay, and so do the other jobs under its limits (see Limit). Under a limit by key, no job of the key starts
// before; under a limit of a kind, no job of the kind; under a limit of a whole queue, no job of the queue. Jobs that nodes
// have taken already start. If the job is under no limit, LimitedFor is the same as Snooze. delay is at most a day; IsSnooze
// reports true.
func LimitedFor(delay time.Duration) error {
	delay = max(min(delay, maxLimitedFor), 0)
	return work.Limited(fmt.Errorf("limited for %v", delay), delay)
}

// maxLimitedFor keeps a mistake of another system from stopping all jobs of a limit for long.
const maxLimitedFor = 24 * time.Hour

// Snooze is what a handler returns if it cannot do its work yet: the job runs
// again after delay, counted by the store's clock. A snooze is no failure. It
// spends no attempt (the next attempt has the same number, and a greater
// token), it leaves no result, and it ends a row of losses. JobInfo.Snoozes counts the snoozes of a job, which are not
// limited. A delay below 100 ms, including 0 and a negative delay, counts as
// 100 ms, so that a job that snoozes does not run again and again without a
// pause.
//
// In all other respects a job that snoozes is like a job that waits for a
// retry: if it was asked to cancel, it is cancelled, and it gives way to the
// next job of its schedule as the schedule's overlap policy says. Also a
// handler whose context has ended may return Snooze.
func Snooze(delay time.Duration) error {
	delay = max(min(delay, MaxDuration), 0)
	return work.Final(fmt.Errorf("snoozed for %v", delay), store.Snooze, delay)
}
