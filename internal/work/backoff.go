package engine

import (
	"math/rand/v2"
	"time"
)

const (
	maxBackoff    = 24 * time.Hour
	backoffJitter = 0.1

	// minDelay is the shortest delay that a handler can ask for. Without it, a handler that asks
	// for no delay would run again and again without a pause.
	minDelay = 100 * time.Millisecond
)

// backoff returns the delay after failed attempt number attempt (from 1): attempt⁴ seconds ± 10 %,
// and at most a day. The random part keeps jobs that failed together from running together again.
func backoff(attempt int) time.Duration {
	const longest = maxBackoff * 10 / 11 // maxBackoff with the greatest random part

	n := time.Duration(min(attempt, 18))      // 18⁴ s is longer than a day
	wait := min(n*n*n*n*time.Second, longest) //nolint:durationcheck // n is a number; time.Second alone is a duration
	return spread(wait)
}

// retryWait returns the delay before call number n (from 0) of a loop whose calls of the store
// fail: 50 ms, doubling up to one second, ± 10 %.
func retryWait(n int) time.Duration {
	return spread(min(50*time.Millisecond<<min(n, 5), time.Second))
}

// spread returns a random duration within 10 % of wait.
func spread(wait time.Duration) time.Duration {
	return time.Duration(float64(wait) * (1 + backoffJitter*(2*rand.Float64()-1)))
}
