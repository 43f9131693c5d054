package lock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/uptime"
)

// Config has the settings of a Locker. The zero value has useful defaults.
type Config struct {
	// Lease is how long a lock with keep-alive is held at a time, and so how
	// long a dead holder blocks other callers. The lock is renewed after each
	// third of the lease. Default 30 s, from 100 ms to 1 h.
	Lease time.Duration

	// Timeout bounds each single call to the store, also of a caller whose
	// context has no deadline. Default 5 s, from 10 ms.
	Timeout time.Duration

	// Now replaces the store's clock, for tests only: see [Request]. The time
	// for which a lock may be relied on is still measured on the machine's
	// clock.
	Now func() time.Time
}

// Locker takes locks from a provider, and does the work that is the same for
// all providers: it waits, keeps locks alive, ends contexts in time and decides
// which slot is due once per interval. Concurrent calls are allowed.
type Locker struct {
	provider Provider
	config   Config
	uptime   func() uptime.Instant
	waiting  Watchers // callers of this process that wait for locks that this Locker holds
}

// New makes a Locker. The error is a *[check.FieldError] about the
// configuration.
func New(provider Provider, config Config) (*Locker, error) {
	if config.Lease == 0 {
		config.Lease = 30 * time.Second
	}
	if config.Timeout == 0 {
		config.Timeout = 5 * time.Second
	}
	config.Lease = config.Lease.Truncate(time.Millisecond)
	err := check.Join(
		checkRange("lease", config.Lease, MinAtMost, time.Hour),
		checkRange("timeout", config.Timeout, 10*time.Millisecond, time.Hour),
	)
	if err != nil {
		return nil, err
	}
	return &Locker{provider: provider, config: config, uptime: uptime.Now}, nil
}

// Try takes the lock if it is free now. Otherwise the error is [ErrHeld],
// [ErrNotDue], [ErrNested], [ErrBusy], a *[check.FieldError], or the store's
// error. The caller must release the lock; its context is [Lock.Context].
func (l *Locker) Try(ctx context.Context, name string, opts Options) (*Lock, error) {
	if opts.Wait != 0 {
		return nil, &check.FieldError{Field: "wait", Value: opts.Wait.String(), Problem: "a try does not wait", Remedy: "leave it out, or use Lock"}
	}
	return l.take(ctx, name, opts)
}

// Lock takes the lock, and waits for another holder for up to opts.Wait, which
// must be given. After this time the error is [ErrHeld]; if ctx ends, the error
// wraps the cause. Lock does not wait for a slot to become due: the other
// errors are the errors of Try, and are returned at once.
func (l *Locker) Lock(ctx context.Context, name string, opts Options) (*Lock, error) {
	if opts.Wait == 0 {
		return nil, &check.FieldError{Field: "wait", Problem: "is not given", Remedy: "say for how long to wait, or use Try"}
	}
	return l.take(ctx, name, opts)
}

// Do runs fn under the lock and releases the lock afterwards, even if fn
// panics.
//
// The context of fn ends with ctx, at the at-most time (cause [ErrAtMost]), and
// when the lock cannot be kept (cause [ErrLost]), before another owner can have
// the lock. While fn finishes after the end of ctx, the lock is still kept
// alive.
//
// If the lock could not be taken, fn did not run and the error is the error of
// Try or Lock. Otherwise the error joins the error of fn with [ErrLost] or
// [ErrAtMost] if the lock ended early, and with [ErrUnreleased] if the release
// failed.
func (l *Locker) Do(ctx context.Context, name string, opts Options, fn func(ctx context.Context, held *Lock) error) error {
	held, err := l.take(ctx, name, opts)
	if err != nil {
		return err
	}
	return held.do(fn)
}

// DoOrSkip is Do for work that is not needed here if another owner does it. It
// reports whether fn ran. If another owner holds the lock (after opts.Wait, if
// given), or if no slot of Every or Cron is due, fn is skipped without an
// error. All other errors are the errors of Do.
func (l *Locker) DoOrSkip(ctx context.Context, name string, opts Options, fn func(ctx context.Context, held *Lock) error) (ran bool, err error) {
	held, err := l.take(ctx, name, opts)
	switch {
	case err == nil:
		return true, held.do(fn)
	case ctx.Err() == nil && (errors.Is(err, ErrHeld) || errors.Is(err, ErrNotDue)):
		return false, nil
	default:
		return false, err
	}
}

