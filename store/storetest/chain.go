package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

var chainTests = []scenario{
	{"EndsAreSlots", chainEnds},
	{"EveryDependentIsDue", chainDependents},
	{"OneSlotForEachEnd", chainSlots},
	{"EveryEndOfEveryJob", chainAllEnds},
	{"Backfill", chainBackfill},
	{"LiveJobsCountFromThePut", chainLiveJobs},
	{"NamesThatDoNotExistYet", chainNames},
	{"DeletedSchedules", chainDeleted},
	{"PausedPredecessor", chainPaused},
	{"EditsWaitForEnds", chainUnsettled},
	{"EndsInATransaction", chainInTx},
	{"OneJobForEachJob", chainRetried},
	{"NotStartedCascades", chainCascade},
	{"LaterEndsStayDue", chainLater},
	{"Overlap", chainOverlap},
	{"Cycles", chainCycles},
	{"CyclesAtTheSameMoment", chainCycleRace},
	{"TwoNodesFireAtTheSameMoment", chainFireRace},
	{"PutAndEndAtTheSameMoment", chainPutRace},
	{"Prune", chainPrune},
}

// putAfter puts a schedule that follows others, and plans it.
func (e *env) putAfter(name string, after ...string) store.Schedule {
	e.t.Helper()
	e.must(e.tryPutAfter(name, after...))
	e.fire(following(e.schedule(name), nil))
	row := e.schedule(name)
	e.ok(row.NextAt.IsZero(), "a schedule that follows is due only for ends", row)
	return row
}

func (e *env) tryPutAfter(name string, after ...string) error {
	e.tick(time.Second)
	_, err := e.tryPut(store.PutSchedulesRequest{Schedules: []store.PutSchedule{{
		Name:       name,
		Definition: []byte("after " + strings.Join(after, " ")), After: after,
	}}})
	return err
}

// following returns the firing by which each end makes a job.
func following(row store.Schedule, ends []store.ScheduleEnd) store.Firing {
	f := firing(row, row.Mark, time.Time{})
	f.Follows, f.Overlap = true, store.OverlapAllow
	for _, end := range ends {
		job := slotJob(row, end.Slot)
		job.Origin, job.RunAt = store.OriginAfter, end.At
		job.After = []store.Edge{{Job: end.ID, On: store.OnEither}}
		f.Jobs, f.NewMark = append(f.Jobs, job), end.Slot
	}
	return f
}

// ends returns the ends for which a schedule has to account.
func (e *env) ends(name string) []store.ScheduleEnd {
	e.t.Helper()
	ends, err := store.List[store.ScheduleEnd](e.ctx, e.b, store.ListRequest{IDs: []int64{e.schedule(name).ID}, Limit: 1000})
	e.must(err)
	return ends
}

// follow fires the ends for which a schedule has to account, and returns the jobs.
func (e *env) follow(name string) (ids []int64) {
	e.t.Helper()
	res := e.fire(following(e.schedule(name), e.ends(name)))
	e.want(len(res.Lost), 0, "a firing decided from the row as it is must not be lost")
	for _, fired := range res.Fired {
		ids = append(ids, fired.Job)
	}
	return ids
}

// trigger makes a job of a schedule.
func (e *env) trigger(name string) int64 {
	e.t.Helper()
	row := e.schedule(name)
	return e.insertOne(with(func(j *store.NewJob) { j.Schedule, j.Origin = row.ID, store.OriginTrigger }))
}

// triggerAndEnd makes a job of a schedule and ends it.
func (e *env) triggerAndEnd(node int64, name string, result store.Result) int64 {
	e.t.Helper()
	id := e.trigger(name)
	e.tick(time.Second)
	e.end(node, id, result)
	return id
}

