package main

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/internal/zonetest"
	"github.com/hourbell/hourbell/store"
)

// TestFindingsAreEverywhere makes what the drill of docs/production.md does not have happen with real nodes, sees each finding in doctor, top,
// the overview page, the API and the metrics, and sees it go. All findings share a store and the node that is asked.
func TestFindingsAreEverywhere(t *testing.T) {
	startsProcesses(t)
	d := &walk{bench: newBench(t)}
	d.does("schedules", "put", "hasty", "--every", "2s", "--grace", "1s", "--misfire", "skip", "--", "true")
	d.does("schedules", "put", "noon", "--cron", "0 12 * * *", "--tz", "Europe/Prague", "--", "true")
	d.does("limits", "put", "few", "--queue", "reports", "--concurrency", "1")
	overdue := &failure{level: "error", check: "schedule-overdue", found: anyWords("schedule hasty has not fired 2 slots"), everywhere: true}
	d.awaits(overdue, true) // no node has started, so that slots are missed

	release := make(chan struct{})
	workers := hourbell.NewWorkers()
	workers.Handle("deaf", func(context.Context, *hourbell.JobRow) error { <-release; return nil })
	client, stop := d.bench.node(hourbell.Config{Name: "deaf", Workers: workers, Queues: map[string]int{"deaf": 1}, Grace: 100 * time.Millisecond})
	defer stop()
	if _, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: "deaf"}, hourbell.Queue("deaf"), hourbell.Timeout(100*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	backend, err := sqlite.Open(t.Context(), d.path)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	report := store.NewJob{
		JobSpec: store.JobSpec{Kind: "command", Queue: "reports", Args: []byte(`{"argv":["sleep","1000"]}`), Priority: 5, MaxAttempts: 1},
		RunAt:   time.Now().Add(-2 * time.Minute),
	}
	if _, err := backend.Insert(t.Context(), store.InsertRequest{Jobs: []store.NewJob{report, report}}); err != nil {
		t.Fatal(err)
	}
	failTimes(t, d.bench, backend, "invoices", hourbell.FailingAfter)
	d.does("enqueue", "command", "--max-attempts", "1", "--", "false")

	d.serve("--name", "wren", "--host", "tree", "--lease", "2s", "--commands", "any", "--queues", "default,reports", "--listen", "127.0.0.1:0")
	asked := d.node
	d.isReady()
	folder := t.TempDir()
	t.Setenv("ZONEINFO", folder) // of the processes that start from now on: this process has read its zones
	zonetest.Write(t, "Europe/Prague", 5*time.Hour)
	d.env["ZONEINFO"] = folder
	d.serve("--name", "owl", "--host", "barn", "--queues", "none")
	owl := d.node
	d.node = asked
	delete(d.env, "ZONEINFO")

	warns := func(check, found string) *failure {
		return &failure{level: "warning", check: check, found: anyWords(found), everywhere: true}
	}
	all := []*failure{
		warns("slots-missed", "schedule hasty missed … slot"),
		warns("worker-stuck", "(node deaf)"),
		warns("job-held-up", "waits although it is due: …few"),
		warns("queue-behind", "queue reports is behind: its oldest due job has waited for"),
		warns("schedule-fails", "the last 3 jobs of schedule invoices failed, job … with: "),
		warns("jobs-failed", "failed in the last hour; the newest is job … of kind command: "),
		warns("time-zones-differ", "Europe/Prague has other data on …owl"),
	}
	for _, one := range all {
		d.awaits(one, true)
	}

	close(release)
	owl.signal(syscall.SIGTERM)
	owl.ends()
	d.does("schedules", "delete", "hasty", "invoices", "noon")
	d.does("jobs", "cancel", "--queue", "reports")
	d.does("jobs", "delete", "--state", "failed")
	for _, one := range all {
		d.awaits(one, false)
	}
}
