package lock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hourbell/hourbell/internal/uptime"
)

// Lock is a lock that was granted. Concurrent calls are allowed.
//
//	state    | event                                       | next state
//	---------+---------------------------------------------+----------------------
//	held     | a renewal is due (keep.go), and succeeds    | held, for a new lease
//	         | a renewal fails                             | held; the next attempt follows
//	         | Extend                                      | held, with a later at-most time
//	         | the last hold is nearly over, not renewed   | lost, ErrLost
//	         | the store reports another owner or no row   | lost, ErrLost
//	         | the at-most time is nearly over             | lost, ErrAtMost
//	         | Release                                     | released
//	lost     | Release, the row is still the owner's       | released
//	         | Release, the row is not the owner's         | released, with ErrLost
//	released | any call                                    | released, with ErrReleased
//
// In the states lost and released the context has ended. "Nearly over" is
// defined by [Margin]: the context ends by this time before the store frees the
// lock (trust.go has a table). Release ends the context first; if it fails for
// another reason, it can be repeated.
type Lock struct {
	locker  *Locker
	name    string
	lease   time.Duration // the lease of trust
	granted Lease
	slot    time.Time
	outer   *Lock // the enclosing lock of the context, for Held
	ctx     context.Context
	cancel  context.CancelCauseFunc
	calls   chan struct{} // has room for one call to the store at a time
	changed chan struct{} // wakes the keeper after an Extend

	keeping     context.Context // ends with a loss, or with the first call of Release
	stopKeeping context.CancelFunc

	mu       sync.Mutex
	trust    trust
	lost     error // the reason why the lock cannot be relied on; nil while it can
	released bool
}

// Name returns the lock's name.
func (l *Lock) Name() string { return l.name }

// Token returns a number that is greater than the token of every lock granted
// before under this name, also to other processes. Pass it to the resource that
// the lock protects, and let the resource refuse smaller tokens: then a process
// that was stopped, and continues after another process has taken over, does no
// harm.
func (l *Lock) Token() int64 { return l.granted.Token() }

// Slot returns the instant that Every or Cron granted, in UTC; zero without
// Every and Cron.
func (l *Lock) Slot() time.Time { return l.slot }

// Context returns a context that ends with the context with which the lock was
// taken, with the release of the lock, and when the lock cannot be relied on
// any more: context.Cause is then [ErrLost] or [ErrAtMost].
func (l *Lock) Context() context.Context { return l.ctx }

// HeldFor returns for how long from now the lock may be relied on if no further
// renewal succeeds, and how long a renewal lasts (0 without keep-alive). Work
// that cannot observe the context, such as work in another process, must end
// before left has passed. Each renewal prolongs the time, so call HeldFor
// repeatedly. left is 0 for a lock that is lost or released.
func (l *Lock) HeldFor() (left, lease time.Duration) {
	if l.relied() != nil {
		return 0, l.lease
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.trust.left(l.locker.uptime()), 0), l.lease
}

// AtMostLeft returns for how long from now the work may continue because of the
// at-most time, if every renewal succeeds: then the context ends with
// [ErrAtMost]. Only Extend prolongs the time. It is 0 for a lock that is lost
// or released.
func (l *Lock) AtMostLeft() time.Duration {
	if l.relied() != nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.trust.bound.Sub(l.locker.uptime()), 0)
}

// Extend gives the work more time: a new at-most time counts from now. It never
// shortens the time. After a release it fails with [ErrReleased], after a loss
// with [ErrLost] or [ErrAtMost]. After any other error the lock lasts either as
// long as before, or as long as requested.
func (l *Lock) Extend(ctx context.Context, atMost time.Duration) error {
	atMost = atMost.Truncate(time.Millisecond)
	if err := checkAtMost(atMost); err != nil {
		return err
	}
	hold := holdFor(l.lease, atMost)
	err := l.extend(ctx, l.locker.config.Timeout, hold, func(t *trust, sent uptime.Instant) { t.extended(sent, hold, atMost) })
	if err != nil {
		return fmt.Errorf("extend lock %q: %w", l.name, err)
	}
	select {
	case l.changed <- struct{}{}:
	default: // the keeper has a message already
	}
	return nil
}

// Release frees the lock, but not before its at-least time. It works even if
// ctx has ended, within the Locker's Timeout. The lock's context ends first.
// After a successful release it fails with [ErrReleased]. [ErrLost] means that
// the lock belonged to this owner no more, and that nothing was freed. After
// any other error Release may be called again; otherwise the lock becomes free
// when its hold ends.
func (l *Lock) Release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.locker.config.Timeout)
	defer cancel()
	l.cancel(ErrReleased) // the work ends first, then the lock
	l.stopKeeping()
	err := l.call(ctx, l.locker.config.Timeout, func(ctx context.Context) error {
		if l.isReleased() {
			return ErrReleased
		}
		err := l.granted.Release(ctx)
		if err == nil || errors.Is(err, ErrLost) {
			l.setReleased()
			l.locker.waiting.Wake(l.name)
		}
		return err
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrLost), errors.Is(err, ErrReleased):
		return fmt.Errorf("release lock %q: %w", l.name, err)
	default:
		return fmt.Errorf("release lock %q: %w, it frees itself when its hold ends: %w", l.name, ErrUnreleased, err)
	}
}

// finish releases the lock after Do's work, and returns errors other than the
// work's own error.
func (l *Lock) finish(workErr error) error {
	lost := l.relied()
	if errors.Is(lost, ErrReleased) { // the work released the lock
		return nil
	}
	err := l.Release(l.ctx)
	if lost == nil {
		return err
	}
	if errors.Is(err, ErrLost) {
		err = nil // the loss is reported below with its reason
	}
	if errors.Is(workErr, lost) {
		return err
	}
	return errors.Join(fmt.Errorf("hold lock %q: %w", l.name, lost), err)
}

// relied returns the reason why the lock cannot be relied on at this instant,
// or nil.
func (l *Lock) relied() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.released:
		return ErrReleased
	case l.lost != nil:
		return l.lost
	}
	if err := l.trust.ended(l.locker.uptime()); err != nil {
		l.loseLocked(err)
	}
	return l.lost
}

// lose records that the lock cannot be relied on, and ends its context.
func (l *Lock) lose(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost == nil {
		l.loseLocked(why)
	}
}

func (l *Lock) loseLocked(why error) {
	l.lost = why
	l.cancel(why)
	l.stopKeeping()
}

func (l *Lock) isReleased() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.released
}

func (l *Lock) setReleased() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.released = true
}

// extend asks the store to extend the row by hold. note then updates the lock's
// trust.
func (l *Lock) extend(ctx context.Context, limit, hold time.Duration, note func(t *trust, sent uptime.Instant)) error {
	return l.call(ctx, limit, func(ctx context.Context) error {
		if err := l.relied(); err != nil {
			return err
		}
		sent := l.locker.uptime()
		err := l.granted.Extend(ctx, hold)
		switch {
		case errors.Is(err, ErrLost):
			l.lose(ErrLost)
		case err == nil:
			l.mu.Lock()
			note(&l.trust, sent)
			l.mu.Unlock()
		}
		return err
	})
}

// call makes a call to the store. There is one call at a time, because a late
// renewal must not follow a release.
func (l *Lock) call(ctx context.Context, limit time.Duration, fn func(ctx context.Context) error) error {
	select {
	case l.calls <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrBusy, context.Cause(ctx))
	}
	defer func() { <-l.calls }()
	_, err := bounded(ctx, limit, func(ctx context.Context) (struct{}, error) { return struct{}{}, fn(ctx) })
	return err
}
