package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/store"
)

// asProgram makes the test binary run as hourbell, for tests that need a
// process with signals.
const asProgram = "HOURBELL_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	if os.Getenv(racerFile)+os.Getenv(racerURL) != "" {
		if err := race(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if code, divided := shards(); divided {
		os.Exit(code)
	}
	os.Exit(testMain(m))
}

// testMain keeps the nodes' state files out of the folders of the user who runs
// the tests.
func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hourbell-state-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.Unsetenv("STATE_DIRECTORY")
	os.Setenv("XDG_STATE_HOME", dir)
	return m.Run()
}

// bench is a program on a SQLite file of its own, in a working directory of its
// own.
type bench struct {
	t     *testing.T
	path  string // of the store
	stdin string
	env   map[string]string
	page  int
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := newBenchHere(t)
	t.Chdir(filepath.Dir(b.path))
	return b
}

// newBenchHere is newBench for a test that runs in parallel with others, in the folder of the package.
func newBenchHere(t *testing.T) *bench {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	return &bench{t: t, path: path, env: map[string]string{storeVariable: "sqlite:" + path}, page: pageSize}
}

// result is the result of a command.
type result struct {
	code     int
	out, err string
}

var noon = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

// run runs one command in this process.
func (b *bench) run(args ...string) result {
	b.t.Helper()
	var out, errs bytes.Buffer
	p := &program{
		stdin: strings.NewReader(b.stdin), stdout: &out, stderr: &errs,
		getenv: func(name string) string { return b.env[name] }, now: func() time.Time { return noon }, page: b.page,
	}
	code := p.run(b.t.Context(), args)
	return result{code, out.String(), errs.String()}
}

// ok runs a command that must succeed without a message, and returns its
// output.
func (b *bench) ok(args ...string) string {
	b.t.Helper()
	r := b.run(args...)
	if r.code != exitDone || r.err != "" {
		b.t.Fatalf("%q: exit code %d, stderr %q", args, r.code, r.err)
	}
	return r.out
}

// fails runs a command that must fail with the given code, and with one line on
// stderr that contains each text.
func (b *bench) fails(code int, texts []string, args ...string) result {
	b.t.Helper()
	r := b.run(args...)
	if r.code != code {
		b.t.Errorf("%q: exit code %d instead of %d, stdout %q, stderr %q", args, r.code, code, r.out, r.err)
	}
	if strings.Count(r.err, "\n") != 1 || !strings.HasPrefix(r.err, "hourbell: ") {
		b.t.Errorf("%q: stderr is not one line: %q", args, r.err)
	}
	for _, text := range texts {
		if !strings.Contains(r.err, text) {
			b.t.Errorf("%q: stderr lacks %q: %q", args, text, r.err)
		}
	}
	return r
}

// objects runs a listing as ndjson and returns its objects.
func (b *bench) objects(args ...string) []map[string]any {
	b.t.Helper()
	var list []map[string]any
	for line := range strings.Lines(b.ok(append(args, "--output", "ndjson")...)) {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			b.t.Fatalf("%q: %v in %q", args, err, line)
		}
		list = append(list, object)
	}
	return list
}

// work runs the commands that are due, until each has ended or waits for a
// retry.
func (b *bench) work() {
	b.t.Helper()
	backend, err := sqlite.Open(b.t.Context(), b.path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer backend.Close()
	workers := hourbell.NewWorkers()
	workers.Handle(kinds.CommandKind, kinds.CommandWorker{}.Work)
	client, err := hourbell.New(backend, hourbell.Config{Name: "bench", Host: "tower", Workers: workers, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- client.Run(b.t.Context()) }()
	<-client.Started() // a client that is stopped before cannot run
	eventually(b.t, "all jobs have run", func() bool {
		jobs, err := client.Jobs.List(b.t.Context(), hourbell.JobFilter{Kind: kinds.CommandKind, States: []store.State{store.StateReady, store.StateRunning}})
		return err == nil && !slices.ContainsFunc(jobs, func(j store.JobInfo) bool { return j.Attempt == 0 || j.State == store.StateRunning })
	})
	if err := client.Stop(context.Background()); err != nil {
		b.t.Fatal(err)
	}
	if err := <-ended; err != nil {
		b.t.Fatal(err)
	}
}

// eventually waits until a condition holds. A condition that runs a command is looked at less
// often, so that what it waits for has the processor.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for began := time.Now(); !holds(); began = time.Now() {
		if began.After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(max(20*time.Millisecond, 2*time.Since(began)))
	}
}

var varying = []struct {
	pattern *regexp.Regexp
	word    string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z *`), "TIME "},
	{regexp.MustCompile(`\b\d+(\.\d+)?(µs|ms|s)\b *`), "TOOK "},
	{regexp.MustCompile(` +(\n|$)`), "$1"},
	{regexp.MustCompile(`  +`), "  "},
}

// steady replaces the parts of a text that differ from run to run.
func steady(text string) string {
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.word)
	}
	return text
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s\ninstead of\n%s", what, got, want)
	}
}

func TestHelpSucceeds(t *testing.T) {
	b := newBench(t)
	for _, args := range [][]string{{"--help"}, {"help"}, {"help", "jobs", "cancel"}, {"jobs", "--help"}, {"serve", "-h"}} {
		if out := b.ok(args...); !strings.Contains(out, "Usage:") {
			t.Errorf("%q prints %q", args, out)
		}
	}
	for _, scheme := range []string{"sqlite:", "postgres://", "mysql://"} {
		if out := b.ok("--help"); !strings.Contains(out, scheme) {
			t.Errorf("the help does not name stores %s…: %q", scheme, out)
		}
	}
	for _, args := range [][]string{{"version"}, {"--version"}} {
		if out := b.ok(args...); !strings.HasPrefix(out, "hourbell "+hourbell.Version+" ") {
			t.Errorf("%q prints %q", args, out)
		}
	}
	if out := b.ok("completion", "bash"); !strings.Contains(out, "__hourbell") {
		t.Errorf("completion prints %q", out)
	}
	if r := b.run("__complete", "jobs", "ca"); r.code != exitDone || !strings.Contains(r.out, "cancel") {
		t.Errorf("completing a command gives %+v", r)
	}
	noStore(t, b)
}

// TestEveryCommandIsExplained checks that each command has a sentence, and that
// each command with an action has an example that begins with the program's
// name.
func TestEveryCommandIsExplained(t *testing.T) {
	p := newProgram()
	root := p.rootCommand()
	commands := slices.Clone(root.Commands())
	for i := 0; i < len(commands); i++ {
		c := commands[i]
		commands = append(commands, c.Commands()...)
		if c.Short == "" {
			t.Errorf("%s has no short text", c.CommandPath())
		}
		if c.HasSubCommands() || c.Name() == "version" || c.Name() == "help" || c.Parent().Name() == "completion" {
			continue
		}
		if !strings.Contains(c.Example, "hourbell "+strings.TrimPrefix(c.CommandPath(), "hourbell ")) {
			t.Errorf("%s has no example", c.CommandPath())
		}
	}
}

// noStore fails if a store was created.
func noStore(t *testing.T, b *bench) {
	t.Helper()
	for _, pattern := range []string{filepath.Join(filepath.Dir(b.path), "*.db*"), "*.db*"} {
		if files, _ := filepath.Glob(pattern); len(files) > 0 {
			t.Errorf("a store was made: %q", files)
		}
	}
}
