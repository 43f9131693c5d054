package storetest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell/store"
)

var auditTests = []scenario{
	{"EachChangeHasAnEntry", auditEachChange},
	{"WithoutAnActor", auditWithoutActor},
	{"WithoutAnEffect", auditWithoutEffect},
	{"RefusedChanges", auditRefused},
	{"WithTheTransaction", auditTx},
	{"OneEntryForSeveralRequests", auditBulk},
	{"Sync", auditSync},
	{"Recorded", auditRecorded},
	{"Filters", auditFilters},
	{"Pages", auditPages},
	{"Prune", auditPrune},
	{"ClockOfTheStore", auditClock},
}

// operator is the actor of the tests. The characters are for drivers that build texts.
var operator = store.Actor{Name: "ada'\"\\ \x1b[31m", Source: "192.0.2.1"}

// audit returns the entries of a request, newest first.
func (e *env) audit(req store.ListRequest) []store.AuditEntry {
	e.t.Helper()
	if req.Limit == 0 {
		req.Limit = 1000
	}
	list, err := store.List[store.AuditEntry](e.ctx, e.b, req)
	e.must(err)
	return list
}

// entries returns all entries, oldest first, without numbers.
func (e *env) entries() []store.AuditEntry {
	e.t.Helper()
	list := e.audit(store.ListRequest{})
	out := make([]store.AuditEntry, len(list))
	for i, one := range list {
		e.ok(one.ID > 0, "an entry must have a number")
		one.ID = 0
		out[len(list)-1-i] = one
	}
	return out
}

// entry is an entry that is stored now, about subjects of one kind.
func (e *env) entry(action, detail, kind string, names ...string) store.AuditEntry {
	entry := store.AuditEntry{At: e.now, Actor: operator, Action: action, Count: int64(len(names)), Detail: detail}
	for _, name := range names {
		entry.Subjects = append(entry.Subjects, store.AuditSubject{Kind: kind, Name: name})
	}
	return entry
}

// last fails the test with the rule unless the newest entry is that entry.
func (e *env) last(entry store.AuditEntry, rule string) {
	e.t.Helper()
	all := e.entries()
	if len(all) == 0 {
		e.t.Fatalf("%s: there is no entry", rule)
	}
	e.want(all[len(all)-1], entry, rule)
}

func idText(id int64) string { return strconv.FormatInt(id, 10) }

// changeBy changes jobs as the operator.
func (e *env) changeBy(req store.ChangeJobsRequest) store.ChangeJobsResult {
	e.t.Helper()
	req.Now, req.By, req.Reason = e.now, operator, "because of a secret"
	res, err := e.a.ChangeJobs(e.ctx, req)
	e.must(err)
	return res
}

