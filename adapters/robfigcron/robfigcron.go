package robfigcron

import (
	"context"
	"errors"
	"log/slog"

	"github.com/robfig/cron/v3"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/lock"
)

// Options configure how a job is run. With the zero value the lock is held only
// while the job runs, for at most an hour.
type Options struct {
	// Lock are the options of the lock. With Every or Cron the job runs once
	// per interval on all servers together; without them it only never runs
	// twice at the same time.
	Lock lock.Options

	// Context is the parent of the runs' contexts, because cron passes none:
	// when it ends, they end. Default context.Background().
	Context context.Context

	// Logger receives, at level debug, runs that were skipped because the lock
	// is held or nothing is due, and at level error runs that failed, locks
	// that could not be requested, and locks that were lost during the run.
	// Default slog.Default().
	Logger *slog.Logger
}

// Once makes a wrapper that runs a job only if the lock of that name is
// granted, and releases the lock afterwards. Wrap one job with it, by
// cron.NewChain(once).Then(job); if it were given to cron.WithChain, all jobs
// would share one name, and of all jobs due at the same time only one would
// run.
//
// The job is not notified when the lock is lost or its at-most time has passed;
// the job then continues without the lock, and the logger reports it when the
// job ends. [Job] passes a context for that. A panic is passed on to cron after
// the lock is released.
//
// The name must be the same on every server. An error is a *[check.FieldError]
// about the name, or several of them joined about the options.
func Once(locks *lock.Locker, name string, opts Options) (cron.JobWrapper, error) {
	if err := validate(name, opts); err != nil {
		return nil, err
	}
	return func(inner cron.Job) cron.Job {
		return newJob(locks, name, opts, func(context.Context, *lock.Lock) error {
			inner.Run()
			return nil
		})
	}, nil
}

// Job makes a job that runs fn only if the lock of that name is granted, and
// releases the lock afterwards. The context of fn ends before another owner can
// get the lock; its error goes to the logger. Otherwise it behaves as [Once].
func Job(locks *lock.Locker, name string, opts Options, fn func(ctx context.Context, held *lock.Lock) error) (cron.Job, error) {
	if err := validate(name, opts); err != nil {
		return nil, err
	}
	return newJob(locks, name, opts, fn), nil
}

func validate(name string, opts Options) error {
	return errors.Join(check.Name("name", name), opts.Lock.Validate())
}

// job is one job with one lock.
type job struct {
	locks *lock.Locker
	name  string
	opts  Options
	fn    func(ctx context.Context, held *lock.Lock) error
}

func newJob(locks *lock.Locker, name string, opts Options, fn func(context.Context, *lock.Lock) error) *job {
	if opts.Context == nil {
		opts.Context = context.Background()
	}
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	return &job{locks: locks, name: name, opts: opts, fn: fn}
}

// Run implements [cron.Job].
func (j *job) Run() {
	ran := false
	err := j.locks.Do(j.opts.Context, j.name, j.opts.Lock, func(ctx context.Context, held *lock.Lock) error {
		ran = true
		return j.fn(ctx, held)
	})
	skipped := !ran && (errors.Is(err, lock.ErrHeld) || errors.Is(err, lock.ErrNotDue))
	switch {
	case skipped:
		j.opts.Logger.DebugContext(j.opts.Context, "job skipped", "job", j.name, "reason", err)
	case err != nil && ran:
		j.opts.Logger.ErrorContext(j.opts.Context, "job failed", "job", j.name, "error", err)
	case err != nil:
		j.opts.Logger.ErrorContext(j.opts.Context, "job did not run", "job", j.name, "error", err)
	}
}
