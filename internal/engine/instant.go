package engine

import (
	"math"
	"time"
)

// instant is a point in time on the monotonic clock of this process. Instants are
// compared with <, and moved and subtracted with add and sub, so that an instant
// and a duration cannot be mistaken for each other. Instants must not be compared
// with instants of package uptime: the two clocks differ while the machine is
// suspended.
type instant time.Duration

// alreadyDue and never are before and after every instant of the clock, also with
// any duration of this package added.
const (
	alreadyDue instant = math.MinInt64 / 2
	never      instant = math.MaxInt64 / 2
)

var processStart = time.Now()

// monotonic returns the present instant.
func monotonic() instant { return instant(time.Since(processStart)) }

// add returns the instant d later.
func (i instant) add(d time.Duration) instant { return i + instant(d) }

// sub returns the duration from earlier to i.
func (i instant) sub(earlier instant) time.Duration { return time.Duration(i - earlier) }

// elapsed returns the duration from i to the present instant.
func (i instant) elapsed() time.Duration { return monotonic().sub(i) }

// until returns the duration from the present instant to i; negative: i has passed.
func (i instant) until() time.Duration { return i.sub(monotonic()) }
