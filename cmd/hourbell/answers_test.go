package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
)

// TestResultsAndSnoozes checks how results and snoozes of a job are shown.
func TestResultsAndSnoozes(t *testing.T) {
	b := newBench(t)
	workers := hourbell.NewWorkers()
	snoozed := false
	workers.Handle("count", func(_ context.Context, job *hourbell.JobRow) error {
		if !snoozed {
			snoozed = true
			return hourbell.Snooze(0)
		}
		return job.SetResult(json.RawMessage(`{"files": 3, "exact": 12345678901234567890}`))
	})
	workers.Handle("plain", func(context.Context, *hourbell.JobRow) error { return nil })
	client, stop := b.node(hourbell.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
	b.ok("enqueue", "count")
	b.ok("enqueue", "plain")
	eventually(t, "both jobs to complete", func() bool {
		jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{})
		return err == nil && len(jobs) == 2 && jobs[0].State.Finished() && jobs[1].State.Finished()
	})
	stop()
	const result = `{"files":3,"exact":12345678901234567890}`
	lines := strings.Split(strings.TrimSpace(b.ok("jobs", "list", "--output", "ndjson")), "\n")
	if !strings.Contains(lines[0], `"snoozes":0,`) || !strings.Contains(lines[0], `"result":null,`) {
		t.Errorf("a job without a result and without snoozes: %s", lines[0])
	}
	if !strings.Contains(lines[1], `"snoozes":1,`) || !strings.Contains(lines[1], `"result":`+result) {
		t.Errorf("a job with a result that snoozed: %s", lines[1])
	}
	if shown := b.ok("jobs", "show", "1", "--output", "ndjson"); shown != lines[1]+"\n" {
		t.Errorf("show: %s\nlist: %s", shown, lines[1])
	}
	shown := b.ok("jobs", "show", "1")
	for _, line := range []string{"attempt      1 of 25", "snoozes      1", "result       " + result} {
		if !strings.Contains(shown, line+"\n") {
			t.Errorf("%q is missing in\n%s", line, shown)
		}
	}
	if shown := b.ok("jobs", "show", "2"); strings.Contains(shown, "snoozes") || strings.Contains(shown, "result") {
		t.Errorf("a job without result and snoozes:\n%s", shown)
	}
	if table := b.ok("jobs", "list"); !strings.Contains(table, `{"files":3,`) {
		t.Errorf("the list has no result:\n%s", table)
	}
}
