//go:build !linux

package uptime

import "time"

// Shared reports whether all processes of the machine read the same clock.
const Shared = false

var processStart = time.Now()

// Now returns the present instant, by the monotonic clock of the process.
// Whether this clock counts suspension depends on the system: on Windows it
// does, on macOS and the BSDs it does not; there the first renewal after a
// suspension finds out. Another process cannot read this clock.
func Now() Instant { return Instant(time.Since(processStart)) }
