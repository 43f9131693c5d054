package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

var dueTests = []scenario{
	{"EarliestFirst", dueOrder},
	{"Next", dueNext},
	{"Names", dueNames},
	{"Ahead", dueAhead},
	{"Pages", duePages},
}

var fireTests = []scenario{
	{"Plan", firePlan},
	{"OneSlotOneJob", fireOne},
	{"Revision", fireRevision},
	{"Mark", fireMark},
	{"NextAt", fireNextAt},
	{"Paused", firePaused},
	{"Until", fireUntil},
	{"NotYetDue", fireNotYet},
	{"Replan", fireReplan},
	{"UnknownSchedule", fireUnknown},
	{"RepetitionIsHarmless", fireRepeated},
	{"FiredSlotsStayFiredAfterAReset", fireAfterReset},
	{"OtherSlotsFireAfterAReset", fireOthersAfterReset},
	{"LostAmongOthers", fireLostAmongOthers},
	{"RecordsOfSlots", fireRecords},
	{"ExtendedRecords", fireExtend},
	{"SeveralJobs", fireSeveral},
	{"End", fireEnd},
	{"Many", fireMany},
	{"BothClientsAtOnce", fireRace},
	{"EditAtTheSameMoment", fireEditRace},
}

func (e *env) readDue(limit int, names ...string) store.DueSchedulesResult {
	e.t.Helper()
	res, err := e.b.DueSchedules(e.ctx, store.DueSchedulesRequest{Now: e.now, Limit: limit, Names: names})
	e.must(err)
	return res
}

// plannedAt puts a schedule with its next slot at some time.
func (e *env) plannedAt(name string, next time.Time) store.Schedule {
	e.t.Helper()
	row := e.put(name, "{}")
	e.fire(firing(row, e.now, next))
	return e.schedule(name)
}

func dueOrder(e *env) {
	a := e.plannedAt("a", e.now.Add(3*time.Minute))
	b := e.plannedAt("b", e.now.Add(time.Minute))
	c := e.plannedAt("c", e.now.Add(2*time.Minute))
	e.plannedAt("d", e.now.Add(10*time.Minute))
	e.tick(3 * time.Minute)
	res := e.readDue(10)
	e.want(res.Schedules, []store.Schedule{b, c, a}, "due schedules must come whole, earliest next_at first, up to and with now")
	e.want(res.Now, e.now, "the store's now must be returned")
	e.want(scheduleNames(e.readDue(2).Schedules), []string{"b", "c"}, "a limit must keep the earliest")
	e.fire(firing(b, e.now, e.now.Add(time.Hour)))
	e.changeSchedules(store.ResetSchedules, "b")
	e.ok(slices.Contains(scheduleNames(e.readDue(10).Schedules), "b"), "a schedule that was reset is due now")
	e.want(scheduleNames(e.readDue(1).Schedules), []string{"c"}, "a schedule that was reset is due now, not before")
}

func dueNext(e *env) {
	e.want(e.readDue(10).Next, time.Time{}, "Next must be zero where there is no schedule")
	e.plannedAt("a", e.now.Add(time.Minute))
	b := e.plannedAt("b", e.now.Add(2*time.Minute))
	res := e.readDue(10)
	e.want([]any{len(res.Schedules), res.Next}, []any{0, e.now.Add(time.Minute)}, "Next must be the earliest next_at after now")
	e.tick(time.Minute)
	e.want(e.readDue(10).Next, b.NextAt, "Next must be after now, not a schedule that is due")
	e.tick(-time.Microsecond)
	e.want(len(e.readDue(10).Schedules), 0, "a schedule must not be due before next_at by the request's Now")
}

