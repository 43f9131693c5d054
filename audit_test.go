package hourbell_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// noChange are the methods of services that change nothing, or only enqueue jobs.
var noChange = map[string]bool{
	"JobService.Count": true, "JobService.Get": true, "JobService.Graph": true, "JobService.List": true, "JobService.Output": true, "JobService.Estimate": true, "JobService.Page": true, "JobService.Pauses": true, "JobService.Predecessors": true, "JobService.Steps": true, "JobService.Waits": true,
	"ScheduleService.Counts": true, "ScheduleService.Get": true, "ScheduleService.Graph": true, "ScheduleService.Health": true, "ScheduleService.ListFailing": true, "ScheduleService.List": true, "ScheduleService.ListOverdue": true, "ScheduleService.OnHosts": true, "ScheduleService.Owners": true, "ScheduleService.RunOnce": true,
	"HandlerService.Get": true, "HandlerService.List": true,
	"LimitService.Get": true, "LimitService.List": true,
	"CalendarService.Get": true, "CalendarService.List": true,
	"GroupService.Estimate": true, "GroupService.Get": true, "GroupService.List": true, "GroupService.Schedules": true,
	"BatchService.Get": true, "BatchService.List": true, "SlotService.List": true, "QueueService.Estimate": true, "QueueService.Get": true, "QueueService.List": true,
	"KindService.Estimate": true, "KindService.Get": true, "KindService.List": true,
	"KeyService.Get": true, "KeyService.List": true,
	"NodeService.List": true, "NodeService.ReportProblems": true, "NodeService.LeaseLeft": true, "NodeService.Position": true,
	"EventService.Counts": true, "EventService.Follow": true, "EventService.List": true, "EventService.Subscribe": true,
	"AuditService.List":          true,
	"StatsService.Read":          true,
	"SignalService.SendToKey":    true, // calls SignalService.Send for each job
	"SignalService.Answer":       true, // calls SignalService.Send, see TestACallbackIsAnsweredOnce
	"GroupService.Retry":         true, // calls JobService.Retry, for failed jobs
	"ScheduleService.ResetAhead": true, // calls ScheduleService.Reset
}

