//go:build linux

package cron

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// machine is a folder with the files that processes on a machine see instead of
// the system's own; see covers.
type machine struct{ dir string }

// covers are the folders of a machine and the system's folders that they are
// mounted over.
var covers = []struct{ from, over string }{
	{"etc", "/etc"},
	{"home", "/home"},
	{"root", "/root"},
	{"run", "/run"},
	{"spool", "/var/spool/cron"},
	{"shell", "/bin/sh"},
	{"shell", "/bin/bash"},
}

// accounts are the users of a machine. The first group of a user is the user's
// own.
var accounts = []struct {
	name   string
	uid    int
	groups []int
	home   string
}{
	{"root", 0, []int{0, 4}, "/root"},
	{"daemon", 1, []int{1}, "/usr/sbin"},
	{"www-data", 33, []int{33, 1001}, "/home/www"},
	{"backup", 34, []int{34, 6, 4}, "/home/backup"},
	{"mysql", 106, []int{114}, "/"},
	{"alice", 1000, []int{1000, 1001, 27, 4}, "/home/alice"},
	{"nobody", 65534, []int{65534}, "/nonexistent"},
}

// newMachine makes a machine with the crontabs of testdata, the recording
// shell, and a clock that starts at now; cron on it ends at end.
func newMachine(t *testing.T, tools tools, now, end time.Time) machine {
	t.Helper()
	m := machine{t.TempDir()}
	for _, dir := range []string{"etc/default", "etc/security", "etc/zoneinfo", "home/alice/app", "home/backup", "home/www", "root", "run"} {
		must(t, os.MkdirAll(m.path(dir), 0o755))
	}
	m.copy(t, tools.shell, "shell", 0o755)
	m.addAccounts(t)
	m.addLogin(t)
	m.addZone(t)
	m.copy(t, "testdata/system/crontab", "etc/crontab", 0o644)
	m.copyAll(t, "testdata/system/cron.d", "etc/cron.d", 0o644)
	m.copyAll(t, "testdata/user", "spool/crontabs", 0o600)
	clock := binary.NativeEndian.AppendUint64(nil, uint64(now.Unix()))
	m.write(t, "run/clock", binary.NativeEndian.AppendUint64(clock, uint64(end.Unix())), 0o644)
	m.copy(t, tools.clock, "run/clock.so", 0o755)
	m.write(t, "run/runs", nil, 0o666)
	return m
}

// addAccounts writes passwd and group, and gives users their homes.
func (m machine) addAccounts(t *testing.T) {
	t.Helper()
	members := map[int][]string{}
	var passwd, group strings.Builder
	for _, a := range accounts {
		fmt.Fprintf(&passwd, "%s:*:%d:%d::%s:/bin/sh\n", a.name, a.uid, a.groups[0], a.home)
		for i, gid := range a.groups {
			if members[gid] == nil {
				members[gid] = []string{}
			}
			if i > 0 {
				members[gid] = append(members[gid], a.name)
			}
		}
		if strings.HasPrefix(a.home, "/home/") {
			must(t, os.Chown(m.path(a.home), a.uid, a.groups[0]))
		}
	}
	for gid, names := range members {
		fmt.Fprintf(&group, "g%d:x:%d:%s\n", gid, gid, strings.Join(names, ","))
	}
	m.write(t, "etc/passwd", []byte(passwd.String()), 0o644)
	m.write(t, "etc/group", []byte(group.String()), 0o644)
}

// addLogin sets up PAM: the system's own rules for cron, which read
// /etc/environment and /etc/default/locale, and around them rules that admit
// every user.
func (m machine) addLogin(t *testing.T) {
	t.Helper()
	m.copyAll(t, "testdata/pam.d", "etc/pam.d", 0o644)
	m.copy(t, "/etc/pam.d/cron", "etc/pam.d/cron", 0o644)
	m.write(t, "etc/security/limits.conf", nil, 0o644)
	m.write(t, "etc/security/pam_env.conf", nil, 0o644)
	m.write(t, "etc/nsswitch.conf", []byte("passwd: files\ngroup: files\n"), 0o644)
	m.copy(t, "testdata/environment", "etc/environment", 0o644)
	m.copy(t, "testdata/locale", "etc/default/locale", 0o644)
}

// addZone makes the machine's time zone.
func (m machine) addZone(t *testing.T) {
	t.Helper()
	const name = "Proof/Week"
	if out, err := exec.Command("/usr/sbin/zic", "-d", m.path("etc/zoneinfo"), "testdata/zone").CombinedOutput(); err != nil {
		t.Fatalf("zic: %v\n%s", err, out)
	}
	must(t, os.Symlink("/etc/zoneinfo/"+name, m.path("etc/localtime")))
	m.write(t, "etc/timezone", []byte(name+"\n"), 0o644)
}

// The variables with which the test's own binary acts in another role: it
// enters a machine and then executes the command in its arguments, or acts as
// Hourbell there.
const (
	enterVariable    = "HOURBELL_CRON_ENTER"
	hourbellVariable = "HOURBELL_CRON_HOURBELL"
)

// command returns a process on the machine, with the given environment. It
// exits with code 125 if the machine cannot be entered.
func (m machine) command(t *testing.T, env []string, program string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self, append([]string{program}, args...)...)
	cmd.Env = append(env, enterVariable+"="+m.dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// enter mounts the machine in dir over the system, for this process only, and
// replaces this process by the command.
func enter(dir string, command []string) error {
	for _, c := range covers {
		if err := syscall.Mount(filepath.Join(dir, c.from), c.over, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount over %s: %w", c.over, err)
		}
	}
	if err := os.Unsetenv(enterVariable); err != nil {
		return err
	}
	if preload, given := os.LookupEnv(preloadVariable); given { // set it only for the command, not for this process
		if err := os.Setenv("LD_PRELOAD", preload); err != nil {
			return err
		}
	}
	return fmt.Errorf("run %s: %w", command[0], syscall.Exec(command[0], command, os.Environ()))
}

// preloadVariable is the LD_PRELOAD of a command on a machine.
const preloadVariable = "HOURBELL_CRON_PRELOAD"

// run is how the shell of a machine was called; see testdata/shell.c.
type run struct {
	At      int64 // Unix time on the machine's clock
	Argv    []string
	Env     []string
	Dir     string
	UID     int
	GID     int
	Groups  []int
	Umask   int
	Ignored []int // signals
	Stdin   string
}

// decodeRuns reads what the shell has written.
func decodeRuns(data []byte) (runs []run, err error) {
	for line := range strings.Lines(string(data)) {
		var r run
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return nil, fmt.Errorf("what the shell wrote: %w: %s", err, line)
		}
		runs = append(runs, r)
	}
	return runs, nil
}

func (m machine) path(name string) string { return filepath.Join(m.dir, name) }

// write writes a file with this mode, whatever the umask.
func (m machine) write(t *testing.T, name string, data []byte, mode fs.FileMode) {
	t.Helper()
	must(t, os.WriteFile(m.path(name), data, mode))
	must(t, os.Chmod(m.path(name), mode))
}

func (m machine) copy(t *testing.T, from, to string, mode fs.FileMode) {
	t.Helper()
	data, err := os.ReadFile(from)
	must(t, err)
	m.write(t, to, data, mode)
}

func (m machine) copyAll(t *testing.T, from, to string, mode fs.FileMode) {
	t.Helper()
	must(t, os.MkdirAll(m.path(to), 0o755))
	files, err := os.ReadDir(from)
	must(t, err)
	for _, file := range files {
		m.copy(t, filepath.Join(from, file.Name()), filepath.Join(to, file.Name()), mode)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