func auditEachChange(e *env) {
	ids := e.insertN(3)
	a, b := idText(ids[0]), idText(ids[1])
	e.changeBy(store.ChangeJobsRequest{Action: store.MoveJobs, IDs: ids[:2], Queue: "other"})
	e.last(e.entry(store.AuditJobsMove, `to queue "other"`, store.AuditJob, a, b), "a move must be recorded")
	e.changeBy(store.ChangeJobsRequest{Action: store.ReprioritiseJobs, IDs: ids[:1], Priority: 2})
	e.last(e.entry(store.AuditJobsReprioritise, "priority 2", store.AuditJob, a), "another priority must be recorded")
	e.changeBy(store.ChangeJobsRequest{
		Action: store.CancelJobs, IDs: []int64{ids[1], ids[1], ids[0]},
		Match: store.JobFilter{States: []store.State{store.StateReady}, Queue: "other", Error: ""},
	})
	e.last(e.entry(store.AuditJobsCancel, `selected by ready, queue "other"`, store.AuditJob, b, a), "a cancellation must be recorded, each job once")
	e.changeBy(store.ChangeJobsRequest{Action: store.RetryJobs, IDs: ids[:2]})
	e.last(e.entry(store.AuditJobsRetry, "", store.AuditJob, a, b), "a retry must be recorded")
	e.changeBy(store.ChangeJobsRequest{Action: store.DeleteJobs, IDs: []int64{ids[0], 1 << 40}})
	e.last(e.entry(store.AuditJobsDelete, "", store.AuditJob, a), "a deletion must be recorded, without jobs that it did not change")
	runs := e.claimOne(e.node("n"))
	e.changeBy(store.ChangeJobsRequest{Action: store.CancelJobs, IDs: []int64{runs.ID}})
	e.last(e.entry(store.AuditJobsCancel, "", store.AuditJob, idText(runs.ID)), "a request to cancel must be recorded")

	_, err := e.a.Put(e.ctx, store.PutRequest{Now: e.now, Feed: &store.PutFeed{Keep: time.Hour}, By: operator})
	e.must(err)
	e.last(e.entry(store.AuditEventsKeep, "1h0m0s", ""), "a setting must be recorded")
	_, err = e.a.AcceptLoss(e.ctx, store.AcceptLossRequest{Now: e.now, By: operator})
	e.must(err)
	e.last(e.entry(store.AuditHistoryAccept, "", ""), "an accepted loss of history must be recorded")

	_, err = e.a.Put(e.ctx, store.PutRequest{
		Now: e.now, By: operator,
		Calendars: []store.PutCalendar{{Name: "c", Definition: []byte(`{}`)}, {Name: "d", Definition: []byte(`{}`)}},
	})
	e.must(err)
	e.last(e.entry(store.AuditCalendarsPut, "", store.AuditCalendar, "c", "d"), "new calendars must be recorded")
	e.plannedNaming("naming", "d")
	_, err = e.a.Put(e.ctx, store.PutRequest{
		Now: e.now, By: operator,
		Calendars: []store.PutCalendar{{Name: "c", Definition: []byte(`{}`)}, {Name: "d", Definition: []byte(`{"x":1}`)}},
	})
	e.must(err)
	e.last(e.entry(store.AuditCalendarsPut, "schedules that name it: 1", store.AuditCalendar, "d"), "changed calendars must be recorded, and no others")
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfCalendars, Now: e.now, By: operator, Names: []string{"c"}}))
	e.last(e.entry(store.AuditCalendarsDelete, "", store.AuditCalendar, "c"), "deleted calendars must be recorded")

	limit := store.Limit{Name: "l", Queue: "q", ByKey: true, Concurrency: 2, Strict: true, Weights: map[string]int{"gold": 3}}
	_, err = e.a.Put(e.ctx, store.PutRequest{
		Now: e.now, By: operator,
		Limits: []store.PutLimit{{Limit: limit}, {Limit: store.Limit{Name: "m", Kind: "k", Rate: 10, Per: time.Second, Burst: 20}}},
	})
	e.must(err)
	e.last(e.entry(store.AuditLimitsPut, "l: queue q, each key: 2 at a time, strict, weights gold=3; m: kind k: 10/s "+
		"burst 20", store.AuditLimit, "l", "m"), "new limits must be recorded")
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfLimits, Now: e.now, By: operator, Names: []string{"l", "m"}}))
	e.last(e.entry(store.AuditLimitsDelete, "", store.AuditLimit, "l", "m"), "deleted limits must be recorded")

	pause := func(put store.PutPause) {
		e.t.Helper()
		_, err := e.a.Put(e.ctx, store.PutRequest{Now: e.now, Pauses: []store.PutPause{put}, By: operator})
		e.must(err)
	}
	resume := func(of store.PauseSubject, name string) error {
		return e.a.Delete(e.ctx, store.DeleteRequest{Now: e.now, Of: store.OfPauses, Subject: of, Names: []string{name}, By: operator})
	}
	pause(store.PutPause{Subject: store.SubjectQueue, Name: "s", Reason: "repair", CancelRunning: true})
	e.last(e.entry(store.AuditQueuesPause, "running jobs are cancelled; repair", store.AuditQueue, "s"), "that running jobs are cancelled must be recorded")
	until := e.now.Add(time.Hour)
	pause(store.PutPause{Name: "g", Until: until, Reason: "repair"})
	e.last(e.entry(store.AuditGroupsPause, "until "+until.Format(time.RFC3339)+"; repair", store.AuditGroup, "g"), "a pause of a group must be recorded")
	e.must(resume(store.SubjectGroup, "g"))
	e.last(e.entry(store.AuditGroupsResume, "", store.AuditGroup, "g"), "the end of a pause must be recorded")

	for subject, words := range map[store.PauseSubject][2]string{
		store.SubjectQueue: {store.AuditQueuesPause, store.AuditQueuesResume}, store.SubjectKind: {store.AuditKindsPause, store.AuditKindsResume},
		store.SubjectKey: {store.AuditKeysPause, store.AuditKeysResume},
	} {
		pause(store.PutPause{Subject: subject, Name: "s"})
		e.last(e.entry(words[0], "", subject.String(), "s"), "a pause must be recorded")
		e.must(resume(subject, "s"))
		e.last(e.entry(words[1], "", subject.String(), "s"), "the end of a pause must be recorded")
	}

	e.planned("s")
	for action, word := range map[store.ScheduleAction]string{
		store.PauseSchedules: store.AuditSchedulesPause, store.ResetSchedules: store.AuditSchedulesReset,
	} {
		e.plan("s")
		e.must(e.a.ChangeSchedules(e.ctx, store.ChangeSchedulesRequest{Now: e.now, Action: action, Names: []string{"s"}, By: operator}))
		e.last(e.entry(word, "", store.AuditSchedule, "s"), "a change of a schedule must be recorded")
	}
	e.plan("s")
	e.must(e.a.ChangeSchedules(e.ctx, store.ChangeSchedulesRequest{Now: e.now, Action: store.ResumeSchedules, Names: []string{"s"}, By: operator}))
	e.last(e.entry(store.AuditSchedulesResume, "", store.AuditSchedule, "s"), "the end of a pause must be recorded")
	e.plan("s")
	e.must(e.a.ChangeSchedules(e.ctx, store.ChangeSchedulesRequest{Now: e.now, Action: store.DeleteSchedules, Names: []string{"s"}, By: operator}))
	e.last(e.entry(store.AuditSchedulesDelete, "", store.AuditSchedule, "s"), "a deleted schedule must be recorded")

	row := e.planned("t")
	first := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for origin, word := range map[store.Origin]string{
		store.OriginTrigger: store.AuditSchedulesTrigger, store.OriginBackfill: store.AuditSchedulesBackfill,
		store.OriginBackfillDependents: store.AuditSchedulesBackfill,
	} {
		for _, waiting := range []bool{false, true} {
			jobs := []store.NewJob{newJob(), newJob()}
			for i := range jobs {
				jobs[i].Schedule, jobs[i].Origin, jobs[i].Waiting = row.ID, origin, waiting
				if origin.Backfills() {
					jobs[i].Slot = first.Add(time.Duration(i) * time.Hour)
				}
			}
			res, err := e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Jobs: jobs, By: operator, Of: "t"})
			e.must(err)
			detail := ""
			switch origin {
			case store.OriginBackfill:
				detail = "slots from 2020-01-01T00:00:00Z to 2020-01-01T01:00:00Z"
			case store.OriginBackfillDependents:
				detail = "slots from 2020-01-01T00:00:00Z to 2020-01-01T01:00:00Z, with dependents"
			}
			want := e.entry(word, detail, store.AuditJob, idText(res.Jobs[0].ID), idText(res.Jobs[1].ID))
			want.Subjects = append([]store.AuditSubject{{Kind: store.AuditSchedule, Name: "t"}}, want.Subjects...)
			e.last(want, "jobs that are made for a schedule by hand must be recorded")
		}
	}
	res := e.changeBy(store.ChangeJobsRequest{Action: store.CancelJobs, Schedule: "t"})
	all := e.entries()
	newest := all[len(all)-1]
	e.want([]any{newest.Action, newest.Subjects[0], newest.Count, newest.Detail},
		[]any{
			store.AuditJobsCancel,
			store.AuditSubject{Kind: store.AuditSchedule, Name: "t"},
			int64(len(res.Changes)),
			`all jobs of schedule "t"`,
		},
		"a cancellation of a schedule's jobs must name the schedule")
	for _, one := range all {
		e.ok(!strings.Contains(fmt.Sprintf("%+v", one), "secret"), "an entry must not have the values of a request", one)
	}
}

