//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// asExec runs `hourbell exec` in a process of its own, to test the input,
// output, signals and exit code that it passes through.
func (b *bench) asExec(stdin string, args ...string) (r result) {
	b.t.Helper()
	cmd := b.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	_ = cmd.Run() // the test checks the exit code
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

func (b *bench) command(args ...string) *exec.Cmd {
	return b.program(append([]string{"exec"}, args...)...)
}

// startsProcesses leaves a test that starts processes of the program out with -short.
func startsProcesses(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
}

// program returns the program as a process of its own, on the bench's store.
func (b *bench) program(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(b.t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	for name, value := range b.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

func TestExecPassesThrough(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	if r := b.asExec("in\x00put", "a", "--", "cat"); r != (result{0, "in\x00put", ""}) {
		t.Errorf("input and output: %+v", r)
	}
	if r := b.asExec("", "a", "--", "sh", "-c", "echo why >&2; exit 7"); r != (result{7, "", "why\n"}) {
		t.Errorf("exit code and errors: %+v", r)
	}
	if r := b.asExec("", "a", "--", "sh", "-c", "kill -KILL $$"); r.code != 128+9 {
		t.Errorf("ended by a signal: %+v", r)
	}
	t.Setenv("HOURBELL_SLOT", "of a command around this one")
	t.Setenv("HOURBELL_TOKEN", "1234")
	r := b.asExec("", "a", "--", "sh", "-c", `echo "$HOURBELL_TOKEN/${HOURBELL_SLOT-unset}/$HOURBELL_STORE"; env | grep -c ^HOURBELL_TOKEN=`)
	if r.out != "4/unset/\n1\n" {
		t.Errorf("the fourth token, no slot, and no store: %+v", r)
	}
	if r := b.asExec("", "a", "--", "no-such-program"); r.code != exitFailed || !strings.Contains(r.err, "no-such-program") || !strings.Contains(r.err, "install") {
		t.Errorf("a program that is not there: %+v", r)
	}
}

func TestExecOnceAnInterval(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	say := []string{"a", "--every", "1h", "--", "sh", "-c", "echo $HOURBELL_SLOT"}
	r := b.asExec("", say...)
	slot, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(r.out))
	if r.code != 0 || err != nil || time.Since(slot).Abs() > time.Minute {
		t.Errorf("the first: %+v, %v", r, err)
	}
	if r := b.asExec("", say...); r.code != exitSkipped || r.out != "" || !strings.Contains(r.err, "not due") {
		t.Errorf("the second: %+v", r)
	}
	if r := b.asExec("", append([]string{"a", "--quiet-skip"}, say[1:]...)...); r != (result{}) {
		t.Errorf("the second, quietly: %+v", r)
	}
	if r := b.asExec("", "c", "--cron", "0 0 1 1 *", "--tz", "Europe/Prague", "--", "true"); r.code != 0 {
		t.Errorf("by a cron rule, the last instant: %+v", r)
	}
	if r := b.asExec("", "c", "--cron", "0 0 1 1 *", "--tz", "Europe/Prague", "--", "true"); r.code != exitSkipped {
		t.Errorf("by a cron rule, not before the next: %+v", r)
	}
}

// TestExecWarnsOfItsCaller checks the warnings about a call in the middle of an
// interval, and about slots for which no call was made.
func TestExecWarnsOfItsCaller(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	every := func(name, interval string) result { return b.asExec("", name, "--every", interval, "--", "true") }
	every("a", "6s")
	time.Sleep(1700 * time.Millisecond)
	if r := every("a", "6s"); r.code != exitSkipped || !strings.Contains(r.err, "the calls are more frequent than --every 6s requires") {
		t.Errorf("in the middle: %+v", r)
	}
	if r := b.asExec("", "a", "--every", "6s", "--quiet-skip", "--", "true"); r != (result{}) {
		t.Errorf("in the middle, quietly: %+v", r)
	}
	every("b", "200ms")
	time.Sleep(700 * time.Millisecond)
	if r := every("b", "200ms"); r.code != 0 || !strings.Contains(r.err, "the calls are less frequent than --every 200ms requires") {
		t.Errorf("after slots without a call: %+v", r)
	}
}

func TestExecIsHeld(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	holder := b.command("a", "--", "sh", "-c", "echo $$ > pid; exec sleep 300")
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Process.Kill(); _ = holder.Wait() }()
	child := 0
	eventually(t, "the holder's command", func() bool {
		text, _ := os.ReadFile("pid")
		child, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return child != 0
	})
	if r := b.asExec("", "a", "--", "true"); r.code != exitSkipped || !strings.Contains(r.err, "is held by") {
		t.Errorf("while it is held: %+v", r)
	}
	if r := b.asExec("", "a", "--wait", "300ms", "--", "true"); r.code != exitSkipped {
		t.Errorf("after a wait: %+v", r)
	}
	waiter := b.command("a", "--wait", "5m", "--", "true")
	if err := waiter.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	_ = waiter.Process.Signal(syscall.SIGTERM)
	_ = waiter.Wait()
	if status, _ := waiter.ProcessState.Sys().(syscall.WaitStatus); status.ExitStatus() != 128+15 && status.Signal() != syscall.SIGTERM {
		t.Errorf("a signal to one who waits: %v", waiter.ProcessState)
	}
	locks := b.objects("locks", "list")
	if len(locks) != 1 || locks[0]["state"] != "held" || locks[0]["name"] != "a" || locks[0]["token"] != 1.0 {
		t.Errorf("listed: %v", locks)
	}
	b.fails(exitUsage, []string{"force"}, "locks", "release", "a")
	_ = holder.Process.Signal(syscall.SIGKILL)
	eventually(t, "the command to die with its holder", func() bool { return syscall.Kill(child, 0) != nil })
	b.ok("locks", "release", "a", "--force")
	if r := b.asExec("", "a", "--", "true"); r.code != 0 {
		t.Errorf("once it was freed: %+v", r)
	}
	if out := b.ok("locks", "show", "a"); !strings.Contains(out, "free") {
		t.Errorf("shown: %s", out)
	}
	b.fails(exitFailed, []string{"nobody", "locks list"}, "locks", "show", "nobody")
}

// TestExecEndsInTime checks that the command and all processes that it started
// end at the at-most time, and that signals go to the command.
func TestExecEndsInTime(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	r := b.asExec("", "a", "--at-most", "1500ms", "--grace", "100ms", "--", "sh", "-c", "trap '' TERM; setsid sleep 301 & echo $! > pid; sleep 301")
	if r.code != 128+int(syscall.SIGKILL) || !strings.Contains(r.err, "--at-most") {
		t.Errorf("got %+v", r)
	}
	text, _ := os.ReadFile("pid")
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err != nil || syscall.Kill(pid, 0) == nil {
		t.Errorf("a process was left behind: %q, %v", text, err)
	}

	cmd := b.command("b", "--", "sh", "-c", "trap 'echo caught; exit 5' INT; touch ready; while :; do sleep 0.05; done")
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command", func() bool { _, err := os.Stat("ready"); return err == nil })
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 5 || out.String() != "caught\n" {
		t.Errorf("a signal: exit code %d, %q", code, out.String())
	}
}

// leastNamed matches the least value in an error.
var leastNamed = regexp.MustCompile(`use at least (\S+),`)

// TestExecAtMostLeavesTime checks that an at-most time that leaves the command
// no time is refused before the lock is taken, and that the least value in the
// error is enough for the command to run.
func TestExecAtMostLeavesTime(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	for _, test := range []struct {
		atMost, grace, least string
	}{
		{"2s", "3s", "4.445s"},
		{"3.5s", "3s", "4.445s"},
		{"4.444s", "3s", "4.445s"},
		{"1.6s", "500ms", "1.667s"},
		{"100ms", "0s", "1.112s"},
		{"1m", "1h0m0s", "1h0m4s"},
	} {
		r := b.fails(exitUsage, []string{"at-most", "--grace (" + test.grace + ")", "margin"},
			"exec", "a", "--every", "1h", "--at-most", test.atMost, "--grace", test.grace, "--", "touch", "ran")
		if found := leastNamed.FindStringSubmatch(r.err); len(found) == 0 || found[1] != test.least {
			t.Errorf("at most %s with a grace of %s: %s", test.atMost, test.grace, r.err)
		}
	}
	if _, err := os.Stat(b.path); err == nil {
		t.Error("the store was touched")
	}
	for _, test := range []struct{ atMost, grace string }{{"4.445s", "3s"}, {"2s", "500ms"}, {"2s", "0s"}} {
		if r := b.asExec("", "a"+test.atMost+test.grace, "--every", "1h", "--at-most", test.atMost, "--grace", test.grace, "--", "sh", "-c", "sleep 0.2; echo whole"); r != (result{0, "whole\n", ""}) {
			t.Errorf("at most %s with a grace of %s: %+v", test.atMost, test.grace, r)
		}
	}
}

// TestExecGraceOfAtMost checks that the command has all of its grace at the
// at-most time, even a grace that is longer than a lost lease would allow.
func TestExecGraceOfAtMost(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	r := b.asExec("", "a", "--at-most", "8s", "--grace", "5s", "--lease", "5s", "--", "sh", "-c", `trap 'sleep 3.5; echo tidy; exit 0' TERM; echo up; sleep 60 & wait`)
	if r.out != "up\ntidy\n" || r.code != exitFailed || !strings.Contains(r.err, "--at-most") {
		t.Errorf("got %+v", r)
	}
}

// TestExecGraceOfASignal checks that a command that continues after a signal
// that asked it to end is killed after its grace, with all processes that it
// started, and that the lock is free.
func TestExecGraceOfASignal(t *testing.T) {
	startsProcesses(t)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			b := newBench(t)
			cmd := b.command("a", "--grace", "300ms", "--", "sh", "-c", `trap 'echo >>heard' TERM INT HUP
				setsid sh -c "trap '' TERM INT HUP; echo \$\$ >child.new; mv child.new child; while :; do sleep 0.05; done" &
				echo $$ >pid; while :; do sleep 0.02; done`)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = cmd.Process.Kill() }()
			var pids []int
			for _, file := range []string{"pid", "child"} {
				eventually(t, "the command has written "+file, func() bool {
					text, _ := os.ReadFile(file)
					pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
					if err == nil {
						pids = append(pids, pid)
					}
					return err == nil
				})
			}
			_ = cmd.Process.Signal(sig)
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case <-ended:
			case <-time.After(30 * time.Second):
				t.Fatal("the command is still there")
			}
			if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGKILL) || !strings.Contains(errs.String(), "--grace") {
				t.Errorf("exit code %d: %s", code, &errs)
			}
			if heard, _ := os.ReadFile("heard"); len(heard) > 1 { // none, if the grace has passed before the shell had a turn
				t.Errorf("the command heard %d signals", len(heard))
			}
			for _, pid := range pids {
				if syscall.Kill(pid, 0) == nil {
					t.Errorf("process %d is left", pid)
				}
			}
			if r := b.asExec("", "a", "--", "echo", "next"); r != (result{0, "next\n", ""}) {
				t.Errorf("the lock is not free: %+v", r)
			}
		})
	}
}

