//go:build linux

package kinds_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/store/memory"
)

// TestCommandIsHandedOver hands running commands over, each time to a program that does not come, so that
// the node takes them up again: a command that ends by itself, a command that is cancelled, and a
// command whose time is over while it is handed over. The time counts from the start.
func TestCommandIsHandedOver(t *testing.T) {
	workers := hourbell.NewWorkers()
	workers.Handle(kinds.CommandKind, kinds.CommandWorker{Grace: 100 * time.Millisecond}.Work, hourbell.CanHandOver())
	client, err := hourbell.New(memory.New(), hourbell.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- client.Run(context.Background()) }()
	dir := t.TempDir()
	enqueue := func(line string, options ...hourbell.Option) int64 {
		t.Helper()
		job, err := client.Enqueue(t.Context(), kinds.Command{Shell: line, Dir: dir}, append(options, hourbell.MaxAttempts(1))...)
		if err != nil {
			t.Fatal(err)
		}
		return job.ID
	}
	whole := enqueue("touch a; echo one; until [ -f enough ]; do sleep 0.01; done; echo two")
	cancelled := enqueue("touch b; echo one; sleep 300")
	late := enqueue("touch c; echo one; sleep 300", hourbell.Timeout(3*time.Second))
	await := func(what string, ok func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("waited in vain for: %s", what)
			}
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		await("the start of "+name, func() bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil })
	}

	notReplaced := errors.New("not replaced")
	for i := range 3 {
		err := client.HandOver(t.Context(), func(state []byte, descriptors []int) error {
			if i == 0 && len(descriptors) != 3 || len(state) == 0 {
				t.Errorf("descriptors %v, state of %d bytes", descriptors, len(state))
			}
			if i == 0 {
				time.Sleep(2500 * time.Millisecond) // most of the time of the command that is too late
			}
			return notReplaced
		})
		if !errors.Is(err, notReplaced) {
			t.Fatal(err)
		}
	}
	if _, err := client.Jobs.Cancel(t.Context(), hourbell.JobFilter{IDs: []int64{cancelled}}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "enough"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[int64]struct{ state, output string }{whole: {"completed", "one\ntwo\n"}, cancelled: {"cancelled", "one\n"}, late: {"failed", "one\n"}} {
		await("the end of a job", func() bool {
			job, err := client.Jobs.Get(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			return !job.FinishedAt.IsZero()
		})
		job, err := client.Jobs.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if job.State.String() != want.state || len(job.Attempts) != 1 || string(job.Attempts[0].Output) != want.output {
			t.Errorf("job %d is %v (%s) with attempts %+v; want %+v", id, job.State, job.Reason, job.Attempts, want)
		}
		if id == late {
			if took := job.FinishedAt.Sub(job.StartedAt); took > 4500*time.Millisecond {
				t.Errorf("a timeout of 3 s ended the command after %v", took)
			}
		}
	}
	if err := client.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
