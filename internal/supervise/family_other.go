//go:build unix && !linux

package supervise

import "syscall"

// process is a process group, which is all that can be seen here.
type process struct{ pid, group, session int }

// becomeSubreaper says that orphans do not come back here.
func becomeSubreaper() bool { return false }

// dieWithParent does nothing: no such thing here.
func dieWithParent(*syscall.SysProcAttr) {}

// family returns the group that the session began with, if anything is left
// of it.
func family(_, session int) []process {
	if session <= 1 || syscall.Kill(-session, 0) == syscall.ESRCH {
		return nil
	}
	return []process{{pid: session, group: session, session: session}}
}

// orphans returns what is left of the session: a mark cannot be read here.
func orphans(session int, _ string) []process { return family(0, session) }

// rename does nothing: ps shows the arguments.
func rename() {}