func chainEnds(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	e.planned("export")
	e.putAfter("report", "export")
	id := e.triggerAndEnd(node, "export", store.Completed)
	row := e.schedule("report")
	e.want(row.NextAt, e.now, "the end makes the dependent due")
	ends := e.ends("report")
	e.want(len(ends), 1, "one end")
	e.want(ends[0], store.ScheduleEnd{
		Schedule: row.ID, Slot: e.now, After: "export", Ended: store.Ended{ID: id, State: store.StateCompleted, At: e.now},
	}, "the end of the job")
	f := following(row, ends)
	f.Jobs[0].RunAt = e.now.Add(25 * time.Hour)
	res := e.fire(f)
	e.want(len(res.Fired), 1, "the end makes a job")
	job := e.job(res.Fired[0].Job)
	e.want(job.Origin, store.OriginAfter, "its origin")
	e.want(job.Schedule, row.ID, "its schedule")
	e.want(job.RunAt, e.now.Add(25*time.Hour), "when it is due")
	e.want(job.After, []store.JobEdge{{Edge: store.Edge{Job: id, On: store.OnEither}, State: store.EdgeMatched}}, "the job shows after which job it is")
	e.ok(e.schedule("report").NextAt.IsZero(), "the end is accounted for")
	e.want(len(e.ends("report")), 0, "the end is accounted for")
	e.want(e.fire(f).Lost, []int64{row.ID}, "a second firing of the end is lost")
	slots := e.slots(store.ListRequest{Names: []string{"report"}})
	e.want(len(slots), 1, "one record")
	e.want([]any{slots[0].Outcome, slots[0].Job, slots[0].After, slots[0].AfterSchedule},
		[]any{store.SlotFired, job.ID, id, "export"}, "the record names the job that ended")
	e.want(e.schedule("report").Fired, int64(1), "the slot is counted")
}

func chainDependents(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	e.planned("export")
	names := []string{"mail", "report", "summary"}
	for _, name := range names {
		e.putAfter(name, "export")
	}
	id := e.triggerAndEnd(node, "export", store.Completed)
	res, err := e.b.DueSchedules(e.ctx, store.DueSchedulesRequest{Now: e.now, Limit: 10})
	e.must(err)
	var due []string
	for _, row := range res.Schedules {
		due = append(due, row.Name)
		e.want(row.NextAt, e.now, "a dependent is due at the end")
	}
	slices.Sort(due)
	e.want(due, names, "an end makes each of its dependents due")
	for _, name := range names {
		e.want(e.ends(name)[0].ID, id, "an end is a slot of each dependent")
	}
}

func chainSlots(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	e.planned("a")
	e.planned("b")
	e.putAfter("both", "a", "b")
	want := map[int64]string{e.trigger("a"): "a", e.trigger("b"): "b", e.trigger("a"): "a"}
	e.tick(time.Second)
	var outcomes []store.Outcome
	for _, claim := range e.claim(node, 3) {
		outcomes = append(outcomes, outcome(claim, store.Completed))
	}
	e.finish(outcomes...)
	ends := e.ends("both")
	e.want(len(ends), 3, "each end is a slot of its own")
	for i, end := range ends {
		e.want(end.After, want[end.ID], "its predecessor")
		e.want(end.At, e.now, "the instant of the end")
		e.want(end.Slot, e.now.Add(time.Duration(i)*time.Microsecond), "slots of the same instant are a microsecond apart")
	}
	e.want(len(e.follow("both")), 3, "each end makes a job")
	e.want(len(e.slots(store.ListRequest{Names: []string{"both"}})), 3, "each end is recorded")
}

