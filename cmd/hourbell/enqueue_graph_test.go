package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const nightlyGraph = `
jobs:
  publish: {shell: ./publish, after: {export: {on: success, delay: 5m}}}
  export: {command: [export, --full], queue: night, timeout: 2h}
  tell: {kind: mail, args: {to: [ops]}, after: {export: failure, publish: failure}, need: any, in: 1m}
  clean "all": {kind: clean, after: [publish, tell]}
finally: {kind: report, on: failed}
`

func TestEnqueueGraph(t *testing.T) {
	b := newBench(t)
	b.stdin = nightlyGraph
	if out, want := b.ok("enqueue", "--graph", "-", "--priority", "2", "--max-attempts", "1"), "export 1\npublish 2\ntell 3\nclean \"all\" 4\nfinally 5\n"; out != want {
		t.Errorf("printed %q, not %q", out, want)
	}
	job := b.objects("jobs", "show", "2")[0]
	if got, want := fmt.Sprint(job["kind"], job["priority"], job["queue"], job["after"]), "command2default[map[delay:5m0s job:1 on:success]]"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if job := b.objects("jobs", "show", "1")[0]; fmt.Sprint(job["queue"], job["timeout"]) != "night2h0m0s" {
		t.Errorf("%v", job)
	}
	b.ok("jobs", "cancel", "1")
	if n := b.ok("jobs", "count", "--state", "not_started"); n != "2\n" { // publish, and what waits for it
		t.Errorf("%s jobs were not started", n)
	}
	if batch := b.objects("batches", "show", "1")[0]; fmt.Sprintf("%v %v %v %v", batch["state"], batch["ended"], batch["total"], batch["finally"]) != "running 3 4 map[job:5 state:waiting]" {
		t.Errorf("%v", batch)
	}
	b.ok("jobs", "cancel", "--batch", "1") // tell, which may start
	if batch := b.objects("batches", "show", "1")[0]; batch["finally"].(map[string]any)["state"] != "ready" {
		t.Errorf("%v: the last job must not be cancelled by a condition", batch)
	}
	equal(t, "count", b.ok("jobs", "count", "--batch", "1"), "5\n")
	if facts := b.ok("batches", "show", "1"); !strings.Contains(facts, "5 with the last job") {
		t.Error(facts)
	}
	b.ok("jobs", "cancel", "5")
	batch := b.objects("batches", "list")[0]
	if fmt.Sprintf("%v %v", batch["state"], batch["jobs"].(map[string]any)["cancelled"]) != "failed 2" || batch["finally"].(map[string]any)["state"] != "cancelled" {
		t.Errorf("%v", batch)
	}
	b.fails(exitUsage, []string{"batch", "has ended"}, "enqueue", "mail", "--batch", "1")
	b.fails(exitFailed, []string{"batch 77", "not found"}, "batches", "show", "77")
	file := filepath.Join(t.TempDir(), "g.json")
	writeFile(t, file, `{"jobs": {"a": {"kind": "k", "args": {"n": 1}}, "b": {"kind": "k", "after": {"a": {"on": "either"}}}}}`)
	if got := fmt.Sprint(b.objects("enqueue", "--graph", file, "--max-attempts", "1")); got != "[map[batch:2 jobs:map[a:6 b:7]]]" {
		t.Error(got)
	}
}

func TestGraphsOfBadFiles(t *testing.T) {
	b := newBench(t)
	b.ok("migrate", "up")
	for text, parts := range map[string][]string{
		"jobs: {a: {kind: k, after: b}, b: {kind: k, after: a}}":       {"a → b → a"},
		"jobs: {a: {kind: k, after: [x]}}":                             {`"x"`, "is not a job of the graph"},
		"jobs: {a: {kind: k, after: {b: later}}, b: {kind: k}}":        {"later", "success or failure or either"},
		"jobs: {a: {kind: k, after: {b: {delay: -1s}}}, b: {kind: k}}": {"delay"},
		"jobs: {a: {kind: k, prio: 1}}":                                {"-:1:", "prio"},
		"jobs: {a: {args: 1}}":                                         {"command", "missing"},
		"jobs: []":                                                     {"jobs", "a list"},
		"jobs: {a: {kind: k}, a: {kind: k}}":                           {`"a"`, "twice"},
		"{}":                                                           {"jobs", "is missing"},
		"jobs: {a: {kind: k, priority: 12}}":                           {"priority"},
		"jobs: {a: {kind: k, at: noon}}":                               {"noon"},
	} {
		b.stdin = text
		b.fails(exitUsage, parts, "enqueue", "--graph", "-")
	}
	b.fails(exitUsage, []string{"unique", "--graph"}, "enqueue", "--graph", "-", "--unique", "a")
	b.fails(exitUsage, []string{"argument"}, "enqueue", "mail", "--graph", "-")
	if n := b.ok("jobs", "count"); n != "0\n" {
		t.Errorf("%s jobs were stored", n)
	}
}

// TestResultsOfPredecessors runs a command that reads the file with the results of the jobs
// that it follows.
func TestResultsOfPredecessors(t *testing.T) {
	b := newBench(t)
	b.stdin = `jobs: {"a b": {shell: "exit 3", max_attempts: 1}, c: {shell: 'test -z "$HOURBELL_RESULTS"', max_attempts: 1}}
finally: {shell: 'echo "$HOURBELL_RESULTS"; ls -l "$HOURBELL_RESULTS"; cat "$HOURBELL_RESULTS"', on: always}`
	b.ok("enqueue", "--graph", "-")
	b.work()
	b.work() // the last job becomes ready a moment after the others have ended
	job := b.objects("jobs", "show", "3")[0]
	lines := strings.SplitN(fmt.Sprint(job["output"]), "\n", 3)
	if job["state"] != "completed" || len(lines) != 3 || !strings.HasPrefix(lines[1], "-rw------- ") {
		t.Fatalf("%v", job)
	}
	want := `{"a b":{"id":1,"kind":"command","state":"failed","reason":"exit code 3","result":null},"c":{"id":2,"kind":"command","state":"completed","result":null}}`
	if lines[2] != want {
		t.Errorf("got %s, not %s", lines[2], want)
	}
	if _, err := os.Stat(lines[0]); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}
