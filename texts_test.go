package hourbell_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/intercept"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// TestErrorsSayThingsOnce checks the texts of errors whose name or call stood there twice.
func TestErrorsSayThingsOnce(t *testing.T) {
	client := newCluster(t).client(nil)
	ctx := t.Context()
	_, put := client.Schedules.Put(ctx, hourbell.Schedule{Name: "x", Rule: recur.Cron("61 * * * *"), Job: Note{}})
	_, several := client.Schedules.PutAll(ctx, "me", 0, []hourbell.Schedule{{Name: "x", Rule: recur.Cron("61 * * * *"), Job: Note{}}})
	_, calendar := client.Calendars.Put(ctx, hourbell.Calendar{Name: "x", CalendarSpec: recur.CalendarSpec{Dates: []string{"someday"}}}, 0)
	deleted := client.Limits.Delete(ctx, "x")
	kept := hourbell.Schedule{Name: "kept", Rule: recur.Cron("1 * * * *"), Job: Note{}, Revision: hourbell.OnlyNew}
	if _, err := client.Schedules.Put(ctx, kept); err != nil {
		t.Fatal(err)
	}
	_, again := client.Schedules.Put(ctx, kept)
	for begins, err := range map[string]error{
		`put schedule "x": cron "61 * * * *": minute "61"`: put, `put schedules: schedule "x": cron`: several, `put calendar "x": dates "someday": `: calendar, `delete limit "x": not found`: deleted,
		`put schedule "kept": exists already`: again,
	} {
		if err == nil || !strings.HasPrefix(err.Error(), begins) || strings.Count(err.Error(), "delete limit") > 1 {
			t.Errorf("%v, want it to begin with %s", err, begins)
		}
	}
	if !errors.Is(deleted, hourbell.ErrNotFound) {
		t.Errorf("%v", deleted)
	}
}

