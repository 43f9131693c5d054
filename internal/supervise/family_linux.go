package supervise

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"syscall"
	"unsafe"
)

// process is a living process of a command.
type process struct{ pid, parent, group, session int }

// becomeSubreaper makes orphaned descendants of this process its children, and
// reports whether the system supports that.
func becomeSubreaper() bool {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
	return errno == 0
}

// dieWithParent makes the system kill the new process when the thread that
// starts it ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// continueWithoutParent makes the system continue the new process when the thread
// that starts it ends, which is when the parent dies: the Go runtime keeps its
// threads. A signal that comes too early does no harm. The rule that continues the
// processes of an orphaned group is not enough, because it passes over a process
// that has been told to stop and has not stopped yet.
func continueWithoutParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGCONT }

// family returns the living processes that are descendants of root or belong to
// the session, without root itself.
func family(root, session int) []process {
	return kin(processes(), root, func(p process) bool { return session > 1 && p.session == session })
}

// orphans returns the living processes of a command whose supervisor has ended:
// the session, the processes with the mark in their environment, and the
// descendants of both.
func orphans(session int, mark string) []process {
	const noProcess = -1 // not the parent of any process
	return kin(processes(), noProcess, func(p process) bool {
		return session > 1 && p.session == session || hasMark(p.pid, mark)
	})
}

// hasMark reports whether a process was started with the mark in its environment.
func hasMark(pid int, mark string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && bytes.Contains(env, []byte(mark))
}

// kin returns, out of all processes, the descendants of root, the processes
// that belongs accepts, and the descendants of the latter.
func kin(all []process, root int, belongs func(process) bool) []process {
	children := map[int][]process{}
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
	}
	var found []process
	seen := map[int]bool{root: true}
	var add func(p process)
	add = func(p process) {
		if seen[p.pid] {
			return
		}
		seen[p.pid] = true
		found = append(found, p)
		for _, child := range children[p.pid] {
			add(child)
		}
	}
	for _, child := range children[root] {
		add(child)
	}
	for _, p := range all {
		if belongs(p) {
			add(p)
		}
	}
	// A signal to group 1 or 0 would go to all processes or to this process.
	return slices.DeleteFunc(found, func(p process) bool { return p.group <= 1 })
}

// processes reads the table of all processes. Dead processes that were not
// reaped have group 0, because they matter only as parents.
func processes() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // the names read before an error are used
	all := make([]process, 0, len(names))
	buf := make([]byte, 1024)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := readStat(pid, buf); ok {
			all = append(all, p)
		}
	}
	return all
}

// readStat reads /proc/PID/stat; ok is false if the process has ended.
func readStat(pid int, buf []byte) (p process, ok bool) {
	fd, err := syscall.Open("/proc/"+strconv.Itoa(pid)+"/stat", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return process{}, false
	}
	n, err := syscall.Read(fd, buf)
	_ = syscall.Close(fd) // nothing was written that an error could lose
	if err != nil || n == 0 {
		return process{}, false
	}
	return parseStat(pid, buf[:n])
}

// parseStat reads "pid (name) state parent group session …"; the name may
// contain any bytes. Field 20 is the number of threads: a process whose first
// thread has ended looks dead while its other threads still run.
func parseStat(pid int, stat []byte) (p process, ok bool) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 18 {
		return process{}, false
	}
	number := func(i int) int { n, _ := strconv.Atoi(string(fields[i])); return n }
	p = process{pid: pid, parent: number(1), group: number(2), session: number(3)}
	if state := fields[0][0]; (state == 'Z' || state == 'X') && number(17) <= 1 {
		p.group = 0
	}
	return p, true
}

// rename sets the name of this process in ps, which would otherwise be "exe".
func rename() {
	const setName = 15 // PR_SET_NAME, of at most 15 bytes
	name := append([]byte("hourbell-superv"), 0)
	// The kernel copies the name during the call. The name is only for users,
	// so a failure does no harm.
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setName, uintptr(unsafe.Pointer(&name[0])), 0) //nolint:gosec // see above
}