// TestExecPassesSignals checks that a command gets the signals that ask it to end, and keeps its
// own exit code if it ends within its grace.
func TestExecPassesSignals(t *testing.T) {
	startsProcesses(t)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			if signal.Ignored(sig) {
				t.Skip("the tests were started by nohup or the like")
			}
			b := newBench(t)
			cmd := b.command("a", "--grace", "2m", "--", "sh", "-c", `trap 'exit 6' TERM INT HUP; echo >up; while :; do sleep 0.02; done`)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = cmd.Process.Kill() }()
			eventually(t, "the command runs", func() bool { _, err := os.Stat("up"); return err == nil })
			_ = cmd.Process.Signal(sig)
			if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 6 {
				t.Errorf("got %v", cmd.ProcessState)
			}
		})
	}
}

// TestExecSignalsThatDoNotEnd checks that a command may handle SIGQUIT, SIGUSR1
// and SIGUSR2 and continue without a limit, and that a command that ends in
// time after SIGTERM keeps its own exit code.
func TestExecSignalsThatDoNotEnd(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	cmd := b.command("a", "--grace", "4s", "--", "sh", "-c", `trap 'echo >>quit' QUIT; trap 'echo >>usr1' USR1; trap 'echo >>usr2' USR2
		trap 'sleep 0.1; exit 6' TERM; echo >up; while :; do sleep 0.02; done`)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	exists := func(name string) func() bool {
		return func() bool { _, err := os.Stat(name); return err == nil }
	}
	eventually(t, "the command runs", exists("up"))
	for name, sig := range map[string]syscall.Signal{"quit": syscall.SIGQUIT, "usr1": syscall.SIGUSR1, "usr2": syscall.SIGUSR2} {
		_ = cmd.Process.Signal(sig)
		eventually(t, "the command has heard "+name, exists(name))
	}
	time.Sleep(4500 * time.Millisecond) // longer than the grace: the command must continue
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("it has ended: %v", err)
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 6 {
		t.Errorf("got %v", cmd.ProcessState)
	}
}

