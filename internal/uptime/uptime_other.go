//go:build !linux

package uptime

import "time"

// Shared reports whether all processes of the machine read the same clock.
const Shared = false

var processStart = time.Now()

// Now returns the time since the process started, by its monotonic clock.
// Whether this clock counts suspension depends on the system: on Windows it
// does, on macOS and the BSDs it does not; there the first renewal after a
// suspension finds out. Another process cannot read this clock.
func Now() time.Duration { return time.Since(processStart) }
