package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/sqlite"
)

// TestJobsControl takes jobs through the commands of an operator: a look at what would
// be retried, then the retry, and the other changes by a filter.
func TestJobsControl(t *testing.T) {
	b := newBench(t)
	b.ok("enqueue", "command", "--args", `{"argv":["sh","-c","echo refused >&2; exit 3"]}`, "--max-attempts", "1", "--unique", "x")
	b.ok("enqueue", "command", "--args", `{"argv":["sh","-c","exit 4"]}`, "--max-attempts", "1")
	b.ok("enqueue", "command", "--args", `{"argv":["true"]}`)
	b.work()
	b.ok("enqueue", "idle", "--queue", "a")
	b.ok("enqueue", "idle", "--queue", "a", "--in", "1h")

	equal(t, "count", b.ok("jobs", "count"), "5\n")
	for flags, want := range map[string]string{
		"--state failed": "[2 1]", "--state failed --kind command --since 2h": "[2 1]", "--state failed --until 2h": "[]",
		"--finished-since 1h": "[3 2 1]", "--finished-until 1h": "[]", "--since 2001-01-01T00:00:00Z --queue a": "[5 4]",
		"--error 'exit code 4'": "[2]", "--unique x": "[1]", "--state scheduled": "[5]", "--state scheduled,completed": "[5 3]", "--until 2001-01-01": "[]",
	} {
		args := words(flags)
		if got := ids(b.objects(append([]string{"jobs", "list"}, args...)...)); got != want {
			t.Errorf("list %s: %s instead of %s", flags, got, want)
		}
		n := 0
		if want != "[]" {
			n = len(strings.Fields(want))
		}
		equal(t, "count "+flags, b.ok(append([]string{"jobs", "count", "--output", "ndjson"}, args...)...), fmt.Sprintf(`{"count":%d}`, n)+"\n")
	}

	dry := b.ok("jobs", "retry", "--state", "failed", "--since", "2h", "--dry-run")
	for _, part := range []string{"dry run, nothing is changed: 2 jobs: ready to run again\n", "exit code 3", "exit code 4"} {
		if !strings.Contains(dry, part) {
			t.Errorf("the dry run lacks %q:\n%s", part, dry)
		}
	}
	equal(t, "dry run", b.ok("jobs", "retry", "--state", "failed", "--since", "2h", "--dry-run", "--output", "ndjson"),
		`{"id":1,"change":"changed","dry_run":true}`+"\n"+`{"id":2,"change":"changed","dry_run":true}`+"\n")
	equal(t, "dry run of a number", strings.SplitAfter(b.ok("jobs", "delete", "1", "--dry-run"), "\n")[0], "dry run, nothing is changed: 1 job: deleted\n")
	equal(t, "after the dry run", b.ok("jobs", "count", "--state", "failed"), "2\n")
	equal(t, "retry", b.ok("jobs", "retry", "--state", "failed", "--since", "2h"), "job 1: ready to run again\njob 2: ready to run again\n2 jobs: ready to run again\n")
	equal(t, "nothing to retry", b.ok("jobs", "retry", "--state", "failed", "--since", "2h"), "no job matches\n")

	equal(t, "move", b.ok("jobs", "move", "--queue", "a", "--to", "b"), "job 4: moved\njob 5: moved\n2 jobs: moved\n")
	equal(t, "moved", ids(b.objects("jobs", "list", "--queue", "b")), "[5 4]")
	r := b.fails(exitFailed, []string{"move job 3: it is running or has finished"}, "jobs", "move", "3", "4", "--to", "c")
	equal(t, "move of two", r.out, "job 4: moved\n")
	equal(t, "reprioritise", b.ok("jobs", "reprioritise", "--kind", "idle", "--priority", "1", "--output", "ndjson"), `{"id":4,"change":"changed"}`+"\n"+`{"id":5,"change":"changed"}`+"\n")
	equal(t, "priority", fmt.Sprint(b.objects("jobs", "list", "--kind", "idle")[0]["priority"]), "1")
	b.fails(exitFailed, []string{"job 5: not found, or the other flags do not select it"}, "jobs", "cancel", "5", "--kind", "command")
	equal(t, "cancel", b.ok("jobs", "cancel", "--kind", "idle", "--state", "scheduled"), "job 5: cancelled\n1 job: cancelled\n")
	equal(t, "delete", b.ok("jobs", "delete", "--all", "--output", "json"), "[\n  "+strings.Join([]string{
		`{"id":1,"change":"changed"}`, `{"id":2,"change":"changed"}`, `{"id":3,"change":"changed"}`, `{"id":4,"change":"changed"}`, `{"id":5,"change":"changed"}`,
	}, ",\n  ")+"\n]\n")
	equal(t, "what is left", b.ok("jobs", "count"), "0\n")
}

