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
	{"DueJobSkips", overlapDue},
	{"ReleasedJobSkips", overlapReleased},
	{"ReasonOfTheDelay", overlapDelays},
	{"LimitedJobSkips", overlapLimited},
	{"JitteredJobSkips", overlapJitter},
	{"LaterJobsDoNotCount", overlapLater},
	{"SlotsWithAndWithoutDelays", overlapMany},
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
	record := store.SlotRecord{
		Slot: row.NextAt, Last: row.NextAt, Count: 1, Outcome: store.SlotSkipped,
		Reason: fmt.Sprintf("overlap: job %d was still running", id),
	}
	e.want([]any{len(res.Fired), len(res.Lost), len(res.Superseded)}, []any{0, 0, 0}, "a slot must not fire while a job of its schedule runs")
	e.want(res.Slots, []store.SkippedSlot{{Schedule: row.ID, Record: f.Slots[0]}, {Schedule: row.ID, Record: record}},
		"a skipped slot must be returned with its reason, after the other records")
	got := e.slots(store.ListRequest{})
	e.want([]any{len(got), got[0].SlotRecord, got[0].Job}, []any{3, record, int64(0)}, "a skipped slot must be recorded with its reason")
	after := e.schedule("s")
	e.want([]any{after.Mark, after.NextAt, after.Fired}, []any{row.NextAt, row.NextAt.Add(time.Minute), int64(1)},
		"a skipped slot is accounted for, but has not fired")
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
	e.want([]any{info.State, info.Reason, info.FinishedAt, info.Attempt},
		[]any{store.StateCancelled, store.SupersededReason, e.now, int16(1)}, "a superseded job must end as cancelled, with its reason")
	e.want(e.finish(outcome(c, store.Completed)), []store.ClaimRef{{ID: c.ID, Token: c.Token}}, "an outcome of a superseded job must be refused")
}

func overlapDue(e *env) {
	e.planned("s")
	id := e.ring("s")
	node := e.nodeFor("n", time.Hour)
	e.wantSkipped("s", fmt.Sprintf("overlap: job %d has not started: the queue is behind", id))
	e.want(e.state(id), store.StateReady, "a job that has not started is not superseded")
	e.finishWell(outcome(e.claimOne(node), store.Completed))
	e.ring("s")
}

// wantSkipped lets the next slot of a schedule come, which must be skipped with a reason, and make no job.
func (e *env) wantSkipped(name, reason string) {
	e.t.Helper()
	jobs, row := len(e.list(store.ListJobsRequest{})), e.schedule(name)
	res := e.ringAs(name, store.OverlapSkip)
	record := store.SlotRecord{Slot: row.NextAt, Last: row.NextAt, Count: 1, Outcome: store.SlotSkipped, Reason: reason}
	e.want([]any{len(res.Fired), res.Slots, res.Superseded, len(e.list(store.ListJobsRequest{}))},
		[]any{0, []store.SkippedSlot{{Schedule: row.ID, Record: record}}, []int64(nil), jobs}, "a slot must be skipped while a job that is due has not started")
	e.want(e.slots(store.ListRequest{Names: []string{name}})[0].SlotRecord, record, "a skipped slot must be recorded with its reason")
}

func overlapReleased(e *env) {
	e.planned("s")
	id := e.ring("s")
	e.finishWell(outcome(e.claimOne(e.nodeFor("n", time.Hour)), store.Release))
	e.wantSkipped("s", fmt.Sprintf("overlap: job %d has not started: the queue is behind", id))
}

func overlapDelays(e *env) {
	e.planned("s")
	row := e.schedule("s")
	e.now = row.NextAt
	f := ringing(row)
	f.Jobs[0].Queue, f.Jobs[0].Key = "q@web1", "y"
	job := e.fire(f).Fired[0].Job
	because := func(why string) {
		e.t.Helper()
		e.wantSkipped("s", fmt.Sprintf("overlap: job %d has not started: %s", job, why))
	}
	register := func(host, queue, kind string, labels ...string) int64 {
		res, err := e.a.Register(e.ctx, store.RegisterRequest{
			Now: e.now, Name: host + queue + kind, Lease: 100 * time.Hour, Version: "v1", Host: host, Labels: labels, Queues: []string{queue}, Kinds: []string{kind},
		})
		e.must(err)
		return res.Node
	}
	because(`no living node serves queue "q@web1"`)
	register("web1", "p", "k")
	register("web2", "q", "k", "host=web1")
	because(`no living node serves queue "q@web1"`)
	register("web1", "q", "l")
	because(`no living node of queue "q@web1" has code for kind "k"`)
	node := register("web1", "q", "k")
	because("the queue is behind")
	for _, paused := range []struct {
		subject store.PauseSubject
		name    string
		why     string
	}{{store.SubjectQueue, "q", "queue q is paused"}, {store.SubjectKind, "k", "kind k is paused"}, {store.SubjectKey, "y", "key y is paused"}} {
		e.must(e.putPause(e.a, store.PutPause{Subject: paused.subject, Name: paused.name}))
		because(paused.why)
		e.must(e.a.Delete(e.ctx, store.DeleteRequest{Now: e.now, Of: store.OfPauses, Subject: paused.subject, Names: []string{paused.name}}))
	}
	e.must(e.putPause(e.a, store.PutPause{Subject: store.SubjectQueue, Name: "q", Until: e.schedule("s").NextAt}))
	because("the queue is behind")
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: node})
	e.must(err)
	because(`no living node of queue "q@web1" has code for kind "k"`)
}

