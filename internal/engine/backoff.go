package engine

import (
	"math/rand/v2"
	"time"
)

const (
	maxBackoff    = 24 * time.Hour
	backoffJitter = 0.1

	// minDelay is the shortest time for which a handler can put its job off: a
	// handler that asks for none must not start over and over without a pause.
	minDelay = 100 * time.Millisecond
)

// backoff is the wait after failed attempt number n (the first is 1):
// n⁴ seconds, spread by ± 10 % so that what failed together does not come back
// together, and at most a day: the spread lies below the greatest wait too.
func backoff(attempt int) time.Duration {
	const longest = maxBackoff * 10 / 11 // with the whole spread on top: maxBackoff

	n := time.Duration(min(attempt, 18))      // 18⁴ s is more than a day
	wait := min(n*n*n*n*time.Second, longest) //nolint:durationcheck // n counts; only time.Second is a duration
	return spread(wait)
}

// retryWait is the wait before call number n (from 0) of a loop whose store
// does not answer: 50 ms doubling to one second, spread likewise.
func retryWait(n int) time.Duration {
	return spread(min(50*time.Millisecond<<min(n, 5), time.Second))
}

// spread returns a random wait within 10 % of the given one.
func spread(wait time.Duration) time.Duration {
	return time.Duration(float64(wait) * (1 + backoffJitter*(2*rand.Float64()-1)))
}
