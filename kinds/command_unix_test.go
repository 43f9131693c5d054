//go:build unix

package kinds

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
)

// perform runs a command as Work does and returns its output.
func perform(ctx context.Context, grace time.Duration, command Command) (string, error) {
	job := &hourbell.JobRow{ID: 7, Attempt: 2, Token: 99}
	err := CommandWorker{Grace: grace}.run(ctx, command, job)
	return string(job.Output()), err
}

func TestCommandRuns(t *testing.T) {
	t.Setenv("HOURBELL_STORE", "postgres://u:secret@db/x")
	dir := t.TempDir()
	write(t, dir, "own-tool", 0o755, "#!/bin/sh\necho own $1\n")
	for _, test := range []struct {
		name    string
		command Command
		output  string
		err     string
	}{
		{"argv is not a shell line", Command{Argv: []string{"echo", "a  b", "$HOME", ";", ""}}, "a  b $HOME ; \n", ""},
		{"shell line", Command{Shell: "echo $((1+1)); echo err >&2"}, "2\nerr\n", ""},
		{"env", Command{Shell: `echo "$A|$HOURBELL_JOB_ID|$HOURBELL_ATTEMPT|$HOURBELL_SLOT|$HOURBELL_TOKEN|${HOURBELL_STORE-unset}"`, Env: map[string]string{"A": "x\ny"}}, "x\ny|7|2||99|unset\n", ""},
		{"stdin", Command{Argv: []string{"cat"}, Stdin: "one\ntwo\x00"}, "one\ntwo\x00", ""},
		{"no stdin", Command{Argv: []string{"cat"}}, "", ""},
		{"no stdin is an empty pipe", Command{Shell: "test -p /dev/stdin && echo pipe"}, "pipe\n", ""},
		{"stdin that is not read", Command{Argv: []string{"true"}, Stdin: strings.Repeat("x", 1<<20)}, "", ""},
		{"dir", Command{Shell: "pwd -P", Dir: "/"}, "/\n", ""},
		{"program relative to dir", Command{Argv: []string{"./own-tool", "x"}, Dir: dir}, "own x\n", ""},
		{"program in the PATH of env", Command{Argv: []string{"own-tool", "y"}, Env: map[string]string{"PATH": "/nowhere:" + dir + ":/usr/bin:/bin"}}, "own y\n", ""},
		{"binary output", Command{Shell: `printf '\000\377\r\n\033'`}, "\x00\xff\r\n\x1b", ""},
		{"exit code", Command{Shell: "echo before; exit 3"}, "before\n", "exit code 3"},
		{"signal", Command{Shell: "kill -KILL $$"}, "", "ended by signal: killed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			output, err := perform(t.Context(), 0, test.command)
			if message(err) != test.err {
				t.Errorf("error %q, want %q", message(err), test.err)
			}
			if output != test.output {
				t.Errorf("output %q, want %q", output, test.output)
			}
		})
	}
}

func TestCommandThatCannotStart(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "plain", 0o644, "text")
	write(t, dir, "orphan", 0o755, "#!/nowhere/interpreter\n")
	file := func(name string) string { return filepath.Join(dir, name) }
	for _, test := range []struct {
		name    string
		command Command
		want    string
	}{
		{"not in PATH", Command{Argv: []string{"no-such-tool"}}, `command "no-such-tool": not found in the node's PATH: executable file not found in $PATH; install it on this node or give its full path`},
		{"not in own PATH", Command{Argv: []string{"sh"}, Env: map[string]string{"PATH": dir}}, `command "sh": not found in the PATH of its env: executable file not found in $PATH; install it on this node or give its full path`},
		{"no file", Command{Argv: []string{file("gone")}}, `command "` + file("gone") + `": no such file or directory; install it on this node or correct the path`},
		{"no interpreter", Command{Argv: []string{file("orphan")}}, `command "` + file("orphan") + `": its interpreter is missing: no such file or directory; correct its first line or install the interpreter`},
		{"not executable", Command{Argv: []string{file("plain")}}, `command "` + file("plain") + `": permission denied`},
		{"no shell", Command{Argv: []string{file("zsh"), "-c", "x"}, Base: BaseCron, Env: map[string]string{"SHELL": file("zsh")}}, `shell "` + file("zsh") + `": no such file or directory; install it on this node, or set SHELL to another`},
		{"no shell in the PATH", Command{Argv: []string{"nosh", "-c", "x"}, Base: BaseCron, Env: map[string]string{"SHELL": "nosh"}}, `shell "nosh": executable file not found in $PATH; install it on this node, or set SHELL to another`},
		{"no shell of a line", Command{Shell: "x", Base: BaseCron, Env: map[string]string{"SHELL": file("zsh")}}, `shell "` + file("zsh") + `": no such file or directory; install it on this node, or set SHELL to another`},
		{"no dir", Command{Shell: "pwd", Dir: file("gone")}, `dir "` + file("gone") + `": no such file or directory; create it on this node or correct dir`},
		{"dir is a file", Command{Shell: "pwd", Dir: file("plain")}, `dir "` + file("plain") + `" is not a directory; correct dir`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := perform(t.Context(), 0, test.command); message(err) != test.want {
				t.Errorf("got  %s\nwant %s", message(err), test.want)
			}
		})
	}
}

