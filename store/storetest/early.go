package storetest

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

// earlyTests test slots that fire before their instant; see store.Schedules.Fire.
var earlyTests = []scenario{
	{"FiresAhead", earlyFires},
	{"NotTooEarly", earlyTooSoon},
	{"NotBesideALivingJob", earlyBusy},
	{"BesideWhatDoesNotMatter", earlyBeside},
	{"ComparesAsAtTheInstant", earlyCompares},
	{"OneSlotOneJob", earlyOnce},
	{"FiredToAfterEdits", earlyFiredTo},
	{"ResetKeepsWhatHasFired", earlyReset},
	{"TriggeredJobsStartAfterIt", earlyTrigger},
	{"RetriedJobsStartAfterIt", earlyRetry},
	{"PulledJobsStartAtTheirSlot", earlyPull},
	{"TriggerAtTheSameMoment", earlyTriggerRace},
	{"RetryAtTheSameMoment", earlyRetryRace},
}

const aWhile = 500 * time.Millisecond

// earlyRequest makes a request at the test's now.
func (e *env) earlyRequest(ahead time.Duration, firings ...store.Firing) store.FireRequest {
	return store.FireRequest{Now: e.now, Firings: firings, Ahead: ahead}
}

// firedTo returns up to when schedules have fired early.
func (e *env) firedTo(names ...string) time.Time {
	e.t.Helper()
	to, err := firedTo(e.ctx, e.b, e.now, names)
	e.must(err)
	return to
}

// firedTo returns up to when schedules have fired early, deleted schedules too.
func firedTo(ctx context.Context, s store.Backend, now time.Time, names []string) (time.Time, error) {
	rows, err := store.List[store.Schedule](ctx, s, store.ListRequest{Now: now, Names: names, Deleted: true, Limit: len(names)})
	var marks []time.Time
	for _, row := range rows {
		marks = append(marks, row.Mark)
	}
	return store.LatestFiredTo(marks, now), err
}

// soon puts a schedule whose next slot comes in half a second.
func (e *env) soon(name string) store.Schedule {
	e.t.Helper()
	row := e.planned(name)
	e.tick(time.Minute - aWhile)
	return row
}

func (e *env) fireAhead(ahead time.Duration, firings ...store.Firing) store.FireResult {
	e.t.Helper()
	res, err := e.a.Fire(e.ctx, e.earlyRequest(ahead, firings...))
	e.must(err)
	return res
}

// fireEarly fires the next slot of a schedule before its instant and returns
// the schedule.
func (e *env) fireEarly(row store.Schedule) store.Schedule {
	e.t.Helper()
	res := e.fireAhead(aWhile, ringing(row))
	if len(res.Fired) != 1 {
		e.t.Fatalf("a slot that comes within Ahead must fire: %+v", res)
	}
	return e.schedule(row.Name)
}

// leftOut checks that a firing changes nothing, and whether it is reported as
// lost or busy.
func (e *env) leftOut(req store.FireRequest, busy bool, rule string) {
	e.t.Helper()
	state := func() []any {
		return []any{
			e.schedules(store.ListRequest{Deleted: true}), e.slots(store.ListRequest{}), e.list(store.ListJobsRequest{}),
		}
	}
	before := state()
	req.Now = e.now
	res, err := e.a.Fire(e.ctx, req)
	e.must(err)
	lost, left := []int64{req.Firings[0].Schedule}, []int64(nil)
	if busy {
		lost, left = left, lost
	}
	e.want([]any{res.Lost, res.Busy, len(res.Fired)}, []any{lost, left, 0}, rule)
	e.want(state(), before, "a firing that is left out must touch nothing")
}

