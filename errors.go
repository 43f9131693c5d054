package hourbell

import (
	"errors"
	"time"

	"github.com/hourbell/hourbell/internal/engine"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/store"
)

// What callers compare with errors.Is.
var (
	// ErrNotFound: what was named is not there.
	ErrNotFound = store.ErrNotFound
	// ErrConflict: it changed since it was read, or belongs to another owner.
	ErrConflict = store.ErrConflict
	// ErrStale: a newer revision of the owner's set is in place.
	ErrStale = store.ErrStale
	// ErrRejected: the database does not take a value, by its encoding or by a
	// constraint or trigger that its owner added; nothing was written.
	ErrRejected = store.ErrRejected
	// ErrUnknown: the answer to a commit did not come, so that the call may have
	// happened or not. Look, or give jobs a key (Unique) and enqueue again.
	ErrUnknown = store.ErrUnknown
	// ErrSchema: the database schema does not fit this release.
	ErrSchema = store.ErrSchema
	// ErrSuspended: the store went back in time, and no operator has accepted that yet; see
	// Client.AcceptHistory.
	ErrSuspended = engine.ErrSuspended
	// ErrRunning: the client runs already.
	ErrRunning = errors.New("the client is running already")
	// ErrStopped: the client was stopped; make a new one.
	ErrStopped = errors.New("the client was stopped")
)

// Why a job's context ended: compare context.Cause(ctx) with errors.Is.
var (
	// ErrCancelled: somebody cancelled the job.
	ErrCancelled = engine.ErrCancelled
	// ErrTimeout: the attempt took longer than the job's timeout.
	ErrTimeout = engine.ErrTimeout
	// ErrStopping: the node stops.
	ErrStopping = engine.ErrStopping
	// ErrClaimLost: the node could not prolong its lease in time, so that
	// another may start the job soon, or has done so.
	ErrClaimLost = engine.ErrClaimLost
)

// Fail makes a handler's error final: no further attempt.
func Fail(err error) error { return engine.Final(err, store.Failed, 0) }

// Cancel ends the job as cancelled rather than failed.
func Cancel(err error) error { return engine.Final(err, store.Cancelled, 0) }

// RetryIn asks for the next attempt after delay instead of the usual back-off. A
// delay below 100 ms, also a negative one, counts as 100 ms, so that a job that
// fails at once does not start over and over without a pause. Without attempts
// left the job fails all the same.
func RetryIn(delay time.Duration, err error) error { return engine.Final(err, store.Retry, delay) }

// FieldError is bad input. It names the field as people write it, what is
// wrong with it and what to do instead. It is the same type in package lock.
type FieldError = lock.FieldError