func dueAhead(e *env) {
	a := e.plannedAt("a", e.now.Add(time.Minute))
	b := e.plannedAt("b", e.now.Add(2*time.Minute))
	e.plannedAt("c", e.now.Add(3*time.Minute))
	e.tick(time.Minute)
	res, err := e.b.DueSchedules(e.ctx, store.DueSchedulesRequest{Now: e.now, Limit: 10, Ahead: time.Minute})
	e.must(err)
	e.want(res.Schedules, []store.Schedule{a, b}, "what is due within Ahead must come, up to and with its end")
	e.want([]time.Time{res.Now, res.Next}, []time.Time{e.now, e.now.Add(2 * time.Minute)}, "Now must be the store's clock, and Next after now + Ahead")
	f := ringing(b)
	e.want(e.fire(f).Lost, []int64{b.ID}, "what comes soon must not fire before its instant")
	e.tick(time.Minute)
	e.want(len(e.fire(f).Fired), 1, "what was decided ahead must fire at its instant")
}

func duePages(e *env) {
	soon := e.now.Add(time.Minute)
	a, b, c := e.plannedAt("a", soon), e.plannedAt("b", soon), e.plannedAt("c", soon.Add(-time.Second))
	e.plannedAt("d", soon.Add(time.Second))
	req := store.DueSchedulesRequest{Now: e.now, Limit: 2, Ahead: time.Minute}
	var pages [][]string
	for range 3 {
		res, err := e.b.DueSchedules(e.ctx, req)
		e.must(err)
		pages = append(pages, scheduleNames(res.Schedules))
		if n := len(res.Schedules); n > 0 {
			req.After = store.DueCursor{NextAt: res.Schedules[n-1].NextAt, ID: res.Schedules[n-1].ID}
		}
	}
	second := []string{"a", "b"}
	if a.ID > b.ID {
		second = []string{"b", "a"}
	}
	e.want(pages, [][]string{{c.Name, second[0]}, second[1:], nil}, "a page must go on after the cursor, by next_at, then number")
}

func dueNames(e *env) {
	for _, name := range []string{"a", "b", "c"} {
		e.plannedAt(name, e.now.Add(time.Minute))
	}
	e.want(len(e.readDue(10, "a").Schedules), 0, "a named schedule that is not due must not be returned")
	e.tick(time.Minute)
	res := e.readDue(10, "c", "a", "nobody")
	names := scheduleNames(res.Schedules)
	slices.Sort(names)
	e.want(names, []string{"a", "c"}, "only the named schedules must be returned")
}

func firePlan(e *env) {
	row := e.put("s", "{}")
	next := e.now.Add(time.Minute)
	e.tick(time.Second)
	res := e.fire(firing(row, e.now, next))
	e.want([]int{len(res.Fired), len(res.Slots), len(res.Superseded), len(res.Lost)}, []int{0, 0, 0, 0}, "planning fires nothing")
	row.Mark, row.NextAt = e.now, next
	e.want(e.schedule("s"), row, "a firing must move mark and next_at, and nothing else")
}

func fireOne(e *env) {
	row := e.due("s")
	slot := row.NextAt
	e.tick(time.Second)
	res := e.fire(ringing(row))
	if len(res.Fired) != 1 {
		e.t.Fatalf("a due slot must fire: %+v", res)
	}
	id := res.Fired[0].Job
	e.want(res.Fired, []store.FiredSlot{{Schedule: row.ID, Slot: slot, Job: id}}, "a fired slot must be returned with its job")
	want := row
	want.Mark, want.NextAt, want.Fired = slot, slot.Add(time.Minute), 1
	e.want(e.schedule("s"), want, "a firing must move mark and next_at and count the slot, and leave the revision")
	info := e.job(id)
	e.want([]any{info.State, info.Schedule, info.ScheduleName, info.Slot, info.RunAt, info.Origin, info.CreatedAt, string(info.Args)},
		[]any{store.StateReady, row.ID, "s", slot, slot, store.OriginSchedule, e.now, "{}"}, "a slot's job must be as asked")
	slots := e.slots(store.ListRequest{})
	if len(slots) != 1 {
		e.t.Fatalf("a fired slot must be recorded once: %+v", slots)
	}
	e.want(slots[0], store.SlotInfo{
		ID: slots[0].ID, Schedule: row.ID, ScheduleName: "s", Job: id, JobKept: true, RecordedAt: e.now,
		SlotRecord: store.SlotRecord{Slot: slot, Last: slot, Count: 1, Outcome: store.SlotFired},
	}, "a fired slot must be recorded with its job")
	e.want(claimedIDs(e.claim(e.node("n"), 9)), []int64{id}, "a slot's job must be claimable")
}

