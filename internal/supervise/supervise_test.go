//go:build unix

package supervise_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/supervise"
	"github.com/hourbell/hourbell/internal/tail"
	"github.com/hourbell/hourbell/internal/uptime"
)

// TestMain also runs as a node in a process of its own, which tests can kill
// and stop: the test binary is started again, in the role that the environment
// names.
func TestMain(m *testing.M) {
	if dir := os.Getenv("SUPERVISE_TEST_NODE"); dir != "" {
		os.Exit(playNode(dir))
	}
	os.Exit(m.Run())
}

// playNode runs the script in dir, and writes its result and output to dir.
func playNode(dir string) int {
	text, err := os.ReadFile(filepath.Join(dir, "claim"))
	if err != nil {
		return 2
	}
	var claim supervise.Claim
	if left, err := time.ParseDuration(string(text)); err == nil && left > 0 {
		claim = supervise.ClaimFor(uptime.Now().Add(left), left, 100*time.Millisecond)
	}
	tail := tail.New(supervise.OutputLimit)
	p, err := supervise.Start(shell(dir, filepath.Join(dir, "script")), claim, tail)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	result, err := p.Wait()
	_ = os.WriteFile(filepath.Join(dir, "output"), tail.Bytes(), 0o600)
	_ = os.WriteFile(filepath.Join(dir, "result.new"), fmt.Appendf(nil, "%+v %v", result, err), 0o600)
	_ = os.Rename(filepath.Join(dir, "result.new"), filepath.Join(dir, "result"))
	return 0
}

// shell returns a script that runs in dir. Every process of the script has dir
// in its environment, so that living finds it whatever happens to the process.
func shell(dir, script string) supervise.Spec {
	return supervise.Spec{
		Label: "test", Path: "/bin/sh", Argv: []string{"sh", script}, Dir: dir,
		Env: []string{"PATH=/usr/bin:/bin", "WITNESS=" + dir}, Grace: 200 * time.Millisecond,
	}
}

// daemon is a shell function: it forks twice with a new session in between, and
// ignores all signals that it can ignore. It writes its process number to the
// file in its argument.
const daemon = `
daemon() { setsid sh -c '(trap "" TERM HUP INT; echo $$ >/dev/null; exec sleep 300 >/dev/null 2>&1) & echo $! >'"$1"'.new; mv '"$1"'.new '"$1"; }
`

// dirWith makes a folder with a script.
func dirWith(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "script"), []byte(daemon+script), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, pid := range living(t, dir) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return dir
}

// start runs a script in dir under a supervisor of this process.
func start(t *testing.T, dir string, claim supervise.Claim, change func(*supervise.Spec)) (*supervise.Process, *tail.Tail) {
	t.Helper()
	spec := shell(dir, filepath.Join(dir, "script"))
	if change != nil {
		change(&spec)
	}
	tail := tail.New(supervise.OutputLimit)
	p, err := supervise.Start(spec, claim, tail)
	if err != nil {
		t.Fatal(err)
	}
	return p, tail
}

// wait returns the result, and fails the test if the run takes too long.
func wait(t *testing.T, p *supervise.Process) supervise.Result {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the run does not end")
	}
	result, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("waited in vain for: %s", what)
}

func awaitFile(t *testing.T, dir, name string) {
	t.Helper()
	until(t, "file "+name, func() bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil })
}

// living lists the processes whose environment contains dir. Zombies are not
// listed, because the environment of a zombie is gone; see zombies.
func living(t *testing.T, dir string) (pids []int) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err == nil && bytes.Contains(env, []byte("WITNESS="+dir+"\x00")) {
			pid, _ := strconv.Atoi(strings.Split(file, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

// zombies lists the dead children of this process that were not reaped.
func zombies(t *testing.T) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		stat, _ := os.ReadFile(file)
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) > 1 && fields[0] == "Z" && fields[1] == strconv.Itoa(os.Getpid()) {
			found = append(found, string(stat))
		}
	}
	return found
}

func noneLeft(t *testing.T, dir string) {
	t.Helper()
	if left := living(t, dir); len(left) > 0 {
		for _, pid := range left {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			t.Errorf("process %d lives: %q", pid, line)
		}
	}
	if found := zombies(t); len(found) > 0 {
		t.Errorf("zombies: %q", found)
	}
}

