package gocron

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/go-co-op/gocron/v2"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/lock"
)

// Config selects the jobs that a Locker serves.
type Config struct {
	// Jobs are the lock options of each job, by the name that the job has from
	// gocron.WithName. At least one. With Every or Cron a job runs once per
	// interval on all servers together; without them a job only never runs
	// twice at the same time. Wait delays the job's next run in its own
	// scheduler.
	Jobs map[string]lock.Options

	// Logger receives, at level debug, jobs that were skipped because the lock
	// is held or nothing is due, and at level error jobs that were refused
	// because of their name, and locks that could not be requested, were lost
	// or were not released. Default slog.Default().
	Logger *slog.Logger
}

// Locker implements [gocron.Locker], for gocron.WithDistributedLocker and
// gocron.WithDistributedJobLocker. It is safe for concurrent use by any number
// of goroutines and schedulers.
type Locker struct {
	locks *lock.Locker
	jobs  map[string]lock.Options
	log   *slog.Logger

	mu   sync.Mutex
	held map[string]*lock.Lock // the last lock of each job, released or not
}

// New makes a Locker. The error joins a *[check.FieldError] for each mistake in
// names and options.
func New(locks *lock.Locker, config Config) (*Locker, error) {
	if len(config.Jobs) == 0 {
		return nil, &check.FieldError{Field: "jobs", Problem: "is empty", Remedy: "give the name of each job and how it is locked"}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(config.Jobs)) {
		if err := errors.Join(check.Name("name", name), config.Jobs[name].Validate()); err != nil {
			errs = append(errs, fmt.Errorf("job %q: %w", name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if config.Logger == nil {
		config.Logger = slog.Default()
	}
	return &Locker{locks: locks, jobs: maps.Clone(config.Jobs), log: config.Logger, held: map[string]*lock.Lock{}}, nil
}

// Lock implements [gocron.Locker]: it takes the lock of a job that is due. The
// error is an error of lock.Locker's Try or Lock, or a *[check.FieldError] for a
// name that the Locker was not made for.
func (l *Locker) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	held, err := l.take(ctx, key)
	switch {
	case errors.Is(err, lock.ErrHeld), errors.Is(err, lock.ErrNotDue):
		l.log.DebugContext(ctx, "job skipped", "job", key, "reason", err)
		return nil, err
	case err != nil:
		l.log.ErrorContext(ctx, "job did not run", "job", key, "error", err)
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[key] = held
	return &running{held: held, log: l.log}, nil
}

func (l *Locker) take(ctx context.Context, name string) (*lock.Lock, error) {
	opts, found := l.jobs[name]
	switch {
	case !found:
		return nil, &check.FieldError{
			Field: "name", Value: name,
			Problem: "is none that this Locker was made for; without gocron.WithName it is the function's",
			Remedy:  "name the job by gocron.WithName, and list that name in Config.Jobs",
		}
	case opts.Wait != 0:
		return l.locks.Lock(ctx, name, opts)
	default:
		return l.locks.Try(ctx, name, opts)
	}
}

// Held returns the lock under which the job of that name runs at this moment in
// this process, if the lock can be relied on. Call it at the beginning of the
// job and keep the result: its context ends when gocron shuts down or removes
// the job, and before another owner can get the lock.
func (l *Locker) Held(name string) (*lock.Lock, bool) {
	l.mu.Lock()
	held := l.held[name]
	l.mu.Unlock()
	if held == nil {
		return nil, false
	}
	return lock.Held(held.Context(), name)
}

// running is the lock of a running job.
type running struct {
	held *lock.Lock
	log  *slog.Logger
}

// Unlock implements [gocron.Lock]. Besides the errors of lock.Lock's Release,
// it returns [lock.ErrLost] or [lock.ErrAtMost] if the lock was lost before
// this call.
func (r *running) Unlock(ctx context.Context) error {
	why := context.Cause(r.held.Context())
	err := r.held.Release(ctx)
	if errors.Is(why, lock.ErrLost) || errors.Is(why, lock.ErrAtMost) {
		err = fmt.Errorf("hold lock %q: %w", r.held.Name(), why)
	}
	if errors.Is(err, lock.ErrReleased) { // the job has released it
		return nil
	}
	if err != nil { // gocron drops the error
		r.log.ErrorContext(ctx, "lock was lost or not released", "job", r.held.Name(), "error", err)
	}
	return err
}
