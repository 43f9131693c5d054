package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/internal/handover"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/tail"
	"github.com/hourbell/hourbell/internal/uptime"
	"github.com/hourbell/hourbell/store"
)

// A hand-over passes the runs of this node to the next program of the process.
//
//	state     claims                              runs that have not begun  workers
//	working   all kinds                           begin                     attend to their runs
//	narrow    only kinds that can be handed over  begin                     attend to their runs
//	leaving   none                                are released              leave their runs
//
//	from      event                                       to
//	working   Narrow                                      narrow
//	narrow    no other run is left: BeginLeaving          leaving
//	any       the program was not replaced: Resume        working; the runs that were left are taken up
//
// A run that was left is in flight, and has Run.left. Fetch takes it up: in the next program, or in
// this one after Resume.

// RunState is a run that was left and that the next program takes up. Releases add fields only, or change
// handover.Format.
type RunState struct {
	Job       store.Claimed   `json:"job"`
	Batch     int64           `json:"batch,omitempty"` // see store.ClaimResult
	Started   uptime.Instant  `json:"started"`
	Cancelled bool            `json:"cancelled,omitempty"` // the run was asked to end
	Output    []byte          `json:"output,omitempty"`    // the end of what it has printed,
	Printed   int64           `json:"printed,omitempty"`   // out of this many bytes
	Saved     int64           `json:"saved,omitempty"`     // see printed
	Sent      bool            `json:"sent,omitempty"`      // see printed
	Result    []byte          `json:"result,omitempty"`
	Progress  *store.Progress `json:"progress,omitempty"`
	Left      handover.Left   `json:"left"`
}

// leaving is the state of a hand-over. The zero value is ready.
type leaving struct {
	mu     sync.Mutex
	narrow bool
	leaves bool
	asked  chan struct{} // closed when workers have to leave their runs; nil: not made yet
}

// channel returns the channel that is closed when workers have to leave their runs.
func (l *leaving) channel() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.askedLocked()
}

func (l *leaving) askedLocked() chan struct{} {
	if l.asked == nil {
		l.asked = make(chan struct{})
	}
	return l.asked
}

// isNarrow reports whether claims are limited to kinds that can be handed over.
func (l *leaving) isNarrow() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.narrow
}

// noStart reports whether no run begins.
func (l *leaving) noStart() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leaves
}

// Narrow limits claims to jobs that can be handed over, and waits until no other job is in flight:
// at most limit, or until ctx ends.
func (r *Runner) Narrow(ctx context.Context, limit time.Duration) error {
	r.leaving.mu.Lock()
	r.leaving.narrow = true
	r.leaving.mu.Unlock()
	for began := loop.Now(); ; {
		others := r.others()
		if len(others) == 0 {
			return nil
		}
		if began.Elapsed() > limit {
			text := fmt.Sprintf("job %d of the kind %s", others[0].ID, others[0].Kind)
			if more := len(others) - 1; more > 0 {
				text += fmt.Sprintf(" (and %d more)", more)
			}
			return fmt.Errorf("%s cannot be handed over and still runs after %v", text, limit)
		}
		if loop.Sleep(ctx, 10*time.Millisecond) != nil {
			return context.Cause(ctx)
		}
	}
}

// others returns the runs in flight that cannot be handed over.
func (r *Runner) others() []*Run {
	return slices.DeleteFunc(r.inFlight.all(), func(run *Run) bool { return slices.Contains(r.cfg.Carried, run.Kind) })
}

// claimable returns the kinds, and the jobs of restricted kinds, that claims may return now: all that
// this node runs, or only the kinds for which only returns true.
func (r *Runner) claimable(only func(kind string) bool) (kinds []string, exact []store.ExactJob) {
	kinds, exact = r.cfg.Kinds, r.allowList.list()
	narrow := r.leaving.isNarrow()
	if !narrow && only == nil {
		return kinds, exact
	}
	out := func(kind string) bool {
		return narrow && !slices.Contains(r.cfg.Carried, kind) || only != nil && !only(kind)
	}
	kinds = slices.DeleteFunc(slices.Clone(kinds), out)
	exact = slices.DeleteFunc(slices.Clone(exact), func(job store.ExactJob) bool { return out(job.Kind) })
	return kinds, exact
}

// BeginLeaving prevents that runs begin. After it the caller ends Fetch, and calls Leave.
func (r *Runner) BeginLeaving() {
	r.leaving.mu.Lock()
	defer r.leaving.mu.Unlock()
	r.leaving.leaves = true
}

