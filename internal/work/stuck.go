package work

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
)

// A worker is stuck when it has not returned for Config.Grace after the context of its attempt has ended. A Go function cannot
// be killed; so an event reports it, the store has since when, another worker takes its place in the queue, and, after what
// Config.AbandonAfter says, the attempt ends without it.
//
//	state      permits, claim  outcome of the worker  its place in the queue
//	stuck      kept            counts                 is taken by another worker, if fewer workers than the queue's width were replaced
//	abandoned  given back      is refused             the same
//
// A job without a timeout that its node runs is never stuck, however long it takes.

// ErrAbandoned is the error of an attempt that was ended because its worker did not return.
var ErrAbandoned = errors.New("abandoned: its worker has not returned")

// attempt is the attempt of a run in a goroutine. The zero value is a run that has not begun.
type attempt struct {
	ctx       context.Context // with the timeout
	goroutine uint64          // 0: not known
	worker    int             // the number in the crew; -1: the goroutine has only this run
	fetcher   *fetcher        // nil: of a queue that is not served
	endedAt   loop.Instant    // when ctx was found to have ended; 0: it was not
	stuck     bool
	stack     string // of the goroutine, when the worker was found to be stuck
	replaced  bool   // another worker has the place in the crew
	abandoned bool
	over      bool // the worker has returned
}

// stuckRuns are the runs of stuck workers that have not returned. It is safe for concurrent use.
type stuckRuns struct {
	mu   sync.Mutex
	runs []*Run
}

func (s *stuckRuns) add(run *Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = append(s.runs, run)
}

func (s *stuckRuns) remove(run *Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = slices.DeleteFunc(s.runs, func(other *Run) bool { return other == run })
}

func (s *stuckRuns) all() []*Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.runs)
}

// WatchWorkers looks for workers that are stuck, until ctx ends.
func (r *Runner) WatchWorkers(ctx context.Context) {
	interval := min(max(r.cfg.Grace/4, 10*time.Millisecond), time.Second)
	for loop.Sleep(ctx, interval) == nil {
		if r.Open() > 0 {
			r.around.Step(ctx, "stuck workers")
			r.findStuck(loop.Now())
		}
		r.attendToStuck(loop.Now())
	}
}

// findStuck finds workers that have become stuck.
func (r *Runner) findStuck(now loop.Instant) {
	var found []*Run
	for _, run := range r.inFlight.all() {
		if run.becomesStuck(now, r.cfg.Grace) {
			found = append(found, run)
		}
	}
	if len(found) == 0 {
		return
	}
	stacks := goroutines()
	for _, run := range found {
		r.stuck.add(run)
		at := run.hasStack(stacks)
		e := run.event(event.JobStuck)
		e.Took, e.Err, e.Trace = now.Sub(at.endedAt), context.Cause(at.ctx), at.stack
		r.report.Emit(e)
		r.progress.add(run)
	}
}

// attendToStuck replaces stuck workers, as many as may be, and abandons the attempts whose time has come.
func (r *Runner) attendToStuck(now loop.Instant) {
	for _, run := range r.stuck.all() {
		at := run.attemptNow()
		if at.over { // it returned when it was found to be stuck
			r.stuck.remove(run)
			continue
		}
		if !at.replaced && at.fetcher != nil {
			at.fetcher.replace(run)
		}
		if after := r.abandonAfter(run.Kind); after > 0 && !at.abandoned && now.Sub(at.endedAt) >= after {
			r.abandon(run, after)
		}
	}
	r.reportStuck()
}

// reportStuck reports the workers that are stuck as problems of the node.
func (r *Runner) reportStuck() {
	var found []store.NodeProblem
	for _, run := range r.stuck.all() {
		job := fmt.Sprintf("job %d", run.ID)
		found = append(found, store.NodeProblem{
			Name: WorkerStuck, Subject: job, Text: fmt.Sprintf("the worker of %s (kind %s) has not returned, although its context has ended", job, run.Kind),
		})
	}
	r.cfg.Node.ReportProblems("workers", found)
}

// WorkerStuck is the name of the problem of a node with a stuck worker.
const WorkerStuck = "worker-stuck"

// begins records the goroutine of the attempt, and its place.
func (r *Run) begins(f *fetcher, worker int, goroutine uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = attempt{fetcher: f, worker: worker, goroutine: goroutine}
}

// runsIn records the context of the attempt.
func (r *Run) runsIn(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at.ctx = ctx //nolint:fatcontext // each attempt has its own, and the last is replaced
}

// attemptNow returns a copy of the state of the attempt.
func (r *Run) attemptNow() attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

