//go:build !linux

package engine

import "time"

// uptime reads the process's monotonic clock. Whether that counts the time the
// machine was suspended depends on the system: on Windows it does, on macOS
// and the BSDs it does not, and there the first heartbeat after a suspend is
// what finds out.
func uptime() time.Duration { return monotonic() }