// lostFiring checks that a firing is refused and changes nothing.
func (e *env) lostFiring(f store.Firing, rule string) {
	e.t.Helper()
	before := e.schedules(store.ListRequest{Deleted: true})
	f.Slots = []store.SlotRecord{{Slot: f.NextAt, Last: f.NextAt, Count: 1, Outcome: store.SlotMissed, Reason: "x"}}
	res := e.fire(f)
	e.want([]any{res.Lost, len(res.Fired), len(res.Slots)}, []any{[]int64{f.Schedule}, 0, 0}, rule)
	e.want(e.schedules(store.ListRequest{Deleted: true}), before, "a lost firing must not touch the schedule")
	e.want(len(e.slots(store.ListRequest{})), 0, "a lost firing must record nothing")
	e.want(len(e.list(store.ListJobsRequest{})), 0, "a lost firing must make no job")
}

func fireRevision(e *env) {
	f := ringing(e.due("s"))
	f.Revision++
	e.lostFiring(f, "a firing decided from another revision must be lost")
	f.Revision -= 2
	e.lostFiring(f, "a firing decided from another revision must be lost")
	// An edit that leaves mark and next_at unchanged can only be detected by
	// the revision.
	row := e.put("t", "1")
	f = ringing(row)
	e.put("t", "2")
	e.lostFiring(f, "a firing decided before an edit must be lost")
}

func fireMark(e *env) {
	f := ringing(e.due("s"))
	f.Mark = f.Mark.Add(time.Microsecond)
	e.lostFiring(f, "a firing decided from another mark must be lost")
	f.Mark = f.Mark.Add(-2 * time.Microsecond)
	e.lostFiring(f, "a firing decided from another mark must be lost")
	f.Mark = time.Time{}
	e.lostFiring(f, "a firing decided from no mark must be lost")
}

func fireNextAt(e *env) {
	f := ringing(e.due("s"))
	f.NextAt = f.NextAt.Add(-time.Microsecond)
	e.lostFiring(f, "a firing decided from another next_at must be lost")
	f.NextAt = time.Time{}
	e.lostFiring(f, "a firing decided from no next_at must be lost")
}

func firePaused(e *env) {
	row := e.planned("s")
	e.changeSchedules(store.PauseSchedules, "s")
	e.tick(time.Minute)
	e.lostFiring(ringing(row), "a firing decided before a pause must be lost")
	row = e.schedule("s")
	e.fire(firing(row, e.now, e.now.Add(time.Minute)))
	row = e.schedule("s")
	e.changeSchedules(store.ResumeSchedules, "s")
	e.tick(time.Minute)
	e.lostFiring(ringing(row), "a firing decided under a pause must be lost when that is over")
	e.want(len(e.fire(ringing(e.schedule("s"))).Fired), 1, "a firing decided from the row as it is must count")
}

func fireUntil(e *env) {
	f := ringing(e.due("s"))
	until := func(at time.Time) store.FireResult {
		res, err := e.b.Fire(e.ctx, store.FireRequest{Now: e.now, Until: at, Firings: []store.Firing{f}})
		e.must(err)
		return res
	}
	res := until(e.now.Add(-time.Microsecond))
	e.want([]any{res.Lost, len(res.Fired)}, []any{[]int64{f.Schedule}, 0}, "a decision must be lost when the time in which it holds is over")
	res = until(e.now)
	e.want([]int{len(res.Lost), len(res.Fired)}, []int{0, 1}, "a decision must count up to and with the end of its time")
}

func fireNotYet(e *env) {
	row := e.planned("s")
	e.tick(time.Minute - time.Microsecond)
	e.lostFiring(ringing(row), "a slot must not fire before it is due by the store's clock")
	e.now = time.Date(2005, 1, 1, 0, 0, 0, 0, time.UTC) // a store clock behind the real time
	row = e.planned("t")
	e.lostFiring(ringing(row), "a slot that is due by the node's clock, but not by the store's, must not fire")
	e.tick(time.Minute)
	e.want(len(e.fire(ringing(row)).Fired), 1, "a slot must fire once it is due")
}

