//go:build linux

package cron

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// The week, from Monday to Sunday on the clocks of testdata/zone. It contains
// both clock changes, the end of a month and the end of a year.
var (
	weekStart = time.Date(2026, time.December, 28, 0, 0, 0, 0, time.FixedZone("", 3600))
	weekEnd   = time.Date(2027, time.January, 4, 0, 0, 0, 0, time.FixedZone("", 3600))
)

func TestMain(m *testing.M) {
	var err error
	switch {
	case os.Getenv(enterVariable) != "":
		err = enter(os.Getenv(enterVariable), os.Args[1:])
	case os.Getenv(hourbellVariable) != "":
		err = playHourbell(weekStart, weekEnd)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(125)
	}
}

func TestConcurrentWithCron(t *testing.T) {
	tools := buildTools(t)
	lines := runHourbell(t, tools)
	runs := runCron(t, tools)
	byCommand := map[command][]run{}
	for _, r := range runs {
		byCommand[r.command()] = append(byCommand[r.command()], r)
	}
	minutes, silent := 0, 0
	for _, l := range lines {
		minutes += len(l.Minutes)
		theirs := byCommand[l.Run.command()]
		delete(byCommand, l.Run.command())
		if len(theirs) == 0 {
			silent++
		}
		t.Run(fmt.Sprintf("%s:%d", filepath.Base(l.File), l.Line), func(t *testing.T) {
			compareMinutes(t, l, theirs)
			for _, r := range theirs {
				if !compareRun(t, l.Run, r) {
					break
				}
			}
		})
	}
	for c, runs := range byCommand {
		t.Errorf("cron ran %q as user %d %d times, Hourbell did not", c.text, c.uid, len(runs))
	}
	t.Logf("%d lines (%d of them have no minute in this week), %d minutes", len(lines), silent, minutes)
	if len(lines) < 60 {
		t.Errorf("only %d lines were compared", len(lines))
	}
}

// command identifies a run: no two lines of testdata have the same command.
type command struct {
	uid  int
	text string
}

func (r run) command() command {
	return command{r.UID, strings.TrimSpace(r.Argv[len(r.Argv)-1]) + "\n" + r.Stdin}
}

// compareMinutes compares the set of minutes in which cron ran a line with
// Hourbell's set. If several times of one line fall into the hour that the
// clock skips, cron makes up for each of them, all in the minute after the
// change, while Hourbell fires once; as sets they are equal.
func compareMinutes(t *testing.T, l line, theirs []run) {
	t.Helper()
	var cron []int64
	for _, r := range theirs {
		cron = append(cron, r.At-r.At%60)
	}
	slices.Sort(cron)
	cron = slices.Compact(cron)
	if l.AtStart {
		if len(theirs) != 1 || theirs[0].At >= weekStart.Unix() {
			t.Errorf("cron ran it %d times, in %v; want once, at its start", len(theirs), clock(cron))
		}
		return
	}
	if slices.Equal(cron, l.Minutes) {
		return
	}
	t.Errorf("cron alone: %v; Hourbell alone: %v", clock(without(cron, l.Minutes)), clock(without(l.Minutes, cron)))
}

// without returns the elements of a that are not in b, limited to a number that
// people read.
func without[T comparable](a, b []T) (rest []T) {
	for _, x := range a {
		if !slices.Contains(b, x) && len(rest) < 10 {
			rest = append(rest, x)
		}
	}
	return rest
}

func clock(minutes []int64) (text []string) {
	for _, at := range minutes {
		text = append(text, time.Unix(at, 0).UTC().Format("Mon 2 15:04Z"))
	}
	return text
}

// compareRun compares how Hourbell called the shell with how cron called it.
// The only allowed differences are the variables that Hourbell adds, which
// begin with HOURBELL_, and the corrections of byTheBook.
func compareRun(t *testing.T, ours, cron run) bool {
	t.Helper()
	ours.At, cron.At = 0, 0
	ours.Env = slices.DeleteFunc(slices.Clone(ours.Env), func(pair string) bool { return strings.HasPrefix(pair, "HOURBELL_") })
	slices.Sort(ours.Env)
	cron = byTheBook(cron)
	slices.Sort(cron.Env)
	slices.Sort(ours.Groups)
	slices.Sort(cron.Groups)
	if reflect.DeepEqual(ours, cron) {
		return true
	}
	t.Errorf("environment of cron alone: %q; of Hourbell alone: %q", without(cron.Env, ours.Env), without(ours.Env, cron.Env))
	ours.Env, cron.Env = nil, nil
	t.Errorf("the rest:\ncron     %#v\nhourbell %#v", cron, ours)
	return false
}