// TestEachChangeIsRecorded makes each call that changes something, and checks that it has one
// entry in the audit. A new method of a service has to be named here or in noChange.
func TestEachChangeIsRecorded(t *testing.T) {
	client, err := hourbell.New(memory.New(), hourbell.Config{Name: "billing"})
	must(t, err)
	ctx := hourbell.WithActor(t.Context(), hourbell.Actor{Name: "ada", Source: "192.0.2.1"})
	jobs, schedules := client.Jobs, client.Schedules
	some := func() hourbell.JobFilter {
		job, err := client.Enqueue(ctx, report{})
		must(t, err)
		return hourbell.JobFilter{IDs: []int64{job.ID}}
	}
	daily := func(name, group string) hourbell.Schedule {
		return hourbell.Schedule{Name: name, Rule: recur.Cron("@daily"), Job: report{}, Group: group}
	}
	from := time.Now().Add(-48 * time.Hour)
	put := false
	names := func() []string {
		if !put {
			_, err := schedules.Put(t.Context(), daily("s", "g"))
			must(t, err)
			put = true
		}
		return []string{"s"}
	}
	stored, err := schedules.Put(t.Context(), daily("d", ""))
	must(t, err)
	easter, err := client.Calendars.Put(t.Context(), hourbell.Calendar{Name: "e"}, 0)
	must(t, err)
	most, err := client.Limits.Put(t.Context(), hourbell.Limit{Name: "m", Queue: "q", Concurrency: 1}, 0)
	must(t, err)
	two := func(_ any, err error) error { return err }
	calls := []struct {
		method, action string
		call           func() error
	}{
		{"JobService.Cancel", store.AuditJobsCancel, func() error { return two(jobs.Cancel(ctx, some())) }},
		{"JobService.Retry", store.AuditJobsRetry, func() error { return two(jobs.Retry(ctx, some())) }},
		{"JobService.Move", store.AuditJobsMove, func() error { return two(jobs.Move(ctx, some(), "other")) }},
		{"JobService.Reprioritise", store.AuditJobsReprioritise, func() error { return two(jobs.Reprioritise(ctx, some(), 2)) }},
		{"JobService.Delete", store.AuditJobsDelete, func() error { return two(jobs.Delete(ctx, some())) }},
		{"SignalService.Send", store.AuditJobsSignal, func() error { return client.Signals.Send(ctx, some().IDs[0], "approval", true) }},
		{"ScheduleService.Put", store.AuditSchedulesPut, func() error { return two(schedules.Put(ctx, daily("p", ""))) }},
		{"ScheduleService.PutAll", store.AuditSchedulesPut, func() error { return two(schedules.PutAll(ctx, "o", 0, []hourbell.Schedule{daily("q", "")})) }},
		{"ScheduleService.Sync", store.AuditSchedulesSync, func() error { return two(schedules.Sync(ctx, "o", 0, []hourbell.Schedule{daily("r", "")})) }},
		{"ScheduleService.SyncCopy", store.AuditSchedulesSync, func() error {
			return two(schedules.SyncCopy(ctx, hourbell.HostCopy{Owner: "o", Host: "web1", Schedules: []hourbell.Schedule{daily("u", "")}}))
		}},
		{"ScheduleService.Pause", store.AuditSchedulesPause, func() error { return schedules.Pause(ctx, names()) }},
		{"ScheduleService.PauseUntil", store.AuditSchedulesPause, func() error { return schedules.PauseUntil(ctx, time.Now().Add(time.Hour), names()) }},
		{"ScheduleService.Resume", store.AuditSchedulesResume, func() error { return schedules.Resume(ctx, names()) }},
		{"ScheduleService.Reset", store.AuditSchedulesReset, func() error { return schedules.Reset(ctx, names()) }},
		{"ScheduleService.Trigger", store.AuditSchedulesTrigger, func() error { return two(schedules.Trigger(ctx, "s")) }},
		{"ScheduleService.TriggerAll", store.AuditSchedulesTrigger, func() error { return two(schedules.TriggerAll(ctx, "s")) }},
		{"ScheduleService.Backfill", store.AuditSchedulesBackfill, func() error {
			return two(schedules.Backfill(ctx, "s", hourbell.BackfillRequest{From: from, To: time.Now(), Force: true}))
		}},
		{"ScheduleService.CancelJobs", store.AuditJobsCancel, func() error { return two(schedules.CancelJobs(ctx, "s")) }},
		{"GroupService.Pause", store.AuditGroupsPause, func() error { return client.Groups.Pause(ctx, "g", hourbell.Pause{}) }},
		{"GroupService.Resume", store.AuditGroupsResume, func() error { return two(client.Groups.Resume(ctx, "g")) }},
		{"QueueService.Pause", store.AuditQueuesPause, func() error { return client.Queues.Pause(ctx, "q", hourbell.Pause{}) }},
		{"QueueService.Resume", store.AuditQueuesResume, func() error { return two(client.Queues.Resume(ctx, "q")) }},
		{"KindService.Pause", store.AuditKindsPause, func() error { return client.Kinds.Pause(ctx, "k", hourbell.Pause{}) }},
		{"KindService.Resume", store.AuditKindsResume, func() error { return two(client.Kinds.Resume(ctx, "k")) }},
		{"KeyService.Pause", store.AuditKeysPause, func() error { return client.Keys.Pause(ctx, "c", hourbell.Pause{}) }},
		{"KeyService.Resume", store.AuditKeysResume, func() error { return two(client.Keys.Resume(ctx, "c")) }},
		{"GroupService.Trigger", store.AuditSchedulesTrigger, func() error { return two(client.Groups.Trigger(ctx, "g")) }},
		{"GroupService.Cancel", store.AuditJobsCancel, func() error { return two(client.Groups.Cancel(ctx, "g")) }},
		{"ScheduleService.Delete", store.AuditSchedulesDelete, func() error { return schedules.Delete(ctx, names()) }},
		{"ScheduleService.DeleteIf", store.AuditSchedulesDelete, func() error { return schedules.DeleteIf(ctx, "d", stored.Revision) }},
		{"CalendarService.Put", store.AuditCalendarsPut, func() error {
			return two(client.Calendars.Put(ctx, hourbell.Calendar{Name: "holidays"}, 0))
		}},
		{"CalendarService.PutAll", store.AuditCalendarsPut, func() error {
			return two(client.Calendars.PutAll(ctx, []hourbell.Calendar{{Name: "c"}, {Name: "d"}}))
		}},
		{"CalendarService.DeleteIf", store.AuditCalendarsDelete, func() error { return client.Calendars.DeleteIf(ctx, "e", easter.Revision) }},
		{"CalendarService.Delete", store.AuditCalendarsDelete, func() error { return client.Calendars.Delete(ctx, "c", "d") }},
		{"HandlerService.Put", store.AuditHandlersPut, func() error {
			return two(client.Handlers.Put(ctx, hourbell.EventHandler{Name: "h", On: []string{hourbell.HookFailure}, Job: report{}}))
		}},
		{"HandlerService.Create", store.AuditHandlersPut, func() error {
			return client.Handlers.Create(ctx, hourbell.EventHandler{Name: "new", On: []string{hourbell.HookFailure}, Job: report{}})
		}},
		{"HandlerService.Delete", store.AuditHandlersDelete, func() error { return client.Handlers.Delete(ctx, "h") }},
		{"LimitService.Put", store.AuditLimitsPut, func() error {
			return two(client.Limits.Put(ctx, hourbell.Limit{Name: "l", Kind: "k", Concurrency: 1}, 0))
		}},
		{"LimitService.DeleteIf", store.AuditLimitsDelete, func() error { return client.Limits.DeleteIf(ctx, "m", most.Revision) }},
		{"LimitService.Delete", store.AuditLimitsDelete, func() error { return client.Limits.Delete(ctx, "l") }},
		{"EventService.Keep", store.AuditEventsKeep, func() error { return client.Events.Keep(ctx, time.Hour) }},
		{"NodeService.AcceptHistory", store.AuditHistoryAccept, func() error {
			return two(client.Nodes.AcceptHistory(ctx, hourbell.AcceptHistoryRequest{Force: true}))
		}},
		{"NodeService.Forget", store.AuditNodesForget, func() error {
			must(t, two(client.Schedules.SyncCopy(context.Background(), hourbell.HostCopy{Owner: "file", Host: "gone"})))
			return two(client.Nodes.Forget(ctx, "gone"))
		}},
		{"AuditService.RecordRelease", store.AuditLocksRelease, func() error { return client.Audit.RecordRelease(ctx, "nightly") }},
	}
	known := map[string]bool{}
	for _, c := range calls {
		known[c.method] = true
		names()
		before := len(entriesOf(t, client))
		must(t, c.call())
		after := entriesOf(t, client)
		if len(after) != before+1 {
			t.Errorf("%s: %d entries, want 1: %+v", c.method, len(after)-before, after[:len(after)-before])
			continue
		}
		if e := after[0]; e.Action != c.action || e.Name != "ada" || e.Source != "192.0.2.1" {
			t.Errorf("%s: the entry is %+v", c.method, e)
		}
	}
	services := reflect.TypeFor[hourbell.Client]()
	for i := range services.NumField() {
		field := services.Field(i)
		if !field.IsExported() {
			continue
		}
		for m := range field.Type.NumMethod() {
			name := field.Type.Elem().Name() + "." + field.Type.Method(m).Name
			if !known[name] && !noChange[name] {
				t.Errorf("%s is it recorded? add it to the calls, or to noChange", name)
			}
		}
	}
}

