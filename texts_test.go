package hourbell_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

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

// quotedName matches the name of a row in an error.
var quotedName = regexp.MustCompile(` "[^"]*"`)

// saidTwice returns a part of an error that repeats the part before it, also as `put schedules: put schedule "x": …` or
// `put schedule "x": schedule "x": …` do; empty: none does.
func saidTwice(text string) string {
	parts := strings.Split(text, ": ")
	for i := range parts[1:] {
		before, after := parts[i], parts[i+1]
		plain := func(part string) string { return strings.TrimSuffix(quotedName.ReplaceAllString(part, ""), "s") }
		if strings.Contains(after, `"`) && strings.HasSuffix(before, after) || plain(before) == plain(after) {
			return after
		}
	}
	return ""
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
		if twice := saidTwice(err.Error()); twice != "" || strings.Contains(err.Error(), "s: change schedules: ") {
			t.Errorf("%s: %q has %q twice", call, err, twice)
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
	list("Schedules.SyncCopy", func() (any, error) {
		return client.Schedules.SyncCopy(ctx, hourbell.HostCopy{Owner: "o", Host: "h", Schedules: []hourbell.Schedule{schedule}})
	})
	list("Schedules.RunOnce", func() (any, error) { return client.Schedules.RunOnce(ctx, schedule) })
	list("Schedules.Backfill", func() (any, error) {
		return client.Schedules.Backfill(ctx, "x", hourbell.BackfillRequest{From: time.Unix(0, 0), To: time.Unix(3600, 0)})
	})
	list("Schedules.CancelJobs", func() (any, error) { return client.Schedules.CancelJobs(ctx, "x") })
	list("Schedules.TriggerAll", func() (any, error) { return client.Schedules.TriggerAll(ctx, "x") })
	list("Schedules.OnHosts", func() (any, error) { return client.Schedules.OnHosts(ctx, "x") })
	list("Schedules.ResetAhead", func() (any, error) { return client.Schedules.ResetAhead(ctx) })
	list("Schedules.Graph", func() (any, error) { return client.Schedules.Graph(ctx, "x", 10) })
	list("Schedules.ListOverdue", func() (any, error) { return client.Schedules.ListOverdue(ctx, 10) })
	only("Schedules.PauseUntil", client.Schedules.PauseUntil(ctx, time.Now().Add(time.Hour), []string{"x"}))
	list("Jobs.Move", func() (any, error) { return client.Jobs.Move(ctx, all, "q") })
	list("Jobs.Reprioritise", func() (any, error) { return client.Jobs.Reprioritise(ctx, all, 1) })
	list("Calendars.Get", func() (any, error) { return client.Calendars.Get(ctx, "x") })
	list("Limits.Get", func() (any, error) { return client.Limits.Get(ctx, "x") })
	list("Handlers.Get", func() (any, error) { return client.Handlers.Get(ctx, "x") })
	only("Handlers.Create", client.Handlers.Create(ctx, handler))
	list("Groups.Get", func() (any, error) { return client.Groups.Get(ctx, "x") })
	only("Groups.Pause", client.Groups.Pause(ctx, "x", hourbell.Pause{}))
	list("Groups.Resume", func() (any, error) { return client.Groups.Resume(ctx, "x") })
	list("Groups.Trigger", func() (any, error) { return client.Groups.Trigger(ctx, "x") })
	list("Groups.Cancel", func() (any, error) { return client.Groups.Cancel(ctx, "x") })
	list("Groups.Retry", func() (any, error) { return client.Groups.Retry(ctx, "x") })
	only("Kinds.Pause", client.Kinds.Pause(ctx, "x", hourbell.Pause{}))
	list("Kinds.Resume", func() (any, error) { return client.Kinds.Resume(ctx, "x") })
	list("Kinds.Get", func() (any, error) { return client.Kinds.Get(ctx, "x") })
	list("Queues.Get", func() (any, error) { return client.Queues.Get(ctx, "x") })
	only("Keys.Pause", client.Keys.Pause(ctx, "x", hourbell.Pause{}))
	list("Keys.Resume", func() (any, error) { return client.Keys.Resume(ctx, "x") })
	list("Keys.Get", func() (any, error) { return client.Keys.Get(ctx, "x") })
	list("Batches.Get", func() (any, error) { return client.Batches.Get(ctx, 1) })
	list("Nodes.AcceptHistory", func() (any, error) { return client.Nodes.AcceptHistory(ctx, hourbell.AcceptHistoryRequest{}) })
	list("Stats.Read", func() (any, error) { return client.Stats.Read(ctx, hourbell.StatsFilter{}) })
	only("Audit.RecordRelease", client.Audit.RecordRelease(ctx, "x"))
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

// TestRefusalsSayThingsOnce checks the errors of calls that a store refuses because of what is, or is not, there.
func TestRefusalsSayThingsOnce(t *testing.T) {
	client := newCluster(t).client(nil)
	ctx := t.Context()
	calendar := hourbell.Calendar{Name: "holidays", CalendarSpec: recur.CalendarSpec{Dates: []string{"12-24"}}}
	limit := hourbell.Limit{Name: "one", Queue: "default", Concurrency: 1}
	schedule := hourbell.Schedule{Name: "x", Rule: recur.Cron("1 * * * *"), Job: Note{}, Exclude: []hourbell.Calendar{hourbell.StoredCalendar("holidays")}}
	handler := hourbell.EventHandler{Name: "page", On: []string{hourbell.HookFailure}, Job: Note{}}
	did := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	did(client.Calendars.Put(ctx, calendar, 0))
	did(client.Limits.Put(ctx, limit, 0))
	did(client.Schedules.Put(ctx, schedule))
	did(client.Handlers.Put(ctx, handler))
	stale, foreign, excluded := schedule, schedule, schedule
	stale.Revision, foreign.Owner, excluded.Exclude = 99, "someone else", []hourbell.Calendar{hourbell.StoredCalendar("nothing")}
	of := func(_ any, err error) error { return err }
	for begins, err := range map[string]error{
		`put calendar "holidays": `:     of(client.Calendars.Put(ctx, calendar, 99)),
		`put calendar "holidays": ex`:   of(client.Calendars.Put(ctx, calendar, hourbell.OnlyNew)),
		`put calendars: calendar "a b`:  of(client.Calendars.PutAll(ctx, []hourbell.Calendar{{Name: "a b ", CalendarSpec: calendar.CalendarSpec}})),
		`delete calendars: calendar "h`: client.Calendars.Delete(ctx, "holidays"),
		`delete calendar "nothing": `:   client.Calendars.Delete(ctx, "nothing"),
		`put limit "one": `:             of(client.Limits.Put(ctx, limit, 99)),
		`put limit "": `:                of(client.Limits.Put(ctx, hourbell.Limit{}, 0)),
		`delete limit "nothing": `:      client.Limits.Delete(ctx, "nothing"),
		`put schedule "x": `:            of(client.Schedules.Put(ctx, stale)),
		`put schedule "x": exclude `:    of(client.Schedules.Put(ctx, excluded)),
		`put schedule "x": changed`:     of(client.Schedules.PutAll(ctx, "someone else", 0, []hourbell.Schedule{foreign})),
		`sync schedules of "me": `:      of(client.Schedules.Sync(ctx, "me", 0, []hourbell.Schedule{excluded})),
		`trigger: schedule "nothing"`:   of(client.Schedules.Trigger(ctx, "nothing")),
		`delete schedule`:               client.Schedules.Delete(ctx, []string{"nothing"}),
		`pause schedule`:                client.Schedules.Pause(ctx, []string{"nothing"}),
		`put handler "": `:              of(client.Handlers.Put(ctx, hourbell.EventHandler{})),
		`put handler "page": `:          client.Handlers.Create(ctx, handler),
		`delete handler "nothing": `:    client.Handlers.Delete(ctx, "nothing"),
		`job 99: `:                      of(client.Jobs.Get(ctx, 99)),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), begins) || saidTwice(err.Error()) != "" {
			t.Errorf("%v, want it to begin with %s and to say nothing twice", err, begins)
		}
	}
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