func chainAllEnds(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	e.planned("export")
	e.putAfter("report", "export")
	for _, test := range []struct {
		rule string
		end  func(id int64)
		want []store.State
	}{
		{"completed", func(id int64) { e.end(node, id, store.Completed) }, []store.State{store.StateCompleted}},
		{"failed", func(id int64) { e.end(node, id, store.Failed) }, []store.State{store.StateFailed}},
		{"cancelled while it ran", func(id int64) { e.end(node, id, store.Cancelled) }, []store.State{store.StateCancelled}},
		{"cancelled before it ran", func(id int64) { e.cancel(id) }, []store.State{store.StateCancelled}},
		{"deleted before it ran", func(id int64) { e.changeOne(store.DeleteJobs, id) }, []store.State{store.StateDeleted}},
		{"retried", func(id int64) {
			e.finishWell(retryIn(e.claimOne(node), 0))
			e.want(len(e.ends("report")), 0, "a retry is no end")
			e.tick(time.Second)
			e.end(node, id, store.Completed)
		}, []store.State{store.StateCompleted}},
		{"forgotten", func(int64) {
			o := outcome(e.claimOne(node), store.Completed)
			o.Keep = store.Forget
			e.finishWell(o)
		}, []store.State{store.StateCompleted}},
	} {
		id := e.trigger("export")
		e.tick(time.Second)
		test.end(id)
		var got []store.State
		for _, end := range e.ends("report") {
			e.want(end.ID, id, test.rule)
			got = append(got, end.State)
		}
		e.want(got, test.want, test.rule)
		e.cancel(e.follow("report")[0])
	}
	row := e.schedule("export")
	lost := e.insertOne(with(func(j *store.NewJob) { j.Schedule, j.Origin, j.OnLoss = row.ID, store.OriginTrigger, store.OnLossFail }))
	other := e.nodeFor("other", time.Minute)
	e.want(e.claimOne(other).ID, lost, "the job runs on a node that dies")
	e.tick(time.Hour)
	e.rescue(node)
	e.want(e.ends("report")[0].State, store.StateFailed, "a lost job failed")
	e.cancel(e.follow("report")[0])
	backfill := e.insertOne(with(func(j *store.NewJob) { j.Schedule, j.Origin, j.Slot = row.ID, store.OriginBackfill, e.now }))
	e.end(node, backfill, store.Completed)
	e.want(len(e.ends("report")), 0, "a backfilled job sets off nothing")
	hook := e.insertOne(with(func(j *store.NewJob) { j.Origin = store.OriginHook }))
	e.end(node, hook, store.Completed)
	e.want(len(e.ends("report")), 0, "a job of a hook sets off nothing")
}

// chainBackfill ends jobs of backfills that set off the schedules that follow, and others.
func chainBackfill(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	row := e.planned("export")
	backfill := func(origin store.Origin, tx store.Tx) []int64 {
		jobs := waitingJobs(row.ID, origin, e.now.Add(-2*time.Hour), e.now.Add(-time.Hour))
		for i := range jobs {
			jobs[i].Waiting = tx == nil
		}
		if tx != nil {
			return e.insertTx(tx, jobs...)
		}
		return e.insert(jobs...)
	}
	ends := func(ids []int64, want int, rule string) {
		e.t.Helper()
		e.tick(time.Second)
		for _, id := range ids {
			e.end(node, id, store.Completed)
		}
		e.want(len(e.ends("report")), want, rule)
		if want > 0 {
			for _, made := range e.follow("report") {
				e.cancel(made)
			}
		}
	}
	live := backfill(store.OriginBackfillDependents, nil)
	plain := backfill(store.OriginBackfill, nil)
	e.want([]store.State{e.state(live[0]), e.state(live[1]), e.state(plain[0]), e.state(plain[1])},
		[]store.State{store.StateReady, store.StateWaiting, store.StateWaiting, store.StateWaiting}, "all backfilled jobs of a schedule are in one serial group")
	e.putAfter("report", "export")
	e.tick(time.Second)
	e.end(node, live[0], store.Completed)
	e.end(node, plain[0], store.Completed)
	e.end(node, live[1], store.Failed)
	e.end(node, plain[1], store.Completed)
	made := e.ends("report")
	e.want(len(made), 2, "only jobs of a backfill with dependents set off schedules")
	e.want([]any{made[0].ID, made[0].State, made[1].ID, made[1].State}, []any{live[0], store.StateCompleted, live[1], store.StateFailed}, "each end is one slot")
	for _, id := range e.follow("report") {
		e.cancel(id)
	}
	ends(backfill(store.OriginBackfillDependents, nil), 2, "a backfill after the put sets off the schedule")
	ends(backfill(store.OriginBackfill, nil), 0, "a backfill without dependents sets off nothing")
	tx := e.begin()
	inTx := backfill(store.OriginBackfillDependents, tx.Tx)
	e.must(tx.Commit())
	ends(inTx, 2, "jobs of a caller's transaction count")
	deleted := backfill(store.OriginBackfillDependents, nil)
	e.tick(time.Second)
	for _, id := range deleted {
		e.changeOne(store.DeleteJobs, id)
	}
	e.want(len(e.ends("report")), 2, "a deletion counts as a cancellation")
}

