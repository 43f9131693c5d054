package work

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/handover"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/store"
)

// Run is one attempt at a job in this process. The zero value can be used in tests of workers.
type Run struct {
	store.Claimed
	batch      *batch          // the claim that returned the job; nil: none
	place      int             // index in batch.runs
	starts     *starts         // lets the job begin when a worker has it; nil: it may begin
	sessionCtx context.Context // ends when the node loses its lease
	node       *node.Node      // holds the claim; nil in tests of workers
	declared   *allowList      // of the node; nil in tests of workers
	steps      remembered      // steps of earlier attempts
	sleeps     int             // of this attempt
	spawns     int             // of this attempt
	// StepsVersion is the version of the program for its steps; 0 and 1: the first. Set before the first step.
	StepsVersion int32
	Typed        any          // what the worker made of the run; only the worker uses it
	Client       any          // the client of the node; only the root package uses it
	Children     []store.Step // the children that this attempt has made, or an attempt before; only the worker uses it
	runner       *Runner      // nil in tests of workers
	delivered    atomic.Bool  // the outcome was passed to outcomes
	completing   atomic.Int32 // see completion.go
	paused       atomic.Bool  // a pause concerns the job: the run does not begin
	permitted    bool         // the run has a permit of its queue; written before the attempt

	mu       sync.Mutex
	at       attempt
	endCause error           // why the run was ended; nil: it was not, or the session ended
	ctx      context.Context // created on first use: see attemptContext
	cancel   context.CancelCauseFunc
	printed  printed
	started  loop.Instant    // when the attempt began; before the process began, if the run was taken over
	left     *handover.Left  // what the last worker has left; nil: nothing, or the run was taken up
	beginBy  loop.Instant    // the attempt begins by then or not at all; 0: at any time
	found    *handover.Left  // what the present worker has found; nil: the attempt began with this worker
	value    []byte          // the result
	progress *store.Progress // nil: none
}

// cancelled reports whether the run was asked to end.
func (r *Run) cancelled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.endCause != nil
}

// requestCancel cancels the run with ErrCancelled. A run that has not begun does not begin.
func (r *Run) requestCancel() { r.end(ErrCancelled) }

// end cancels the context of the run with cause. Only the first cause counts.
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

// HeldFor returns how long the node may trust the claim from now on if no further heartbeat
// succeeds, and the length of the node's lease. Both are 0 in tests of workers, which have no
// claim.
func (r *Run) HeldFor() (left, lease time.Duration) {
	if r.node == nil {
		return 0, 0
	}
	left, lease = r.node.Left()
	if r.attemptNow().abandoned {
		return 0, lease
	}
	if errors.Is(context.Cause(r.sessionCtx), node.ErrClaimLost) { // a lease that was regained later is not the lease of this claim
		left = 0
	}
	return left, lease
}

// Declared reports whether the node's program declares this job; see AllowedJob.
func (r *Run) Declared() bool {
	if r.declared == nil {
		return false
	}
	found, _ := r.declared.find(r.Kind, r.Args)
	return found
}

// StoreID returns the identity of the store; empty in tests of workers.
func (r *Run) StoreID() string {
	if r.node == nil {
		return ""
	}
	return r.node.StoreID()
}

// Place returns the name and the host of the node that runs the attempt; empty in tests of workers.
func (r *Run) Place() (node, host string) {
	if r.node == nil {
		return "", ""
	}
	return r.node.Name(), r.node.Host()
}

// ListJobs reads jobs of the store; none in tests of workers.
func (r *Run) ListJobs(ctx context.Context, req store.ListJobsRequest) ([]store.JobInfo, error) {
	if r.runner == nil {
		return nil, nil
	}
	return r.runner.cfg.Store.ListJobs(ctx, req)
}

// SetResult stores the result of the job, JSON of at most check.MaxResult bytes. It is kept if the
// attempt ends the job.
func (r *Run) SetResult(value []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.value = value
}

// Result returns the bytes that SetResult stored.
func (r *Run) Result() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value
}

func (r *Run) ref() store.ClaimRef { return store.ClaimRef{ID: r.ID, Token: r.Token} }

// event returns an event with the fields of the run's job.
func (r *Run) event(kind event.Kind) event.Event {
	return event.Event{
		Kind: kind, Job: r.ID, Token: r.Token, JobKind: r.Kind, Queue: r.Queue,
		Attempt: int(r.Attempt), Schedule: r.ScheduleName, Slot: r.Slot,
	}
}

// late returns how long after the run's job was due an instant of this process is: by the store's
// clock until the claim was answered, by the clock of this process since then.
func (r *Run) late(at loop.Instant) time.Duration {
	if r.batch == nil {
		return 0
	}
	return max(r.batch.now.Sub(r.RunAt)+at.Sub(r.batch.at), 0)
}

// Func runs one attempt. It returns when the attempt is over.
type Func func(ctx context.Context, run *Run) error

// panicError is the panic of a worker as an error.
type panicError struct {
	value any
	stack []byte
}

// Error returns the text of the panic.
func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// try calls work, and returns a panic of work as an error.
func try(ctx context.Context, work Func, run *Run) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value: value, stack: debug.Stack()}
		}
	}()
	if err = work(ctx, run); err != nil {
		_ = err.Error() // Error of a nil pointer panics; here the panic is recovered, later it would not be
	}
	return err
}