func earlyFires(e *env) {
	node := e.node("n")
	row := e.soon("s")
	slot := row.NextAt
	res := e.fireAhead(aWhile, ringing(row))
	if len(res.Fired) != 1 {
		e.t.Fatalf("a slot that comes within Ahead must fire: %+v", res)
	}
	id := res.Fired[0].Job
	want := row
	want.Mark, want.NextAt, want.Fired = slot, slot.Add(time.Minute), 1
	e.want(e.schedule("s"), want, "an early firing must move mark and next_at and count the slot")
	slots := e.slots(store.ListRequest{})
	if len(slots) != 1 {
		e.t.Fatalf("a slot that fired early must be recorded once: %+v", slots)
	}
	e.want([]any{slots[0].Slot, slots[0].Outcome, slots[0].Job, slots[0].RecordedAt},
		[]any{slot, store.SlotFired, id, e.now}, "a slot that fires early must be recorded as fired, now")
	info := e.job(id)
	e.want([]any{info.State, info.Slot, info.RunAt}, []any{store.StateReady, slot, slot}, "the job of a slot that fires early is due at the slot")
	claim := e.claimAll(node)
	e.want([]any{len(claim.Jobs), claim.NextDue}, []any{0, slot}, "the job of a slot that fired early must not be claimed before the slot, and be known to come")
	e.tick(aWhile - time.Microsecond)
	e.want(len(e.claim(node, 9)), 0, "the job of a slot that fired early must not be claimed a moment before the slot")
	e.tick(time.Microsecond)
	e.want(claimedIDs(e.claim(node, 9)), []int64{id}, "the job of a slot that fired early must be claimed at the slot")
}

// claimAll claims up to nine jobs and returns the whole answer.
func (e *env) claimAll(node int64) store.ClaimResult {
	e.t.Helper()
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 9})
	e.must(err)
	return res
}

func earlyTooSoon(e *env) {
	row := e.soon("s")
	f := ringing(row)
	e.leftOut(e.earlyRequest(0, f), false, "without Ahead no slot may fire before its instant")
	e.leftOut(e.earlyRequest(aWhile-time.Microsecond, f), false, "a slot must not fire further ahead than Ahead says")
	e.fireEarly(row)
}

func earlyBusy(e *env) {
	node := e.node("n")
	row := e.planned("s")
	e.fire(ringing(e.rowAt("s", row.NextAt)))
	row = e.schedule("s")
	e.now = row.NextAt.Add(-aWhile)
	job := e.list(store.ListJobsRequest{})[0].ID
	for _, overlap := range []store.Overlap{store.OverlapSkip, store.OverlapQueue, store.OverlapReplace} {
		f := ringing(row)
		f.Overlap = overlap
		e.leftOut(e.earlyRequest(aWhile, f), true, fmt.Sprint("a slot must not fire early while a job of its schedule is ready, overlap ", overlap))
	}
	early := e.earlyRequest(aWhile, ringing(row))
	claimed := e.claimOne(node)
	e.leftOut(early, true, "a slot must not fire early while a job of its schedule runs")
	e.finishWell(outcome(claimed, store.Retry))
	e.leftOut(early, true, "a slot must not fire early while a job of its schedule awaits a retry")
	e.claimOne(node)
	waits := e.insert(waitingJobs(row.ID, store.OriginTrigger, e.now, e.now)...)[0]
	e.change(store.ChangeJobsRequest{Action: store.DeleteJobs, IDs: []int64{job}})
	e.leftOut(early, true, "a slot must not fire early while a job of its schedule waits")
	early.Firings[0].Revision++
	e.leftOut(early, false, "a firing decided from another revision is lost, whether a job lives or not")
	early.Firings[0].Revision--
	early.Until = e.now.Add(-time.Microsecond)
	e.leftOut(early, false, "a firing whose time is over is lost, whether a job lives or not")
	e.now = row.NextAt
	res := e.fireAhead(aWhile, ringing(row))
	e.want([]int{len(res.Busy), len(res.Lost), len(res.Slots)}, []int{0, 0, 1}, "at its instant a slot is settled while other jobs are live, whatever Ahead is")
	e.change(store.ChangeJobsRequest{Action: store.CancelJobs, IDs: []int64{waits}})
}

// rowAt moves the clock to an instant and reads a schedule.
func (e *env) rowAt(name string, at time.Time) store.Schedule {
	e.t.Helper()
	e.now = at
	return e.schedule(name)
}

func earlyBeside(e *env) {
	node := e.node("n")
	e.planned("finished")
	e.ring("finished")
	e.finishWell(outcome(e.claimOne(node), store.Failed))
	e.planned("backfilled")
	e.insertOne(with(func(j *store.NewJob) {
		j.Schedule, j.Origin, j.Slot = e.schedule("backfilled").ID, store.OriginBackfill, e.now.Add(-time.Hour)
	}))
	e.planned("with dependents")
	e.insertOne(with(func(j *store.NewJob) {
		j.Schedule, j.Origin, j.Slot = e.schedule("with dependents").ID, store.OriginBackfillDependents, e.now.Add(-time.Hour)
	}))
	allow := e.planned("allow")
	e.ring("allow")
	for _, name := range []string{"finished", "backfilled", "with dependents", "allow"} {
		row := e.schedule(name)
		e.now = row.NextAt.Add(-aWhile)
		f := ringing(row)
		if row.ID == allow.ID {
			f.Overlap = store.OverlapAllow
		}
		res := e.fireAhead(aWhile, f)
		e.want([]int{len(res.Fired), len(res.Busy)}, []int{1, 0}, "a slot fires early while a job that it cannot overlap with is live: "+name)
	}
}