// Leave makes the workers leave their runs, and waits until they have, at most limit. wait returns
// when they have.
func (r *Runner) Leave(wait func(), limit time.Duration) error {
	r.leaving.mu.Lock()
	close(r.leaving.askedLocked())
	r.leaving.mu.Unlock()
	left := make(chan struct{})
	go func() { wait(); close(left) }()
	select {
	case <-left:
		return nil
	case <-time.After(limit):
		return fmt.Errorf("workers did not leave their jobs within %v", limit)
	}
}

// Resume ends a hand-over in which the program was not replaced. Then Fetch has to be called again.
func (r *Runner) Resume() {
	r.leaving.mu.Lock()
	defer r.leaving.mu.Unlock()
	r.leaving.narrow, r.leaving.leaves, r.leaving.asked = false, false, nil
}

// State returns what the next program needs: the runs that were left, and the numbers of the batches whose claims have all
// ended since the last heartbeat. Leave and Flush must have succeeded.
func (r *Runner) State() (runs []RunState, ended []int64, err error) {
	now := uptime.Now()
	for _, run := range r.inFlight.all() {
		switch {
		case !run.isLeft():
			return nil, nil, fmt.Errorf("job %d has neither ended nor was it left", run.ID)
		case run.sessionCtx.Err() != nil:
			return nil, nil, fmt.Errorf("the claim of job %d was lost", run.ID)
		}
		runs = append(runs, run.state(now))
	}
	ended = r.inFlight.TakeEnded()
	r.inFlight.PutBackEnded(ended)
	return runs, ended, nil
}

// state returns a run that was left.
func (r *Run) state(now uptime.Instant) RunState {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := RunState{
		Job: r.Claimed, Started: now.Add(-r.started.Elapsed()), Cancelled: errors.Is(r.endCause, ErrCancelled),
		Saved: r.printed.saved, Sent: r.printed.sent, Result: r.value, Progress: r.progress, Left: *r.left,
	}
	if r.batch != nil {
		s.Batch = r.batch.number
	}
	if r.printed.tail != nil {
		s.Output, s.Printed = r.printed.tail.Bytes(), r.printed.tail.Total()
	}
	return s
}

// TakeOver adds the runs that the program before has left, before Fetch is called. session is the
// parent context of the runs.
func (r *Runner) TakeOver(session context.Context, states []RunState, ended []int64) {
	r.inFlight.PutBackEnded(ended)
	batches := map[int64][]*Run{}
	now, here := uptime.Now(), loop.Now()
	for _, s := range states {
		run := &Run{
			Claimed: s.Job, sessionCtx: session, node: r.node, declared: &r.allowList, runner: r,
			left: &s.Left, started: here.Add(-now.Sub(s.Started)), value: s.Result, progress: s.Progress,
			printed: printed{saved: s.Saved, sent: s.Sent},
		}
		if s.Printed > 0 {
			run.printed.tail = tail.Restore(outputKept, s.Output, s.Printed)
		}
		if s.Cancelled {
			run.endCause = ErrCancelled
		}
		batches[s.Batch] = append(batches[s.Batch], run)
	}
	for number, runs := range batches {
		r.inFlight.add(store.ClaimResult{Batch: number}, runs)
	}
}

// left returns the runs that were left, by queue.
func (r *Runner) left() map[string][]*Run {
	byQueue := map[string][]*Run{}
	for _, run := range r.inFlight.all() {
		if run.isLeft() {
			byQueue[run.Queue] = append(byQueue[run.Queue], run)
		}
	}
	return byQueue
}

// isLeft reports whether the run was left, and not taken up since.
func (r *Run) isLeft() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left != nil
}

// leave records what the worker of the run has left, if err is a *handover.LeftError, and reports
// whether it is.
func (r *Run) leave(err error) bool {
	var left *handover.LeftError
	if !errors.As(err, &left) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = left.Left
	if r.cancel != nil { // releases the resources of the context; the next worker gets another one
		r.cancel(left)
		r.ctx, r.cancel = nil, nil
	}
	return true
}

// takeUp makes what the last worker of the run has left known to the next worker, and reports whether
// the run was left.
func (r *Run) takeUp() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found, r.left = r.left, nil
	return r.found != nil
}

// attempt returns what the worker of the run needs to know about handing it over.
func (r *Run) attempt() handover.Attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runner == nil {
		return handover.Attempt{}
	}
	return handover.Attempt{Asked: r.runner.leaving.channel(), Left: r.found}
}