func auditWithoutActor(e *env) {
	ids := e.insertN(2)
	e.change(store.ChangeJobsRequest{Action: store.CancelJobs, IDs: ids})
	e.putCalendar("c", `{}`)
	e.planned("s")
	e.changeSchedules(store.PauseSchedules, "s")
	e.pause("g", time.Time{})
	e.resume("g")
	e.keepEvents(0)
	e.accept()
	e.want(e.entries(), []store.AuditEntry{}, "changes without an actor are not recorded")
}

func auditWithoutEffect(e *env) {
	id := e.insertOne(newJob())
	e.cancel(id)
	res := e.changeBy(store.ChangeJobsRequest{Action: store.CancelJobs, IDs: []int64{id, 1 << 40}})
	e.want(res.EntryID, int64(0), "a change without an effect has no entry")
	row := e.planned("s")
	put := store.PutSchedule{Name: "s", Definition: row.Definition}
	for _, sync := range []bool{false, true} {
		owner := ""
		if sync {
			owner, put.Name = "o", "t"
			e.must(e.putAs(owner, put.Name, string(put.Definition)))
		}
		_, err := e.a.PutSchedules(e.ctx, store.PutSchedulesRequest{
			Now: e.now, By: operator, Owner: owner, Sync: sync,
			SyncRevision: 1, Schedules: []store.PutSchedule{put},
		})
		e.must(err)
	}
	e.plan("s")
	e.must(e.a.ChangeSchedules(e.ctx, store.ChangeSchedulesRequest{Now: e.now, Action: store.ResumeSchedules, Names: []string{"s"}, By: operator}))
	err := e.a.Delete(e.ctx, store.DeleteRequest{Now: e.now, Of: store.OfPauses, Names: []string{"g"}, By: operator})
	e.is(err, store.ErrNotFound, "a group that is not paused")
	e.putCalendar("c", `{}`)
	_, err = e.a.Put(e.ctx, store.PutRequest{Now: e.now, By: operator, Calendars: []store.PutCalendar{{Name: "c", Definition: []byte(`{}`)}}})
	e.must(err)
	e.want(e.entries(), []store.AuditEntry{}, "what changes nothing is not recorded")
}