func earlyCompares(e *env) {
	row := e.soon("s")
	early := func(change func(f *store.Firing)) store.FireRequest {
		f := ringing(row)
		change(&f)
		return e.earlyRequest(aWhile, f)
	}
	e.leftOut(early(func(f *store.Firing) { f.Revision++ }), false, "an early firing decided from another revision must be lost")
	e.leftOut(early(func(f *store.Firing) { f.Mark = f.Mark.Add(-time.Microsecond) }), false, "an early firing decided from another mark must be lost")
	e.leftOut(early(func(f *store.Firing) { f.NextAt = f.NextAt.Add(-time.Microsecond) }), false, "an early firing decided from another next_at must be lost")
	e.changeSchedules(store.PauseSchedules, "s")
	e.leftOut(early(func(*store.Firing) {}), false, "an early firing decided before a pause must be lost")
	e.changeSchedules(store.ResumeSchedules, "s")
	until := early(func(*store.Firing) {})
	until.Until = e.now.Add(-time.Microsecond)
	e.leftOut(until, false, "an early firing must be lost when the time in which it holds is over")
	e.put("s", "edited")
	e.leftOut(early(func(*store.Firing) {}), false, "an early firing decided before an edit must be lost")
	e.changeSchedules(store.DeleteSchedules, "s")
	e.leftOut(early(func(*store.Firing) {}), false, "a deleted schedule must not fire early")
}

func earlyOnce(e *env) {
	for round := range 15 {
		row := e.soon(fmt.Sprint("s", round))
		f := ringing(row)
		var fired, lost [2]int
		e.both(func(i int, client store.Backend) {
			res, err := client.Fire(e.ctx, e.earlyRequest(aWhile, f))
			e.ok(err == nil, "two nodes that fire a slot early at once must not get errors", err)
			fired[i], lost[i] = len(res.Fired), len(res.Lost)+len(res.Busy)
		})
		e.want([]int{fired[0] + fired[1], lost[0] + lost[1]}, []int{1, 1}, "of two nodes that fire a slot early exactly one must win")
		e.leftOut(e.earlyRequest(aWhile, f), false, "a slot that has fired early must not fire early again")
		e.tick(aWhile)
		e.leftOut(e.earlyRequest(0, f), false, "a slot that has fired early must not fire at its instant")
	}
}