func chainLiveJobs(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	e.planned("export")
	early := e.triggerAndEnd(node, "export", store.Failed)
	live := e.ring("export")
	e.putAfter("report", "export")
	e.want(len(e.ends("report")), 0, "ends before the put do not count")
	e.tick(time.Second)
	e.end(node, live, store.Completed)
	e.want(len(e.follow("report")), 1, "a job counts that was live when the edge was put")
	e.cancel(e.claimOne(node).ID)
	e.tick(time.Minute)
	slot := e.ring("export")
	e.tick(time.Second)
	for _, claim := range e.claim(node, 1) {
		e.want(claim.ID, slot, "the job of a slot")
		e.finishWell(outcome(claim, store.Completed))
	}
	e.want(len(e.follow("report")), 1, "the job of a slot counts")
	e.changeOne(store.RetryJobs, early)
	for _, claim := range e.claim(node, 10) {
		e.finishWell(outcome(claim, store.Completed))
	}
	e.want(len(e.ends("report")), 1, "a job that is retried by hand counts, although it ended before the put")
	old := e.planned("old")
	backfill := e.insertOne(with(func(j *store.NewJob) { j.Schedule, j.Origin, j.Slot = old.ID, store.OriginBackfill, e.now }))
	e.putAfter("after old", "old")
	e.tick(time.Second)
	e.end(node, backfill, store.Completed)
	e.want(len(e.ends("after old")), 0, "a backfilled job sets off nothing, also if it was live when the edge was put")
}

func chainNames(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	e.putAfter("report", "export")
	e.planned("export")
	e.triggerAndEnd(node, "export", store.Completed)
	e.want(len(e.follow("report")), 1, "a schedule counts that is put after its dependent")
}

func chainDeleted(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	e.planned("export")
	e.putAfter("report", "export")
	id := e.trigger("export")
	e.changeSchedules(store.DeleteSchedules, "export")
	e.tick(time.Second)
	e.end(node, id, store.Completed)
	e.want(len(e.ends("report")), 0, "a job of a deleted schedule sets off nothing")
	e.planned("export")
	e.triggerAndEnd(node, "export", store.Completed)
	e.want(len(e.follow("report")), 1, "the edge waits for the name")
	e.cancel(e.claimOne(node).ID)
	e.changeSchedules(store.DeleteSchedules, "report")
	for _, claim := range e.claim(node, 10) {
		e.finishWell(outcome(claim, store.Completed))
	}
	e.triggerAndEnd(node, "export", store.Completed)
	e.want(len(e.ends("report")), 0, "a deleted schedule follows nothing")
}

func chainPaused(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	e.planned("export")
	e.putAfter("report", "export")
	id := e.trigger("export")
	e.changeSchedules(store.PauseSchedules, "export")
	e.tick(time.Second)
	e.end(node, id, store.Completed)
	e.changeSchedules(store.ResumeSchedules, "export")
	ends := e.ends("report")
	e.want([]any{len(ends), ends[0].Paused}, []any{1, true}, "the end remembers that its predecessor was paused")
	e.cancel(e.follow("report")[0])
	e.triggerAndEnd(node, "export", store.Completed)
	e.changeSchedules(store.PauseSchedules, "export")
	ends = e.ends("report")
	e.want([]any{len(ends), ends[0].Paused}, []any{1, false}, "a pause after the end does not matter")
}