func overlapLimited(e *env) {
	row, node := e.planned("s"), e.nodeFor("n", 100*time.Hour)
	_, err := e.a.Put(e.ctx, store.PutRequest{Now: e.now, Limits: []store.PutLimit{{Limit: store.Limit{Name: "l", Queue: "q", ByKey: true, Concurrency: 1}}}})
	e.must(err)
	keyed := with(func(j *store.NewJob) { j.Key = "y" })
	e.insert(keyed)
	e.claimOne(node)
	e.now = row.NextAt
	f := ringing(row)
	f.Jobs[0].Key = "y"
	job := e.fire(f).Fired[0].Job
	e.want(len(e.claim(node, 9)), 0, "a limit must let a job wait")
	e.wantSkipped("s", fmt.Sprintf("overlap: job %d has not started: a limit lets it wait", job))
}

func overlapJitter(e *env) {
	row := e.planned("s")
	e.now = row.NextAt
	f := ringing(row)
	start := row.NextAt.Add(90 * time.Second)
	f.Jobs[0].RunAt = start
	job := e.fire(f).Fired[0].Job
	e.nodeFor("n", time.Hour)
	e.wantSkipped("s", fmt.Sprintf("overlap: job %d has not started: it starts at %s", job, start.UTC().Format(time.RFC3339Nano)))
	e.wantSkipped("s", fmt.Sprintf("overlap: job %d has not started: the queue is behind", job))
}

func overlapLater(e *env) {
	row := e.planned("s")
	later := row.NextAt.Add(time.Hour)
	ids := e.insert(
		with(func(j *store.NewJob) { j.Schedule, j.Origin, j.RunAt = row.ID, store.OriginTrigger, later }),
		// as a slot that fired while the clock was ahead
		with(func(j *store.NewJob) {
			j.Schedule, j.Origin, j.Slot, j.RunAt = row.ID, store.OriginSchedule, later, later
		}),
	)
	fired := e.ring("s")
	e.want([]store.State{e.state(ids[0]), e.state(ids[1]), e.state(fired)}, []store.State{store.StateReady, store.StateReady, store.StateReady},
		"a job whose slot or start is yet to come neither overlaps nor is it superseded")
}

func overlapMany(e *env) {
	e.nodeFor("n", 100*time.Hour)
	var firings []store.Firing
	var want []store.SkippedSlot
	var stuck []int64
	for i := range 3 {
		e.planned(fmt.Sprint("s", i))
		if i != 1 {
			stuck = append(stuck, e.ring(fmt.Sprint("s", i)))
		}
	}
	e.tick(time.Minute)
	for i := range 3 {
		row := e.schedule(fmt.Sprint("s", i))
		firings = append(firings, firing(row, row.NextAt, e.now.Add(time.Minute)))
		firings[i].Jobs = []store.NewJob{slotJob(row, row.NextAt)}
		if i != 1 {
			want = append(want, store.SkippedSlot{Schedule: row.ID, Record: store.SlotRecord{
				Slot: row.NextAt, Last: row.NextAt, Count: 1, Outcome: store.SlotSkipped,
				Reason: fmt.Sprintf("overlap: job %d has not started: the queue is behind", stuck[i/2]),
			}})
		}
	}
	res := e.fire(firings...)
	e.want([]any{len(res.Fired), res.Slots, len(res.Lost)}, []any{1, want, 0}, "a job that has not started concerns only slots of its own schedule")
	e.want(res.Fired[0].Schedule, firings[1].Schedule, "the other schedule must fire")
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
	e.want([]store.State{e.state(jobs[0].ID), e.state(jobs[1].ID)}, []store.State{store.StateReady, store.StateRunning},
		"backfilled jobs neither overlap nor are they superseded")
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
			e.want([]int{len(fired.Fired), len(fired.Slots), len(fired.Superseded)}, []int{0, 1, 0},
				"a job that was claimed at the moment of its schedule's next slot must make it skip")
		default:
			e.want([]any{len(fired.Fired), fired.Superseded, e.state(id)}, []any{1, []int64{id}, store.StateCancelled},
				"a job that was not claimed at the moment of its schedule's next slot must be superseded")
		}
		for _, c := range append(claimed, e.claim(n, 10)...) {
			e.finishWell(outcome(c, store.Completed))
		}
	}
}
