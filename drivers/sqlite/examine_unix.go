//go:build unix

package sqlite

import "syscall"

// mayWrite returns why the user of this process may not write to a file or a folder, or nil.
func mayWrite(path string) error { return syscall.Access(path, 2) }