// do runs work under the lock, and releases the lock even if the work panics.
func (l *Lock) do(fn func(ctx context.Context, held *Lock) error) (err error) {
	defer func() {
		if more := l.finish(err); more != nil {
			err = errors.Join(err, more)
		}
	}()
	return fn(l.Context(), l)
}

// take validates the input, then tries once or waits.
func (l *Locker) take(ctx context.Context, name string, opts Options) (*Lock, error) {
	if err := check.Join(check.Name("name", name), opts.Validate()); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	same := func(held *Lock) bool { return held.locker == l && held.name == name && held.relied() == nil }
	if find(ctx, same) != nil {
		return nil, fmt.Errorf("take lock %q: %w; locks are not re-entrant", name, ErrNested)
	}
	try := func() (*Lock, error) { return l.try(ctx, name, opts) }
	if opts.Wait == 0 {
		return try()
	}
	return l.wait(ctx, name, opts.Wait, try)
}

// try sends one request to the provider. For once per interval it repeats the
// request while the state of the name changes concurrently.
func (l *Locker) try(ctx context.Context, name string, opts Options) (*Lock, error) {
	g := opts.grid()
	if g == nil {
		return l.ask(ctx, name, opts, nil)
	}
	const attempts = 10
	slot := &Slot{} // reads the state only
	for range attempts {
		held, err := l.ask(ctx, name, opts, slot)
		var notDue *NotDueError
		if !errors.As(err, &notDue) {
			return held, err
		}
		d := decide(notDue.State, *g)
		if !d.due {
			notDue.Next, notDue.DueAt = d.next, d.dueAt
			return nil, err
		}
		slot = &d.slot
	}
	return nil, fmt.Errorf("take lock %q: its state changed %d times under the request: %w", name, attempts, ErrBusy)
}

// ask sends one request.
func (l *Locker) ask(ctx context.Context, name string, opts Options, slot *Slot) (*Lock, error) {
	lease := l.config.Lease
	if opts.NoKeepAlive {
		lease = 0
	}
	hold := max(holdFor(lease, opts.AtMost), opts.AtLeast)
	req := Request{Name: name, Owner: newOwner(), Hold: hold, AtLeast: opts.AtLeast, Slot: slot, Now: l.config.Now}
	sent := l.uptime()
	granted, err := bounded(ctx, l.config.Timeout, func(ctx context.Context) (Lease, error) {
		return l.provider.TryLock(ctx, req)
	})
	if err != nil {
		return nil, err // the error describes the operation; the caller adds Next to a *NotDueError
	}
	held := l.newLock(ctx, name, granted, newTrust(sent, hold, opts.AtMost, lease))
	if slot != nil {
		held.slot = slot.Mark.Slot
	}
	if held.relied() != nil {
		late := fmt.Errorf("take lock %q: it was granted after %v, too late to rely on: %w", name, l.uptime().Sub(sent), ErrBusy)
		return nil, errors.Join(late, ignoreLost(held.Release(ctx)))
	}
	held.start()
	return held, nil
}

// newLock makes a lock from a grant, with its context.
func (l *Locker) newLock(ctx context.Context, name string, granted Lease, t trust) *Lock {
	held := &Lock{
		locker: l, name: name, lease: t.lease, granted: granted, trust: t,
		calls: make(chan struct{}, 1), changed: make(chan struct{}, 1),
	}
	held.outer, _ = ctx.Value(heldKey{}).(*Lock)
	held.ctx, held.cancel = context.WithCancelCause(context.WithValue(ctx, heldKey{}, held))
	held.keeping, held.stopKeeping = context.WithCancel(context.WithoutCancel(ctx))
	return held
}

func ignoreLost(err error) error {
	if errors.Is(err, ErrLost) {
		return nil
	}
	return err
}

// holdFor returns how long the row is held at a time; lease is 0 without
// keep-alive.
func holdFor(lease, atMost time.Duration) time.Duration {
	if lease == 0 {
		return atMost
	}
	return min(lease, atMost)
}

// bounded calls the store with a time limit. If this limit ends the call, and
// not a limit of the caller, the error contains the limit.
func bounded[T any](ctx context.Context, limit time.Duration, call func(ctx context.Context) (T, error)) (T, error) {
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	result, err := call(inner)
	if err != nil && inner.Err() != nil && ctx.Err() == nil && !errors.Is(err, ErrBusy) {
		err = fmt.Errorf("%w (%v): %w", ErrBusy, limit, err)
	}
	return result, err
}
