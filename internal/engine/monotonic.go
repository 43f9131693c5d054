package engine

import "time"

var processStart = time.Now()

// monotonic is the time since the process started, by the monotonic clock.
func monotonic() time.Duration { return time.Since(processStart) }
