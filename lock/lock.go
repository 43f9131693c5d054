package lock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Lock is a lock that is held. Any number of goroutines may use one.
type Lock struct {
	locker  *Locker
	name    string
	lease   time.Duration // as in trust
	granted Lease
	slot    time.Time
	outer   *Lock // what the context holds besides, for Held
	ctx     context.Context
	cancel  context.CancelCauseFunc
	calls   chan struct{} // room for one call to the store at a time
	changed chan struct{} // tells the keeper of an Extend

	keeping     context.Context // ends with a loss, or the first call of Release
	stopKeeping context.CancelFunc

	mu       sync.Mutex
	trust    trust
	lost     error // why the lock cannot be relied on; nil while it can
	released bool
}

// Name is the lock's name.
func (l *Lock) Name() string { return l.name }

// Token is greater than that of every lock granted before under this name, also
// to other processes. Hand it to whatever the lock protects, and let that
// refuse lower ones: then a process that was stopped, and wakes up after
// another has taken its place, does no harm.
func (l *Lock) Token() int64 { return l.granted.Token() }

// Slot is the instant that Every or Cron granted, in UTC; zero without them.
func (l *Lock) Slot() time.Time { return l.slot }

// Context ends when the context does that the lock was taken with, when the
// lock is released, and when it cannot be relied on any more: context.Cause is
// then [ErrLost] or [ErrAtMost].
func (l *Lock) Context() context.Context { return l.ctx }

// HeldFor returns for how long from now the lock may be relied on if no renewal
// gets through any more, and how long a renewal lasts (0 without keep-alive).
// Work that cannot see the context's end, such as what runs in another process,
// has to be over before left has passed. Each renewal prolongs it, so ask anew
// now and then. A lock that is lost or released has 0 left.
func (l *Lock) HeldFor() (left, lease time.Duration) {
	if l.relied() != nil {
		return 0, l.lease
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.trust.left(l.locker.uptime()), 0), l.lease
}

// AtMostLeft returns for how long from now the at-most time leaves the work, if
// every renewal gets through: then the context ends with [ErrAtMost]. Only an
// Extend prolongs it. A lock that is lost or released has 0 left.
func (l *Lock) AtMostLeft() time.Duration {
	if l.relied() != nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.trust.bound-l.locker.uptime(), 0)
}

// Extend gives the work more time: the at-most time counts anew from now. It
// never shortens it. After a release it is refused with [ErrReleased], after a
// loss with [ErrLost] or [ErrAtMost]. After any other error the lock lasts as
// long as before, or as long as asked for.
func (l *Lock) Extend(ctx context.Context, atMost time.Duration) error {
	atMost = atMost.Truncate(time.Millisecond)
	if err := checkAtMost(atMost); err != nil {
		return err
	}
	hold := holdFor(l.lease, atMost)
	err := l.extend(ctx, l.locker.config.Timeout, hold, func(t *trust, sent time.Duration) { t.extended(sent, hold, atMost) })
	if err != nil {
		return fmt.Errorf("extend lock %q: %w", l.name, err)
	}
	select {
	case l.changed <- struct{}{}:
	default: // the keeper is told already
	}
	return nil
}

// Release frees the lock, but not before its at-least time. It does so even if
// ctx has ended, within the Locker's Timeout. From then on the lock's context
// has ended too. Once released, it is refused with [ErrReleased]. [ErrLost]
// means that the lock was not this one's any more, and nothing was freed. After
// any other error it may be called again; without that the lock frees itself
// when its hold ends.
func (l *Lock) Release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.locker.config.Timeout)
	defer cancel()
	l.cancel(ErrReleased) // first the work ends, then the lock
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

// finish releases after Do's work, and says what went wrong beyond the work's
// own error.
func (l *Lock) finish(workErr error) error {
	lost := l.relied()
	if errors.Is(lost, ErrReleased) { // the work did it
		return nil
	}
	err := l.Release(l.ctx)
	if lost == nil {
		return err
	}
	if errors.Is(err, ErrLost) {
		err = nil // known already, with its reason
	}
	if errors.Is(workErr, lost) {
		return err
	}
	return errors.Join(fmt.Errorf("hold lock %q: %w", l.name, lost), err)
}

// relied says why the lock cannot be relied on at this moment, or nil.
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

// lose notes that the lock cannot be relied on, and ends its context.
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

// extend asks the store to hold the row for that long, and notes what it means
// for the lock's trust.
func (l *Lock) extend(ctx context.Context, limit, hold time.Duration, note func(t *trust, sent time.Duration)) error {
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

// call makes a call to the store, one at a time: a late renewal must not follow
// a release.
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