func auditRefused(e *env) {
	e.planned("s")
	err := e.a.ChangeSchedules(e.ctx, store.ChangeSchedulesRequest{Now: e.now, Action: store.PauseSchedules, Names: []string{"s", "none"}, By: operator})
	e.is(err, store.ErrNotFound, "an unknown name must be refused")
	_, err = e.a.PutSchedules(e.ctx, store.PutSchedulesRequest{
		Now: e.now, By: operator,
		Schedules: []store.PutSchedule{
			{Name: "new", Definition: []byte(`{}`)},
			{Name: "s", Definition: []byte(`{"x":1}`), IfRevision: 1 << 40},
		},
	})
	e.is(err, store.ErrConflict, "a wrong revision must be refused")
	e.is(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfCalendars, Now: e.now, By: operator, Names: []string{"none"}}),
		store.ErrNotFound, "an unknown name must be refused")
	e.want(e.entries(), []store.AuditEntry{}, "a refused change is not recorded")
}

func auditTx(e *env) {
	id := e.insertOne(newJob())
	row := e.planned("s")
	for _, commit := range []bool{false, true} {
		tx := e.begin()
		res, err := e.a.ChangeJobs(e.ctx, store.ChangeJobsRequest{Now: e.now, Tx: tx.Tx, Action: store.MoveJobs, IDs: []int64{id}, Queue: "other", By: operator})
		e.must(err)
		_, err = e.a.ChangeJobs(e.ctx, store.ChangeJobsRequest{
			Now: e.now, Tx: tx.Tx, Action: store.MoveJobs,
			IDs: []int64{id}, Queue: "q", By: operator, EntryID: res.EntryID,
		})
		e.must(err)
		_, err = e.a.PutSchedules(e.ctx, store.PutSchedulesRequest{
			Now: e.now, Tx: tx.Tx, By: operator,
			Schedules: []store.PutSchedule{{Name: "new", Definition: []byte(`{}`)}},
		})
		e.must(err)
		job := with(func(j *store.NewJob) { j.Schedule, j.Origin = row.ID, store.OriginTrigger })
		made, err := e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Tx: tx.Tx, Jobs: []store.NewJob{job}, By: operator, Of: "s"})
		e.must(err)
		e.want(e.entries(), []store.AuditEntry{}, "an entry must not be seen before the commit")
		if !commit {
			e.must(tx.Rollback())
			e.want(e.entries(), []store.AuditEntry{}, "an entry of a transaction that was rolled back must never have been")
			continue
		}
		e.must(tx.Commit())
		moved := e.entry(store.AuditJobsMove, `to queue "other"`, store.AuditJob, idText(id), idText(id))
		put := e.entry(store.AuditSchedulesPut, "created, revision "+idText(e.schedule("new").Revision), store.AuditSchedule, "new")
		triggered := e.entry(store.AuditSchedulesTrigger, "", store.AuditJob, idText(made.Jobs[0].ID))
		triggered.Subjects = append([]store.AuditSubject{{Kind: store.AuditSchedule, Name: "s"}}, triggered.Subjects...)
		e.want(e.entries(), []store.AuditEntry{moved, put, triggered}, "after the commit the entries of all changes must be there")
	}
}

