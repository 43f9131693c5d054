package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
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

// TestBackoff checks where a back-off can be given, and how it is shown.
func TestBackoff(t *testing.T) {
	b := newBench(t)
	b.ok("enqueue", "idle", "--backoff", "exponential:1s:600s")
	b.ok("enqueue", "idle")
	for id, want := range map[string]any{"1": "exponential:1s:10m", "2": nil} {
		if job := b.objects("jobs", "show", id)[0]; job["backoff"] != want {
			t.Errorf("job %s has the back-off %v, want %v", id, job["backoff"], want)
		}
	}
	if shown := b.ok("jobs", "show", "1"); !strings.Contains(shown, "backoff     exponential:1s:10m\n") {
		t.Errorf("show:\n%s", shown)
	}
	b.ok("schedules", "put", "s", "--every", "1h", "--kind", "idle", "--backoff", "linear:60s")
	if schedule := b.objects("schedules", "list")[0]; schedule["backoff"] != "linear:1m" {
		t.Errorf("the schedule has the back-off %v", schedule["backoff"])
	}
	b.ok("schedules", "trigger", "s")
	if job := b.objects("jobs", "show", "3")[0]; job["backoff"] != "linear:1m" {
		t.Errorf("the job of the schedule has the back-off %v", job["backoff"])
	}
	for _, bad := range []string{"often", "constant:10ms", "linear:1h:1m", ""} {
		b.fails(exitUsage, []string{"backoff"}, "enqueue", "idle", "--backoff", bad)
	}
	b.fails(exitUsage, []string{"backoff", "exponential:1s:10m"}, "schedules", "put", "s", "--every", "1h", "--kind", "idle", "--backoff", "often")
	if jobs := b.objects("jobs", "list"); len(jobs) != 3 {
		t.Errorf("%d jobs", len(jobs))
	}
	file := filepath.Join(t.TempDir(), "hours.yaml")
	write := func(policy string) {
		text := "schedules:\n  - {name: a, every: 1h, kind: idle, backoff: \"" + policy + "\"}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("constant:30s")
	b.ok("apply", file)
	if schedule := b.objects("schedules", "list")[0]; schedule["name"] != "a" || schedule["backoff"] != "constant:30s" {
		t.Errorf("the schedule of the file: %v", schedule)
	}
	write("30s")
	if r := b.run("check", file); r.code != exitFailed && r.code != exitUsage || !strings.Contains(r.out+r.err, "backoff") {
		t.Errorf("a mistake in the file: %+v", r)
	}
}

// TestProgress checks how progress is shown, and --watch with and without a
// terminal.
func TestProgress(t *testing.T) {
	b := newBench(t)
	workers := hourbell.NewWorkers()
	next := make(chan struct{})
	workers.Handle("copy", func(_ context.Context, job *hourbell.JobRow) error {
		job.Progress(1, 4, "a\x1b[31m.txt")
		<-next
		job.Progress(4, 4, "")
		return nil
	})
	workers.Handle("idle", func(context.Context, *hourbell.JobRow) error { return nil })
	client, stop := b.node(hourbell.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
	b.ok("enqueue", "copy")
	b.ok("enqueue", "idle")
	eventually(t, "the first progress", func() bool {
		job, err := client.Jobs.Get(t.Context(), 1)
		return err == nil && job.Progress.Done == 1
	})
	if progress, _ := b.objects("jobs", "show", "1")[0]["progress"].(map[string]any); progress["done"] != 1.0 || progress["total"] != 4.0 || progress["note"] != "a\x1b[31m.txt" || progress["at"] == nil {
		t.Errorf("progress %v", progress)
	}
	if idle := b.ok("jobs", "show", "2", "--output", "ndjson"); !strings.Contains(idle, `"progress":null,`) {
		t.Errorf("a job without progress: %s", idle)
	}
	if shown := b.ok("jobs", "show", "1"); !strings.Contains(shown, "1 of 4 (25 %), a") || strings.Contains(shown, "\x1b") {
		t.Errorf("show:\n%s", shown)
	}

	var lines, terminal lockedBuffer
	watch := func(p *program) chan error {
		ended := make(chan error, 1)
		go func() { ended <- p.jobsWatch(t.Context(), client, asTable, false, 1) }()
		return ended
	}
	plainly := watch(&program{stdout: &lines, stderr: io.Discard})
	var records lockedBuffer
	recorded := make(chan error, 1)
	go func() {
		recorded <- (&program{stdout: &records, stderr: io.Discard}).jobsWatch(t.Context(), client, asNDJSON, false, 1)
	}()
	drawn := &bar{out: &terminal, steps: 1}
	drawn.show("running", view.ProgressPart(store.Progress{Done: 1, Total: 4}))
	eventually(t, "the first line", func() bool { return strings.Contains(lines.String(), "running  1 of 4 (25 %), a") })
	eventually(t, "the first record", func() bool { return strings.Contains(records.String(), `"state":"running"`) })
	close(next)
	if err := <-plainly; err != nil {
		t.Error(err)
	}
	if out := lines.String(); strings.Count(out, "running  1 of 4") != 1 || !strings.Contains(out, "state        completed\n") || strings.Contains(out, "\r") {
		t.Errorf("watched without a terminal:\n%s", out)
	}
	if err := <-recorded; err != nil {
		t.Error(err)
	}
	if out := records.String(); !strings.Contains(out, `"state":"completed"`) {
		t.Errorf("watched as records:\n%s", out)
	}
	if out := terminal.String(); !strings.Contains(out, "███████░") {
		t.Errorf("on a terminal: %q", out)
	}
	eventually(t, "the last progress", func() bool {
		job, err := client.Jobs.Get(t.Context(), 1)
		return err == nil && job.Progress.Done == 4
	})
	if out := b.ok("jobs", "show", "1", "--watch"); !strings.Contains(out, "4 of 4 (100 %)\n") {
		t.Errorf("a finished job, watched:\n%s", out)
	}
	stop()
	b.fails(exitFailed, []string{"job 99"}, "jobs", "show", "99", "--watch")
}
