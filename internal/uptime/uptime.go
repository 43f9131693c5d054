// Package uptime reads the clock by which leases are trusted: one that nobody
// can set, and that counts the time a machine was suspended where the system
// has such a clock.
package uptime
