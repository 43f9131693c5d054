package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/steps"
)

// lines counts the lines of a file that a script has written.
func lines(t *testing.T, file string) (n int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// orderScript is a shell script with steps and a wait. docs/steps.md has it.
const orderScript = `set -e
receipt=$(hourbell step run charge -- ./charge)
hourbell step run mail -- ./mail "$receipt"
approval=$(hourbell wait approval --timeout 7d)
hourbell step done approved
hourbell step run ship -- ./ship "$receipt" "$approval"
`

// scriptFolder makes a folder with the programs of orderScript, which note their runs, and with this program under its name.
func scriptFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "hourbell")); err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"charge": "echo run >>charged; echo receipt 7",
		"mail":   `echo "$1" >>mailed; while [ -e slow ]; do sleep 0.05; done`,
		"ship":   `echo "$1 $2" >>shipped`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// enqueueScript enqueues a script that runs in a folder.
func (b *bench) enqueueScript(dir, script string, flags ...string) (id string) {
	b.t.Helper()
	args := append([]string{"enqueue", "command", "--dir", dir, "--env", "PATH=" + dir + ":" + os.Getenv("PATH"), "--shell", script, "--output", "ndjson"}, flags...)
	return fmt.Sprint(b.objects(args...)[0]["id"])
}

// TestStepsOfCommands runs a script on two nodes: the first is killed with the signal 9 between two steps. What was done is not done again.
func TestStepsOfCommands(t *testing.T) {
	startsProcesses(t)
	dir := scriptFolder(t)
	if page, err := os.ReadFile("../../docs/steps.md"); err != nil || !strings.Contains(string(page), orderScript) {
		t.Errorf("docs/steps.md lacks the script: %v", err)
	}
	b := newBench(t)
	slow := filepath.Join(dir, "slow")
	if err := os.WriteFile(slow, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first := b.serve("--commands", "any", "--name", "first", "--lease", "10s")
	first.awaits("node started", 1)
	id := b.enqueueScript(dir, orderScript)
	eventually(t, "the second step to run", func() bool { return lines(t, filepath.Join(dir, "mailed")) == 1 })
	first.signal(syscall.SIGKILL)
	first.ends()
	if err := os.Remove(slow); err != nil {
		t.Fatal(err)
	}
	second := b.serve("--commands", "any", "--name", "second", "--lease", "10s")
	second.awaits("node started", 1)
	state := func() string { return fmt.Sprint(b.objects("jobs", "show", id, "--output", "ndjson")[0]["state"]) }
	eventually(t, "the job to wait for its signal", func() bool { return state() == "parked" })
	equal(t, "charges", fmt.Sprint(lines(t, filepath.Join(dir, "charged"))), "1")
	equal(t, "mails: the interrupted step was not kept", fmt.Sprint(lines(t, filepath.Join(dir, "mailed"))), "2")
	b.ok("signal", id, "approval", `{"by":"ann"}`)
	eventually(t, "the job to complete", func() bool { return state() == "completed" })
	equal(t, "mails in the end", fmt.Sprint(lines(t, filepath.Join(dir, "mailed"))), "2")
	shipped, err := os.ReadFile(filepath.Join(dir, "shipped"))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "the order", string(shipped), "receipt 7 {\"by\":\"ann\"}\n")
	shown := b.ok("jobs", "show", id)
	for _, part := range []string{"charge", `"receipt 7\n"`, "approved", "ship"} {
		if !strings.Contains(shown, part) {
			t.Errorf("jobs show lacks %q:\n%s", part, shown)
		}
	}
}

