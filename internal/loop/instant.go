package engine

import (
	"math"
	"time"
)

// instant is a point in time on the monotonic clock of this process. Instants are compared with <,
// and calculated with add and sub, so that the compiler finds where an instant and a duration are
// mixed up. An instant must not be compared with a time of package uptime, because the two clocks
// differ by the time that the machine was suspended.
type instant time.Duration

// alreadyDue is before every present instant, and never is after every present instant.
const (
	alreadyDue instant = math.MinInt64 / 2
	never      instant = math.MaxInt64 / 2
)

var processStart = time.Now()

// monotonic returns the present instant.
func monotonic() instant { return instant(time.Since(processStart)) }

// add returns the instant d after i.
func (i instant) add(d time.Duration) instant { return i + instant(d) }

// sub returns the duration from earlier to i.
func (i instant) sub(earlier instant) time.Duration { return time.Duration(i - earlier) }

// elapsed returns the duration from i to the present instant.
func (i instant) elapsed() time.Duration { return monotonic().sub(i) }

// until returns the duration from the present instant to i; it is negative if i has passed.
func (i instant) until() time.Duration { return i.sub(monotonic()) }