func fireReplan(e *env) {
	replan := func(f store.Firing) store.FireResult {
		e.t.Helper()
		res, err := e.b.Fire(e.ctx, store.FireRequest{Now: e.now, Firings: []store.Firing{f}, Replan: true})
		e.must(err)
		return res
	}
	row := e.plannedAt("s", e.now.Add(time.Hour))
	for _, next := range []time.Duration{58 * time.Minute, 2 * time.Hour} {
		e.want(replan(firing(row, row.Mark, e.now.Add(next))), store.FireResult{}, "a decision with other data of a zone must move a schedule that is not due")
		before := row
		row = e.schedule("s")
		e.want([]time.Time{row.Mark, row.NextAt}, []time.Time{before.Mark, e.now.Add(next)}, "the schedule must be due when the decision says, and keep its mark")
		e.want(replan(firing(before, before.Mark, e.now.Add(time.Minute))).Lost, []int64{row.ID}, "a decision that another node has made first must be lost")
	}

	// A slot that the other data put into the past fires at once, with regard to live jobs, and not a second time.
	e.insertOne(with(func(n *store.NewJob) { n.Schedule, n.Origin = row.ID, store.OriginTrigger }))
	running := e.claimOne(e.node("n"))
	fires := firing(row, e.now, e.now.Add(24*time.Hour))
	fires.Jobs = []store.NewJob{slotJob(row, e.now)}
	fires.Overlap = store.OverlapQueue
	res := replan(fires)
	if len(res.Fired) != 1 || len(res.Lost) != 0 {
		e.t.Fatalf("a slot that the other data make due must fire: %+v", res)
	}
	e.want(e.state(res.Fired[0].Job), store.StateWaiting, "the job must wait for the job of the schedule that runs")
	e.want(replan(fires).Lost, []int64{row.ID}, "a decision must be made once")
	e.finishWell(outcome(running, store.Completed))
	e.want(e.state(res.Fired[0].Job), store.StateReady, "the waiting job must be released")
}

func fireUnknown(e *env) {
	row := e.due("s")
	f := ringing(row)
	f.Schedule += 1000
	e.lostFiring(f, "a firing of a schedule that does not exist must be lost")
}

func fireRepeated(e *env) {
	row := e.due("s")
	f := ringing(row)
	e.fire(f)
	after := e.schedule("s")
	e.tick(time.Hour)
	res := e.fire(f)
	e.want([]any{res.Lost, len(res.Fired)}, []any{[]int64{row.ID}, 0}, "a repeated firing must be lost")
	e.want(e.schedule("s"), after, "a repeated firing must touch nothing")
	e.want([]int{len(e.list(store.ListJobsRequest{})), len(e.slots(store.ListRequest{}))}, []int{1, 1},
		"one slot, one job: a repeated firing must not make another")
}

// rewind resets a schedule with a clock that is ahead by d, and then restores
// the clock: the slots in between are due again.
func (e *env) rewind(name string, d time.Duration) store.Schedule {
	e.t.Helper()
	e.tick(-d)
	e.changeSchedules(store.ResetSchedules, name)
	e.tick(d)
	return e.schedule(name)
}

// again fires slots from a mark that was moved back.
func again(row store.Schedule, overlap store.Overlap, slots ...time.Time) store.Firing {
	last := slots[len(slots)-1]
	f := firing(row, last, last.Add(time.Minute))
	f.Overlap = overlap
	for _, slot := range slots {
		f.Jobs = append(f.Jobs, slotJob(row, slot))
	}
	return f
}

