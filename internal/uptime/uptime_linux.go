package uptime

import (
	"syscall"
	"time"
	"unsafe"
)

// clockBoottime is CLOCK_BOOTTIME: monotonic, and it goes on while the machine
// sleeps.
const clockBoottime = 7

// Shared says whether all processes of the machine read the same clock.
const Shared = true

// Now is the time since the machine started. All processes of a machine read
// the same clock, so that one may tell another an instant on it.
func Now() time.Duration {
	var ts syscall.Timespec
	// The kernel writes to ts during the call, and nothing keeps it. The call
	// fails only on kernels before 2.6.39, on which Go does not run.
	_, _, _ = syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&ts)), 0) //nolint:gosec // see above
	return time.Duration(ts.Nano())
}