// words splits a text at spaces outside of single quotes.
func words(text string) []string {
	var out []string
	for i, part := range strings.Split(text, "'") {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}

// TestJobsControlOfMany: many jobs are counted, and not printed one by one.
func TestJobsControlOfMany(t *testing.T) {
	b := newBench(t)
	b.many(t, 2500)
	equal(t, "cancel", b.ok("jobs", "cancel", "--kind", "idle"), "2500 jobs: cancelled\n")
	equal(t, "cancelled", b.ok("jobs", "count", "--state", "cancelled"), "2500\n")
	b.ok("enqueue", "idle", "--unique", "x") // 2501
	b.ok("jobs", "cancel", "2501")
	b.ok("enqueue", "idle", "--unique", "x") // 2502
	r := b.run("jobs", "retry", "--state", "cancelled")
	if r.code != exitFailed || r.out != "2500 jobs: ready to run again\n" || !strings.HasPrefix(r.err, "hourbell: retry 1 job: other jobs hold their unique keys") {
		t.Errorf("a conflict among many: %+v", r)
	}
	r = b.run("jobs", "retry", "--state", "cancelled")
	if r.code != exitFailed || r.out != "no job was changed\n" || !strings.HasPrefix(r.err, "hourbell: retry job 2501: job 2502 holds its unique key") {
		t.Errorf("a conflict alone: %+v", r)
	}
}

// many enqueues n jobs of kind idle.
func (b *bench) many(t *testing.T, n int) {
	t.Helper()
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
	requests := make([]hourbell.Request, n)
	for i := range requests {
		requests[i] = hourbell.Request{Args: hourbell.RawArgs{Name: "idle"}}
	}
	if _, err := client.EnqueueMany(t.Context(), requests); err != nil {
		t.Fatal(err)
	}
}

// TestJobsControlInterrupted sends SIGINT to a process that changes many jobs: whole
// batches are done, and the process prints their number.
func TestJobsControlInterrupted(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	const n = 30_000
	b.many(t, n)
	c := exec.Command(os.Args[0], "jobs", "cancel", "--all", "--output", "ndjson")
	c.Env = append(os.Environ(), asProgram+"=1", storeVariable+"="+b.env[storeVariable])
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var records int
	buffer := make([]byte, 64<<10)
	for {
		n, err := out.Read(buffer)
		if records == 0 && n > 0 {
			_ = c.Process.Signal(syscall.SIGINT) // it may have ended
		}
		records += strings.Count(string(buffer[:n]), "\n")
		if err != nil {
			break
		}
	}
	err = c.Wait()
	cancelled := strings.TrimSpace(b.ok("jobs", "count", "--state", "cancelled"))
	if c.ProcessState.ExitCode() != exitFailed || fmt.Sprint(records) != cancelled || records%1000 != 0 && records < 1000 || records == n ||
		!strings.Contains(errs.String(), fmt.Sprintf("cancel jobs: interrupted; the %d jobs before stay as they were changed", records)) {
		t.Errorf("%v: %d records, %s jobs are cancelled, stderr %q", err, records, cancelled, errs.String())
	}
}
