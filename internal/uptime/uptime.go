// Package uptime reads the clock by which leases are trusted: a monotonic clock
// that cannot be set and that, if the system has such a clock, counts the time
// during which the machine was suspended.
package uptime

import "time"

// Instant is a point in time on the clock of this package. Instants are compared
// with <, and calculated with Add and Sub, so that the compiler finds where an
// instant and a duration are mixed up. The zero value is the start of the clock,
// before every present instant. As JSON, an Instant is a number of nanoseconds.
type Instant time.Duration

// Add returns the instant d after i.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub returns the duration from earlier to i.
func (i Instant) Sub(earlier Instant) time.Duration { return time.Duration(i - earlier) }