func auditBulk(e *env) {
	ids := e.insertN(250)
	entry := int64(0)
	for _, some := range [][]int64{ids[:60], ids[60:60], ids[:60], ids[60:240], ids[240:]} {
		res := e.changeBy(store.ChangeJobsRequest{Action: store.CancelJobs, IDs: some, EntryID: entry})
		e.ok(entry == 0 || res.EntryID == entry || len(some) == 0, "all requests of a change must have one entry", res.EntryID, entry)
		if res.EntryID != 0 {
			entry = res.EntryID
		}
	}
	names := make([]string, store.MostAuditSubjects)
	for i := range names {
		names[i] = idText(ids[i])
	}
	want := e.entry(store.AuditJobsCancel, "", store.AuditJob, names...)
	want.Count = 250
	e.want(e.entries(), []store.AuditEntry{want}, "a change in several requests must have one entry, with all changes counted and the first of them named")
	again := e.changeBy(store.ChangeJobsRequest{Action: store.RetryJobs, IDs: ids[:1], EntryID: entry + 1<<40})
	e.ok(again.EntryID != 0 && again.EntryID != entry, "a change must be recorded although the entry of the requests before is gone")
}

func auditSync(e *env) {
	changed := func(before, after []byte) []string { return []string{string(before), "to", string(after)} }
	sync := func(puts ...store.PutSchedule) {
		_, err := e.a.PutSchedules(e.ctx, store.PutSchedulesRequest{Now: e.now, Owner: "o", Sync: true, By: operator, Fields: changed, Schedules: puts})
		e.must(err)
	}
	put := func(name, definition string) store.PutSchedule {
		return store.PutSchedule{Name: name, Definition: []byte(definition)}
	}
	revision := func(name string) string { return idText(e.schedule(name).Revision) }
	sync(put("b", "1"), put("a", "1"), put("z", "1"), put("y", "1"))
	e.last(e.entry(store.AuditSchedulesSync, fmt.Sprintf(`owner "o"; b: created, revision %s; a: created, revision %s; z: created, revision %s; y: created, revision %s`, revision("b"), revision("a"), revision("z"), revision("y")),
		store.AuditSchedule, "b", "a", "z", "y"), "a sync must have one entry")
	before := revision("a")
	e.plan("a", "b", "z", "y")
	sync(put("c", "1"), put("a", "2"), put("b", "1"))
	e.last(e.entry(store.AuditSchedulesSync, fmt.Sprintf(`owner "o"; c: created, revision %s; a: changed 1, to, 2, revision %s to %s; y: deleted; z: deleted`, revision("c"), before, revision("a")),
		store.AuditSchedule, "c", "a", "y", "z"), "a sync must record what it changes")
	before = revision("a")
	e.plan("a", "b", "c")
	_, err := e.a.PutSchedules(e.ctx, store.PutSchedulesRequest{Now: e.now, Owner: "o", By: operator, Schedules: []store.PutSchedule{put("a", "3")}})
	e.must(err)
	e.last(e.entry(store.AuditSchedulesPut, fmt.Sprintf(`owner "o"; revision %s to %s`, before, revision("a")),
		store.AuditSchedule, "a"), "a put must be recorded")
	sync()
	e.put("a", "1")
	var many []store.PutSchedule
	for i := range store.MostAuditSubjects + 20 {
		many = append(many, put(fmt.Sprintf("many%03d-%s", i, strings.Repeat("ä", 20)), "1"))
	}
	sync(many...)
	all := e.entries()
	newest := all[len(all)-1]
	e.want([]any{len(newest.Subjects), newest.Count, len([]rune(newest.Detail))},
		[]any{store.MostAuditSubjects, int64(len(many)), store.MaxAuditDetail}, "an entry must be bounded")
}

func auditRecorded(e *env) {
	entry := e.entry(store.AuditLocksRelease, "", store.AuditLock, "nightly")
	e.must(e.a.RecordAudit(e.ctx, store.RecordAuditRequest{Now: e.now, Entry: entry}))
	e.want(e.entries(), []store.AuditEntry{entry}, "an entry must be stored as it was given")
}