func fireAfterReset(e *env) {
	e.planned("s")
	n := e.node("n")
	id := e.ring("s")
	slot := e.schedule("s").Mark
	records := e.slots(store.ListRequest{})
	silent := func(overlap store.Overlap, state string) {
		before := e.list(store.ListJobsRequest{})
		row := e.rewind("s", time.Hour)
		res := e.fire(again(row, overlap, slot))
		e.want([]int{len(res.Fired), len(res.Slots), len(res.Superseded), len(res.Lost)}, []int{0, 0, 0, 0},
			"a slot that has made a job must be passed over in silence after a reset, its job "+state)
		row.Mark, row.NextAt = slot, slot.Add(time.Minute)
		e.want(e.schedule("s"), row, "a slot that is passed over must move mark and next_at, and not count as fired")
		now := e.slots(store.ListRequest{})
		for i := range now { // the job goes on
			now[i].JobKept, now[i].JobState = records[i].JobKept, records[i].JobState
		}
		e.want(now, records, "a slot that is passed over must not be recorded again")
		e.want(e.list(store.ListJobsRequest{}), before, "one slot, one job, also after a reset: nothing may be made, and no job superseded")
	}
	for _, overlap := range []store.Overlap{store.OverlapAllow, store.OverlapSkip} {
		silent(overlap, "ready")
	}
	c := e.claimOne(n)
	silent(store.OverlapSkip, "running")
	e.finishWell(outcome(c, store.Retry))
	silent(store.OverlapSkip, "awaiting a retry")
	e.finishWell(outcome(e.claimOne(n), store.Completed))
	silent(store.OverlapSkip, "completed")
	e.changeOne(store.DeleteJobs, id)
	silent(store.OverlapSkip, "deleted")
}

func fireOthersAfterReset(e *env) {
	e.planned("other")
	e.ring("other")
	e.planned("s")
	e.ring("s")
	fired := e.schedule("s").Mark
	e.now = fired.Add(2 * time.Minute)
	f := firing(e.schedule("s"), e.now, e.now.Add(time.Minute))
	missed := fired.Add(time.Minute)
	f.Slots = []store.SlotRecord{{Slot: missed, Last: missed, Count: 1, Outcome: store.SlotMissed, Reason: "m"}}
	e.fire(f)
	row := e.rewind("s", time.Hour)
	otherFired := e.schedule("other").Mark
	res := e.fire(again(row, store.OverlapAllow, otherFired, fired, missed))
	var slots []time.Time
	for _, s := range res.Fired {
		slots = append(slots, s.Slot)
	}
	slices.SortFunc(slots, time.Time.Compare)
	e.want(slots, []time.Time{otherFired, missed}, "after a reset, slots that made no job, of this schedule, may fire beside one that did")
	e.want(e.schedule("s").Fired, int64(3), "each slot that fires counts")
}

func fireLostAmongOthers(e *env) {
	var firings []store.Firing
	for i := range 5 {
		e.planned(fmt.Sprint("s", i))
	}
	e.tick(time.Minute)
	for i := range 5 {
		firings = append(firings, ringing(e.schedule(fmt.Sprint("s", i))))
	}
	firings[1].Mark = firings[1].Mark.Add(time.Second)
	firings[3].Revision += 1000
	res := e.fire(firings...)
	slices.Sort(res.Lost)
	e.want(res.Lost, []int64{firings[1].Schedule, firings[3].Schedule}, "exactly the firings whose comparison fails must be lost")
	e.want([]int{len(res.Fired), len(e.slots(store.ListRequest{}))}, []int{3, 3}, "the others of the request must be done")
}

