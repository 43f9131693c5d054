package delay

import (
	"runtime"
	"syscall"
	"time"
)

// prSetTimerSlack is PR_SET_TIMERSLACK of prctl(2).
const prSetTimerSlack = 29

// sleeper sleeps to within some 10 µs. The timers of Go are late by up to a
// millisecond where nothing else runs, and the system's by 50 µs, unless a thread
// asks for less. One goroutine uses it.
type sleeper struct{}

func newSleeper() sleeper {
	runtime.LockOSThread()
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, 1, 0)
	return sleeper{}
}

// until returns at an instant, or at once if that has passed.
func (sleeper) until(at time.Time) {
	for left := time.Until(at); left > 0; left = time.Until(at) {
		wait := syscall.NsecToTimespec(left.Nanoseconds())
		_ = syscall.Nanosleep(&wait, nil) // if a signal ends it early, it sleeps again
	}
}
