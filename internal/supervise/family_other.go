//go:build unix && !linux

package supervise

import "syscall"

// process is a process group, because these systems show no single processes.
type process struct{ pid, group, session int }

// becomeSubreaper returns false: orphans do not become children of this
// process.
func becomeSubreaper() bool { return false }

// dieWithParent does nothing, because these systems have no such attribute.
func dieWithParent(*syscall.SysProcAttr) {}

// continueWithoutParent does nothing, because these systems have no such attribute.
func continueWithoutParent(*syscall.SysProcAttr) {}

// family returns the process group with which the session began, if any process
// of it is left.
func family(_, session int) []process {
	if session <= 1 || syscall.Kill(-session, 0) == syscall.ESRCH {
		return nil
	}
	return []process{{pid: session, group: session, session: session}}
}

// orphans returns the rest of the session, because marks cannot be read on
// these systems.
func orphans(session int, _ string) []process { return family(0, session) }

// rename does nothing, because ps shows the arguments.
func rename() {}