// TestCallsAreNamedOnce checks that an error of a store that names the call, as drivers do, names it once when it has passed the client.
func TestCallsAreNamedOnce(t *testing.T) {
	full := errors.New("the disk is full")
	client, err := hourbell.New(intercept.New(memory.New(), func(_ context.Context, call intercept.Call, _ func(context.Context) error) error {
		return fmt.Errorf("%s: %w", strings.ReplaceAll(call.Operation, "_", " "), full)
	}), hourbell.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, all := t.Context(), hourbell.JobFilter{All: true}
	schedule := hourbell.Schedule{Name: "x", Rule: recur.Cron("1 * * * *"), Job: Note{}}
	calendar := hourbell.Calendar{Name: "x", CalendarSpec: recur.CalendarSpec{Dates: []string{"12-24"}}}
	limit := hourbell.Limit{Name: "x", Queue: "default", Concurrency: 1}
	handler := hourbell.EventHandler{Name: "x", On: []string{hourbell.HookFailure}, Job: Note{}}
	try := func(call string, _ any, err error) {
		if !errors.Is(err, full) {
			t.Errorf("%s: the error %v is not of the store", call, err)
			return
		}
		parts := strings.Split(err.Error(), ": ")
		for i := range parts[1:] {
			if parts[i] == parts[i+1] {
				t.Errorf("%s: %q has %q twice", call, err, parts[i])
			}
		}
	}
	only := func(call string, err error) { try(call, nil, err) }
	list := func(call string, do func() (any, error)) { got, err := do(); try(call, got, err) }
	list("Enqueue", func() (any, error) { return client.Enqueue(ctx, Note{}) })
	list("EnqueueMany", func() (any, error) { return client.EnqueueMany(ctx, []hourbell.Request{{Args: Note{}}}) })
	list("EnqueueBatch", func() (any, error) { return client.EnqueueBatch(ctx, []hourbell.Request{{Args: Note{}}}, nil) })
	list("Now", func() (any, error) { return client.Now(ctx) })
	list("Jobs.List", func() (any, error) { return client.Jobs.List(ctx, hourbell.JobFilter{}) })
	list("Jobs.Page", func() (any, error) { return client.Jobs.Page(ctx, hourbell.JobFilter{}) })
	list("Jobs.Get", func() (any, error) { return client.Jobs.Get(ctx, 1) })
	list("Jobs.Count", func() (any, error) { return client.Jobs.Count(ctx, hourbell.JobFilter{}) })
	list("Jobs.Estimate", func() (any, error) { return client.Jobs.Estimate(ctx, hourbell.JobFilter{}) })
	list("Jobs.Cancel", func() (any, error) { return client.Jobs.Cancel(ctx, all) })
	list("Jobs.Retry", func() (any, error) { return client.Jobs.Retry(ctx, all) })
	list("Jobs.Delete", func() (any, error) { return client.Jobs.Delete(ctx, all) })
	list("Jobs.Output", func() (any, error) { return client.Jobs.Output(ctx, store.ReadOutputRequest{ID: 1}) })
	list("Jobs.Predecessors", func() (any, error) { return client.Jobs.Predecessors(ctx, 1) })
	list("Jobs.Graph", func() (any, error) { return client.Jobs.Graph(ctx, 1, 10) })
	list("Schedules.Put", func() (any, error) { return client.Schedules.Put(ctx, schedule) })
	list("Schedules.PutAll", func() (any, error) { return client.Schedules.PutAll(ctx, "o", 0, []hourbell.Schedule{schedule}) })
	list("Schedules.Sync", func() (any, error) { return client.Schedules.Sync(ctx, "o", 0, []hourbell.Schedule{schedule}) })
	list("Schedules.List", func() (any, error) { return client.Schedules.List(ctx, hourbell.ScheduleFilter{}) })
	list("Schedules.Get", func() (any, error) { return client.Schedules.Get(ctx, "x") })
	list("Schedules.Trigger", func() (any, error) { return client.Schedules.Trigger(ctx, "x") })
	list("Schedules.Owners", func() (any, error) { return client.Schedules.Owners(ctx, hourbell.OwnerFilter{}) })
	only("Schedules.Pause", client.Schedules.Pause(ctx, []string{"x"}))
	only("Schedules.Resume", client.Schedules.Resume(ctx, []string{"x"}))
	only("Schedules.Delete", client.Schedules.Delete(ctx, []string{"x"}))
	only("Schedules.Reset", client.Schedules.Reset(ctx, []string{"x"}))
	list("Slots.List", func() (any, error) { return client.Slots.List(ctx, hourbell.SlotFilter{}) })
	list("Calendars.Put", func() (any, error) { return client.Calendars.Put(ctx, calendar, 0) })
	list("Calendars.PutAll", func() (any, error) { return client.Calendars.PutAll(ctx, []hourbell.Calendar{calendar}) })
	list("Calendars.List", func() (any, error) { return client.Calendars.List(ctx, hourbell.CalendarFilter{}) })
	only("Calendars.Delete", client.Calendars.Delete(ctx, "x"))
	list("Limits.Put", func() (any, error) { return client.Limits.Put(ctx, limit, 0) })
	list("Limits.List", func() (any, error) { return client.Limits.List(ctx) })
	only("Limits.Delete", client.Limits.Delete(ctx, "x"))
	list("Handlers.Put", func() (any, error) { return client.Handlers.Put(ctx, handler) })
	list("Handlers.List", func() (any, error) { return client.Handlers.List(ctx) })
	only("Handlers.Delete", client.Handlers.Delete(ctx, "x"))
	list("Queues.List", func() (any, error) { return client.Queues.List(ctx) })
	only("Queues.Pause", client.Queues.Pause(ctx, "x", hourbell.Pause{}))
	list("Queues.Resume", func() (any, error) { return client.Queues.Resume(ctx, "x") })
	list("Kinds.List", func() (any, error) { return client.Kinds.List(ctx) })
	list("Groups.List", func() (any, error) { return client.Groups.List(ctx) })
	list("Keys.List", func() (any, error) { return client.Keys.List(ctx) })
	list("Nodes.List", func() (any, error) { return client.Nodes.List(ctx) })
	list("Nodes.Position", func() (any, error) { return client.Nodes.Position(ctx) })
	list("Nodes.Forget", func() (any, error) { return client.Nodes.Forget(ctx, "x") })
	list("Batches.List", func() (any, error) { return client.Batches.List(ctx, hourbell.BatchFilter{}) })
	list("Audit.List", func() (any, error) { return client.Audit.List(ctx, hourbell.AuditFilter{}) })
	list("Events.List", func() (any, error) { return client.Events.List(ctx, hourbell.EventFilter{}) })
	only("Events.Keep", client.Events.Keep(ctx, 0))
}

// TestAPutNamesItsRowOnce checks the errors of stores that name a put of several rows and then the row.
func TestAPutNamesItsRowOnce(t *testing.T) {
	client, err := hourbell.New(intercept.New(memory.New(), func(_ context.Context, call intercept.Call, _ func(context.Context) error) error {
		operation := strings.ReplaceAll(call.Operation, "_", " ")
		return fmt.Errorf("%s: %s \"x\": %w", operation, strings.TrimSuffix(strings.TrimPrefix(operation, "put "), "s"), store.ErrExists)
	}), hourbell.Config{})
	if err != nil {
		t.Fatal(err)
	}
	_, schedule := client.Schedules.Put(t.Context(), hourbell.Schedule{Name: "x", Rule: recur.Cron("1 * * * *"), Job: Note{}})
	_, calendar := client.Calendars.Put(t.Context(), hourbell.Calendar{Name: "x", CalendarSpec: recur.CalendarSpec{Dates: []string{"12-24"}}}, 0)
	_, limit := client.Limits.Put(t.Context(), hourbell.Limit{Name: "x", Queue: "default", Concurrency: 1}, 0)
	for what, err := range map[string]error{"schedule": schedule, "calendar": calendar, "limit": limit} {
		if want := fmt.Sprintf("put %s %q: %v", what, "x", store.ErrExists); err == nil || err.Error() != want || !errors.Is(err, hourbell.ErrExists) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