func earlyFiredTo(e *env) {
	e.putCalendar("c", "0")
	put := func(name, definition string) []string {
		e.t.Helper()
		one := store.PutSchedule{Name: name, Definition: []byte(definition)}
		if name == "s" {
			one.Calendars = []string{"c"}
		}
		res, err := e.tryPut(store.PutSchedulesRequest{Schedules: []store.PutSchedule{one}})
		e.must(err)
		return res.Edited
	}
	calendar := func(definition string) []string {
		e.t.Helper()
		res, err := e.tryPutCalendars(store.PutCalendar{Name: "c", Definition: []byte(definition)})
		e.must(err)
		return res.Revised
	}
	e.want(e.firedTo(put("s", "{}")...), time.Time{}, "a new schedule has not fired")
	row := e.schedule("s")
	slot := e.now.Add(time.Minute)
	e.fire(firing(row, e.now, slot))
	e.now = slot.Add(-aWhile)
	e.want(e.firedTo(calendar("1")...), time.Time{}, "a schedule whose slot has not fired has not fired early")
	e.fireEarly(e.schedule("s"))
	e.want([]time.Time{e.firedTo(), e.firedTo("none"), e.firedTo("none", "s")}, []time.Time{{}, {}, slot},
		"FiredTo is about the named schedules, and ignores unknown names")
	e.want(e.firedTo(put("other", "{}")...), time.Time{}, "an edit of another schedule concerns no early firing")
	e.want(e.firedTo(put("s", "{}")...), time.Time{}, "a put that changes nothing concerns no early firing")
	e.want(e.firedTo(calendar("2")...), slot, "an edit of a calendar concerns the early firings of the schedules that name it")
	e.want(e.schedule("s").Mark, slot, "an edit of a calendar leaves the mark")
	for _, action := range []store.ScheduleAction{store.PauseSchedules, store.PauseSchedules, store.ResumeSchedules} {
		e.changeSchedules(action, "s")
		e.want(e.firedTo("s"), slot, "a pause or resume leaves up to when the schedule has fired early")
	}
	e.want(e.firedTo(put("s", "edited")...), slot, "an edit leaves up to when the schedule has fired early")
	row = e.schedule("s")
	e.want([]time.Time{row.Mark, row.NextAt}, []time.Time{slot, e.now}, "an edit leaves a slot that has fired early accounted for")
	e.fire(firing(row, row.Mark, slot.Add(time.Minute)))
	e.changeSchedules(store.DeleteSchedules, "s")
	e.want(e.firedTo("s"), slot, "a deleted schedule has fired early as before")
	e.want(e.firedTo(put("s", "back")...), slot, "a schedule that comes back has fired early as before")
	e.want(len(e.list(store.ListJobsRequest{JobFilter: store.JobFilter{States: []store.State{store.StateReady}}})), 1, "no edit touches a job that was made")
	_, err := e.tryPut(store.PutSchedulesRequest{Owner: "one", Sync: true, Schedules: []store.PutSchedule{{Name: "mine", Definition: []byte("{}")}}})
	e.must(err)
	mine := e.schedule("mine")
	e.fire(firing(mine, e.now, e.now.Add(aWhile-time.Microsecond)))
	mine = e.fireEarly(e.schedule("mine"))
	e.want(e.firedTo("s", "mine"), slot, "FiredTo is the latest of several schedules")
	res, err := e.tryPut(store.PutSchedulesRequest{Owner: "one", Sync: true})
	e.must(err)
	e.want(e.firedTo(res.Edited...), mine.Mark, "a sync concerns the early firings of the schedules that it deletes")
	e.tick(aWhile)
	e.want(e.firedTo(put("s", "later")...), time.Time{}, "a slot that has come has not fired early any more")
}

func earlyReset(e *env) {
	row := e.soon("s")
	slot := row.NextAt
	e.fireEarly(row)
	e.changeSchedules(store.ResetSchedules, "s")
	row = e.schedule("s")
	e.want([]time.Time{e.firedTo("s"), row.Mark, row.NextAt}, []time.Time{slot, slot, e.now},
		"a reset must keep a mark that an early firing has set, and plan again")
	e.fire(firing(row, slot.Add(store.MostAhead), slot.Add(time.Hour)))
	e.now = slot.Add(-time.Microsecond)
	e.changeSchedules(store.ResetSchedules, "s")
	e.want(e.schedule("s").Mark, e.now, "a reset must move back a mark that lies further ahead than slots fire")
}

// earlyTrigger: without the contract's rule a triggered job would run when the
// slot comes that has been decided on.
func earlyTrigger(e *env) {
	row := e.fireEarly(e.soon("s"))
	other := e.planned("other")
	trigger := func(schedule int64, change func(j *store.NewJob)) time.Time {
		return e.job(e.insertOne(with(func(j *store.NewJob) {
			j.Schedule, j.Origin = schedule, store.OriginTrigger
			change(j)
		}))).RunAt
	}
	now := func(*store.NewJob) {}
	e.want(trigger(row.ID, now), row.Mark, "a triggered job must not be due before a slot of its schedule that has fired ahead")
	e.want(trigger(row.ID, func(j *store.NewJob) { j.Delay = time.Millisecond }), row.Mark,
		"a triggered job with a delay must not be due before a slot of its schedule that has fired ahead")
	e.want(trigger(row.ID, func(j *store.NewJob) { j.RunAt = row.Mark.Add(time.Second) }), row.Mark.Add(time.Second), "a triggered job that is due later stays so")
	e.want(trigger(other.ID, now), e.now, "a triggered job of another schedule must be due now")
	tx := e.begin()
	inTx := e.insertTx(tx.Tx, with(func(j *store.NewJob) { j.Schedule, j.Origin = row.ID, store.OriginTrigger }))
	e.must(tx.Commit())
	e.want(e.job(inTx[0]).RunAt, row.Mark, "a triggered job of a caller's transaction must not be due before a slot of its schedule that has fired ahead")
	e.tick(aWhile)
	e.want(trigger(row.ID, now), e.now, "a triggered job must be due now when the slot has come")
}