func TestExitErrorHasTheCode(t *testing.T) {
	_, err := perform(t.Context(), 0, Command{Shell: "exit 255"})
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Code != 255 || exit.Signal != "" {
		t.Errorf("got %#v", err)
	}
}

func TestBigOutputKeepsItsEnd(t *testing.T) {
	output, err := perform(t.Context(), 0, Command{Shell: "head -c 10485760 /dev/zero; printf the-end"})
	if err != nil {
		t.Fatal(err)
	}
	if len(output) != 64<<10 || !strings.HasSuffix(output, "\x00the-end") {
		t.Errorf("%d bytes kept, ending in %q", len(output), output[max(0, len(output)-10):])
	}
}

// The whole process group ends when the job's time is over, including processes
// that ignore SIGTERM.
func TestStopEndsTheGroup(t *testing.T) {
	for _, test := range []struct{ name, shell, signal string }{
		{"all obey", `sleep 300 & echo $! >pid; wait`, "terminated"},
		{"grandchild ignores TERM", `(trap '' TERM; exec sleep 300) & echo $! >pid; wait`, "terminated"},
		{"grandchild ignores TERM and holds no output", `(trap '' TERM; exec sleep 300) >/dev/null 2>&1 & echo $! >pid; wait`, "terminated"},
		{"all ignore TERM", `trap '' TERM; sleep 300 & echo $! >pid; while :; do sleep 1; done`, "killed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				awaitFile(filepath.Join(dir, "pid"))
				cancel(hourbell.ErrTimeout)
			}()
			_, err := perform(ctx, 200*time.Millisecond, Command{Shell: test.shell, Dir: dir})
			if pid := readPid(t, dir); alive(pid) {
				t.Errorf("process %d is still alive", pid)
			}
			var exit *ExitError
			if !errors.Is(err, hourbell.ErrTimeout) || !errors.As(err, &exit) || exit.Signal != test.signal {
				t.Errorf("got %v, want the timeout and the signal %q", err, test.signal)
			}
		})
	}
}

// A command that cleans up on SIGTERM and exits with 0 still counts as stopped.
func TestStoppedCommandIsNoSuccess(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		awaitFile(filepath.Join(dir, "pid"))
		cancel(hourbell.ErrStopping)
	}()
	output, err := perform(ctx, 10*time.Second, Command{Shell: `trap 'echo tidy; exit 0' TERM; sleep 300 & echo $! >pid; wait`, Dir: dir})
	if !errors.Is(err, hourbell.ErrStopping) || output != "tidy\n" {
		t.Errorf("got %v and output %q", err, output)
	}
}

// Another node may start the job as soon as the claim is lost, so there is no
// grace.
func TestLostClaimLeavesNoGrace(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		awaitFile(filepath.Join(dir, "pid"))
		cancel(hourbell.ErrClaimLost)
	}()
	began := time.Now()
	_, err := perform(ctx, time.Minute, Command{Shell: `trap '' TERM; sleep 300 & echo $! >pid; while :; do sleep 1; done`, Dir: dir})
	if pid := readPid(t, dir); alive(pid) {
		t.Errorf("process %d is still alive", pid)
	}
	if took := time.Since(began); !errors.Is(err, hourbell.ErrClaimLost) || took > 30*time.Second {
		t.Errorf("got %v after %v", err, took)
	}
}

func TestCommandIsNotStartedTooLate(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(hourbell.ErrClaimLost)
	output, err := perform(ctx, 0, Command{Shell: "echo ran"})
	if !errors.Is(err, hourbell.ErrClaimLost) || output != "" {
		t.Errorf("got %v and output %q", err, output)
	}
}