// TestStepsThatFail checks the exit codes of the commands, and what becomes of their jobs.
func TestStepsThatFail(t *testing.T) {
	startsProcesses(t)
	dir := scriptFolder(t)
	b := newBench(t)
	node := b.serve("--commands", "any")
	node.awaits("node started", 1)
	for _, test := range []struct {
		name, script, state, says string
	}{
		{"exit codes", `hourbell step run a -- sh -c 'exit 7'; echo "a $?"; hourbell step run b -- sh -c 'kill -9 $$'; echo "b $?"; ` +
			`hourbell step run c -- missing; echo "c $?"; hourbell step run d -- echo out; hourbell step done e; echo "e $?"`, "completed", "b 137"},
		{"a name twice", "hourbell step run a -- true; hourbell step run a -- echo again", "failed", "the name is used twice"},
		{"a step in a step", `hourbell step run a -- hourbell step run b -- true`, "failed", `step "a" is not over`},
		{"too much output", `hourbell step run a -- seq 20000`, "failed", "has more than 65536 bytes"},
		{"much markup", `hourbell step run a -- sh -c "head -c 60000 /dev/zero | tr '\\0' '<'" >/dev/null; echo "markup $?"`, "completed", "markup 0"},
		{"output that is not UTF-8", `hourbell step run a -- printf '\377'`, "failed", "is not UTF-8"},
		{"no signal in time", `hourbell wait go --timeout 10ms; [ $? = 75 ] && exit 75; hourbell wait other --timeout 1x; echo "usage $?"; exit 9`, "failed", "exit code 9"},
		{"a wait that is ignored", "hourbell wait go; true", "failed", "set -e"},
		{"a step after a wait", `hourbell wait go; hourbell step done a; a=$?; hourbell step run b -- echo b; echo "a $a b $?"; exit 9`, "failed", "a 75 b 75"},
		{"another claim", "HOURBELL_TOKEN=1 hourbell step done a", "failed", "under another claim"},
		{"another job", "HOURBELL_JOB_ID=0 hourbell step done a", "failed", "under another claim"},
		{"no job", "unset " + steps.Variable + "; hourbell step done a", "failed", "is not set"},
		{"75 without a wait", "exit 75", "failed", "exit code 75"},
	} {
		id := b.enqueueScript(dir, test.script, "--max-attempts", "1")
		var job map[string]any
		eventually(t, test.name+": the job to end", func() bool {
			job = b.objects("jobs", "show", id, "--output", "ndjson")[0]
			return job["state"] == "completed" || job["state"] == "failed"
		})
		if shown := b.ok("jobs", "show", id); job["state"] != test.state || !strings.Contains(shown, test.says) {
			t.Errorf("%s: the job has %v, want %s and %q:\n%s", test.name, job["state"], test.state, test.says, shown)
		}
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "hourbell-steps-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range left {
		if info, err := os.Stat(folder); err == nil && time.Since(info.ModTime()) < time.Minute && info.Mode().Perm() != 0o700 {
			t.Errorf("others may enter %s", folder)
		}
	}
	r := b.run("step", "done", "a")
	equal(t, "outside of a job", fmt.Sprint(r.code), fmt.Sprint(exitUsage))
	b.fails(exitUsage, []string{"PROGRAM", "is missing"}, "step", "run", "a")
	b.fails(exitUsage, []string{"timeout", "is no time to wait"}, "wait", "a", "--timeout", "0d")
}

// TestStepsAsAnotherUser has a command of a user who is not the user of the node: only this user and root may enter the folder of the socket.
func TestStepsAsAnotherUser(t *testing.T) {
	startsProcesses(t)
	if _, err := user.Lookup("daemon"); err != nil || os.Geteuid() != 0 {
		t.Skip("needs root, and the user daemon")
	}
	dir, err := os.MkdirTemp("", "hourbell-as-another-") // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"cp", self, filepath.Join(dir, "hourbell")}, {"chmod", "755", dir, filepath.Join(dir, "hourbell")}} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v, %s", command, err, out)
		}
	}
	b := newBench(t)
	node := b.serve("--commands", "any")
	node.awaits("node started", 1)
	args, err := json.Marshal(map[string]any{"user": "daemon", "dir": "/", "env": map[string]string{"PATH": dir + ":/usr/bin:/bin"}, "shell": `set -e
hourbell step run who -- id -un
stat -c 'folder %U %a %n' "${HOURBELL_SOCKET%/*}"
hourbell wait go`})
	if err != nil {
		t.Fatal(err)
	}
	id := fmt.Sprint(b.objects("enqueue", "command", "--args", string(args), "--max-attempts", "1", "--output", "ndjson")[0]["id"])
	state := func() string { return fmt.Sprint(b.objects("jobs", "show", id, "--output", "ndjson")[0]["state"]) }
	ends := func() bool { return state() == "parked" || state() == "failed" }
	eventually(t, "the job to wait for its signal", ends)
	shown := b.ok("jobs", "show", id)
	folder := regexp.MustCompile(`folder daemon 700 (/\S+)`).FindStringSubmatch(shown)
	if state() != "parked" || !strings.Contains(shown, `"daemon\n"`) || folder == nil {
		t.Fatalf("the job is %s:\n%s", state(), shown)
	}
	b.ok("signal", id, "go", "1")
	eventually(t, "the job to complete", func() bool { return state() == "completed" || state() == "failed" })
	equal(t, "the job", state(), "completed")
	if _, err := os.Stat(folder[1]); !os.IsNotExist(err) {
		t.Errorf("the folder %s is left: %v", folder[1], err)
	}
}