func earlyRetry(e *env) {
	node := e.node("n")
	e.planned("s")
	e.ring("s")
	done := e.claimOne(node)
	e.finishWell(outcome(done, store.Completed))
	row := e.schedule("s")
	e.now = row.NextAt.Add(-aWhile)
	row = e.fireEarly(row)
	e.changeOne(store.RetryJobs, done.ID)
	e.want(e.job(done.ID).RunAt, row.Mark, "a finished job that is retried must not be due before a slot of its schedule that has fired ahead")
}

func earlyPull(e *env) {
	row := e.soon("s")
	slot := row.NextAt
	f := ringing(row)
	f.Jobs[0].RunAt = slot.Add(time.Hour) // the slot's job is delayed by jitter
	id := e.fireAhead(aWhile, f).Fired[0].Job
	e.changeOne(store.RetryJobs, id)
	e.want(e.job(id).RunAt, slot, "a job that is pulled must not be due before its slot")
	e.changeOne(store.RetryJobs, id)
	e.want(e.job(id).RunAt, slot, "a job that is pulled again must not be due before its slot")
	e.tick(aWhile)
	e.want(claimedIDs(e.claim(e.node("n"), 9)), []int64{id}, "a job that was pulled must be due at its slot")
}

// notBeforeTheSlot checks that either the slot fired early, and a job made due
// by hand at the same moment is due at the slot, or that the slot did not fire.
func (e *env) notBeforeTheSlot(res store.FireResult, slot time.Time, byHand int64) {
	e.t.Helper()
	runAt := e.job(byHand).RunAt
	switch {
	case len(res.Fired) == 1 && runAt.Before(slot):
		e.t.Errorf("a slot fired early, and a job of its schedule that was made due at the same moment does not wait for it")
	case len(res.Fired) == 0 && (len(res.Busy)+len(res.Lost) != 1 || !runAt.Equal(e.now)): // a store that is busy may give the firing up
		e.t.Errorf("a slot that is not fired early because of a job that comes to life is busy: %+v; the job is due at %v", res, runAt)
	}
}

func earlyTriggerRace(e *env) {
	for round := range 20 {
		row := e.soon(fmt.Sprint("s", round))
		var errs [2]error
		var res store.FireResult
		var made store.InsertResult
		e.both(func(i int, client store.Backend) {
			if i == 0 {
				res, errs[0] = client.Fire(e.ctx, e.earlyRequest(aWhile, ringing(row)))
				return
			}
			made, errs[1] = client.Insert(e.ctx, store.InsertRequest{Now: e.now, Jobs: []store.NewJob{
				with(func(j *store.NewJob) { j.Schedule, j.Origin = row.ID, store.OriginTrigger }),
			}})
		})
		e.must(errs[0])
		e.must(errs[1])
		e.notBeforeTheSlot(res, row.NextAt, made.Jobs[0].ID)
	}
}

func earlyRetryRace(e *env) {
	node := e.node("n")
	for round := range 20 {
		name := fmt.Sprint("s", round)
		e.planned(name)
		e.ring(name)
		e.heartbeat(node)
		done := e.claimOne(node)
		e.finishWell(outcome(done, store.Completed))
		row := e.schedule(name)
		e.now = row.NextAt.Add(-aWhile)
		var errs [2]error
		var res store.FireResult
		e.both(func(i int, client store.Backend) {
			if i == 0 {
				res, errs[0] = client.Fire(e.ctx, e.earlyRequest(aWhile, ringing(row)))
				return
			}
			_, errs[1] = client.ChangeJobs(e.ctx, store.ChangeJobsRequest{Now: e.now, Action: store.RetryJobs, IDs: []int64{done.ID}})
		})
		e.must(errs[0])
		e.must(errs[1])
		e.notBeforeTheSlot(res, row.NextAt, done.ID)
		e.change(store.ChangeJobsRequest{Action: store.DeleteJobs, IDs: []int64{done.ID}})
		for _, fired := range res.Fired {
			e.change(store.ChangeJobsRequest{Action: store.DeleteJobs, IDs: []int64{fired.Job}})
		}
	}
}