func TestHowACommandEnds(t *testing.T) {
	for _, test := range []struct {
		name, script, output string
		want                 supervise.Result
	}{
		{"well", "echo fine", "fine\n", supervise.Result{}},
		{"with a code", "echo why >&2; exit 3", "why\n", supervise.Result{Code: 3}},
		{"by a signal", "kill -KILL $$", "", supervise.Result{Signal: syscall.SIGKILL}},
		{"binary", `printf 'a\000\377\r\n'`, "a\x00\xff\r\n", supervise.Result{}},
		{"a background process is part of the run", "(sleep 0.3; echo later) & echo now", "now\nlater\n", supervise.Result{}},
		{"a pipeline", "echo a | cat | cat", "a\n", supervise.Result{}},
		{"a daemon", "daemon pid; until [ -f pid ]; do sleep 0.01; done; echo started", "started\n", supervise.Result{LeftBehind: 1}},
		{"orphans that end are reaped", "for i in 1 2 3 4 5; do (setsid sh -c 'sleep 0.05 &' ); done; sleep 0.3", "", supervise.Result{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := dirWith(t, test.script)
			p, tail := start(t, dir, supervise.Claim{}, nil)
			if got := wait(t, p); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			if got := string(tail.Bytes()); got != test.output {
				t.Errorf("output %q, want %q", got, test.output)
			}
			noneLeft(t, dir)
		})
	}
}

func TestSessionAndStreams(t *testing.T) {
	dir := dirWith(t, `ps -o pid=,sid=,pgid= -p $$; ls -l /proc/$$/fd | grep -c socket; cat`)
	p, tail := start(t, dir, supervise.Claim{}, func(s *supervise.Spec) { s.Stdin = []byte("in\xff\x00") })
	wait(t, p)
	lines := strings.Split(string(tail.Bytes()), "\n")
	pid := strconv.Itoa(p.Pid())
	if got := strings.Fields(lines[0]); len(got) != 3 || got[0] != pid || got[1] != pid || got[2] != pid {
		t.Errorf("process, session and group are %v, want %s", got, pid)
	}
	if lines[1] != "0" { // it would prevent the test from seeing that the node died
		t.Errorf("the command holds %s sockets", lines[1])
	}
	if lines[2] != "in\xff\x00" {
		t.Errorf("it read %q", lines[2])
	}
}

// TestSecretsAndBytes checks that the command receives all bytes, UTF-8 or not,
// and that ps shows none of its secrets.
func TestSecretsAndBytes(t *testing.T) {
	dir := t.TempDir()
	tail := tail.New(supervise.OutputLimit)
	p, err := supervise.Start(supervise.Spec{
		Label: "job 7", Path: "/bin/sh",
		Argv: []string{"sh", "-c", `printf '%s|%s|%s' "$1" "$V" "$#"; cat /proc/$PPID/cmdline /proc/$PPID/environ /proc/$PPID/comm`, "sh", "a\xffb", ""},
		Env:  []string{"V=\xfe=\n", "PATH=/usr/bin:/bin"}, Dir: dir,
	}, supervise.Claim{}, tail)
	if err != nil {
		t.Fatal(err)
	}
	wait(t, p)
	got := string(tail.Bytes())
	if !strings.HasPrefix(got, "a\xffb|\xfe=\n|2") {
		t.Errorf("the command got %q", got)
	}
	shown := strings.TrimPrefix(got, "a\xffb|\xfe=\n|2")
	if runtime.GOOS == "linux" && shown != "hourbell-supervisor\x00job 7\x00GOMAXPROCS=2\x00GOTRACEBACK=single\x00hourbell-superv\n" {
		t.Errorf("the supervisor shows %q", shown)
	}
	if _, err := supervise.Start(supervise.Spec{Path: "/bin/true", Argv: []string{"a\x00b"}}, supervise.Claim{}, tail); err == nil {
		t.Error("an argument with a NUL was taken")
	}
}

func TestStartFails(t *testing.T) {
	_, err := supervise.Start(supervise.Spec{Path: "/nowhere/x", Argv: []string{"x"}}, supervise.Claim{}, tail.New(1))
	var refused *supervise.StartError
	if !errors.As(err, &refused) || refused.Errno != syscall.ENOENT {
		t.Errorf("got %v", err)
	}
	now := uptime.Now()
	_, err = supervise.Start(supervise.Spec{Path: "/bin/true", Argv: []string{"true"}}, supervise.Claim{Term: now, Kill: now.Add(time.Hour)}, tail.New(1))
	if !errors.Is(err, supervise.ErrClaimOver) {
		t.Errorf("too late: got %v", err)
	}
	if found := zombies(t); len(found) > 0 {
		t.Errorf("zombies: %q", found)
	}
}

