package hourbell_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// TestAFunctionIsAJob enqueues a function, and puts it as a schedule by each of several programs that start together.
func TestAFunctionIsAJob(t *testing.T) {
	c := newCluster(t)
	var ran atomic.Int64
	program := func() (*hourbell.Client, hourbell.Args) {
		workers := hourbell.NewWorkers()
		cleanup := hourbell.Func(workers, "cleanup", func(context.Context) error { ran.Add(1); return nil })
		return c.client(workers), cleanup
	}
	client, cleanup := program()
	if _, err := client.Enqueue(t.Context(), cleanup); err != nil {
		t.Fatal(err)
	}
	schedule := hourbell.Schedule{Name: "cleanup", Rule: recur.Every(time.Hour), Job: cleanup}
	for range 3 {
		client, _ := program()
		if _, err := client.Schedules.Put(t.Context(), schedule, hourbell.RunOnStart()); err != nil {
			t.Fatal(err)
		}
	}
	c.run(client)
	eventually(t, "the job and the job of the start", func() bool { return ran.Load() == 2 })
	if _, err := client.Schedules.Put(t.Context(), schedule, hourbell.RunOnStart()); err != nil { // within the minute
		t.Fatal(err)
	}
	started, err := client.Jobs.List(t.Context(), hourbell.JobFilter{Schedule: "cleanup"})
	if err != nil || len(started) != 1 || started[0].Origin != store.OriginTrigger || started[0].Kind != "cleanup" {
		t.Errorf("jobs of the schedule: %+v, %v", started, err)
	}
}

func TestAPausedScheduleDoesNotRunOnStart(t *testing.T) {
	client := newCluster(t).client(nil)
	schedule := hourbell.Schedule{Name: "s", Rule: recur.Every(time.Hour), Job: Note{}}
	if _, err := client.Schedules.Put(t.Context(), schedule); err != nil {
		t.Fatal(err)
	}
	if err := client.Schedules.Pause(t.Context(), []string{"s"}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Schedules.Put(t.Context(), schedule, hourbell.RunOnStart()); err != nil {
		t.Fatal(err)
	}
	if jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{}); err != nil || len(jobs) > 0 {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}

func TestMistakesWithFunctions(t *testing.T) {
	workers := hourbell.NewWorkers()
	hourbell.Func(workers, "a", nil)
	hourbell.Func(workers, "b", func(context.Context) error { return nil })
	hourbell.Func(workers, "b", func(context.Context) error { return nil })
	err := hourbell.Config{Workers: workers}.Validate()
	for _, want := range []string{"worker of kind a is nil", `kind "b" is registered twice`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not contain %s", err, want)
		}
	}
	client := newCluster(t).client(nil)
	schedule := hourbell.Schedule{Name: "s", Rule: recur.Every(time.Hour), Job: Note{}}
	if _, err := client.Schedules.PutAll(t.Context(), "me", 0, []hourbell.Schedule{schedule}, hourbell.RunOnStart()); err == nil || !strings.Contains(err.Error(), "RunOnStart") {
		t.Errorf("PutAll: %v", err)
	}
	if _, err := client.Schedules.Get(t.Context(), "s"); !errors.Is(err, hourbell.ErrNotFound) {
		t.Errorf("a refused put: %v", err)
	}
}