func chainUnsettled(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	e.planned("export")
	e.putAfter("report", "export")
	e.triggerAndEnd(node, "export", store.Completed)
	e.tick(time.Second)
	const rule = "an edit of the dependent is refused while an end is not accounted for"
	e.is(e.tryPutAfter("report", "other"), store.ErrUnsettled, rule)
	for _, action := range []store.ScheduleAction{store.PauseSchedules, store.DeleteSchedules, store.ResetSchedules} {
		e.is(e.tryChangeSchedules(action, "report"), store.ErrUnsettled, rule)
	}
	e.changeSchedules(store.PauseSchedules, "export")
	e.want(len(e.follow("report")), 1, "the edge that was in force at the end counts")
	e.must(e.tryPutAfter("report", "other"))
}

func chainInTx(e *env) {
	e.planned("export")
	e.putAfter("report", "export")
	id := e.trigger("export")
	e.tick(time.Second)
	tx, err := e.Begin(e.ctx)
	e.must(err)
	_, err = e.a.ChangeJobs(e.ctx, store.ChangeJobsRequest{Now: e.now, Tx: tx.Tx, Action: store.CancelJobs, IDs: []int64{id}})
	e.must(err)
	e.must(tx.Commit())
	e.settle()
	err = e.tryChangeSchedules(store.PauseSchedules, "export") // which forgets whether the schedule was paused at the end
	if err != nil {
		e.is(err, store.ErrUnsettled, "an edit of the predecessor waits until its ends are passed on")
	}
	able := e.settle()
	if err != nil && able {
		e.changeSchedules(store.PauseSchedules, "export")
	}
	if err == nil || able { // otherwise who can pass the end on is hidden
		ends := e.ends("report")
		e.want([]any{len(ends), ends[0].Paused, ends[0].State}, []any{1, false, store.StateCancelled}, "the end counts as it was")
	}

	tx, err = e.Begin(e.ctx)
	e.must(err)
	_, err = e.a.PutSchedules(e.ctx, store.PutSchedulesRequest{
		Now: e.now, Tx: tx.Tx,
		Schedules: []store.PutSchedule{{Name: "x", Definition: []byte("x"), After: []string{"export"}}},
	})
	var field *check.FieldError
	e.ok(errors.As(err, &field) && field.Field == "after", "an edge in a transaction of the program is refused", err)
	e.must(tx.Rollback())
}

func chainRetried(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	e.planned("export")
	e.putAfter("report", "export")
	id := e.triggerAndEnd(node, "export", store.Failed)
	made := e.follow("report")
	e.want(len(made), 1, "the end makes a job")
	e.cancel(made[0])
	e.tick(time.Second)
	e.changeOne(store.RetryJobs, id)
	e.end(node, id, store.Completed)
	e.want(len(e.ends("report")), 1, "a job that was retried by hand ends again")
	e.want(len(e.follow("report")), 0, "a second end of the same job makes no second job")
	e.ok(e.schedule("report").NextAt.IsZero(), "it is accounted for")
	e.want(e.schedule("report").Fired, int64(1), "and not counted")
}

func chainCascade(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	e.planned("a")
	e.putAfter("b", "a")
	e.putAfter("c", "b")
	e.putAfter("d", "c")
	id := e.triggerAndEnd(node, "a", store.Failed)
	for _, name := range []string{"b", "c", "d"} {
		ends := e.ends(name)
		e.want(len(ends), 1, "each schedule of the chain gets one end")
		end := ends[0]
		e.want(end.ID, id, "the first job of the chain")
		if name != "b" {
			e.want([]any{end.State, end.Reason}, []any{store.StateNotStarted, "because"}, "a schedule that was not started")
		}
		f := following(e.schedule(name), ends)
		f.Jobs = nil
		f.Slots = []store.SlotRecord{{Slot: end.Slot, Last: end.Slot, Count: 1, Outcome: store.SlotNotStarted, Reason: "because", Extend: true}}
		f.NotStarted = []store.Ended{{ID: id, State: store.StateNotStarted, At: end.At, Reason: "because"}}
		e.want(len(e.fire(f).Slots), 1, "the record is an event")
		slots := e.slots(store.ListRequest{Names: []string{name}})
		e.want(len(slots), 1, "one record")
		e.want([]any{slots[0].Outcome, slots[0].After}, []any{store.SlotNotStarted, id}, "the record names the first job")
		last := e.feed()
		e.want(last[len(last)-1], store.Event{
			At: e.now, Type: store.EventNotFollowed, Schedule: e.schedule(name).ID, ScheduleName: name, Slot: end.Slot, Count: 1, Reason: "because",
		}, "the feed has the record")
	}
}

