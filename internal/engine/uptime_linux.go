package engine

import (
	"syscall"
	"time"
	"unsafe"
)

// clockBoottime is CLOCK_BOOTTIME: monotonic, and it goes on while the machine
// sleeps.
const clockBoottime = 7

// uptime reads a clock that nobody can set and that counts the time a machine
// is suspended, so that a lease does not outlive a closed lid.
func uptime() time.Duration {
	var ts syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&ts)), 0) //nolint:gosec // the kernel writes there during the call, and nothing keeps it
	if errno != 0 {                                                                                           // kernels before 2.6.39
		return monotonic()
	}
	return time.Duration(ts.Nano())
}
