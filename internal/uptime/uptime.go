// Package uptime reads the clock by which leases are trusted: a monotonic clock
// that cannot be set and that, if the system has such a clock, counts the time
// during which the machine was suspended.
package uptime
