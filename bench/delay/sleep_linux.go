package delay

import (
	"runtime"
	"syscall"
	"time"
)

// prSetTimerSlack is PR_SET_TIMERSLACK of prctl(2).
const prSetTimerSlack = 29

// sleeper sleeps with an error of about 10 µs. Timers of Go are late by up to a
// millisecond on an idle machine, and sleeps of the system by 50 µs, unless a
// thread requests a smaller slack. It must be used by one goroutine only.
type sleeper struct{}

func newSleeper() sleeper {
	runtime.LockOSThread()
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, 1, 0)
	return sleeper{}
}

// until returns at an instant, or at once if the instant has passed.
func (sleeper) until(at time.Time) {
	for left := time.Until(at); left > 0; left = time.Until(at) {
		wait := syscall.NsecToTimespec(left.Nanoseconds())
		_ = syscall.Nanosleep(&wait, nil) // if a signal ends the sleep early, the loop sleeps again
	}
}