// byTheBook corrects a run of cron in two points in which cron differs from its
// manual, crontab(5), and Hourbell does not:
//
//   - "The value string may be placed in quotes […] to preserve leading or
//     trailing blanks." cron cuts off the trailing blanks nevertheless.
//   - The manual does not mention homes that do not exist. cron then stays in
//     its own folder, the spool; Hourbell has no such folder and uses /.
func byTheBook(r run) run {
	const cut, whole = "QUOTED=  blanks kept", "QUOTED=  blanks kept  "
	r.Env = slices.Clone(r.Env)
	if i := slices.Index(r.Env, cut); i >= 0 {
		r.Env[i] = whole
	}
	if slices.Contains(r.Env, "HOME=/nonexistent") && r.Dir == "/var/spool/cron" {
		r.Dir = "/"
	}
	return r
}

// runHourbell returns all lines of the crontabs.
func runHourbell(t *testing.T, tools tools) (lines []line) {
	t.Helper()
	m := newMachine(t, tools, weekStart, weekEnd)
	self, err := os.Executable()
	must(t, err)
	// The environment of a node must not reach commands.
	env := []string{hourbellVariable + "=1", "ZONEINFO=/etc/zoneinfo", "HOURBELL_STORE=x", "EDITOR=emacs", "LC_ALL=C", "MAILTO=node", "PATH=/sbin", "TERM=linux"}
	cmd := m.command(t, env, self)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("hourbell: %v\n%s", err, &stderr)
	}
	for text := range strings.Lines(string(out)) {
		var l line
		must(t, json.Unmarshal([]byte(text), &l))
		lines = append(lines, l)
	}
	return lines
}

// runCron returns all runs of cron in the week.
func runCron(t *testing.T, tools tools) []run {
	t.Helper()
	m := newMachine(t, tools, weekStart.Add(-30*time.Second), weekEnd)
	began := time.Now()
	cmd := m.command(t, []string{preloadVariable + "=/run/clock.so"}, tools.cron, "-f", "-L", "0")
	cmd.WaitDelay = time.Second
	late := time.AfterFunc(2*time.Minute, func() { _ = cmd.Cancel() }) // then cron uses another clock than the preloaded one
	defer late.Stop()
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("cron: %v\n%s", err, out)
	}
	data, err := os.ReadFile(m.path("run/runs"))
	must(t, err)
	runs, err := decodeRuns(data)
	must(t, err)
	t.Logf("cron ran %d commands in %v", len(runs), time.Since(began).Round(time.Millisecond))
	return runs
}

// tools are the files of the programs that the test needs.
type tools struct{ cron, clock, shell string }

// buildTools finds cron and compiles the other tools. It ends the test if the
// test cannot run.
func buildTools(t *testing.T) tools {
	t.Helper()
	if testing.Short() {
		t.Skip("a week takes some seconds")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can run commands as other users")
	}
	for _, file := range []string{"/usr/sbin/cron", "/etc/pam.d/cron", "/usr/sbin/zic"} {
		_, err := os.Stat(file)
		need(t, "Debian's cron and zic", err)
	}
	_, err := exec.LookPath("cc")
	need(t, "a C compiler", err)
	dir := t.TempDir()
	built := tools{cron: "/usr/sbin/cron", clock: filepath.Join(dir, "clock.so"), shell: filepath.Join(dir, "shell")}
	compile(t, "-fPIC", "-shared", "-o", built.clock, "testdata/clock.c")
	compile(t, "-static", "-o", built.shell, "testdata/shell.c")
	m := newMachine(t, built, weekStart, weekEnd)
	if out, err := m.command(t, nil, "/bin/sh").CombinedOutput(); err != nil {
		t.Skipf("no machine can be made here: %v: %s", err, out)
	}
	return built
}

// need ends the test if something is missing that can be installed.
func need(t *testing.T, what string, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("HOURBELL_TEST_REQUIRE") != "":
		t.Fatalf("%s: %v; scripts/install-deps cc cron installs what is missing", what, err)
	default:
		t.Skipf("%s: %v", what, err)
	}
}

func compile(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("cc", append([]string{"-O2", "-Wall", "-Wextra"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("cc %v: %v\n%s", args, err, out)
	}
}
