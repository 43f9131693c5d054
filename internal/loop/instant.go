package loop

import (
	"math"
	"time"
)

// Instant is a point in time on the monotonic clock of this process. Instants are compared with <,
// and calculated with Add and Sub, so that the compiler finds where an instant and a duration are
// mixed up. An Instant is not comparable with an instant of package uptime, because the two
// clocks differ by the time that the machine was suspended.
type Instant time.Duration

// AlreadyDue is before every present instant, and Never is after every present instant.
const (
	AlreadyDue Instant = math.MinInt64 / 2
	Never      Instant = math.MaxInt64 / 2
)

var processStart = time.Now()

// Now returns the present instant.
func Now() Instant { return Instant(time.Since(processStart)) }

// InstantOf returns the instant of a time that has a monotonic reading of this process.
func InstantOf(t time.Time) Instant { return Instant(t.Sub(processStart)) }

// Add returns the instant d after i.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub returns the duration from earlier to i.
func (i Instant) Sub(earlier Instant) time.Duration { return time.Duration(i - earlier) }

// Elapsed returns the duration from i to the present instant.
func (i Instant) Elapsed() time.Duration { return Now().Sub(i) }

// Until returns the duration from the present instant to i; it is negative if i has passed.
func (i Instant) Until() time.Duration { return i.Sub(Now()) }