// unruly is a command that leaves behind every kind of process that a careless
// kill misses.
const unruly = `
trap '' TERM HUP INT
daemon one
setsid sh -c "trap '' TERM; while :; do sleep 1; done" &
(trap '' TERM; sleep 300) &
until [ -f one ]; do sleep 0.01; done
echo up >up
while :; do sleep 1; done
`

// TestEveryEndEndsAll checks that no process is left, whatever ends the run
// from outside.
func TestEveryEndEndsAll(t *testing.T) {
	now := func(d time.Duration) supervise.Claim {
		return supervise.ClaimFor(uptime.Now().Add(d), d, 200*time.Millisecond)
	}
	for _, test := range []struct {
		name string
		end  func(p *supervise.Process)
		why  supervise.Why
	}{
		{"Stop", func(p *supervise.Process) { p.Stop(200 * time.Millisecond) }, supervise.Stopped},
		{"Stop at once", func(p *supervise.Process) { p.Stop(0) }, supervise.Stopped},
		{"a second, shorter Stop", func(p *supervise.Process) { p.Stop(time.Hour); p.Stop(0) }, supervise.Stopped},
		{"the claim passes", func(p *supervise.Process) { p.Hold(now(300 * time.Millisecond)) }, supervise.ClaimOver},
		{"the claim passes during a long grace", func(p *supervise.Process) { p.Stop(time.Hour); p.Hold(now(300 * time.Millisecond)) }, supervise.Stopped},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := dirWith(t, unruly)
			p, _ := start(t, dir, now(time.Hour), nil)
			awaitFile(t, dir, "up")
			until(t, "all processes live", func() bool { return len(living(t, dir)) >= 4 })
			began := time.Now()
			test.end(p)
			got := wait(t, p)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
			if got.Why != test.why || got.Signal != syscall.SIGKILL {
				t.Errorf("got %+v", got)
			}
			noneLeft(t, dir)
		})
	}
}

func TestTermComesFirst(t *testing.T) {
	dir := dirWith(t, `trap 'sleep 0.1; echo tidy; exit 0' TERM; sleep 300 & echo up >up; wait`)
	p, tail := start(t, dir, supervise.Claim{}, nil)
	awaitFile(t, dir, "up")
	p.Stop(4 * time.Second)
	if got := wait(t, p); got != (supervise.Result{Why: supervise.Stopped}) || string(tail.Bytes()) != "tidy\n" {
		t.Errorf("got %+v and %q", got, tail.Bytes())
	}
	noneLeft(t, dir)
}

// TestHold checks that a claim that is extended in time ends nothing.
func TestHold(t *testing.T) {
	dir := dirWith(t, `sleep 1.4; echo whole`)
	const lease = time.Second // with a shorter lease, a busy machine would call Hold too late
	claim := func() supervise.Claim { return supervise.ClaimFor(uptime.Now().Add(lease), lease, time.Second) }
	p, tail := start(t, dir, claim(), nil)
	for range 14 {
		time.Sleep(100 * time.Millisecond)
		p.Hold(claim())
	}
	if got := wait(t, p); got != (supervise.Result{}) || string(tail.Bytes()) != "whole\n" {
		t.Errorf("got %+v and %q", got, tail.Bytes())
	}
}

func TestKeepDetached(t *testing.T) {
	dir := dirWith(t, "daemon pid; until [ -f pid ]; do sleep 0.01; done; echo started")
	p, tail := start(t, dir, supervise.Claim{}, func(s *supervise.Spec) { s.KeepDetached = true })
	if got := wait(t, p); got != (supervise.Result{}) || string(tail.Bytes()) != "started\n" {
		t.Errorf("got %+v and %q", got, tail.Bytes())
	}
	if left := living(t, dir); len(left) != 1 {
		t.Errorf("%d daemons live, want 1", len(left))
	}

	dir = dirWith(t, unruly)
	p, _ = start(t, dir, supervise.Claim{}, func(s *supervise.Spec) { s.KeepDetached = true })
	awaitFile(t, dir, "up")
	p.Stop(0)
	wait(t, p)
	noneLeft(t, dir)
}