// Background processes of a line belong to its run, as under cron.
func TestBackgroundBelongsToTheRun(t *testing.T) {
	output, err := perform(t.Context(), 0, Command{Shell: `(sleep 0.2; echo later) & echo now`})
	if err != nil || output != "now\nlater\n" {
		t.Errorf("got %v and output %q", err, output)
	}
}

// daemonLine starts a daemon that keeps the output open, and writes its process
// number to a file.
const daemonLine = `setsid sh -c 'echo $$ >pid.new; mv pid.new pid; exec sleep 60' & while [ ! -f pid ]; do sleep 0.01; done; printf done`

// A daemon is ended even if its command has ended well, and the output reports
// that.
func TestNothingIsLeftBehind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("daemons are found on Linux alone")
	}
	dir := t.TempDir()
	const want = "done\nhourbell: processes ended that the command had left behind: 1 (with \"detached\":\"keep\" they live on)\n"
	output, err := perform(t.Context(), 200*time.Millisecond, Command{Shell: daemonLine, Dir: dir})
	if err != nil || output != want {
		t.Errorf("got %v and output %q", err, output)
	}
	if pid := readPid(t, dir); alive(pid) {
		t.Errorf("process %d is still alive", pid)
	}
}

// A daemon that may stay alive must not block the worker by keeping the output
// open.
func TestDetachedDaemonIsKept(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("needs the program setsid")
	}
	dir := t.TempDir()
	began := time.Now()
	output, err := perform(t.Context(), 200*time.Millisecond, Command{Shell: daemonLine, Dir: dir, Detached: KeepDetached})
	pid := readPid(t, dir)
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	if err != nil || output != "done" {
		t.Errorf("got %v and output %q", err, output)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the worker hung for %v", took)
	}
	if !alive(pid) {
		t.Error("the daemon is dead")
	}
}

func TestCommandAsAnotherUser(t *testing.T) {
	_, err := perform(t.Context(), 0, Command{Shell: "id", User: "no-such-user"})
	if want := `user "no-such-user": not known on this machine`; !strings.HasPrefix(message(err), want) || !strings.HasSuffix(message(err), "create the user or correct the name") {
		t.Errorf("got %v", err)
	}
	if os.Geteuid() != 0 {
		_, err := perform(t.Context(), 0, Command{Shell: "id", User: "root"})
		if !strings.Contains(message(err), "only a node that runs as root") {
			t.Errorf("got %v", err)
		}
		t.Skip("needs root")
	}
	if _, err := user.Lookup("daemon"); err != nil {
		t.Skip("needs the user daemon")
	}
	ids := func(arg string) string {
		out, err := exec.Command("id", arg, "daemon").Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	output, err := perform(t.Context(), 0, Command{Shell: `id -un; id -g; id -G; echo "$LOGNAME"`, User: "daemon"})
	if want := "daemon\n" + ids("-g") + ids("-G") + "daemon\n"; err != nil || output != want {
		t.Errorf("got %v and %q, want %q", err, output, want)
	}
}

// Under cron's environment a command gets no variable of the node.
func TestCommandUnderCronsEnvironment(t *testing.T) {
	t.Setenv("NODE", "secret")
	t.Setenv("PATH", os.Getenv("PATH")+":/node")
	dir := t.TempDir()
	who, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	if err != nil {
		t.Skip("who runs this is not in the list of users")
	}
	output, err := perform(t.Context(), 0, Command{
		Shell: `echo "$0|$SHELL|$PATH|$HOME|$LOGNAME|$NODE|$A"; pwd -P`, Base: BaseCron,
		Env: map[string]string{"HOME": dir, "LOGNAME": "nobody", "A": "own"},
	})
	real, _ := filepath.EvalSymlinks(dir)
	if want := "/bin/sh|/bin/sh|/usr/bin:/bin|" + dir + "|" + who.Username + "||own\n" + real + "\n"; err != nil || output != want {
		t.Errorf("got %v and %q, want %q", err, output, want)
	}
	for home, shell := range map[string]string{"/nowhere": "/bin/sh", dir: filepath.Join(dir, "shell")} {
		write(t, dir, "shell", 0o755, "#!/bin/sh\nshift; eval \"$1\"\n")
		output, err := perform(t.Context(), 0, Command{Shell: "pwd", Base: BaseCron, Env: map[string]string{"HOME": home, "SHELL": shell}})
		want := map[string]string{"/nowhere": "/\n", dir: real + "\n"}[home]
		if err != nil || output != want {
			t.Errorf("home %s, shell %s: %v and %q, want %q", home, shell, err, output, want)
		}
	}
	_, err = perform(t.Context(), 0, Command{Argv: []string{"no-such-tool"}, Base: BaseCron})
	if !strings.Contains(message(err), "not found in cron's PATH, /usr/bin:/bin") {
		t.Errorf("got %v", err)
	}
}

// Cron runs a line even if the directory cannot be entered.
func TestCronsDirectoryMayBeMissing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "plain", 0o644, "text")
	gone, plain := filepath.Join(dir, "gone"), filepath.Join(dir, "plain")
	for _, test := range []struct {
		name    string
		command Command
		output  string
		err     string
	}{
		{"none", Command{Shell: "printf here", Dir: gone, Base: BaseCron}, "here\nhourbell: directory " + gone + ": no such file or directory; running in /\n", ""},
		{"a file", Command{Argv: []string{"pwd"}, Dir: plain, Base: BaseCron}, "/\nhourbell: directory " + plain + ": not a directory; running in /\n", ""},
		{
			"but not the program",
			Command{Argv: []string{gone}, Dir: dir, Base: BaseCron},
			"",
			`command "` + gone + `": no such file or directory; install it on this node or correct the path`,
		},
		{
			"nor one that is to be there",
			Command{Argv: []string{"./bin/true"}, Dir: gone, Base: BaseCron},
			"",
			`dir "` + gone + `": no such file or directory; create it on this node or correct dir`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			output, err := perform(t.Context(), 0, test.command)
			if message(err) != test.err || output != test.output {
				t.Errorf("got %v and %q\nwant %s and %q", err, output, test.err, test.output)
			}
		})
	}
}

