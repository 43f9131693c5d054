//go:build !linux

package uptime

import "time"

// Shared says whether all processes of the machine read the same clock.
const Shared = false

var processStart = time.Now()

// Now is the time since the process started, by its monotonic clock. Whether
// that counts the time the machine was suspended depends on the system: on
// Windows it does, on macOS and the BSDs it does not, and there the first
// renewal after a suspend is what finds out. Another process cannot read it.
func Now() time.Duration { return time.Since(processStart) }