func fireRecords(e *env) {
	row := e.due("s")
	at := row.NextAt
	f := firing(row, at.Add(10*time.Minute), at.Add(11*time.Minute))
	f.Slots = []store.SlotRecord{
		{Slot: at, Last: at.Add(4 * time.Minute), Count: 5, Outcome: store.SlotMissed, Reason: "nobody was there: ü"},
		{Slot: at.Add(5 * time.Minute), Last: at.Add(5 * time.Minute), Count: 1, Outcome: store.SlotSkipped, Reason: "paused"},
	}
	e.tick(10 * time.Minute)
	f.Jobs = []store.NewJob{slotJob(row, at.Add(10*time.Minute))}
	res := e.fire(f)
	e.want(len(res.Slots), 2, "records without a job must be returned")
	for i, s := range res.Slots {
		e.want(s, store.SkippedSlot{Schedule: row.ID, Record: f.Slots[i]}, "a record without a job must be returned as asked")
	}
	got := e.slots(store.ListRequest{})
	if len(got) != 3 {
		e.t.Fatalf("every slot must be accounted for: %+v", got)
	}
	e.want([]int64{got[0].Job, got[1].Job, got[2].Job}, []int64{res.Fired[0].Job, 0, 0}, "only a fired slot has a job")
	e.want([]store.SlotRecord{got[2].SlotRecord, got[1].SlotRecord}, f.Slots, "records must be kept as asked")
	e.want([]any{got[2].RecordedAt, got[2].ScheduleName}, []any{e.now, "s"}, "records must be recorded now")
	e.want(e.schedule("s").Fired, int64(1), "skipped slots must not count as fired")
}

func fireExtend(e *env) {
	skip := func(outcome store.SlotOutcome, reason string, extend bool) {
		row := e.schedule("s")
		e.now = row.NextAt.Add(time.Minute)
		f := firing(row, e.now, e.now.Add(time.Minute))
		f.Slots = []store.SlotRecord{{Slot: row.NextAt, Last: e.now, Count: 2, Outcome: outcome, Reason: reason, Extend: extend}}
		e.want(len(e.fire(f).Slots), 1, "a prolonged record must be returned too")
	}
	start := e.planned("s").NextAt
	other := e.planned("other")
	skip(store.SlotSkipped, "paused", true) // there is no record to extend
	skip(store.SlotSkipped, "paused", true) // extends the record
	prolonged := e.now
	e.fire(ringing(other))
	skip(store.SlotSkipped, "exclusion", true) // another reason
	skip(store.SlotMissed, "exclusion", true)  // another outcome
	skip(store.SlotMissed, "exclusion", false) // Extend is not set
	e.ring("s")
	skip(store.SlotMissed, "exclusion", true) // the newest record is a fired slot
	got := e.slots(store.ListRequest{Names: []string{"s"}})
	slices.Reverse(got)
	var counts []int64
	for _, s := range got {
		counts = append(counts, s.Count)
	}
	e.want(counts, []int64{4, 2, 2, 2, 1, 2}, "Extend must prolong the newest record of its schedule, if outcome and reason are the same, and only then")
	first := got[0]
	e.want([]any{first.Slot, first.Last, first.RecordedAt, first.Extend}, []any{start, start.Add(3 * time.Minute), prolonged, false},
		"a prolonged record must keep its beginning, and end at the new Last")
}

func fireSeveral(e *env) {
	row := e.due("s")
	at := row.NextAt
	e.tick(2 * time.Minute)
	f := firing(row, at.Add(2*time.Minute), at.Add(3*time.Minute))
	for i := range 3 {
		f.Jobs = append(f.Jobs, slotJob(row, at.Add(time.Duration(i)*time.Minute)))
	}
	res := e.fire(f)
	e.want(len(res.Fired), 3, "each slot that fires must make its job")
	for _, fired := range res.Fired {
		e.want(e.job(fired.Job).Slot, fired.Slot, "a fired slot must be returned with its own job")
	}
	for _, s := range e.slots(store.ListRequest{}) {
		e.want(e.job(s.Job).Slot, s.Slot, "a slot's record must bear its own job")
	}
	e.want(e.schedule("s").Fired, int64(3), "each slot that fires counts")
}

func fireEnd(e *env) {
	row := e.due("s")
	f := ringing(row)
	f.NewNextAt = time.Time{}
	e.want(len(e.fire(f).Fired), 1, "the last slot must fire")
	e.want(e.schedule("s").NextAt, time.Time{}, "a schedule without a further slot must end")
	e.tick(time.Hour)
	res := e.readDue(10)
	e.want([]any{len(res.Schedules), res.Next}, []any{0, time.Time{}}, "an ended schedule must not be due")
	after := e.schedule("s")
	f = ringing(after)
	f.NewNextAt = e.now
	e.want(e.fire(f).Lost, []int64{row.ID}, "an ended schedule must not fire")
	e.want(scheduleNames(e.schedules(store.ListRequest{})), []string{"s"}, "an ended schedule must stay in the list")
	e.is(e.putAs("", "s", "changed"), nil, "an ended schedule may be changed")
	e.want(e.schedule("s").NextAt, e.now, "a changed schedule must be planned again")
}

