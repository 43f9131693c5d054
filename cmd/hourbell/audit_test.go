package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/sqlite"
)

// TestAudit checks that changes through the program have the user as their actor, what audit
// shows of them in each format, and its filters.
func TestAudit(t *testing.T) {
	b := newBench(t)
	b.ok("migrate", "up")
	equal(t, "none", b.ok("audit", "--output", "json"), "[]\n")
	b.ok("schedules", "put", "nightly", "--every", "24h", "--", "echo", "hunter2")
	b.ok("schedules", "pause", "nightly")
	b.ok("enqueue", "command", "--", "true")
	b.ok("enqueue", "command", "--", "true")
	b.ok("jobs", "cancel", "--kind", "command")
	b.ok("jobs", "cancel", "--kind", "command") // changes nothing
	entries := b.objects("audit", "--output", "ndjson")
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprint(e["action"], " ", e["count"], " ", e["source"], " ", e["actor"] == actor()))
		for _, name := range []string{"id", "at", "actor", "source", "action", "subjects", "count", "detail"} {
			if _, found := e[name]; !found {
				t.Errorf("an entry lacks %s: %v", name, e)
			}
		}
	}
	equal(t, "entries", strings.Join(got, "\n"), "jobs cancel 2 cli true\nschedules pause 1 cli true\nschedules put 1 cli true")
	table := b.ok("audit")
	for _, part := range []string{"ACTOR", "jobs cancel", "job 1, 2", "schedule nightly", "created, revision", "selected by"} {
		if !strings.Contains(table, part) {
			t.Errorf("audit as a table lacks %q:\n%s", part, table)
		}
	}
	if strings.Contains(fmt.Sprint(entries)+table, "hunter2") {
		t.Errorf("audit shows an argument:\n%s", table)
	}
	for _, c := range []struct {
		want int
		args []string
	}{
		{1, []string{"--action", "jobs cancel"}},
		{2, []string{"--subject", "schedule:nightly"}},
		{1, []string{"--subject", "job:2"}},
		{0, []string{"--subject", "job:3"}},
		{3, []string{"--actor", actor()}},
		{0, []string{"--actor", "ada"}},
		{3, []string{"--since", "2020-01-01T00:00:00Z"}},
		{0, []string{"--since", "2100-01-01T00:00:00Z"}},
		{1, []string{"--limit", "1"}},
	} {
		if got := b.objects(append([]string{"audit", "--output", "ndjson"}, c.args...)...); len(got) != c.want {
			t.Errorf("%v: %d entries, want %d", c.args, len(got), c.want)
		}
	}
}

// TestAuditIsSafe checks that texts which others chose cannot control the terminal or make up
// lines.
func TestAuditIsSafe(t *testing.T) {
	b := newBench(t)
	b.ok("migrate", "up")
	backend, err := sqlite.Open(t.Context(), b.path)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	client, err := hourbell.New(backend, hourbell.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := hourbell.WithActor(t.Context(), hourbell.Actor{Name: "eve\x1b[2J\n2027-01-01T00:00:00Z  ada  cli  jobs delete", Source: "\u202eevil\r"})
	if err := client.Groups.Pause(ctx, "g", hourbell.Pause{Reason: "\x1b]0;x\a\nline"}); err != nil {
		t.Fatal(err)
	}
	for _, output := range []string{"table", "ndjson", "json"} {
		text := b.ok("audit", "--output", output)
		if strings.ContainsAny(text, "\x1b\r\a") || output == "table" && strings.Contains(text, "\u202e") || output != "json" && strings.Count(text, "\n") > 2 {
			t.Errorf("audit --output %s:\n%q", output, text)
		}
	}
}

// TestReleaseIsRecorded checks that a lock that is freed by hand is recorded in its store.
func TestReleaseIsRecorded(t *testing.T) {
	b := newBench(t)
	b.ok("exec", "nightly", "--at-least", "1h", "--", "true")
	b.ok("locks", "release", "nightly", "--force")
	entries := b.objects("audit", "--output", "ndjson", "--subject", "lock:nightly")
	if len(entries) != 1 || entries[0]["action"] != "locks release" || entries[0]["actor"] != actor() {
		t.Errorf("the entries are %v", entries)
	}
}
