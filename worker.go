package hourbell

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
)

// Workers has the code for each kind of job. Register all kinds before the
// client runs; concurrent changes are not allowed.
type Workers struct {
	byKind map[string]worker
	errs   []error
}

type worker struct {
	work       work.Func
	timeout    time.Duration
	restricted bool
}

// NewWorkers returns an empty set.
func NewWorkers() *Workers { return &Workers{byKind: map[string]worker{}} }

// WorkerOption changes how jobs of a kind are run.
type WorkerOption func(*worker)

// DefaultTimeout bounds an attempt of a job of this kind that has no timeout of
// its own. 0, the default, means no bound.
func DefaultTimeout(d time.Duration) WorkerOption { return func(w *worker) { w.timeout = d } }

// Restricted makes the node run only jobs of this kind that are on its
// allow-list, which Client.Allow sets; before that, none. Other jobs are not
// claimed; they wait for a node that may run them, and JobService.Waits returns
// this reason.
func Restricted() WorkerOption { return func(w *worker) { w.restricted = true } }

// Register sets the code for jobs whose arguments have the type A. Arguments
// that cannot be decoded into A fail the attempt like any other error. A
// mistake (an empty or repeated kind) is returned by New.
func Register[A Args](workers *Workers, handle func(ctx context.Context, job *Job[A]) error, options ...WorkerOption) {
	workers.add(kindOf[A](), func(ctx context.Context, run *work.Run) error {
		job := &Job[A]{}
		job.fill(run)
		if err := json.Unmarshal(job.RawArgs, &job.Args); err != nil {
			return fmt.Errorf("decode args of kind %q: %w", job.Kind, err)
		}
		return handle(ctx, job)
	}, options)
}

// kindOf returns the kind of a zero value of type A, or of the type to which A
// points.
func kindOf[A Args]() string {
	if t := reflect.TypeFor[A](); t.Kind() == reflect.Pointer {
		return reflect.New(t.Elem()).Interface().(Args).Kind()
	}
	var zero A
	return zero.Kind()
}

// Handle sets the code for a kind, which gets its arguments as they are stored.
// A mistake (an empty or repeated kind) is returned by New.
func (w *Workers) Handle(kind string, handle Handler, options ...WorkerOption) {
	if handle == nil {
		w.errs = append(w.errs, &check.FieldError{Field: "worker of kind " + kind, Problem: "is nil", Remedy: "pass a function"})
		return
	}
	w.add(kind, func(ctx context.Context, run *work.Run) error {
		row := &JobRow{}
		row.fill(run)
		return handle(ctx, row)
	}, options)
}

// add sets the code for a kind.
func (w *Workers) add(kind string, attempt work.Func, options []WorkerOption) {
	if err := check.Name("kind", kind); err != nil {
		w.errs = append(w.errs, err)
		return
	}
	if _, taken := w.byKind[kind]; taken {
		w.errs = append(w.errs, &check.FieldError{Field: "kind", Value: kind, Problem: "is registered twice", Remedy: "register each kind once"})
		return
	}
	entry := worker{work: attempt}
	for _, option := range options {
		option(&entry)
	}
	if err := checkDuration("timeout", entry.timeout); err != nil {
		w.errs = append(w.errs, err)
	}
	w.byKind[kind] = entry
}

// Kinds lists the registered kinds by name.
func (w *Workers) Kinds() []string {
	return slices.Sorted(maps.Keys(w.byKind))
}

// kinds lists the registered kinds that are restricted, or the kinds that are
// not restricted, by name.
func (w *Workers) kinds(restricted bool) []string {
	return slices.DeleteFunc(w.Kinds(), func(kind string) bool { return w.byKind[kind].restricted != restricted })
}

// work is the function that the engine calls for each attempt.
func (w *Workers) work(ctx context.Context, run *work.Run) error {
	entry, ok := w.byKind[run.Kind]
	if !ok { // the claim requested registered kinds only
		return fmt.Errorf("no worker for kind %q", run.Kind)
	}
	return entry.work(ctx, run)
}

// timeout returns the bound of a claimed job's attempt; 0: none.
func (w *Workers) timeout(job store.Claimed) time.Duration {
	if job.Timeout > 0 {
		return job.Timeout
	}
	return w.byKind[job.Kind].timeout
}

// fill sets j to the row of a run.
func (j *JobRow) fill(run *work.Run) {
	*j = JobRow{
		ID:          run.ID,
		Token:       run.Token,
		Kind:        run.Kind,
		Queue:       run.Queue,
		Priority:    int(run.Priority),
		Attempt:     int(run.Attempt),
		MaxAttempts: int(run.MaxAttempts),
		OnLoss:      run.OnLoss,
		Origin:      run.Origin.String(),
		RunAt:       run.RunAt,
		CreatedAt:   run.CreatedAt,
		Schedule:    run.ScheduleName,
		Slot:        run.Slot,
		RawArgs:     run.Args,
		Headers:     userHeaders(run.Headers),
		run:         run,
	}
}

// userHeaders returns a job's headers without the headers that Hourbell itself
// uses.
func userHeaders(text []byte) map[string]string {
	headers := plan.Headers(text)
	delete(headers, plan.HooksHeader)
	return headers
}
