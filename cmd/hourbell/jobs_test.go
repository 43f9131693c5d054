package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/logline"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/store"
)

// lockedBuffer is a log to which several goroutines write.
type lockedBuffer struct {
	mu  sync.Mutex
	log bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.String()
}

// node runs a client on the bench's store until stop is called.
func (b *bench) node(config hourbell.Config) (client *hourbell.Client, stop func()) {
	b.t.Helper()
	backend, err := sqlite.Open(b.t.Context(), b.path)
	if err != nil {
		b.t.Fatal(err)
	}
	client, err = hourbell.New(backend, config)
	if err == nil {
		err = client.Migrate(b.t.Context())
	}
	if err != nil {
		b.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- client.Run(context.Background()) }()
	return client, func() {
		if err := errors.Join(client.Stop(context.Background()), <-ended, backend.Close()); err != nil {
			b.t.Error(err)
		}
	}
}

// TestHugeErrors checks that an error of 50 MiB is a line of some KiB in the
// log and 64 KiB in the store, and that both contain its size.
func TestHugeErrors(t *testing.T) {
	const named = "… (52,428,800 bytes in all)"
	huge := strings.Repeat("x", 50<<20)
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			b := newBench(t)
			var log lockedBuffer
			logger, err := logline.New(&log, "info", format)
			if err != nil {
				t.Fatal(err)
			}
			workers := hourbell.NewWorkers()
			workers.Handle("fails", func(context.Context, *hourbell.JobRow) error { return errors.New(huge) })
			workers.Handle("cancels", func(context.Context, *hourbell.JobRow) error { return hourbell.Cancel(errors.New(huge)) })
			workers.Handle("panics", func(context.Context, *hourbell.JobRow) error { panic(huge) })
			client, stop := b.node(hourbell.Config{Workers: workers, Logger: logger, Lease: 5 * time.Minute}) // not lost on a slow machine
			for _, kind := range []string{"fails", "cancels", "panics"} {
				b.ok("enqueue", kind, "--max-attempts", "1")
			}
			b.ok("enqueue", "fails", "--backoff", "constant:1h") // one attempt during the test
			eventually(t, "all jobs have run", func() bool {
				jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{})
				return err == nil && !slices.ContainsFunc(jobs, func(j store.JobInfo) bool {
					return j.State == store.StateRunning || j.Attempt == 0
				})
			})
			stop()
			lines := strings.Split(strings.TrimSpace(log.String()), "\n")
			told := 0
			for _, line := range lines {
				if len(line) > 5<<10 && !strings.Contains(line, `"trace"`) || len(line) > 24<<10 {
					t.Errorf("a line of %d bytes: %.100s", len(line), line)
				}
				if strings.Contains(line, "bytes in all)") {
					told++
				}
			}
			if told != 4 {
				t.Errorf("%d lines name the size of an error instead of 4", told)
			}
			for id, want := range map[string]string{"1": named, "2": named, "3": "bytes in all)", "4": named} {
				out := b.ok("jobs", "show", id)
				if !strings.Contains(out, want) || len(out) > 200<<10 {
					t.Errorf("job %s is shown in %d bytes: %.200s", id, len(out), out)
				}
				if out := b.ok("jobs", "show", id, "--output", "json"); !strings.Contains(out, want) || len(out) > 200<<10 {
					t.Errorf("job %s is shown as JSON in %d bytes", id, len(out))
				}
			}
		})
	}
}

