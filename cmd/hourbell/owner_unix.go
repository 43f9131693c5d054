//go:build unix

package main

import (
	"os"
	"syscall"
)

// fileOwner is the number of the user whom a file belongs to; ok is false
// where that is not known.
func fileOwner(info os.FileInfo) (uid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
