package lock

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// The pauses between two attempts of a caller that waits.
const (
	shortestPause = 20 * time.Millisecond
	longestPause  = time.Second
)

// pause returns how long to wait before attempt number n (from 0): twice as
// long each time, but not beyond the end of the lock that is waited for, as far
// as the end is known. random, from 0 to 1, spreads callers that wait for the
// same lock.
func pause(n int, remaining time.Duration, random float64) time.Duration {
	backoff := min(shortestPause<<min(n, 10), longestPause)
	wait := max(min(backoff, remaining), time.Millisecond)
	return wait/2 + time.Duration(random*float64(wait))
}

// remaining returns how long a lock is still held, as far as the error contains
// it.
func remaining(err error) time.Duration {
	var held *HeldError
	if errors.As(err, &held) && !held.Until.IsZero() {
		return held.Until.Sub(held.Now)
	}
	return longestPause
}

// pushAfter is the number of refusals after which a waiting caller asks the
// store for pushes. Pushes may cost the store a connection, and short waits end
// before.
const pushAfter = 2

// wait calls try until the lock is not held any more, or the time is up. Its
// result is the result of the last attempt. A release in this Locker, or a
// release that the store pushes, ends the pause between two attempts.
func (l *Locker) wait(ctx context.Context, name string, limit time.Duration, try func() (*Lock, error)) (*Lock, error) {
	timeUp := time.NewTimer(limit)
	defer timeUp.Stop()
	turn, remove := l.waiting.Add(name)
	defer remove()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var pushed <-chan struct{}
	for n := 0; ; n++ {
		held, err := try()
		if !errors.Is(err, ErrHeld) {
			return held, err
		}
		if notifier, ok := l.provider.(Notifier); ok && n+1 == pushAfter {
			pushed = notifier.Watch(watching, name)
		}
		again := time.NewTimer(pause(n, remaining(err), rand.Float64()))
		select {
		case <-again.C:
		case <-turn:
		case <-pushed:
		case <-timeUp.C:
			again.Stop()
			return nil, err
		case <-ctx.Done():
			again.Stop()
			return nil, errors.Join(context.Cause(ctx), err)
		}
		again.Stop()
	}
}