// TestKeptDaemonHoldsTheOutput checks that a daemon that holds the output does
// not delay the end of the run.
func TestKeptDaemonHoldsTheOutput(t *testing.T) {
	dir := dirWith(t, `setsid sh -c 'echo up >up; exec sleep 300' & until [ -f up ]; do sleep 0.01; done; echo end`)
	p, tail := start(t, dir, supervise.Claim{}, func(s *supervise.Spec) { s.KeepDetached = true })
	if got := wait(t, p); got != (supervise.Result{}) || string(tail.Bytes()) != "end\n" {
		t.Errorf("got %+v and %q", got, tail.Bytes())
	}
}

// TestForkStorm has processes that fork all the time, also in sessions of their
// own.
func TestForkStorm(t *testing.T) {
	for name, step := range map[string]string{
		"in one group":    `storm() { while :; do (sleep 300) & (sleep 0.01) & sleep 0.01; done; }`,
		"in new sessions": `storm() { while :; do setsid sh -c 'trap "" TERM; sleep 300 & exec sleep 300' & sleep 0.01; done; }`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := dirWith(t, "trap '' TERM; "+step+"\n storm & storm & sleep 0.3; echo up >up; storm")
			p, _ := start(t, dir, supervise.Claim{}, nil)
			awaitFile(t, dir, "up")
			p.Stop(50 * time.Millisecond)
			wait(t, p)
			noneLeft(t, dir)
		})
	}
}

// TestRunaway has a chain of processes: each leaves its session, forks, and
// ends at once.
func TestRunaway(t *testing.T) {
	dir := dirWith(t, `cat >hop <<'E'
trap '' TERM
setsid sh ./hop &
E
setsid sh ./hop & sleep 0.3; echo up >up; sleep 300`)
	p, _ := start(t, dir, supervise.Claim{}, nil)
	awaitFile(t, dir, "up")
	p.Stop(0)
	wait(t, p)
	noneLeft(t, dir)
}

// node starts a node in a process of its own.
func node(t *testing.T, dir, claim string) *exec.Cmd {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "claim"), []byte(claim), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SUPERVISE_TEST_NODE="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // as a service does
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// stop stops a process and returns when the process has stopped.
func stop(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	_ = cmd.Process.Signal(syscall.SIGSTOP)
	until(t, "the node stands", func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
		_, rest, _ := bytes.Cut(stat, []byte(") "))
		return bytes.HasPrefix(rest, []byte("T"))
	})
}

func TestNodeIsKilled(t *testing.T) {
	dir := dirWith(t, unruly)
	cmd := node(t, dir, "1h")
	awaitFile(t, dir, "up")
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	until(t, "nothing is left", func() bool { return len(living(t, dir)) == 0 })
}

// TestNodeIsStopped has a claim that passes while the node is stopped; the node
// learns about the end when it continues.
func TestNodeIsStopped(t *testing.T) {
	var dir string
	var cmd *exec.Cmd
	claim := time.Second
	for up := false; !up; { // on a loaded machine a claim may pass before the command is up
		claim *= 2
		dir = dirWith(t, unruly)
		cmd = node(t, dir, claim.String())
		until(t, "the command is up, or its claim has passed", func() bool {
			_, err := os.Stat(filepath.Join(dir, "up"))
			_, ended := os.Stat(filepath.Join(dir, "result"))
			up = err == nil && ended != nil
			return up || ended == nil
		})
	}
	stop(t, cmd)
	began := time.Now()
	until(t, "nothing is left", func() bool { return len(living(t, dir)) == 0 })
	if took := time.Since(began); took > claim+500*time.Millisecond {
		t.Errorf("the command lived for %v more, longer than its claim", took)
	}
	_ = cmd.Process.Signal(syscall.SIGCONT)
	awaitFile(t, dir, "result")
	if got, _ := os.ReadFile(filepath.Join(dir, "result")); !strings.Contains(string(got), "Why:claim") {
		t.Errorf("the node heard %s", got)
	}
}

// TestOutputWhileTheNodeIsStopped checks that a command that writes more than
// the node reads does not wait for the node, and that the node receives the end
// of the output.
func TestOutputWhileTheNodeIsStopped(t *testing.T) {
	dir := dirWith(t, `echo up >up; until [ -f go ]; do sleep 0.01; done
head -c 20000000 /dev/zero; printf the-end; echo done >done; until [ -f end ]; do sleep 0.01; done; exit 5`)
	cmd := node(t, dir, "")
	awaitFile(t, dir, "up")
	stop(t, cmd)
	write(t, dir, "go")
	awaitFile(t, dir, "done")
	write(t, dir, "end")
	until(t, "the command ends", func() bool { return len(living(t, dir)) == 0 })
	_ = cmd.Process.Signal(syscall.SIGCONT)
	awaitFile(t, dir, "result")
	result, _ := os.ReadFile(filepath.Join(dir, "result"))
	output, _ := os.ReadFile(filepath.Join(dir, "output"))
	if len(output) != supervise.OutputLimit || !bytes.HasSuffix(output, []byte("\x00the-end")) || !strings.Contains(string(result), "Code:5") {
		t.Errorf("%d bytes of output, result %s", len(output), result)
	}
}

