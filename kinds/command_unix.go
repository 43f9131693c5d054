//go:build unix

package kinds

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// ownGroup makes the process the leader of a group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends what is left of the leader's group, and returns when none of
// it is alive: SIGTERM, then SIGKILL after grace. The leader must be awaited
// elsewhere meanwhile. The number of a group is not given to another while it
// has members, and numbers are handed out in turn, so a group that has just
// emptied cannot be taken for a new one.
func endGroup(leader *os.Process, grace time.Duration) {
	group := -leader.Pid
	if !signalGroup(group, syscall.SIGTERM) || groupGone(group, grace) {
		return
	}
	signalGroup(group, syscall.SIGKILL)
	// Nothing survives SIGKILL; this only awaits that it has taken effect.
	groupGone(group, time.Second)
}

// signalGroup says whether the group has, or may have, members.
func signalGroup(group int, signal syscall.Signal) bool {
	return syscall.Kill(group, signal) != syscall.ESRCH
}

// groupGone waits until the group has no living members, at most for limit.
func groupGone(group int, limit time.Duration) bool {
	const shortest, longest = time.Millisecond, 50 * time.Millisecond
	deadline := time.Now().Add(limit)
	for pause := shortest; signalGroup(group, 0) && !onlyZombies(-group); pause = min(2*pause, longest) {
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		time.Sleep(min(pause, left))
	}
	return true
}

// endSignal names the signal that ended the process, or is empty.
func endSignal(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	return status.Signal().String()
}
