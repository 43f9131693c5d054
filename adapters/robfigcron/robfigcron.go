package robfigcron

import (
	"context"
	"errors"
	"log/slog"

	"github.com/robfig/cron/v3"

	"github.com/hourbell/hourbell/lock"
)

// Options say how a job is run. The zero value takes the lock for at most an
// hour, only while the job runs.
type Options struct {
	// Lock says how the lock is taken. With Every or Cron the job runs once per
	// interval on all servers together; without, it only never runs twice at
	// the same time.
	Lock lock.Options

	// Context is what the contexts of runs derive from, as cron gives none: when
	// it ends, they do. Default context.Background().
	Context context.Context

	// Logger is told, at level debug, when a run is skipped because the lock is
	// held or nothing is due, and at level error when it failed, the lock could
	// not be asked for, or it was lost meanwhile. Default slog.Default().
	Logger *slog.Logger
}

// Once makes a wrapper that runs a job only when the lock of that name is
// granted, and releases it afterwards. Wrap one job with it, by
// cron.NewChain(once).Then(job); given to cron.WithChain it would put all jobs
// under one name, and of those due at a time one would run.
//
// The job is not told when the lock is lost or its at-most time has passed;
// then it goes on without the lock, and the logger hears of it at its end.
// [Job] has a context for that. A panic goes on to cron, with the lock released.
//
// The name is the same on every server. An error is a *[lock.FieldError] about
// the name, or several joined about the options.
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

// Job makes a job that runs fn only when the lock of that name is granted, and
// releases it afterwards. The context of fn ends before anybody else can have
// the lock; its error goes to the logger. The rest is as for [Once].
func Job(locks *lock.Locker, name string, opts Options, fn func(ctx context.Context, held *lock.Lock) error) (cron.Job, error) {
	if err := validate(name, opts); err != nil {
		return nil, err
	}
	return newJob(locks, name, opts, fn), nil
}

func validate(name string, opts Options) error {
	return errors.Join(lock.CheckName(name), opts.Lock.Validate())
}

// job is one job under one lock.
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