// TestOutputIsStreamed checks that output arrives while the command runs.
func TestOutputIsStreamed(t *testing.T) {
	dir := dirWith(t, `echo early; sleep 300`)
	p, tail := start(t, dir, supervise.Claim{}, nil)
	until(t, "output", func() bool { return string(tail.Bytes()) == "early\n" })
	p.Stop(0)
	wait(t, p)
}

// TestSupervisorIsKilled checks that the node of a killed supervisor returns an
// error and kills the processes that it finds.
func TestSupervisorIsKilled(t *testing.T) {
	dir := dirWith(t, unruly)
	p, _ := start(t, dir, supervise.Claim{}, nil)
	awaitFile(t, dir, "up")
	until(t, "all processes live", func() bool { return len(living(t, dir)) >= 4 })
	_ = syscall.Kill(supervisorOf(t, p), syscall.SIGKILL)
	if result, err := p.Wait(); err == nil || !strings.Contains(err.Error(), "supervisor ended before the command (signal: killed)") {
		t.Errorf("got %+v, %v", result, err)
	}
	noneLeft(t, dir)
}

// supervisorOf returns the process number of a command's supervisor.
func supervisorOf(t *testing.T, p *supervise.Process) int {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid()))
	if err != nil {
		t.Skip("needs /proc")
	}
	pid, _ := strconv.Atoi(strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[1])
	return pid
}

// besiege is a command that stops its supervisor again and again, beginning
// before the supervisor can report that the command was started.
const besiege = `
trap '' TERM HUP
s=$PPID
siege() { while :; do kill -STOP $s; done; }
siege & siege &
` + unruly

// TestSupervisorIsStopped checks that the node ends a command that stops its
// supervisor.
func TestSupervisorIsStopped(t *testing.T) {
	soon := func() supervise.Claim {
		return supervise.ClaimFor(uptime.Now().Add(400*time.Millisecond), 400*time.Millisecond, 100*time.Millisecond)
	}
	for _, test := range []struct {
		name string
		end  func(p *supervise.Process)
		why  supervise.Why
	}{
		{"Stop", func(p *supervise.Process) { p.Stop(200 * time.Millisecond) }, supervise.Stopped},
		{"the claim passes", func(p *supervise.Process) { p.Hold(soon()) }, supervise.ClaimOver},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := dirWith(t, besiege)
			p, _ := start(t, dir, supervise.Claim{}, nil)
			awaitFile(t, dir, "up")
			began := time.Now()
			test.end(p)
			until(t, "nothing is left", func() bool { return len(living(t, dir)) == 0 })
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("the command lived for %v more", took)
			}
			if got := wait(t, p); got.Why != test.why || got.Signal != syscall.SIGKILL {
				t.Errorf("got %+v", got)
			}
			noneLeft(t, dir)
		})
	}
}

// TestStoppedSupervisorGoesOn checks that a command that stops its supervisor
// once has no effect.
func TestStoppedSupervisorGoesOn(t *testing.T) {
	dir := dirWith(t, `kill -STOP $PPID; echo said; exit 3`)
	p, tail := start(t, dir, supervise.Claim{}, nil)
	if got := wait(t, p); got != (supervise.Result{Code: 3}) || string(tail.Bytes()) != "said\n" {
		t.Errorf("got %+v and %q", got, tail.Bytes())
	}
}

// TestNodeDiesWhileTheSupervisorIsStopped checks that the system continues a
// stopped supervisor when its node dies, also if the node dies before all threads of
// the supervisor have stopped.
func TestNodeDiesWhileTheSupervisorIsStopped(t *testing.T) {
	for _, pause := range []time.Duration{0, 20 * time.Millisecond} {
		t.Run(pause.String(), func(t *testing.T) {
			dir := dirWith(t, "echo $PPID >supervisor\n"+unruly)
			cmd := node(t, dir, "1h")
			awaitFile(t, dir, "up")
			text, err := os.ReadFile(filepath.Join(dir, "supervisor"))
			if err != nil {
				t.Fatal(err)
			}
			supervisor, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = syscall.Kill(supervisor, syscall.SIGCONT) })
			_ = syscall.Kill(supervisor, syscall.SIGSTOP)
			time.Sleep(pause)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			until(t, "nothing is left", func() bool { return len(living(t, dir)) == 0 })
		})
	}
}

