//go:build !linux

package delay

import "time"

// sleeper sleeps as accurately as Go's timers.
type sleeper struct{}

func newSleeper() sleeper { return sleeper{} }

func (sleeper) until(at time.Time) { time.Sleep(time.Until(at)) }