func chainLater(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	e.planned("export")
	e.putAfter("report", "export")
	e.triggerAndEnd(node, "export", store.Completed)
	f := following(e.schedule("report"), e.ends("report"))
	second := e.triggerAndEnd(node, "export", store.Completed)
	e.want(len(e.fire(f).Fired), 1, "an end that came after the read does not make the firing lost")
	row := e.schedule("report")
	e.want(row.NextAt, e.now, "the schedule is due for the end that came after the read")
	ends := e.ends("report")
	e.want([]any{len(ends), ends[0].ID}, []any{1, second}, "the end that came after the read is left")
	one, err := store.List[store.ScheduleEnd](e.ctx, e.a, store.ListRequest{IDs: []int64{row.ID}, Limit: 1})
	e.must(err)
	e.want(len(one), 1, "Limit bounds the ends")
}

func chainOverlap(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	e.planned("export")
	e.putAfter("report", "export")
	e.triggerAndEnd(node, "export", store.Completed)
	e.follow("report")
	running := e.claimOne(node)
	e.triggerAndEnd(node, "export", store.Completed)
	f := following(e.schedule("report"), e.ends("report"))
	f.Overlap = store.OverlapSkip
	res := e.fire(f)
	e.want([]int{len(res.Fired), len(res.Slots)}, []int{0, 1}, "under skip an end makes no job while a job runs")
	e.triggerAndEnd(node, "export", store.Completed)
	f = following(e.schedule("report"), e.ends("report"))
	f.Overlap = store.OverlapQueue
	res = e.fire(f)
	e.want(e.state(res.Fired[0].Job), store.StateWaiting, "under queue its job waits")
	e.finishWell(outcome(running, store.Completed))
	e.want(e.state(res.Fired[0].Job), store.StateReady, "until the job that ran has ended")
	e.triggerAndEndOf(node, "export", res.Fired[0].Job)
}

// triggerAndEndOf ends a job and then a new job of a schedule.
func (e *env) triggerAndEndOf(node int64, name string, first int64) {
	e.t.Helper()
	e.end(node, first, store.Completed)
	e.triggerAndEnd(node, name, store.Completed)
	e.want(len(e.follow("report")), 1, "ends after that make jobs again")
}

func chainCycles(e *env) {
	cycle := func(err error, path string) {
		e.t.Helper()
		var field *check.FieldError
		e.ok(errors.As(err, &field) && field.Field == "after" && field.Value == path, "a cycle is refused with its path "+path, err)
	}
	cycle(e.tryPutAfter("a", "a"), "a → a")
	e.must(e.tryPutAfter("b", "a"))
	e.must(e.tryPutAfter("c", "b"))
	cycle(e.tryPutAfter("a", "c"), "a → b → c → a")
	e.is(e.tryPutAfter("a", "x"), nil, "no cycle")
	_, err := e.tryPut(store.PutSchedulesRequest{Schedules: []store.PutSchedule{
		{Name: "m", Definition: []byte("m"), After: []string{"n"}}, {Name: "n", Definition: []byte("n"), After: []string{"m"}},
	}})
	cycle(err, "m → n → m")
	e.want(len(e.schedules(store.ListRequest{Names: []string{"m", "n"}})), 0, "a refused put changes nothing")
	e.fire(following(e.schedule("b"), nil))
	e.changeSchedules(store.DeleteSchedules, "b")
	e.fire(following(e.schedule("a"), nil))
	e.must(e.tryPutAfter("a", "c"))
	cycle(e.tryPutAfter("b", "a"), "b → c → a → b")
}