// TestJobsListByShownState checks that each state that the list shows can be
// selected, alone and with others, and is found page by page.
func TestJobsListByShownState(t *testing.T) {
	b := newBench(t)
	b.page = 2
	b.ok("enqueue", "command", "--", "false") // 1: retrying
	b.ok("enqueue", "command", "--", "true")  // 2: completed
	b.work()
	for range 5 { // 3, 5, … scheduled, and 4, 6, … ready
		b.ok("enqueue", "other", "--in", "1h")
		b.ok("enqueue", "other")
	}
	b.ok("enqueue", "another", "--in", "1h") // 13
	ids := func(args ...string) string {
		var found []string
		for _, job := range b.objects(append([]string{"jobs", "list"}, args...)...) {
			found = append(found, fmt.Sprint(job["id"]))
		}
		return strings.Join(found, " ")
	}
	for _, test := range []struct{ want, state string }{
		{"13 11 9 7 5 3", "scheduled"},
		{"1", "retrying"},
		{"13 11 9 7 5 3 1", "retrying,scheduled"},
		{"13 11 9 7 5 3 2", "scheduled,completed"},
		{"2 1", "retrying,completed,running"},
		{"13 12 11 10 9 8 7 6 5 4 3 1", "ready"},
		{"2", "completed"},
	} {
		equal(t, test.state, ids("--state", test.state), test.want)
	}
	equal(t, "with a limit", ids("--state", "scheduled", "--limit", "3"), "13 11 9")
	b.ok("enqueue", "charge", "--args", `{"customer":42,"card":{"token":"hunter2"}}`) // 14
	b.ok("enqueue", "charge", "--args", `{"customer":421}`)
	b.ok("enqueue", "charge", "--args", `{"order":{"customer":42}}`)
	equal(t, "by arguments", ids("--args", "customer=42"), "14")
	equal(t, "by several arguments", ids("--args", "customer=42", "--args", "customer=421"), "")
	equal(t, "by a hidden value", ids("--args", "card.token=hunter2"), "")
	equal(t, "counted by arguments", b.ok("jobs", "count", "--args", "order.customer=42"), "1\n")
	b.fails(2, []string{`args "customer" has no value`, "customer=42"}, "jobs", "list", "--args", "customer")
	b.ok("jobs", "cancel", "--args", "customer=42")
	equal(t, "cancelled by arguments", ids("--state", "cancelled"), "14")
	equal(t, "with a kind", ids("--state", "scheduled", "--kind", "another"), "13")
	for _, state := range []string{"scheduled", "retrying"} {
		table := strings.Split(strings.TrimSpace(b.ok("jobs", "list", "--state", state)), "\n")
		for _, row := range table[1:] {
			if !strings.Contains(row, state) {
				t.Errorf("%s lists %q", state, row)
			}
		}
	}
}

// TestJobsCountBy counts jobs apart, and lists the jobs of a graph with their names.
func TestJobsCountBy(t *testing.T) {
	b := newBench(t)
	writeFile(t, "graph.yaml", "jobs:\n  export: {kind: dump}\n  publish: {kind: mail, queue: slow, after: {export: success}}\n")
	b.ok("enqueue", "--graph", "graph.yaml")
	for range 2 {
		b.ok("enqueue", "mail")
	}
	for by, want := range map[string]string{
		"state": "STATE COUNT ready 3 waiting 1", "kind": "KIND COUNT mail 3 dump 1", "queue": "QUEUE COUNT default 3 slow 1", "group": "GROUP COUNT - 4",
		"batch": "BATCH COUNT - 2 1 2", "node": "NODE COUNT - 4", "priority": "PRIORITY COUNT 5 4",
	} {
		equal(t, by, strings.Join(strings.Fields(b.ok("jobs", "count", "--by", by)), " "), want)
	}
	equal(t, "records", b.ok("jobs", "count", "--by", "kind", "--state", "waiting", "--output", "ndjson"), "{\"count\":1,\"kind\":\"mail\"}\n")
	b.fails(exitUsage, []string{"by", "did you mean queue?"}, "jobs", "count", "--by", "queues")
	b.fails(exitUsage, []string{"by", "several limits", "`hourbell limits list`"}, "jobs", "count", "--by", "limit")
	listed := strings.Join(strings.Fields(b.ok("jobs", "list", "--batch", "1", "--columns", "name,kind")), " ")
	equal(t, "names", listed, "NAME KIND publish mail export dump")
}

// TestMigratePrintFrom checks which steps are printed, and that --schema alone means PostgreSQL.
func TestMigratePrintFrom(t *testing.T) {
	b := newBench(t)
	delete(b.env, storeVariable)
	all := b.ok("migrate", "print", "--schema", "jobs")
	if !strings.HasPrefix(all, "-- Step 1, ") || !strings.Contains(all, "jobs.") {
		t.Errorf("printed: %.200q", all)
	}
	equal(t, "from the first step", b.ok("migrate", "print", "--schema", "jobs", "--from", "1"), all)
	steps := strings.Count(all, "\n-- Step ") + strings.Count(all[:8], "-- Step ")
	b.fails(exitUsage, []string{"from", "beyond the last step", fmt.Sprintf("use 1 to %d", steps)},
		"migrate", "print", "--schema", "jobs", "--from", fmt.Sprint(steps+1))
	b.fails(exitUsage, []string{"from", "1 or more"}, "migrate", "print", "--from", "0")
	noStore(t, b)
}
