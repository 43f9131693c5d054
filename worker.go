package hourbell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/backoff"
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
	// work runs an attempt. If through is not nil, it passes the attempt to
	// through, which calls handle; the worker's value is run.Typed then.
	work       func(ctx context.Context, run *work.Run, through Handler) error
	handle     Handler
	timeout    time.Duration
	backoff    func(attempt int, err error, chance float64) time.Duration // nil: the default
	keep       Keep
	maxRunning int           // 0: no bound
	abandon    time.Duration // see AbandonAfter; 0: never
	restricted bool
	version    int32 // see StepsVersion
	carried    bool  // its running jobs can be handed over
	err        error // a mistake in an option
}

// NewWorkers returns an empty set.
func NewWorkers() *Workers { return &Workers{byKind: map[string]worker{}} }

// WorkerOption changes how jobs of a kind are run.
type WorkerOption func(*worker)

// DefaultTimeout bounds an attempt of a job of this kind that has no timeout of
// its own. 0, the default, means no bound.
func DefaultTimeout(d time.Duration) WorkerOption { return func(w *worker) { w.timeout = d } }

// DefaultBackoff selects how long a job of this kind that has no back-off of its
// own waits after a failed attempt until its next attempt; see Backoff.
func DefaultBackoff(policy string) WorkerOption {
	return func(w *worker) {
		p, err := backoff.Parse(policy)
		w.backoff = func(attempt int, _ error, chance float64) time.Duration { return p.After(attempt, chance) }
		w.err = check.Join(w.err, err)
	}
}

// DefaultBackoffFunc is DefaultBackoff with a function of the program's own:
// delay returns the delay after the attempt with that number (from 1) and that
// error. The delay is not spread. A delay below 100 ms counts as 100 ms. Calls
// are concurrent. If delay panics, the default back-off applies, and the panic
// is part of the error that the attempt leaves.
func DefaultBackoffFunc(delay func(attempt int, err error) time.Duration) WorkerOption {
	return func(w *worker) {
		w.backoff = func(attempt int, err error, _ float64) time.Duration { return delay(attempt, err) }
	}
}

// AbandonAfter ends an attempt at a job of this kind whose worker has not returned d
// after its context ended, for example because of its timeout; not before
// Config.Grace has passed. Then the attempt has failed, as with an error: another
// attempt starts after the back-off, or the job fails; a cancelled job is cancelled.
// What the worker answers later is refused, also by Complete and RegisterTx, and
// JobRow.HeldFor is 0 from then on.
//
// A Go function cannot be killed: the worker goes on, and the next attempt runs
// concurrently. Its permits are free, so that more jobs than a limit allows may run.
// So use AbandonAfter for kinds whose effects are safe then, because they are
// repeatable or compare tokens. Default: the job stays with its worker.
func AbandonAfter(d time.Duration) WorkerOption {
	return func(w *worker) {
		w.abandon = d
		if d <= 0 || d > MaxDuration {
			w.err = check.Join(w.err, between("abandon after", d, time.Millisecond, MaxDuration))
		}
	}
}

// StepsVersion gives the steps of a worker a version, 1 by default. Raise it when the program takes other steps, or takes them in another
// order, while jobs are under way. An attempt skips a step of an earlier version if the program still has a step with its name, wherever it is
// now, and ignores the other steps of earlier versions. Steps of the same version have to be taken as they were stored; otherwise the job
// fails with ErrStepsChanged, and so it does if an older program meets steps of a later version that it does not take in their order. See Step.
func StepsVersion(version int) WorkerOption {
	return func(w *worker) {
		w.version = int32(version)
		if version < 1 || version > maxStepsVersion {
			w.err = check.Join(w.err, &check.FieldError{
				Field: "steps version", Value: fmt.Sprint(version), Problem: "is out of range", Remedy: fmt.Sprintf("use 1 to %d", maxStepsVersion),
			})
		}
	}
}

// maxStepsVersion is the greatest version of steps.
const maxStepsVersion = 1_000_000

// Restricted makes the node run only jobs of this kind that are on its
// allow-list, which Client.Allow sets; before that, none. Other jobs are not
// claimed; they wait for a node that may run them, and JobService.Waits returns
// this reason.
func Restricted() WorkerOption { return func(w *worker) { w.restricted = true } }

// CanHandOver marks a kind whose running jobs Client.HandOver passes to the next
// program. Only a kind of kinds.CommandWorker may have it.
func CanHandOver() WorkerOption { return func(w *worker) { w.carried = true } }

