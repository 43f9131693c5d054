//go:build unix

package files

import (
	"os"
	"syscall"
)

// fileOwner returns the number of the user who owns a file; ok is false if the
// owner is not known.
func fileOwner(info os.FileInfo) (uid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