// entriesOf returns the entries of the audit, newest first.
func entriesOf(t *testing.T, client *hourbell.Client) []store.AuditEntry {
	t.Helper()
	list, err := client.Audit.List(t.Context(), hourbell.AuditFilter{Limit: 1000})
	must(t, err)
	return list
}

// TestAuditOfAProgram checks who the actor is without WithActor, that a change of many jobs has
// one entry, that a dry run has none, and that arguments are not in entries.
func TestAuditOfAProgram(t *testing.T) {
	client, err := hourbell.New(memory.New(), hourbell.Config{Name: "billing"})
	must(t, err)
	const n = 2500
	requests := make([]hourbell.Request, n)
	for i := range requests {
		requests[i] = hourbell.Request{Args: report{}}
	}
	_, err = client.EnqueueMany(t.Context(), requests)
	must(t, err)
	_, err = client.Jobs.Cancel(t.Context(), hourbell.JobFilter{Kind: "report"}, hourbell.DryRun())
	must(t, err)
	if list := entriesOf(t, client); len(list) > 0 {
		t.Errorf("enqueues and a dry run are recorded: %+v", list)
	}
	_, err = client.Jobs.Cancel(t.Context(), hourbell.JobFilter{Kind: "report"})
	must(t, err)
	list := entriesOf(t, client)
	if len(list) != 1 || list[0].Count != n || len(list[0].Subjects) != store.MostAuditSubjects {
		t.Fatalf("a change of %d jobs has the entries %+v", n, list)
	}
	if got, want := list[0].Actor, (store.Actor{Name: "billing", Source: hourbell.SourceProgram}); got != want {
		t.Errorf("the actor is %+v, want %+v", got, want)
	}
	put := func(secret string) {
		_, err = client.Schedules.Put(t.Context(), hourbell.Schedule{Name: "s", Rule: recur.Cron("@daily"), Job: hourbell.RawArgs{Name: "report", JSON: fmt.Appendf(nil, `{"password":%q}`, secret)}})
		must(t, err)
	}
	put("hunter2")
	put("hunter3")
	put("hunter3")
	list = entriesOf(t, client)
	if len(list) != 3 || !strings.HasPrefix(list[0].Detail, "changed args, revision ") {
		t.Errorf("two puts have the entries %+v", list)
	}
	if strings.Contains(fmt.Sprintf("%+v", list), "hunter") {
		t.Errorf("an entry has an argument: %+v", list)
	}
}

// TestWithActor checks that what the audit stores of an actor is bounded and valid.
func TestWithActor(t *testing.T) {
	ctx := hourbell.WithActor(t.Context(), hourbell.Actor{Name: strings.Repeat("ä", 150), Source: "a\x00b\xffc"})
	got, ok := hourbell.ActorFrom(ctx)
	if want := (hourbell.Actor{Name: strings.Repeat("ä", 100), Source: "a\uFFFDb\uFFFDc"}); !ok || got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, ctx := range []context.Context{t.Context(), hourbell.WithActor(t.Context(), hourbell.Actor{Source: "x"})} {
		if got, ok := hourbell.ActorFrom(ctx); ok {
			t.Errorf("got %+v, want none", got)
		}
	}
	client, err := hourbell.New(memory.New(), hourbell.Config{})
	must(t, err)
	_, err = client.Audit.List(t.Context(), hourbell.AuditFilter{Actor: "a\x00"})
	if err == nil {
		t.Error("a filter with a NUL is accepted")
	}
}