// Register sets the code for jobs whose arguments have the type A. Arguments
// that cannot be decoded into A fail the attempt like any other error. A
// mistake (an empty or repeated kind, wrong Options of A) is returned by New.
func Register[A Args](workers *Workers, handle func(ctx context.Context, job *Job[A]) error, options ...WorkerOption) {
	decode := func(ctx context.Context, job *Job[A]) error {
		if err := json.Unmarshal(job.RawArgs, &job.Args); err != nil {
			return fmt.Errorf("decode args of kind %q: %w", job.Kind, err)
		}
		return handle(ctx, job)
	}
	workers.register(zeroOf[A](), worker{
		work: func(ctx context.Context, run *work.Run, through Handler) error {
			job := &Job[A]{}
			job.fill(run)
			if through == nil {
				return decode(ctx, job)
			}
			run.Typed = job
			err := through(ctx, &job.JobRow)
			run.Typed = nil // the run is kept until the outcome is written
			return err
		},
		handle: func(ctx context.Context, row *JobRow) error {
			job, same := row.run.Typed.(*Job[A])
			if !same || row != &job.JobRow { // middleware passed a copy
				job = &Job[A]{JobRow: *row}
			}
			return decode(ctx, job)
		},
	}, options)
}

// RegisterTx is Register for code that runs in a transaction. A nil error of
// handle commits its effects together with the completion of the job; an error, a
// panic, a timeout or a cancellation rolls them back, and the attempt is recorded
// as usual. If another node has taken the job, the transaction is rolled back in
// any case. So the effects of all attempts together happen once.
//
// The driver makes txs from the program's own connections:
// postgres.Transactions(pool) for pgx.Tx, postgres.SQLTransactions(db) and
// sqlite.Transactions(db) for *sql.Tx. handle must not commit or roll back.
//
// handle may take as long as the job's timeout allows: the node keeps the
// transaction alive while it is idle, and if the node is gone, PostgreSQL ends the
// transaction within half of Config.Lease. In SQLite a transaction that has written
// is rolled back after half of Config.Lease, because all other writers wait for it.
// docs/transactions.md has the details. If the database gives the transaction up because of
// other transactions (a deadlock, a serialization failure, SQLITE_BUSY),
// handle is called again in a new transaction, up to four times in an attempt.
// Config.WorkMiddleware runs in the transaction too: its error rolls it back.
//
// If the answer to the commit is lost, the node looks up whether it was committed.
func RegisterTx[A Args, T any](workers *Workers, txs store.Transactions[T],
	handle func(ctx context.Context, job *Job[A], tx T) error, options ...WorkerOption,
) {
	if txs == nil {
		workers.errs = append(workers.errs, &check.FieldError{
			Field: "transactions of kind " + zeroOf[A]().Kind(), Problem: "are nil", Remedy: "pass what the driver's Transactions returned",
		})
		return
	}
	workers.register(zeroOf[A](), worker{
		work: func(ctx context.Context, run *work.Run, through Handler) error {
			return work.InTransaction(ctx, run, txs, func(ctx context.Context, tx T) error {
				job := &txJob[A, T]{tx: tx}
				job.fill(run)
				if through == nil {
					return job.runIn(ctx, handle)
				}
				run.Typed = job
				return through(ctx, &job.JobRow)
			})
		},
		handle: func(ctx context.Context, row *JobRow) error {
			job, _ := row.run.Typed.(*txJob[A, T])
			if row != &job.JobRow { // middleware passed a copy
				job = &txJob[A, T]{Job: Job[A]{JobRow: *row}, tx: job.tx}
			}
			return job.runIn(ctx, handle)
		},
	}, options)
}

// txJob is a job of a worker of RegisterTx.
type txJob[A Args, T any] struct {
	Job[A]
	tx T
}

// runIn decodes the arguments and calls handle.
func (j *txJob[A, T]) runIn(ctx context.Context, handle func(context.Context, *Job[A], T) error) error {
	if err := json.Unmarshal(j.RawArgs, &j.Args); err != nil {
		return fmt.Errorf("decode args of kind %q: %w", j.Kind, err)
	}
	return handle(ctx, &j.Job, j.tx)
}

// Func registers a function that needs no arguments, under the kind with that name, and
// returns its job, to enqueue or for the field Job of a Schedule:
//
//	cleanup := hourbell.Func(workers, "cleanup", func(ctx context.Context) error { … })
//	_, err := client.Schedules.Put(ctx, hourbell.Schedule{Name: "cleanup", Rule: recur.Every(time.Hour), Job: cleanup})
//
// It is Register for programs whose jobs are functions, as with gocron and robfig/cron.
// Every program that runs the kind registers it under the same name. A mistake is
// returned by New. What the context has, and what errors mean, is as for all workers.
func Func(workers *Workers, name string, run func(ctx context.Context) error, options ...WorkerOption) Args {
	var handle Handler // nil, which is a mistake
	if run != nil {
		handle = func(ctx context.Context, _ *JobRow) error { return run(ctx) }
	}
	workers.Handle(name, handle, options...)
	return RawArgs{Name: name}
}

// zeroOf returns a zero value of type A, or of the type to which A points.
func zeroOf[A Args]() Args {
	if t := reflect.TypeFor[A](); t.Kind() == reflect.Pointer {
		return reflect.New(t.Elem()).Interface().(Args)
	}
	var zero A
	return zero
}

