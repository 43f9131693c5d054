package loop

import (
	"context"
	"time"
)

// Signal wakes one loop. Several signals before the loop wakes count as one.
type Signal chan struct{}

// NewSignal returns a signal that was not sent.
func NewSignal() Signal { return make(Signal, 1) }

// Notify sends the signal; it never blocks. Concurrent calls are allowed.
func (s Signal) Notify() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// Sleep waits for d. It returns the error of ctx if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// RetryWait returns the delay before call number n (from 0) of a loop whose calls of the store
// fail: 50 ms, doubling up to one second, ± 10 % by chance, which is a random number from 0 to 1.
func RetryWait(n int, chance float64) time.Duration {
	wait := min(50*time.Millisecond<<min(n, 5), time.Second)
	return time.Duration(float64(wait) * (0.9 + 0.2*chance))
}
