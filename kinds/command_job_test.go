//go:build unix

package kinds_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// A command as a job: enqueued, run by a client, and stored with its output.
func TestCommandAsAJob(t *testing.T) {
	workers := hourbell.NewWorkers()
	workers.Handle(kinds.CommandKind, kinds.CommandWorker{Grace: 100 * time.Millisecond}.Work)
	client, err := hourbell.New(memory.New(), hourbell.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- client.Run(context.Background()) }()
	defer func() {
		if err := client.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	for _, test := range []struct {
		name    string
		command hourbell.Args
		timeout time.Duration
		output  string
		reason  string
	}{
		{"it runs", kinds.Command{Shell: `printf '\000'; echo "$HOURBELL_ATTEMPT"`}, 0, "\x001\n", ""},
		{"it fails", kinds.Command{Shell: "echo why; exit 3"}, 0, "why\n", "exit code 3"},
		{"its time is over", kinds.Command{Shell: "echo early; sleep 300"}, 300 * time.Millisecond, "early\n", hourbell.ErrTimeout.Error()},
		{"it is no command", hourbell.RawArgs{Name: kinds.CommandKind, JSON: []byte("{}")}, 0, "", "argv is empty"},
	} {
		t.Run(test.name, func(t *testing.T) {
			job := finish(t, client, test.command, test.timeout)
			if failed := job.State == store.StateFailed; failed != (test.reason != "") || !strings.Contains(job.Reason, test.reason) {
				t.Errorf("state %v, reason %q, want reason %q", job.State, job.Reason, test.reason)
			}
			if len(job.Attempts) != 1 || string(job.Attempts[0].Output) != test.output {
				t.Errorf("attempts %+v, want one with output %q", job.Attempts, test.output)
			}
		})
	}
}

func TestABadCommandIsNotEnqueued(t *testing.T) {
	client, err := hourbell.New(memory.New(), hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Enqueue(t.Context(), kinds.Command{}); err == nil || !strings.Contains(err.Error(), "argv") {
		t.Errorf("a command without anything to run: %v", err)
	}
}

// finish enqueues the command for one attempt and waits for its end.
func finish(t *testing.T, client *hourbell.Client, command hourbell.Args, timeout time.Duration) store.JobInfo {
	t.Helper()
	added, err := client.Enqueue(t.Context(), command, hourbell.MaxAttempts(1), hourbell.Timeout(timeout))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		job, err := client.Jobs.Get(t.Context(), added.ID)
		if err != nil {
			t.Fatal(err)
		}
		if job.State.Finished() {
			return job
		}
	}
	t.Fatalf("job %d did not finish", added.ID)
	return store.JobInfo{}
}

// The command of a hook reads the hook's event, unless the command has its own
// input.
func TestCommandOfAHook(t *testing.T) {
	for args, want := range map[string]string{
		`{"shell":"echo $HOURBELL_HOOK; cat"}`:                     "failure\n" + `{"event":"failure","schedule":"s"}`,
		`{"shell":"echo $HOURBELL_HOOK; cat","stdin":"own input"}`: "failure\nown input",
	} {
		job := hourbell.JobRow{RawArgs: []byte(args), Headers: map[string]string{hourbell.HookHeader: `{"event":"failure","schedule":"s"}`}}
		if err := (kinds.CommandWorker{}).Work(t.Context(), &job); err != nil || string(job.Output()) != want {
			t.Errorf("%s printed %q, %v", args, job.Output(), err)
		}
	}
}
