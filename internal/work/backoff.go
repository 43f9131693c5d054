package work

import (
	"time"

	"github.com/hourbell/hourbell/internal/loop"
)

const (
	maxBackoff = 24 * time.Hour

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
	return loop.Spread(wait)
}
