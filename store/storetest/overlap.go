package storetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

var overlapTests = []scenario{
	{"RunningJobSkips", overlapSkip},
	{"AllowFiresBesideIt", overlapAllow},
	{"RetryIsSuperseded", overlapSupersede},
	{"NeverStartedIsLeftAlone", overlapFresh},
	{"BackfillDoesNotCount", overlapBackfill},
	{"TriggerCounts", overlapTrigger},
	{"OtherSchedulesDoNotCount", overlapOther},
	{"ClaimAtTheSameMoment", overlapRace},
}

func overlapSkip(e *env) {
	e.planned("s")
	id := e.ring("s")
	e.claimOne(e.nodeFor("n", time.Hour))
	row := e.schedule("s")
	e.now = row.NextAt
	f := ringing(row)
	f.Slots = []store.SlotRecord{{Slot: row.NextAt.Add(-time.Second), Last: row.NextAt.Add(-time.Second), Count: 1, Outcome: store.SlotMissed, Reason: "m"}}
	res := e.fire(f)
	record := store.SlotRecord{Slot: row.NextAt, Last: row.NextAt, Count: 1, Outcome: store.SlotSkipped, Reason: fmt.Sprintf("overlap: job %d was still running", id)}
	e.want([]any{len(res.Fired), len(res.Lost), len(res.Superseded)}, []any{0, 0, 0}, "a slot must not fire while a job of its schedule runs")
	e.want(res.Slots, []store.SkippedSlot{{Schedule: row.ID, Record: f.Slots[0]}, {Schedule: row.ID, Record: record}}, "a skipped slot must be returned with its reason, after the other records")
	got := e.slots(store.ListSlotsRequest{})
	e.want([]any{len(got), got[0].SlotRecord, got[0].Job}, []any{3, record, int64(0)}, "a skipped slot must be recorded with its reason")
	after := e.schedule("s")
	e.want([]any{after.Mark, after.NextAt, after.Fired}, []any{row.NextAt, row.NextAt.Add(time.Minute), int64(1)}, "a skipped slot is accounted for, but has not fired")
	e.want(len(e.list(store.ListJobsRequest{})), 1, "a skipped slot must make no job")
}

func overlapAllow(e *env) {
	e.planned("s")
	e.ring("s")
	e.claimOne(e.nodeFor("n", time.Hour))
	retry := e.insertOne(with(func(j *store.NewJob) { j.Schedule = e.schedule("s").ID }))
	e.finishWell(outcome(e.claimOne(e.nodeFor("n", time.Hour)), store.Retry))
	row := e.schedule("s")
	e.now = row.NextAt
	f := ringing(row)
	f.Overlap = store.OverlapAllow
	res := e.fire(f)
	e.want([]int{len(res.Fired), len(res.Slots), len(res.Superseded)}, []int{1, 0, 0}, "with overlap allow a slot fires whatever runs")
	e.want(e.state(retry), store.StateReady, "with overlap allow nothing is superseded")
}

func overlapSupersede(e *env) {
	e.planned("s")
	id := e.ring("s")
	c := e.claimOne(e.nodeFor("n", time.Hour))
	o := outcome(c, store.Retry)
	o.Delay = time.Hour
	e.finishWell(o)
	row := e.schedule("s")
	e.now = row.NextAt
	res := e.fire(ringing(row))
	e.want([]any{len(res.Fired), res.Superseded}, []any{1, []int64{id}}, "a slot must fire and supersede a job that awaits a retry")
	info := e.job(id)
	e.want([]any{info.State, info.Reason, info.FinishedAt, info.Attempt}, []any{store.StateCancelled, store.SupersededReason, e.now, int16(1)}, "a superseded job must end as cancelled, with its reason")
	e.want(e.finish(outcome(c, store.Completed)), []store.ClaimRef{{ID: c.ID, Token: c.Token}}, "an outcome of a superseded job must be refused")
}

func overlapFresh(e *env) {
	e.planned("s")
	first := e.ring("s")
	second := e.ring("s")
	e.want([]store.State{e.state(first), e.state(second)}, []store.State{store.StateReady, store.StateReady}, "a job that has never started is neither an overlap nor superseded")
	c := e.claimOne(e.nodeFor("n", time.Hour))
	e.finishWell(outcome(c, store.Release))
	e.ring("s")
	e.want(e.state(first), store.StateReady, "a released job counts as never started")
}

func overlapBackfill(e *env) {
	row := e.planned("s")
	n := e.nodeFor("n", time.Hour)
	backfill := with(func(j *store.NewJob) { j.Schedule, j.Origin = row.ID, store.OriginBackfill })
	withDependents := backfill
	withDependents.Origin = store.OriginBackfillDependents
	e.insert(backfill, withDependents)
	jobs := e.claim(n, 2)
	e.finishWell(outcome(jobs[0], store.Retry))
	e.ring("s")
	e.want([]store.State{e.state(jobs[0].ID), e.state(jobs[1].ID)}, []store.State{store.StateReady, store.StateRunning}, "backfilled jobs neither overlap nor are they superseded")
}

func overlapTrigger(e *env) {
	row := e.planned("s")
	e.insertOne(with(func(j *store.NewJob) { j.Schedule, j.Origin = row.ID, store.OriginTrigger }))
	e.claimOne(e.nodeFor("n", time.Hour))
	e.now = row.NextAt
	e.want(len(e.fire(ringing(row)).Slots), 1, "a triggered job that runs overlaps")
}

func overlapOther(e *env) {
	e.planned("s")
	e.planned("t")
	e.ring("s")
	e.claimOne(e.nodeFor("n", time.Hour))
	e.insertN(1)
	e.claimOne(e.nodeFor("n", time.Hour))
	e.ring("t")
}

func overlapRace(e *env) {
	n := e.nodeFor("n", 100*time.Hour)
	for round := range 20 {
		name := fmt.Sprint("s", round)
		e.planned(name)
		id := e.ring(name)
		e.finishWell(outcome(e.claimOne(n), store.Retry))
		row := e.schedule(name)
		e.now = row.NextAt
		var claimed []store.Claimed
		var fired store.FireResult
		errs := make([]error, 2)
		e.both(func(i int, client store.Backend) {
			if i == 0 {
				fired, errs[0] = client.Fire(e.ctx, store.FireRequest{Now: e.now, Firings: []store.Firing{ringing(row)}})
				return
			}
			res, err := client.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: "q", Kinds: []string{"k"}, Limit: 1})
			claimed, errs[1] = res.Jobs, err
		})
		e.must(errors.Join(errs...))
		taken := len(claimed) == 1 && claimed[0].ID == id
		switch {
		case taken:
			e.want([]int{len(fired.Fired), len(fired.Slots), len(fired.Superseded)}, []int{0, 1, 0}, "a job that was claimed at the moment of its schedule's next slot must make it skip")
		default:
			e.want([]any{len(fired.Fired), fired.Superseded, e.state(id)}, []any{1, []int64{id}, store.StateCancelled}, "a job that was not claimed at the moment of its schedule's next slot must be superseded")
		}
		for _, c := range append(claimed, e.claim(n, 10)...) {
			e.finishWell(outcome(c, store.Completed))
		}
	}
}
