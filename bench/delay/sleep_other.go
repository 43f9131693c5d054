//go:build !linux

package delay

import "time"

// sleeper sleeps as exactly as Go's timers do.
type sleeper struct{}

func newSleeper() sleeper { return sleeper{} }

func (sleeper) until(at time.Time) { time.Sleep(time.Until(at)) }
