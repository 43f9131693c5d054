package engine

import (
	"math/rand/v2"
	"time"
)

const (
	maxBackoff    = 24 * time.Hour
	backoffJitter = 0.1
)

// backoff is the wait after failed attempt number n (the first is 1):
// n⁴ seconds, at most a day, spread by ± 10 % so that what failed together
// does not come back together.
func backoff(attempt int) time.Duration {
	n := time.Duration(min(attempt, 18))         // 18⁴ s is more than a day
	wait := min(n*n*n*n*time.Second, maxBackoff) //nolint:durationcheck // n counts; only time.Second is a duration
	return time.Duration(float64(wait) * (1 + backoffJitter*(2*rand.Float64()-1)))
}

// retryWait is the wait before call number n (from 0) of a loop whose store
// does not answer: 50 ms doubling to one second, spread likewise.
func retryWait(n int) time.Duration {
	wait := min(50*time.Millisecond<<min(n, 5), time.Second)
	return time.Duration(float64(wait) * (1 + backoffJitter*(2*rand.Float64()-1)))
}