// TestExecLease checks that the command ends when exec is killed, and that the
// lock is free after the requested lease, long before the default lease.
func TestExecLease(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	cmd := b.command("a", "--lease", "2s", "--grace", "10s", "--at-most", "1h", "--", "sh", "-c", `trap '' TERM; echo $$ >pid.new; mv pid.new pid; while :; do sleep 0.02; done`)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	child := 0
	eventually(t, "the command runs", func() bool {
		text, err := os.ReadFile("pid")
		child, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	})
	time.Sleep(3 * time.Second) // longer than the lease: it is renewed
	if r := b.asExec("", "a", "--", "true"); r.code != exitSkipped {
		t.Errorf("while it runs: %+v", r)
	}
	began := time.Now()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if r := b.asExec("", "a", "--wait", "25s", "--", "sh", "-c", fmt.Sprintf("kill -0 %d 2>/dev/null || echo alone", child)); r != (result{0, "alone\n", ""}) {
		t.Errorf("after the kill: %+v", r)
	}
	if took := time.Since(began); took > 20*time.Second { // the default lease is 30 s
		t.Errorf("the lock was free after %v", took)
	}
}

// TestExecWithUseRightsOnly checks that a role needs only the rights to use
// existing lock tables, and no right to create tables.
func TestExecWithUseRightsOnly(t *testing.T) {
	startsProcesses(t)
	admin := postgresURL(t)
	b := newBench(t)
	name := "cli_" + strings.ToLower(rand.Text()[:10]) // of the schema and the role
	b.env[storeVariable] = admin
	b.ok("migrate", "up", "--schema", name)
	conn, err := pgx.Connect(t.Context(), admin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		dropSchema(t, admin, name)
		if _, err := conn.Exec(context.Background(), "drop role "+name); err != nil {
			t.Error(err)
		}
		_ = conn.Close(context.Background())
	})
	_, err = conn.Exec(t.Context(), strings.ReplaceAll(`create role ROLE login password 'ROLE'; grant usage on schema ROLE to ROLE;
		grant select, insert, update on ROLE.lock, ROLE.lock_state to ROLE`, "ROLE", name))
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(name, name)
	b.env[storeVariable] = u.String()
	if r := b.asExec("", "a", "--schema", name, "--every", "1h", "--", "echo", "ran"); r.code != 0 || r.out != "ran\n" {
		t.Errorf("as a role that may use the tables: %+v", r)
	}
}

