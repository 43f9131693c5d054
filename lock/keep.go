package lock

import (
	"context"
	"errors"
	"time"

	"github.com/hourbell/hourbell/internal/uptime"
)

// glance is how often a holder reads its clock, independent of its timers,
// because timers do not advance while the machine is suspended.
const glance = 250 * time.Millisecond

// start begins to watch the lock and to keep it alive, until the lock is
// released.
func (l *Lock) start() {
	go l.watch()
	if l.lease > 0 {
		go l.keepAlive()
	}
}

// watch ends the lock's context in time, also while the store does not answer.
func (l *Lock) watch() {
	for l.relied() == nil {
		l.mu.Lock()
		left := l.trust.left(l.locker.uptime())
		l.mu.Unlock()
		if !sleep(l.keeping, min(left, glance)) {
			return
		}
	}
}

// keepAlive renews the row until the release, a loss, or the at-most time.
func (l *Lock) keepAlive() {
	for l.awaitRenewal() {
		err := l.renew()
		switch {
		case errors.Is(err, ErrLost), l.relied() != nil:
			return
		case err != nil && !sleep(l.keeping, l.lease/10):
			return
		}
	}
}

// awaitRenewal blocks until a renewal is due; it returns false if no further
// renewal will be due.
func (l *Lock) awaitRenewal() bool {
	for {
		l.mu.Lock()
		last, due := l.trust.last, l.trust.renew.Sub(l.locker.uptime())
		l.mu.Unlock()
		if last { // a renewal becomes due only after an Extend
			due = time.Hour
		}
		if due <= 0 {
			return l.keeping.Err() == nil
		}
		timer := time.NewTimer(due)
		select {
		case <-timer.C:
		case <-l.changed:
		case <-l.keeping.Done():
		}
		timer.Stop()
		if l.relied() != nil || l.keeping.Err() != nil {
			return false
		}
	}
}

// renew extends the row for another lease. The attempt ends early enough for
// one more attempt before the lease ends.
func (l *Lock) renew() error {
	l.mu.Lock()
	hold := l.trust.nextHold(l.locker.uptime())
	l.mu.Unlock()
	if hold <= 0 {
		return nil
	}
	limit := min(l.locker.config.Timeout, l.lease/3)
	return l.extend(l.keeping, limit, hold, func(t *trust, sent uptime.Instant) { t.renewed(sent, hold) })
}

// sleep waits for d and returns true, or returns false when ctx ends earlier.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
