package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

// OutputLimit is how much of an attempt's output is kept: its last bytes.
const OutputLimit = 64 << 10

// Run is one attempt at a job in this process. The zero value serves in tests
// of workers.
type Run struct {
	store.Claimed
	batch      *batch          // nil: none
	place      int             // in it
	sessionCtx context.Context // ends with the node's lease
	lease      *session        // of the node; nil in tests of workers
	delivered  atomic.Bool     // its outcome is on its way

	mu       sync.Mutex
	endCause error           // why its context has ended; nil: it has not, or with the session
	ctx      context.Context // made when somebody needs it: see attempt
	cancel   context.CancelCauseFunc
	output   []byte
}

// cancelled says whether somebody has asked for the run to be cancelled.
func (r *Run) cancelled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.endCause != nil
}

// stop cancels the run with ErrCancelled, now or as soon as it begins.
func (r *Run) requestCancel() { r.end(ErrCancelled) }

// end ends the context of the run with cause, unless that has ended.
func (r *Run) end(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.endCause == nil {
		r.endCause = cause
	}
	if r.cancel != nil {
		r.cancel(cause)
	}
}

// HeldFor returns for how long from now the node may trust the claim if no
// heartbeat gets through any more, and the length of its lease. Both are 0 in
// tests of workers, which claim nothing.
func (r *Run) HeldFor() (left, lease time.Duration) {
	if r.lease == nil {
		return 0, 0
	}
	left, lease = r.lease.left()
	if errors.Is(context.Cause(r.sessionCtx), ErrClaimLost) { // a lease regained later does not hold this claim
		left = 0
	}
	return left, lease
}

// SetOutput keeps the last OutputLimit bytes of output with the attempt.
func (r *Run) SetOutput(output []byte) {
	if over := len(output) - OutputLimit; over > 0 {
		output = output[over:]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.output = append([]byte(nil), output...)
}

// Output returns what SetOutput kept.
func (r *Run) Output() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.output
}

func (r *Run) ref() store.ClaimRef { return store.ClaimRef{ID: r.ID, Token: r.Token} }

// event returns an event about the run.
func (r *Run) event(kind event.Kind) event.Event {
	return event.Event{
		Kind: kind, Job: r.ID, Token: r.Token, JobKind: r.Kind, Queue: r.Queue,
		Attempt: int(r.Attempt), Schedule: r.ScheduleName, Slot: r.Slot,
	}
}

// Work does one attempt. It returns when the attempt is over.
type Work func(ctx context.Context, run *Run) error

// PanicError is a worker's panic as an error.
type PanicError struct {
	Value any
	Stack []byte
}

// Error says what the panic said.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// try calls work and turns a panic into an error.
func try(ctx context.Context, work Work, run *Run) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	if err = work(ctx, run); err != nil {
		_ = err.Error() // a nil pointer in an error would panic later, where nobody catches it
	}
	return err
}