func chainCycleRace(e *env) {
	for round := range afterRounds() {
		names := [2]string{fmt.Sprintf("x%d", round), fmt.Sprintf("y%d", round)}
		var errs [2]error
		e.both(func(i int, client store.Backend) {
			_, errs[i] = client.PutSchedules(e.ctx, store.PutSchedulesRequest{Now: e.now, Schedules: []store.PutSchedule{
				{Name: names[i], Definition: []byte("x"), After: []string{names[1-i]}},
			}})
		})
		e.ok((errs[0] == nil) != (errs[1] == nil), "of two puts that close a cycle together one is refused", errs)
	}
}

func chainFireRace(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	e.planned("export")
	e.putAfter("report", "export")
	for range afterRounds() {
		e.triggerAndEnd(node, "export", store.Completed)
		f := following(e.schedule("report"), e.ends("report"))
		var fired [2]int
		e.both(func(i int, client store.Backend) {
			res, err := client.Fire(e.ctx, store.FireRequest{Now: e.now, Firings: []store.Firing{f}})
			if err != nil {
				e.t.Error(err)
			}
			fired[i] = len(res.Fired)
		})
		e.want(fired[0]+fired[1], 1, "each end makes one job")
		e.end(node, e.list(store.ListJobsRequest{JobFilter: store.JobFilter{States: []store.State{store.StateReady}}, Limit: 1})[0].ID, store.Completed)
	}
}

func chainPutRace(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	e.planned("export")
	for round := range afterRounds() {
		name := fmt.Sprintf("report%d", round)
		e.trigger("export")
		e.tick(time.Second)
		claim := e.claimOne(node)
		e.atOnce(
			func(b store.Backend) error {
				_, err := b.Finish(e.ctx, store.FinishRequest{Now: e.now, Outcomes: []store.Outcome{outcome(claim, store.Completed)}})
				return err
			},
			func(b store.Backend) error {
				for {
					_, err := b.PutSchedules(e.ctx, store.PutSchedulesRequest{
						Now:       e.now,
						Schedules: []store.PutSchedule{{Name: name, Definition: []byte("x"), After: []string{"export"}}},
					})
					if !errors.Is(err, store.ErrUnsettled) { // else the end is being passed on
						return err
					}
				}
			})
		e.settle()
		before := len(e.ends(name))
		e.ok(before <= 1, "an end counts at most once", before)
		e.triggerAndEnd(node, "export", store.Completed)
		e.want(len(e.ends(name)), before+1, "an end after the put counts")
		e.fire(following(e.schedule(name), e.ends(name)[:0]))
		e.follow(name)
		for _, claim := range e.claim(node, 10) {
			e.finishWell(outcome(claim, store.Completed))
		}
		e.changeSchedules(store.DeleteSchedules, name)
	}
}

func chainPrune(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	e.planned("export")
	e.putAfter("report", "export")
	e.triggerAndEnd(node, "export", store.Completed)
	e.follow("report")
	e.cancel(e.claimOne(node).ID)
	for _, claim := range e.claim(node, 10) {
		e.finishWell(outcome(claim, store.Completed))
	}
	open := e.triggerAndEndLater(node)
	e.tick(100 * time.Hour)
	_, err := e.a.Prune(e.ctx, store.PruneRequest{Now: e.now, Slots: time.Hour, Limit: 100})
	e.must(err)
	e.want(len(e.slots(store.ListRequest{Names: []string{"report"}})), 0, "records are pruned")
	ends := e.ends("report")
	e.want([]any{len(ends), ends[0].ID}, []any{1, open}, "an end is kept that is not accounted for")
}

// triggerAndEndLater ends a job of export while other jobs may run.
func (e *env) triggerAndEndLater(node int64) int64 {
	e.t.Helper()
	id := e.trigger("export")
	e.tick(time.Second)
	for _, claim := range e.claim(node, 10) {
		if claim.ID == id {
			e.finishWell(outcome(claim, store.Completed))
		}
	}
	return id
}
