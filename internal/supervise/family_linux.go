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

// becomeSubreaper makes orphans among the descendants of this process its
// children, and says whether the system does that.
func becomeSubreaper() bool {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
	return errno == 0
}

// dieWithParent has the system kill the process when the thread that starts it
// ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// family returns the living processes that are descendants of root or belong
// to the session, root itself left out.
func family(root, session int) []process {
	return kin(processes(), root, func(p process) bool { return session > 1 && p.session == session })
}

// orphans returns the living processes of a command whose supervisor has ended:
// the session, what bears the mark in its environment, and descendants of both.
func orphans(session int, mark string) []process {
	const nobody = -1 // the parent of no process
	return kin(processes(), nobody, func(p process) bool {
		return session > 1 && p.session == session || bears(p.pid, mark)
	})
}

// bears says whether a process was started with the mark in its environment.
func bears(pid int, mark string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && bytes.Contains(env, []byte(mark))
}

// kin picks from all processes the descendants of root, and those that belong
// with theirs.
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
	// To signal group 1 or 0 would be to signal everybody or ourselves.
	return slices.DeleteFunc(found, func(p process) bool { return p.group <= 1 })
}

// processes reads the table of all processes. Dead ones that were not reaped
// have group 0: they matter as parents alone.
func processes() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what was read before an error counts
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
	_ = syscall.Close(fd) // nothing was written
	if err != nil || n == 0 {
		return process{}, false
	}
	return parseStat(pid, buf[:n])
}

// parseStat reads "pid (name) state parent group session …", where the name
// may hold anything. Field 20 is the number of threads: a process whose first
// thread has ended looks dead while others go on.
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

// rename sets what ps calls this process, which it would else call "exe".
func rename() {
	const setName = 15 // PR_SET_NAME, of at most 15 bytes
	name := append([]byte("hourbell-superv"), 0)
	// The kernel copies the name during the call; it is only for people, so
	// nothing is lost if that fails.
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setName, uintptr(unsafe.Pointer(&name[0])), 0) //nolint:gosec // see above
}
