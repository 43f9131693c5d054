package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
)

// TestSignal lets a job wait for a signal, and shows it, finds it and answers it by commands.
func TestSignal(t *testing.T) {
	b := newBench(t)
	workers := hourbell.NewWorkers()
	workers.Handle("order", func(ctx context.Context, job *hourbell.JobRow) error {
		if _, err := hourbell.Step(ctx, job, "charge", func(context.Context) (map[string]any, error) {
			return map[string]any{"receipt": 7, "token": "hidden"}, nil
		}); err != nil {
			return err
		}
		answer, err := hourbell.Wait[struct{ By string }](ctx, job, "approval", 0)
		if err != nil {
			return err
		}
		return job.SetResult(answer.By)
	})
	client, stop := b.node(hourbell.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
	defer stop()
	added, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: "order"}, hourbell.Key("customer-42"))
	if err != nil {
		t.Fatal(err)
	}
	id := fmt.Sprint(added.ID)
	state := func() any { return b.objects("jobs", "show", id, "--output", "ndjson")[0]["state"] }
	eventually(t, "the job waits", func() bool { return state() == "parked" })

	equal(t, "parked jobs", fmt.Sprint(b.objects("jobs", "list", "--state", "parked", "--output", "ndjson")[0]["id"]), id)
	equal(t, "the count", strings.TrimSpace(b.ok("jobs", "count", "--state", "parked")), "1")
	for _, other := range []string{"scheduled", "retrying"} {
		equal(t, other, strings.TrimSpace(b.ok("jobs", "count", "--state", other)), "0")
	}
	shown := b.ok("jobs", "show", id)
	for _, part := range []string{"parked", "STEP", "charge", `"receipt":7`, "approval", "waits"} {
		if !strings.Contains(shown, part) {
			t.Errorf("jobs show lacks %q:\n%s", part, shown)
		}
	}
	if strings.Contains(shown, "hidden") {
		t.Errorf("jobs show has the secret of a step:\n%s", shown)
	}
	b.fails(exitUsage, []string{"value", "is not JSON"}, "signal", id, "approval", "yes")
	b.fails(exitUsage, []string{"NAME", "is missing"}, "signal", id)
	b.fails(exitUsage, []string{"is one too many"}, "signal", id, "approval", "1", "2")
	b.fails(exitFailed, []string{"not found"}, "signal", "999", "approval")
	b.fails(exitFailed, []string{"not found"}, "signal", "--key", "customer-43", "approval")
	equal(t, "the answer", b.ok("signal", "--key", "customer-42", "approval", `{"by":"ann"}`), "job "+id+" has the signal approval\n")
	eventually(t, "the job has ended", func() bool { return state() == "completed" })
	equal(t, "the result", fmt.Sprint(b.objects("jobs", "show", id, "--output", "ndjson")[0]["result"]), "ann")
	b.fails(exitFailed, []string{"the job has ended"}, "signal", id, "approval")

	b.fails(exitUsage, []string{"from", "sign", "is no step", `["charge" "approval"]`}, "jobs", "retry", id, "--from", "sign")
	b.fails(exitUsage, []string{"from", "sign", "is no step"}, "jobs", "retry", id, "--from", "sign", "--dry-run")
	b.fails(exitUsage, []string{"from"}, "jobs", "retry", id, "--from", "")
	equal(t, "nothing is changed", fmt.Sprint(state()), "completed")
	completed := b.run("__completeNoDesc", "jobs", "retry", id, "--from", "app")
	equal(t, "completed steps", completed.out, "approval\n:4\n")
	equal(t, "a retry from the signal", b.ok("jobs", "retry", id, "--from", "approval"), "job "+id+": ready to run again\n")
	eventually(t, "the job waits again", func() bool { return state() == "parked" })
}