// TestExecIsSilentAboutConnections checks that the driver prints nothing about
// a connection that the server has closed, because cron would mail such output.
func TestExecIsSilentAboutConnections(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	url, admin, name := newDatabase(t)
	b.env[storeVariable] = url
	cmd := b.command("a", "--", "sh", "-c", "touch ready; while [ ! -e go ]; do sleep 0.02; done")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command runs", func() bool { _, err := os.Stat("ready"); return err == nil })
	killed := 0
	eventually(t, "its connections are closed", func() bool {
		rows, err := admin.Query("SELECT id FROM information_schema.processlist WHERE db = ?", name)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		left := 0
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				t.Fatal(err)
			}
			if _, err := admin.Exec(fmt.Sprintf("KILL CONNECTION %d", id)); err == nil {
				killed++
			}
			left++
		}
		return rows.Err() == nil && left == 0 && killed > 0
	})
	if err := os.WriteFile("go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 0 || errs.Len() > 0 {
		t.Errorf("exit code %d: %s", code, &errs)
	}
}

// TestExecKeepsTheExitCodeWhenTheReleaseFails checks that the exit code is the
// command's if only the release failed: the command had its lock until its end,
// and the lock frees itself.
func TestExecKeepsTheExitCodeWhenTheReleaseFails(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	cmd := b.command("a", "--", "sh", "-c", "touch ready; while [ ! -e go ]; do sleep 0.02; done")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command", func() bool { _, err := os.Stat("ready"); return err == nil })
	db, err := sql.Open("sqlite", b.path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("ALTER TABLE hourbell_lock RENAME TO gone"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 0 || !strings.Contains(errs.String(), "frees itself") {
		t.Errorf("exit code %d: %s", code, &errs)
	}
}

// TestExecInAnotherTable checks that a table named by a flag is never created
// implicitly, because a lock in a misspelt table would exclude no other caller.
func TestExecInAnotherTable(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	b.asExec("", "own", "--", "true")
	b.fails(exitFailed, []string{"shedlock", "hourbell locks create"}, "exec", "a", "--table", "shedlock", "--", "true")
	b.ok("locks", "create", "--table", "shedlock")
	if r := b.asExec("", "a", "--table", "shedlock", "--", "sh", "-c", "echo $HOURBELL_TOKEN"); r != (result{0, "1\n", ""}) {
		t.Errorf("got %+v", r)
	}
	if list := b.objects("locks", "list", "--table", "shedlock"); len(list) != 1 || list[0]["name"] != "a" {
		t.Errorf("listed %v", list)
	}
	if list := b.objects("locks", "list"); len(list) != 1 || list[0]["name"] != "own" {
		t.Errorf("in our own table: %v", list)
	}
}

func TestExecBadInput(t *testing.T) {
	b := newBench(t)
	for _, test := range []struct {
		names string
		args  []string
	}{
		{"NAME", nil},
		{"PROGRAM", []string{"a"}},
		{"PROGRAM", []string{"a", "--"}},
		{"name", []string{"", "--", "true"}},
		{"name", []string{" a", "--", "true"}},
		{"name", []string{strings.Repeat("n", 201), "--", "true"}},
		{"every", []string{"a", "--every", "-1s", "--", "true"}},
		{"every", []string{"a", "--every", "0s", "--", "true"}},
		{"every", []string{"a", "--every", "1h", "--cron", "@daily", "--", "true"}},
		{"cron", []string{"a", "--cron", "61 * * * *", "--", "true"}},
		{"tz", []string{"a", "--tz", "Europe/Prague", "--", "true"}},
		{"at-least", []string{"a", "--at-least", "2h", "--", "true"}},
		{"at-most", []string{"a", "--at-most", "1ms", "--", "true"}},
		{"wait", []string{"a", "--wait", "-1s", "--", "true"}},
		{"grace", []string{"a", "--grace", "-1s", "--", "true"}},
		{"grace", []string{"a", "--grace", "25h", "--at-most", "100h", "--", "true"}},
		{"lease", []string{"a", "--lease", "999ms", "--", "true"}},
		{"lease", []string{"a", "--lease", "61m", "--at-most", "2h", "--", "true"}},
		{"--at-most", []string{"a", "--lease", "20s", "--at-most", "10s", "--", "true"}},
		{"table", []string{"a", "--store", "redis://h", "--table", "t", "--", "true"}},
		{"environment", []string{"a", "--environment", "t", "--", "true"}},
		{"schema", []string{"a", "--store", "redis://h", "--schema", "t", "--", "true"}},
		{"postgres://", []string{"a", "--store", "oracle://u:hunter2@h/d", "--", "true"}},
		{"store", []string{"a", "--store", "redis://:hun/hunter2@h:1", "--", "true"}},
		{"store", []string{"a", "--store", "redis:hunter2", "--", "true"}},
		{"store", []string{"a", "--store", "mysql:hunter2", "--", "true"}},
	} {
		r := b.fails(exitUsage, []string{test.names}, append([]string{"exec"}, test.args...)...)
		if strings.Contains(r.err, "hunter2") || r.out != "" {
			t.Errorf("%q: %+v", test.args, r)
		}
	}
	b.env = nil
	b.fails(exitUsage, []string{"store", "HOURBELL_STORE"}, "exec", "a", "--", "true")
	b.fails(exitUsage, []string{"store", "HOURBELL_STORE"}, "locks", "list")
	if found, _ := filepath.Glob("*.db*"); len(found) > 0 {
		t.Error(fmt.Sprint("stores were made: ", found))
	}
}