func auditFilters(e *env) {
	ada, bob := operator, store.Actor{Name: "bob", Source: "cli"}
	record := func(by store.Actor, action string, kind string, names ...string) int64 {
		e.tick(time.Second)
		entry := e.entry(action, "", kind, names...)
		entry.Actor = by
		e.must(e.a.RecordAudit(e.ctx, store.RecordAuditRequest{Now: e.now, Entry: entry}))
		return e.audit(store.ListRequest{Limit: 1})[0].ID
	}
	first := record(ada, store.AuditJobsCancel, store.AuditJob, "1", "2")
	second := record(bob, store.AuditJobsRetry, store.AuditJob, "2")
	since := e.now
	third := record(bob, store.AuditSchedulesPause, store.AuditSchedule, "2")
	fourth := record(ada, store.AuditSchedulesPause, store.AuditSchedule, "s")
	for name, test := range map[string]struct {
		req  store.ListRequest
		want []int64
	}{
		"all":        {store.ListRequest{}, []int64{fourth, third, second, first}},
		"actor":      {store.ListRequest{Actor: ada.Name}, []int64{fourth, first}},
		"action":     {store.ListRequest{Action: store.AuditSchedulesPause}, []int64{fourth, third}},
		"subject":    {store.ListRequest{Subject: &store.AuditSubject{Kind: store.AuditJob, Name: "2"}}, []int64{second, first}},
		"other kind": {store.ListRequest{Subject: &store.AuditSubject{Kind: store.AuditSchedule, Name: "2"}}, []int64{third}},
		"since":      {store.ListRequest{From: since}, []int64{fourth, third, second}},
		"together": {store.ListRequest{
			Actor: "bob", Action: store.AuditSchedulesPause, From: since,
			Subject: &store.AuditSubject{Kind: store.AuditSchedule, Name: "2"},
		}, []int64{third}},
		"nothing":      {store.ListRequest{Actor: "bob", Action: store.AuditJobsCancel}, nil},
		"unknown name": {store.ListRequest{Actor: "b%"}, nil},
	} {
		var got []int64
		for _, one := range e.audit(test.req) {
			got = append(got, one.ID)
		}
		e.want(got, test.want, name+": a filter must select the entries that meet all its conditions")
	}
}

func auditPages(e *env) {
	for i := range 7 {
		if i%3 == 0 {
			e.tick(-time.Second) // callers' transactions may be older than their number
		}
		e.must(e.a.RecordAudit(e.ctx, store.RecordAuditRequest{Now: e.now, Entry: e.entry(store.AuditJobsCancel, idText(int64(i)), store.AuditJob, "1")}))
	}
	all := e.audit(store.ListRequest{})
	req := store.ListRequest{Limit: 2, Actor: operator.Name}
	var paged []store.AuditEntry
	for range 10 {
		page := e.audit(req)
		if len(page) == 0 {
			break
		}
		paged = append(paged, page...)
		req.Before = page[len(page)-1].Cursor()
	}
	e.want(paged, all, "pages together must have each entry once, in order")
}

func auditPrune(e *env) {
	for range 5 {
		e.must(e.a.RecordAudit(e.ctx, store.RecordAuditRequest{Now: e.now, Entry: e.entry(store.AuditJobsCancel, "", store.AuditJob, "1", "2")}))
		e.tick(time.Hour)
	}
	e.want(e.prune(store.PruneRequest{Limit: 10}).Audit, 0, "without an age entries must be kept for ever")
	kept := e.audit(store.ListRequest{})[:3]
	e.want(e.prune(store.PruneRequest{Audit: 3 * time.Hour, Limit: 1}), store.PruneResult{Audit: 1, More: true}, "Limit must bound a step")
	e.want(e.prune(store.PruneRequest{Audit: 3 * time.Hour, Limit: 10}), store.PruneResult{Audit: 1}, "entries older than the age must be deleted")
	e.want(e.audit(store.ListRequest{}), kept, "other entries must be kept, with their subjects")
	e.want(len(e.audit(store.ListRequest{Subject: &store.AuditSubject{Kind: store.AuditJob, Name: "2"}})), 3, "subjects must be deleted with their entries")
}

func auditClock(e *env) {
	before := e.real()
	id := e.insertOne(newJob())
	_, err := e.a.ChangeJobs(e.ctx, store.ChangeJobsRequest{Action: store.DeleteJobs, IDs: []int64{id}, By: operator})
	e.must(err)
	e.must(e.a.RecordAudit(e.ctx, store.RecordAuditRequest{Entry: e.entry(store.AuditLocksRelease, "", store.AuditLock, "l")}))
	for _, one := range e.entries() {
		e.between("an entry", before, one.At)
	}
}