// A user's directory may be closed to the user that the command runs as.
func TestCronsDirectoryMayBeClosed(t *testing.T) {
	if _, err := user.Lookup("daemon"); err != nil || os.Geteuid() != 0 {
		t.Skip("needs root, and the user daemon")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	output, err := perform(t.Context(), 0, Command{Shell: "pwd", Dir: dir, Base: BaseCron, User: "daemon"})
	if want := "/\nhourbell: directory " + dir + ": permission denied; running in /\n"; err != nil || output != want {
		t.Errorf("got %v and %q, want %q", err, output, want)
	}
}

// A command that stops its supervisor does not outlast its time. The pause
// gives the supervisor time to report that the command has begun: a supervisor
// that is stopped before that has orderLimit to report it.
func TestCommandThatStopsItsSupervisor(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		awaitFile(filepath.Join(dir, "pid"))
		cancel(hourbell.ErrTimeout)
	}()
	began := time.Now()
	_, err := perform(ctx, 200*time.Millisecond, Command{Shell: `trap '' TERM; s=$PPID; sleep 0.5; echo $$ >pid; while :; do kill -STOP $s; done`, Dir: dir})
	if pid := readPid(t, dir); alive(pid) {
		t.Errorf("process %d is still alive", pid)
	}
	if took := time.Since(began); !errors.Is(err, hourbell.ErrTimeout) || took > 10*time.Second {
		t.Errorf("got %v after %v", err, took)
	}
}

// If the supervisor was killed, the error still contains the reason why the
// command was to end.
func TestCommandThatKillsItsSupervisor(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	line := `trap 'kill -KILL $s' TERM; s=$PPID; echo $$ >pid; while :; do sleep 0.01; done`
	go func() {
		awaitFile(filepath.Join(dir, "pid"))
		cancel(hourbell.ErrTimeout)
	}()
	_, err := perform(ctx, 20*time.Second, Command{Shell: line, Dir: dir})
	if !errors.Is(err, hourbell.ErrTimeout) || !strings.Contains(message(err), "supervisor ended before the command") {
		t.Errorf("got %v", err)
	}
}

func TestBadArgsAreRefused(t *testing.T) {
	job := &hourbell.JobRow{RawArgs: []byte(`{"argv":["true"],"comand":1}`)}
	err := CommandWorker{}.Work(t.Context(), job)
	var field *check.FieldError
	if !errors.As(err, &field) || field.Field != "args" {
		t.Errorf("got %v", err)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func write(t *testing.T, dir, name string, mode os.FileMode, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// awaitFile returns when the file has text, or after 20 s.
func awaitFile(name string) {
	for range 2000 {
		if text, err := os.ReadFile(name); err == nil && len(text) > 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func readPid(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// alive reports whether the process runs; a dead process that has not been
// reaped does not run.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	_, state, _ := bytes.Cut(stat, []byte(") "))
	return !bytes.HasPrefix(state, []byte("Z"))
}