// becomesStuck reports whether the worker is found to be stuck by this call.
func (r *Run) becomesStuck(now loop.Instant, grace time.Duration) bool {
	ctx := r.attemptNow().ctx
	if ctx == nil || r.delivered.Load() || ctx.Err() == nil { // not with mu, which Err locks
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at.over || r.at.stuck {
		return false
	}
	if r.at.endedAt == 0 {
		r.at.endedAt = now
	}
	r.at.stuck = now.Sub(r.at.endedAt) >= grace
	return r.at.stuck
}

// hasStack keeps the stack of the attempt's goroutine, from the stacks of all, and returns the attempt.
func (r *Run) hasStack(stacks []byte) attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at.stack = cleanText(stackOf(stacks, r.at.goroutine))
	return r.at
}

// stuckFor returns for how long the worker is stuck, from when its context ended; 0: it is not.
func (r *Run) stuckFor() time.Duration {
	at := r.attemptNow()
	if !at.stuck {
		return 0
	}
	return at.endedAt.Elapsed()
}

// returns records that the worker of the run has returned or left it, and returns what became of the attempt.
func (r *Run) returns() attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at.over = true
	return r.at
}

// replace lets another worker take the place of a worker that is stuck, unless as many as the queue has workers were
// replaced already. Only WatchWorkers calls it.
func (f *fetcher) replace(run *Run) {
	run.mu.Lock()
	defer run.mu.Unlock()
	if run.at.over || run.at.replaced || f.replaced.Load() >= int64(f.crew.width()) {
		return
	}
	f.replaced.Add(1)
	run.at.replaced = true
	if !run.at.abandoned {
		f.permits.stuck.Add(1)
	}
	f.inFlight.Add(-1)
	if worker := run.at.worker; worker >= 0 {
		f.workers.Go(func() { f.work(worker) })
	}
	f.room.Notify()
}

// abandonAfter returns how long after the end of its context an attempt at a job of a kind is abandoned; 0: it is not.
func (r *Runner) abandonAfter(kind string) time.Duration {
	if r.cfg.AbandonAfter == nil {
		return 0
	}
	return r.cfg.AbandonAfter(kind)
}

// abandon ends an attempt without its worker. If the worker has sent the completion of the job in a transaction, the transaction
// decides.
func (r *Runner) abandon(run *Run, after time.Duration) {
	if run.completing.Load() != notCompleting {
		return
	}
	run.mu.Lock()
	at := run.at
	if at.over || at.abandoned {
		run.mu.Unlock()
		return
	}
	run.at.abandoned = true
	run.mu.Unlock()
	cause := context.Cause(at.ctx)
	err := fmt.Errorf("%w within %v after its context had ended: %w", ErrAbandoned, after, cause)
	outcome := r.outcomeOf(run, err, cause)
	outcome.Trace = at.stack
	r.deliver(run, result{outcome: outcome, took: run.started.Elapsed(), err: err, why: err.Error()})
	if f := at.fetcher; f != nil {
		f.permits.end()
		if at.replaced {
			f.permits.stuck.Add(-1)
		}
	}
}

// afterAll reports that the worker of a run that was stuck has returned.
func (r *Runner) afterAll(run *Run, at attempt) {
	if !at.stuck {
		return
	}
	r.stuck.remove(run)
	e := run.event(event.JobUnstuck)
	e.Took = at.endedAt.Elapsed()
	r.report.Emit(e)
}

// refuseLate reports that the outcome of a worker is refused, because its attempt was abandoned before.
func (r *Runner) refuseLate(run *Run, err error) {
	e := run.event(event.ClaimLost)
	e.Took, e.Err, e.Detail = run.started.Elapsed(), err, "the attempt was abandoned before"
	r.report.Emit(e)
}

// mostStacks is how many bytes of stacks of goroutines are read.
const mostStacks = 32 << 20

// goroutines returns the stacks of all goroutines. They stand still while they are written; that takes some milliseconds
// for a thousand of them.
func goroutines() []byte {
	for size := 256 << 10; ; size *= 4 {
		text := make([]byte, size)
		if n := runtime.Stack(text, true); n < size || size >= mostStacks {
			return text[:n]
		}
	}
}

// stackOf returns the stack of a goroutine from the stacks of all; empty: it is not among them.
func stackOf(stacks []byte, goroutine uint64) string {
	head := []byte("goroutine " + strconv.FormatUint(goroutine, 10) + " ")
	for part := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		if bytes.HasPrefix(part, head) {
			return string(part)
		}
	}
	return ""
}

// goroutineNumber returns the number of this goroutine in stacks; 0: it is not known.
func goroutineNumber() uint64 {
	var text [64]byte
	rest, _ := bytes.CutPrefix(text[:runtime.Stack(text[:], false)], []byte("goroutine "))
	number, _, _ := bytes.Cut(rest, []byte(" "))
	n, _ := strconv.ParseUint(string(number), 10, 64)
	return n
}
