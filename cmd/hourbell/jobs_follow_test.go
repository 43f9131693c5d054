package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
)

// TestFollow checks that output is printed as it comes, over two attempts, without
// control characters, and that a command's output is shown while it runs.
func TestFollow(t *testing.T) {
	b := newBench(t)
	workers := hourbell.NewWorkers()
	next := make(chan struct{})
	workers.Handle("speak", func(_ context.Context, job *hourbell.JobRow) error {
		job.Log("attempt %d is here\x1b[31m\x07", job.Attempt)
		_, _ = io.WriteString(job.Writer(), "half a character: \xc3")
		<-next
		_, _ = io.WriteString(job.Writer(), "\xbc <b>, and\r\nthe end")
		if job.Attempt == 1 {
			return hourbell.RetryIn(0, errors.New("once more"))
		}
		return nil
	})
	client, stop := b.node(hourbell.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
	b.ok("enqueue", "speak")
	var out, notes, records lockedBuffer
	ended := make(chan error, 2)
	go func() { ended <- (&program{stdout: &out, stderr: &notes}).jobsFollow(t.Context(), client, asTable, 1) }()
	go func() {
		ended <- (&program{stdout: &records, stderr: io.Discard}).jobsFollow(t.Context(), client, asNDJSON, 1)
	}()
	const first = "attempt 1 is here\\x1b[31m\\a\nhalf a character: "
	eventually(t, "the first output", func() bool { return out.String() == first })
	if shown := b.ok("jobs", "show", "1"); !strings.Contains(shown, "attempt 1, running\n  output:\n    attempt 1 is here") {
		t.Errorf("show:\n%s", shown)
	}
	if output, _ := b.objects("jobs", "show", "1")[0]["output"].(string); !strings.HasPrefix(output, "attempt 1 is here") {
		t.Errorf("the record: %q", output)
	}
	next <- struct{}{}
	eventually(t, "the second attempt", func() bool { return strings.Contains(out.String(), "attempt 2 is here") })
	next <- struct{}{}
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	want := first + "ü <b>, and\nthe end"
	if got := out.String(); got != want+"\n"+strings.ReplaceAll(want, "attempt 1", "attempt 2") {
		t.Errorf("followed:\n%s", got)
	}
	if got := notes.String(); got != "attempt 2\n\njob 1: completed\n" {
		t.Errorf("notes: %q", got)
	}
	if got := records.String(); !strings.Contains(got, `"running":true,"from":0,"end":`) || !strings.HasSuffix(got, "}\n") || !strings.Contains(got, `"state":"completed"`) {
		t.Errorf("records:\n%s", got)
	}
	stop()
	if r := b.run("jobs", "show", "1", "--follow"); r.code != 0 || !strings.HasSuffix(r.out, "the end") || !strings.Contains(r.err, "job 1: completed") {
		t.Errorf("a finished job, followed: %+v", r)
	}
	b.fails(exitFailed, []string{"job 99"}, "jobs", "show", "99", "--follow")
	b.fails(exitUsage, []string{"follow", "watch"}, "jobs", "show", "1", "--follow", "--watch")
}
