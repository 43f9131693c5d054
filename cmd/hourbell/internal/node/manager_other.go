//go:build !linux

package node

// monotonic returns nothing, because systemd exists on Linux only.
func monotonic() []string { return nil }