func fireMany(e *env) {
	const n = 1200
	var puts []store.PutSchedule
	for i := range n {
		puts = append(puts, store.PutSchedule{Name: fmt.Sprintf("s%04d", i), Definition: []byte("{}")})
	}
	_, err := e.tryPut(store.PutSchedulesRequest{Schedules: puts})
	e.must(err)
	e.tick(time.Second)
	var firings []store.Firing
	for _, row := range e.readDue(n).Schedules {
		f := firing(row, e.now, e.now.Add(time.Minute))
		f.Jobs = []store.NewJob{slotJob(row, e.now)}
		firings = append(firings, f)
	}
	res := e.fire(firings...)
	e.want([]int{len(res.Fired), len(res.Lost)}, []int{n, 0}, "any number of schedules may fire at once")
	jobs := map[int64]int64{}
	for _, info := range e.list(store.ListJobsRequest{Limit: n + 1}) {
		jobs[info.ID] = info.Schedule
	}
	for _, fired := range res.Fired {
		if jobs[fired.Job] != fired.Schedule {
			e.t.Fatalf("a fired slot must be returned with its own job: %+v is a job of schedule %d", fired, jobs[fired.Job])
		}
	}
	e.want(len(jobs), n, "each slot must make one job")
}

func fireRace(e *env) {
	const schedules, rounds = 8, 15
	node := e.nodeFor("n", 100*time.Hour)
	for i := range schedules {
		e.planned(fmt.Sprint("s", i))
	}
	for range rounds {
		for _, c := range e.claim(node, schedules) {
			e.finishWell(outcome(c, store.Retry)) // so that both nodes lock and supersede it
		}
		e.tick(time.Minute)
		due := e.readDue(100).Schedules
		var fired, lost [2]int
		e.both(func(i int, client store.Backend) {
			order := slices.Clone(due)
			if i == 1 {
				slices.Reverse(order) // the order in which rows are locked must not matter
			}
			var firings []store.Firing
			for _, row := range order {
				firings = append(firings, ringing(row))
			}
			res, err := client.Fire(e.ctx, store.FireRequest{Now: e.now, Firings: firings})
			e.ok(err == nil, "two nodes that fire the same slots at once must not get errors", err)
			fired[i], lost[i] = len(res.Fired), len(res.Lost)
		})
		e.want([]int{fired[0] + fired[1], lost[0] + lost[1]}, []int{schedules, schedules}, "of two nodes that fire a slot at once exactly one must win")
	}
	slots := e.slots(store.ListRequest{})
	e.want([]int{len(slots), len(e.list(store.ListJobsRequest{}))}, []int{schedules * rounds, schedules * rounds}, "one slot, one job")
}

func fireEditRace(e *env) {
	for round := range 20 {
		name := fmt.Sprint("s", round)
		row := e.due(name)
		var errs [2]error
		var res store.FireResult
		e.both(func(i int, client store.Backend) {
			if i == 0 {
				res, errs[0] = client.Fire(e.ctx, store.FireRequest{Now: e.now, Firings: []store.Firing{ringing(row)}})
				return
			}
			_, errs[1] = client.PutSchedules(e.ctx, store.PutSchedulesRequest{
				Now: e.now, Schedules: []store.PutSchedule{{Name: name, Definition: []byte("edited")}},
			})
		})
		e.must(errs[0])
		e.want([]int{len(res.Fired), len(res.Lost)}, []int{1, 0}, "an edit at the moment of a slot must wait for the slot: its firing must not be lost")
		if errs[1] != nil {
			e.is(errs[1], store.ErrUnsettled, "an edit at the moment of a slot may only be refused as unsettled")
		}
	}
}
