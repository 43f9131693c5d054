package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/sqlite"
)

// TestEvents checks what events shows in each format, that --since continues, and keep.
func TestEvents(t *testing.T) {
	b := newBench(t)
	b.ok("migrate", "up")
	equal(t, "none", b.ok("events", "--output", "json"), "[]\n")
	b.ok("enqueue", "command", "--", "true")
	b.ok("enqueue", "command", "--max-attempts", "1", "--", "false")
	b.work()
	events := b.objects("events", "--output", "ndjson")
	if len(events) != 2 {
		t.Fatalf("events: %v", events)
	}
	var fields []string
	for _, e := range events {
		if e["event"] == "failed" {
			fields = append(fields, fmt.Sprint(e["job"], e["kind"], e["attempt"], e["reason"]))
		}
		for _, name := range []string{"cursor", "at", "event", "job", "kind", "queue", "group", "node", "attempt", "schedule", "slot", "count", "reason"} {
			if _, found := e[name]; !found {
				t.Errorf("an event lacks %s: %v", name, e)
			}
		}
	}
	equal(t, "the failed job", strings.Join(fields, "\n"), fmt.Sprint(2., "command", 1., "exit code 1"))
	table := b.ok("events")
	if !strings.Contains(table, "CURSOR") || !strings.Contains(table, "completed") || !strings.Contains(table, "exit code 1") {
		t.Errorf("events as a table:\n%s", table)
	}
	if rest := b.objects("events", "--since", fmt.Sprint(events[0]["cursor"])); len(rest) != 1 || rest[0]["cursor"] != events[1]["cursor"] {
		t.Errorf("events after a cursor: %v", rest)
	}
	if limited := b.objects("events", "--since", "0-0-0", "--limit", "1"); len(limited) != 1 || limited[0]["cursor"] != events[0]["cursor"] {
		t.Errorf("events --limit 1: %v", limited)
	}
	equal(t, "keep", b.ok("events", "keep", "90m"), "events: kept for 1h30m0s\n")
	equal(t, "off", b.ok("events", "keep", "off"), "events: none are stored from now on\n")
	b.ok("enqueue", "command", "--", "true")
	b.work()
	equal(t, "off", b.ok("events", "--since", fmt.Sprint(events[1]["cursor"]), "--output", "ndjson"), "")
	b.ok("events", "keep", "1h")
	if gap := b.objects("events", "--since", fmt.Sprint(events[1]["cursor"])); len(gap) != 1 || gap[0]["event"] != "gap" {
		t.Errorf("a gap: %v", gap)
	}
}

// TestEventsRefuses checks the errors for bad input.
func TestEventsRefuses(t *testing.T) {
	b := newBench(t)
	b.ok("migrate", "up")
	for _, test := range []struct {
		args  []string
		texts []string
	}{
		{[]string{"events", "--since", "yesterday"}, []string{"cursor", "yesterday", "is not a cursor"}},
		{[]string{"events", "--since", ""}, []string{"since", "is empty"}},
		{[]string{"events", "--limit", "-1"}, []string{"limit", "is negative"}},
		{[]string{"events", "--limit", "1001"}, []string{"limit", "--since 0-0-0"}},
		{[]string{"events", "--follow", "--output", "json"}, []string{"output", "ndjson"}},
		{[]string{"events", "--follow", "--limit", "3"}, []string{"limit", "--follow"}},
		{[]string{"events", "drop"}, []string{"drop", "is unknown"}},
		{[]string{"events", "keep"}, []string{"DURATION", "is missing"}},
		{[]string{"events", "keep", "1s"}, []string{"keep", "1s", "0 to store no events"}},
		{[]string{"events", "keep", "long"}, []string{"DURATION", "long", "72h"}},
	} {
		b.fails(2, test.texts, test.args...)
	}
}

// TestEventsFollow checks that events are printed as they come, until the program is
// interrupted.
func TestEventsFollow(t *testing.T) {
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
	b.ok("events")
	out, in := io.Pipe()
	p := newProgram()
	p.stdout = in
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	code := make(chan int, 1)
	go func() {
		code <- p.run(ctx, []string{"events", "--follow", "--since", "0-0-0", "--output", "ndjson", "--store", "sqlite:" + b.path})
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	for range 3 {
		job, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: "x"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Jobs.Cancel(t.Context(), hourbell.JobFilter{IDs: []int64{job.ID}}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if !lines.Scan() {
			t.Fatal("the program ended")
		}
		var e struct {
			Event string
			Job   int64
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Event != "cancelled" || e.Job != job.ID {
			t.Errorf("line %s: %v", lines.Text(), err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("an event came after %v", took)
		}
	}
	stop()
	if got := <-code; got != 0 {
		t.Errorf("an interrupted program exits with %d", got)
	}
}
