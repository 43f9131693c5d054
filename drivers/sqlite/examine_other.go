//go:build !linux

package sqlite

// fileSystem is not known on this system.
func fileSystem(string) string { return "" }
