package hourbell_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

// TestKeepFor runs jobs of kinds that are kept for different times.
func TestKeepFor(t *testing.T) {
	c := newCluster(t)
	workers := hourbell.NewWorkers()
	for kind, keep := range map[string]hourbell.Keep{
		"none": {Completed: hourbell.KeepNone}, "ever": {Completed: -1, Failed: -1}, "hour": {Completed: time.Hour, Failed: 2 * time.Hour}, "default": {},
	} {
		workers.Handle(kind, func(_ context.Context, job *hourbell.JobRow) error {
			job.SetOutput([]byte("out"))
			if string(job.RawArgs) == `"fail"` {
				return hourbell.Fail(errors.New("failed"))
			}
			return nil
		}, hourbell.KeepFor(keep))
	}
	client := c.client(workers, func(cfg *hourbell.Config) { cfg.Keep = hourbell.Keep{Completed: time.Minute, Failed: time.Minute} })
	defer c.run(client)()
	ended := int64(0)
	run := func(kind, args string) int64 {
		t.Helper()
		job, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: kind, JSON: []byte(args)})
		if err != nil {
			t.Fatal(err)
		}
		ended++
		eventually(t, "the job has ended", func() bool {
			counts := client.Events.Counts()
			return counts[event.JobCompleted]+counts[event.JobFailed] == ended
		})
		return job.ID
	}
	kept := func(ids ...int64) (kept []bool) {
		for _, id := range ids {
			_, err := client.Jobs.Get(t.Context(), id)
			if err != nil && (!errors.Is(err, hourbell.ErrNotFound) || !strings.Contains(err.Error(), "keeps nothing")) {
				t.Errorf("the error for a job that is not kept: %v", err)
			}
			kept = append(kept, err == nil)
		}
		return kept
	}
	want := func(what string, got, want []bool) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: %v, want %v", what, got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: %v, want %v", what, got, want)
				return
			}
		}
	}
	ids := []int64{run("none", "1"), run("none", `"fail"`), run("ever", "1"), run("ever", `"fail"`), run("hour", "1"), run("hour", `"fail"`), run("default", "1")}
	want("at the end", kept(ids...), []bool{false, true, true, true, true, true, true})
	prune := func(after time.Duration) {
		t.Helper()
		_, err := c.store.Prune(t.Context(), store.PruneRequest{Now: time.Now().Add(after), Completed: time.Minute, Failed: time.Minute, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
	}
	prune(2 * time.Minute)
	want("after the minute of the configuration", kept(ids...), []bool{false, false, true, true, true, true, false})
	prune(90 * time.Minute)
	want("after an hour", kept(ids...), []bool{false, false, true, true, false, true, false})
	prune(1e5 * time.Hour)
	want("after ten years", kept(ids...), []bool{false, false, true, true, false, false, false})

	if err := client.KeepKinds(map[string]hourbell.Keep{"default": {Completed: hourbell.KeepNone}, "none": {}}); err != nil {
		t.Fatal(err)
	}
	want("with KeepKinds", kept(run("default", "1"), run("none", "1"), run("hour", "1")), []bool{false, true, true})
	if err := client.KeepKinds(nil); err != nil {
		t.Fatal(err)
	}
	want("without KeepKinds", kept(run("default", "1"), run("none", "1")), []bool{true, false})
}

// TestKeepNoneByDefault sets KeepNone for all kinds of a node.
func TestKeepNoneByDefault(t *testing.T) {
	c := newCluster(t)
	workers := hourbell.NewWorkers()
	done := func(context.Context, *hourbell.JobRow) error { return nil }
	workers.Handle("a", done)
	workers.Handle("b", done, hourbell.KeepFor(hourbell.Keep{Completed: time.Hour}))
	client := c.client(workers, func(cfg *hourbell.Config) { cfg.Keep.Completed = hourbell.KeepNone })
	defer c.run(client)()
	for _, kind := range []string{"a", "b"} {
		if _, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: kind, JSON: []byte("1")}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "both jobs have completed", func() bool { return client.Events.Counts()[event.JobCompleted] == 2 })
	jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{})
	if err != nil || len(jobs) != 1 || jobs[0].Kind != "b" {
		t.Errorf("kept %+v, %v; want the job of kind b", jobs, err)
	}
}

func TestKeepIsChecked(t *testing.T) {
	for problem, keep := range map[string]hourbell.Keep{
		`slots`:  {Slots: time.Hour},
		`failed`: {Failed: hourbell.KeepNone},
		"":       {Completed: math.MinInt64, Failed: math.MaxInt64},
	} {
		workers := hourbell.NewWorkers()
		workers.Handle("k", func(context.Context, *hourbell.JobRow) error { return nil }, hourbell.KeepFor(keep))
		err := hourbell.Config{Workers: workers}.Validate()
		if (err == nil) != (problem == "") || err != nil && !strings.Contains(err.Error(), problem) {
			t.Errorf("%+v: %v", keep, err)
		}
		client := newCluster(t).client(nil)
		if err := client.KeepKinds(map[string]hourbell.Keep{"k": keep}); (err == nil) != (problem == "") {
			t.Errorf("KeepKinds %+v: %v", keep, err)
		}
	}
	if err := (hourbell.Config{Keep: hourbell.Keep{Failed: hourbell.KeepNone, Slots: hourbell.KeepNone}}).Validate(); err == nil ||
		!strings.Contains(err.Error(), "failed") || !strings.Contains(err.Error(), "slots") {
		t.Errorf("failed jobs and slots that are not kept at all: %v", err)
	}
	if err := newCluster(t).client(nil).KeepKinds(map[string]hourbell.Keep{"": {}}); err == nil {
		t.Error("KeepKinds takes a kind without a name")
	}
}