// register sets the code for jobs whose arguments have the type of args.
func (w *Workers) register(args Args, entry worker, options []WorkerOption) {
	if err := checkKindOptions(args); err != nil {
		w.errs = append(w.errs, err)
	}
	w.add(args.Kind(), entry, options)
}

// Handle sets the code for a kind, which gets its arguments as they are stored.
// A mistake (an empty or repeated kind) is returned by New.
func (w *Workers) Handle(kind string, handle Handler, options ...WorkerOption) {
	if handle == nil {
		w.errs = append(w.errs, &check.FieldError{Field: "worker of kind " + kind, Problem: "is nil", Remedy: "pass a function"})
		return
	}
	w.add(kind, worker{
		work: func(ctx context.Context, run *work.Run, through Handler) error {
			row := &JobRow{}
			row.fill(run)
			if through == nil {
				return handle(ctx, row)
			}
			return through(ctx, row)
		},
		handle: handle,
	}, options)
}

// add sets the code for a kind.
func (w *Workers) add(kind string, entry worker, options []WorkerOption) {
	if err := check.Name("kind", kind); err != nil {
		w.errs = append(w.errs, err)
		return
	}
	if _, taken := w.byKind[kind]; taken {
		w.errs = append(w.errs, &check.FieldError{Field: "kind", Value: kind, Problem: "is registered twice", Remedy: "register each kind once"})
		return
	}
	if kind == store.ChildrenKind {
		w.errs = append(w.errs, &check.FieldError{Field: "kind", Value: kind, Problem: "is a kind of Hourbell itself", Remedy: "use another name"})
		return
	}
	for _, option := range options {
		option(&entry)
	}
	if err := check.Join(checkDuration("timeout", entry.timeout), checkMaxRunning(kind, entry.maxRunning), entry.err,
		entry.keep.check("keep of kind "+kind)); err != nil {
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

// carried lists the kinds whose running jobs can be handed over.
func (w *Workers) carried() []string {
	return slices.DeleteFunc(w.Kinds(), func(kind string) bool { return !w.byKind[kind].carried })
}

// work returns the function that the engine calls for each attempt.
func (w *Workers) work(c *Client, middleware []WorkMiddleware) work.Func {
	type attempt struct {
		work    func(ctx context.Context, run *work.Run, through Handler) error
		through Handler
		version int32
	}
	byKind := make(map[string]attempt, len(w.byKind))
	for kind, entry := range w.byKind {
		one := attempt{work: entry.work, version: entry.version}
		if len(middleware) > 0 {
			one.through = handlerThrough(middleware, received(entry.handle))
		}
		byKind[kind] = one
	}
	return func(ctx context.Context, run *work.Run) error {
		run.Client = c
		if run.Kind == store.ChildrenKind {
			return endChildren(ctx, run)
		}
		one, ok := byKind[run.Kind]
		if !ok { // the claim requested registered kinds only
			return fmt.Errorf("no worker for kind %q", run.Kind)
		}
		run.StepsVersion = one.version
		return one.work(ctx, run, one.through)
	}
}

// received returns a handler that refuses a job that is not the job that the
// middleware received.
func received(handle Handler) Handler {
	return func(ctx context.Context, row *JobRow) error {
		if row == nil || row.run == nil {
			return errors.New("work middleware passed a job that it did not receive; pass the job, or a copy of it")
		}
		return handle(ctx, row)
	}
}

// abandonAfter returns how long after the end of its context an attempt of a kind is
// abandoned; 0: never.
func (w *Workers) abandonAfter(kind string) time.Duration { return w.byKind[kind].abandon }

// timeout returns the bound of a claimed job's attempt; 0: none.
func (w *Workers) timeout(job store.Claimed) time.Duration {
	if job.Timeout > 0 {
		return job.Timeout
	}
	return w.byKind[job.Kind].timeout
}

// backoff returns the delay after a failed attempt of a claimed job, spread by chance.
func (w *Workers) backoff(job store.Claimed, err error, chance float64) time.Duration {
	if text := plan.BackoffOf(job.Headers); text != "" {
		if p, err := backoff.Parse(text); err == nil { // a later release may have stored a policy that this release does not know
			return p.After(int(job.Attempt), chance)
		}
	}
	if delay := w.byKind[job.Kind].backoff; delay != nil {
		return delay(int(job.Attempt), err, chance)
	}
	return backoff.Policy{}.After(int(job.Attempt), chance)
}

// userHeaders returns a job's headers without the headers that Hourbell itself
// uses.
func userHeaders(text []byte) map[string]string {
	headers := plan.Headers(text)
	delete(headers, plan.HooksHeader)
	delete(headers, store.BackoffHeader)
	delete(headers, store.NameHeader)
	delete(headers, plan.FollowsHeader)
	return headers
}
