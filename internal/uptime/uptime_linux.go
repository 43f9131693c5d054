package uptime

import (
	"syscall"
	"unsafe"
)

// clockBoottime is CLOCK_BOOTTIME: it is monotonic and continues while the
// machine is suspended.
const clockBoottime = 7

// Shared reports whether all processes of the machine read the same clock.
const Shared = true

// Now returns the present instant; the clock starts with the machine. All processes of a machine
// read the same clock, so a process may send an instant on this clock to
// another process.
func Now() Instant {
	var ts syscall.Timespec
	// The kernel writes to ts during the call, and does not keep the pointer.
	// The call fails only on kernels before 2.6.39, on which Go does not run.
	_, _, _ = syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&ts)), 0) //nolint:gosec // see above
	return Instant(ts.Nano())
}