// TestNoDescriptorsAreInherited checks that commands do not inherit the
// descriptors with which the node was started.
func TestNoDescriptorsAreInherited(t *testing.T) {
	fd, err := syscall.Open("/dev/null", syscall.O_RDONLY, 0) // without O_CLOEXEC
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	dir := dirWith(t, `ls -1 /proc/$$/fd; true`) // true prevents the shell from becoming ls
	p, tail := start(t, dir, supervise.Claim{}, nil)
	wait(t, p)
	// 10 is the descriptor of the shell's script.
	if got := string(tail.Bytes()); got != "0\n1\n10\n2\n" && got != "0\n1\n2\n10\n" {
		t.Errorf("the command has the descriptors %q", got)
	}
}

// TestSupervisorGetsTerm checks that SIGTERM to all processes, as from a
// service manager, ends the command in order.
func TestSupervisorGetsTerm(t *testing.T) {
	dir := dirWith(t, `trap 'echo tidy; exit 0' TERM; echo $PPID >pid.new; mv pid.new pid; sleep 300 & wait`)
	p, tail := start(t, dir, supervise.Claim{}, func(s *supervise.Spec) { s.Grace = 5 * time.Second })
	awaitFile(t, dir, "pid")
	text, _ := os.ReadFile(filepath.Join(dir, "pid"))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	_ = syscall.Kill(pid, syscall.SIGINT) // as from a terminal; the supervisor ignores it
	_ = syscall.Kill(pid, syscall.SIGTERM)
	if got := wait(t, p); got.Why != supervise.Signalled || string(tail.Bytes()) != "tidy\n" {
		t.Errorf("got %+v and %q", got, tail.Bytes())
	}
}

func TestSignal(t *testing.T) {
	dir := dirWith(t, `trap 'echo got it; exit 4' USR1; echo up >up; while :; do sleep 0.02; done`)
	p, tail := start(t, dir, supervise.Claim{}, nil)
	awaitFile(t, dir, "up")
	p.Signal(syscall.SIGUSR1)
	if got := wait(t, p); got.Code != 4 || !strings.HasSuffix(string(tail.Bytes()), "got it\n") {
		t.Errorf("got %+v and %q", got, tail.Bytes())
	}
}

func TestRunAsAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	tail := tail.New(supervise.OutputLimit)
	p, err := supervise.Start(supervise.Spec{
		Label: "test", Path: "/bin/sh", Argv: []string{"sh", "-c", "id -u; id -g; id -G; grep NoNewPrivs /proc/self/status >/dev/null && sleep 300"}, Dir: "/",
		Env: []string{"PATH=/usr/bin:/bin"}, User: &supervise.User{UID: 65534, GID: 65533, Groups: []uint32{65533, 65532}},
	}, supervise.Claim{}, tail)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "output", func() bool { return string(tail.Bytes()) == "65534\n65533\n65533 65532\n" })
	p.Stop(0)
	if got := wait(t, p); got.Signal != syscall.SIGKILL {
		t.Errorf("got %+v", got)
	}
}

func write(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkSupervised and BenchmarkAlone compare the cost of starting a program
// that does nothing and waiting for its end.
func BenchmarkSupervised(b *testing.B) {
	for b.Loop() {
		p, err := supervise.Start(supervise.Spec{Label: "benchmark", Path: "/bin/true", Argv: []string{"true"}}, supervise.Claim{}, tail.New(1))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Wait(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAlone(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("/bin/true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestDisplacedOutputIsCounted checks that the node knows how many bytes a command has
// printed, also if it printed faster than the supervisor reports.
func TestDisplacedOutputIsCounted(t *testing.T) {
	const printed = 50_000_000
	p, output := start(t, dirWith(t, fmt.Sprintf("head -c %d /dev/zero; echo end", printed)), supervise.Claim{}, nil)
	wait(t, p)
	if total := output.Total(); total != printed+int64(len("end\n")) || !strings.HasSuffix(string(output.Bytes()), "\x00end\n") {
		t.Errorf("%d bytes are counted of %d", total, printed+len("end\n"))
	}
}
