package storetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

var serialGroupTests = []scenario{
	{"QueueWaitsUntilTheRunningJobHasEnded", serialGroupQueue},
	{"RetrySupersedesForTheWaiting", serialGroupRetry},
	{"RescueSupersedesForTheWaiting", serialGroupRescue},
	{"HandBackLetsItWait", serialGroupLeave},
	{"LostJobReleases", serialGroupLost},
	{"QueueOfOne", serialGroupOne},
	{"ReplaceCancelsThenStarts", serialGroupReplace},
	{"NewerReplacesTheWaiting", serialGroupReplaceWaiting},
	{"SeveralRunOneAfterTheOther", serialGroupSeveral},
	{"InsertWaiting", serialGroupInsert},
	{"BackfillHasAGroupOfItsOwn", serialGroupBackfill},
	{"WaitsForEveryJobThatRuns", serialGroupTwo},
	{"CancelAndDeleteRelease", serialGroupChange},
	{"TheUnstartedPileUpToABound", serialGroupUnstarted},
	{"ReleaseWakes", serialGroupWake},
	{"TwoEndsAtTheSameMoment", serialGroupEndsRace},
	{"EndAndFireAtTheSameMoment", serialGroupFireRace},
	{"EndAndInsertAtTheSameMoment", serialGroupInsertRace},
}

// ringAs fires a schedule's next slot under an overlap policy.
func (e *env) ringAs(name string, overlap store.Overlap) store.FireResult {
	e.t.Helper()
	row := e.schedule(name)
	if row.NextAt.After(e.now) {
		e.now = row.NextAt
	}
	f := ringing(row)
	f.Overlap = overlap
	return e.fire(f)
}

// queued returns a node, its claim of a schedule's job, and the job that waits
// for it.
func (e *env) queued() (node int64, running store.Claimed, waiting int64) {
	e.t.Helper()
	if len(e.schedules(store.ListRequest{})) == 0 {
		e.planned("s")
	}
	node = e.nodeFor("n", time.Hour)
	e.ring("s")
	running = e.claimOne(node)
	res := e.ringAs("s", store.OverlapQueue)
	if len(res.Fired) != 1 {
		e.t.Fatalf("under queue a slot must fire while a job runs: %+v", res)
	}
	waiting = res.Fired[0].Job
	e.want(e.state(waiting), store.StateWaiting, "a queued slot's job must wait")
	e.want(len(e.claim(node, 10)), 0, "a waiting job must not be claimed")
	return node, running, waiting
}

// released checks that a job no longer waits, and ends it.
func (e *env) released(node, job int64, rule string) {
	e.t.Helper()
	e.want(e.state(job), store.StateReady, rule)
	c := e.claimOne(node)
	e.want(c.ID, job, rule)
	e.finishWell(outcome(c, store.Completed))
}

func serialGroupQueue(e *env) {
	for _, result := range []store.Result{store.Completed, store.Failed, store.Cancelled} {
		node, running, waiting := e.queued()
		e.finishWell(outcome(running, result))
		e.released(node, waiting, "the end of the running job must release the waiting one")
	}
	node, running, waiting := e.queued()
	e.cancel(running.ID)
	e.want(e.state(waiting), store.StateWaiting, "a job that is asked to cancel still runs")
	e.finishWell(outcome(running, store.Retry))
	e.want(e.job(running.ID).Reason, "asked by the test", "a retry of a job that is to be cancelled is its cancellation")
	e.released(node, waiting, "the end of the running job must release the waiting one")
	node, running, waiting = e.queued()
	speaks := outcome(running, store.Completed)
	speaks.Output = []byte("x")
	e.finishWell(speaks)
	e.released(node, waiting, "the end of the running job must release the waiting one")
}

func serialGroupRetry(e *env) {
	node, running, waiting := e.queued()
	o := outcome(running, store.Retry)
	o.Delay = time.Hour
	e.finishWell(o)
	info := e.job(running.ID)
	e.want([]any{info.State, info.Reason}, []any{store.StateCancelled, store.SupersededReason}, "a job that would await a retry gives way to the one that waits")
	e.finishWell(o)
	e.released(node, waiting, "a superseded job must release the waiting one")
}

func serialGroupRescue(e *env) {
	_, running, waiting := e.queued()
	e.tick(2 * time.Hour)
	other := e.nodeFor("other", time.Hour)
	res := e.rescue(other)
	e.want([]any{len(res.Jobs), res.Jobs[0].State}, []any{1, store.StateCancelled}, "a job whose node died gives way to the one that waits")
	e.want(e.job(running.ID).Reason, store.SupersededReason, "it is superseded")
	e.released(other, waiting, "a rescue must release the waiting job")
}

func serialGroupLeave(e *env) {
	node, running, waiting := e.queued()
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: node})
	e.must(err)
	e.want([]store.State{e.state(running.ID), e.state(waiting)}, []store.State{store.StateReady, store.StateWaiting},
		"a job that is handed back will run before the one that waits")
	node = e.nodeFor("m", time.Hour)
	again := e.claimOne(node)
	e.want(again.ID, running.ID, "a job that is handed back runs")
	e.finishWell(outcome(again, store.Release))
	e.want(e.state(waiting), store.StateWaiting, "a release hands back, too")
	e.finishWell(outcome(e.claimOne(node), store.Completed))
	e.released(node, waiting, "the end of the job that was handed back must release the waiting one")
}

func serialGroupLost(e *env) {
	e.planned("s")
	row := e.schedule("s")
	e.now = row.NextAt
	f := ringing(row)
	f.Jobs[0].OnLoss = store.OnLossFail
	e.fire(f)
	e.claimOne(e.nodeFor("n", time.Hour))
	waiting := e.ringAs("s", store.OverlapQueue).Fired[0].Job
	e.tick(2 * time.Hour)
	other := e.nodeFor("other", time.Hour)
	e.want(e.rescue(other).Jobs[0].State, store.StateFailed, "a job that must not start twice fails")
	e.released(other, waiting, "a job that is lost must release the waiting one")
}

func serialGroupOne(e *env) {
	node, running, waiting := e.queued()
	res := e.ringAs("s", store.OverlapQueue)
	e.want([]any{len(res.Fired), res.Slots[0].Record.Outcome, res.Slots[0].Record.Reason},
		[]any{0, store.SlotSkipped, fmt.Sprintf("overlap: job %d waited to start", waiting)}, "while one job waits, no further slot fires")
	e.want(len(e.ringAs("s", store.OverlapSkip).Fired), 0, "nor does one under skip")
	e.finishWell(outcome(running, store.Completed))
	e.want(len(e.ringAs("s", store.OverlapQueue).Fired), 1, "a job that has not started lets the next one wait")
	e.finishWell(outcome(e.claimOne(node), store.Completed))
	e.finishWell(outcome(e.claimOne(node), store.Completed))
}

func serialGroupReplace(e *env) {
	e.planned("s")
	node := e.nodeFor("n", time.Hour)
	e.ring("s")
	running := e.claimOne(node)
	res := e.ringAs("s", store.OverlapReplace)
	e.want([]any{len(res.Fired), res.Asked, len(res.Superseded)}, []any{1, []int64{running.ID}, 0}, "replace must fire, and ask the running job to cancel")
	waiting := res.Fired[0].Job
	e.want(e.state(waiting), store.StateWaiting, "the new job must not start while the old one runs")
	e.want(e.claims(node, true), []store.ClaimRef{{ID: running.ID, Token: running.Token}}, "the node of the running job must be asked to cancel it")
	e.finishWell(outcome(running, store.Retry))
	e.want([]any{e.job(running.ID).State, e.job(running.ID).Reason}, []any{store.StateCancelled, store.ReplacedReason}, "a replaced job must say so")
	e.released(node, waiting, "the new job must start when the old one has ended")
}

func serialGroupReplaceWaiting(e *env) {
	node, running, waiting := e.queued()
	res := e.ringAs("s", store.OverlapReplace)
	e.want([]any{len(res.Fired), res.Superseded, res.Asked}, []any{1, []int64{waiting}, []int64{running.ID}}, "replace must take the place of a job that waits")
	e.want([]any{e.job(waiting).State, e.job(waiting).Reason}, []any{store.StateCancelled, store.ReplacedReason}, "a replaced job must say so")
	e.want(e.state(res.Fired[0].Job), store.StateWaiting, "the new job must not start while the old one runs")
	e.finishWell(outcome(running, store.Completed))
	e.released(node, res.Fired[0].Job, "the new job must start when the old one has ended")
}

func serialGroupSeveral(e *env) {
	for _, overlap := range []store.Overlap{store.OverlapSkip, store.OverlapQueue, store.OverlapReplace} {
		name := fmt.Sprint("s", overlap)
		row := e.due(name)
		e.tick(2 * time.Minute)
		f := firing(row, row.NextAt.Add(2*time.Minute), row.NextAt.Add(3*time.Minute))
		f.Overlap = overlap
		for i := range 3 {
			f.Jobs = append(f.Jobs, slotJob(row, row.NextAt.Add(time.Duration(i)*time.Minute)))
		}
		res := e.fire(f)
		node := e.nodeFor("n", time.Hour)
		for i := range 3 {
			batch := e.claim(node, 10)
			e.want([]any{len(batch), batch[0].Slot}, []any{1, f.Jobs[i].Slot}, "slots that fire at once must run one after the other, oldest first")
			e.finishWell(outcome(batch[0], store.Completed))
		}
		e.want(len(res.Fired), 3, "each slot that fires must make its job")
	}
}

// waitingJobs returns jobs of a schedule that must run one after the other.
func waitingJobs(schedule int64, origin store.Origin, slots ...time.Time) []store.NewJob {
	var jobs []store.NewJob
	for _, slot := range slots {
		jobs = append(jobs, with(func(j *store.NewJob) {
			j.Schedule, j.Origin, j.Slot, j.RunAt, j.Waiting = schedule, origin, slot, slot, true
		}))
	}
	return jobs
}

func serialGroupInsert(e *env) {
	row := e.planned("s")
	node := e.nodeFor("n", time.Hour)
	ids := e.insert(waitingJobs(row.ID, store.OriginBackfill, e.now, e.now.Add(-2*time.Hour), e.now.Add(-time.Hour))...)
	e.want([]store.State{e.state(ids[0]), e.state(ids[1]), e.state(ids[2])}, []store.State{store.StateWaiting, store.StateReady, store.StateWaiting},
		"of jobs that wait for each other the one with the smallest slot must be ready")
	more := e.insert(waitingJobs(row.ID, store.OriginBackfill, e.now.Add(-90*time.Minute))...)
	e.want(e.state(more[0]), store.StateWaiting, "a job that is added later waits, too")
	for _, id := range []int64{ids[1], more[0], ids[2], ids[0]} {
		e.released(node, id, "they must become ready one after the other, by slot")
	}
	e.want(e.job(ids[2]).RunAt, e.now.Add(-time.Hour), "a release must not change run_at")
}

func serialGroupBackfill(e *env) {
	node, running, waiting := e.queued()
	id := e.insert(waitingJobs(running.Schedule, store.OriginBackfillDependents, e.now.Add(-time.Hour))...)[0]
	e.want(e.state(id), store.StateReady, "a backfilled job waits for backfilled ones alone")
	backfilled := e.claimOne(node)
	next := e.insert(waitingJobs(running.Schedule, store.OriginBackfill, e.now.Add(-time.Minute))...)[0]
	e.finishWell(outcome(running, store.Completed))
	e.released(node, waiting, "other jobs do not wait for backfilled ones")
	e.finishWell(outcome(backfilled, store.Retry))
	e.want([]store.State{e.state(id), e.state(next)}, []store.State{store.StateReady, store.StateWaiting},
		"a backfilled job is not superseded: it is tried again first")
}

func serialGroupTwo(e *env) {
	row := e.planned("s")
	node := e.nodeFor("n", time.Hour)
	e.ring("s")
	first := e.claimOne(node)
	e.insertOne(with(func(j *store.NewJob) { j.Schedule, j.Origin = row.ID, store.OriginTrigger }))
	second := e.claimOne(node)
	waiting := e.ringAs("s", store.OverlapQueue).Fired[0].Job
	e.finishWell(outcome(first, store.Completed))
	e.want(e.state(waiting), store.StateWaiting, "a waiting job must wait for every job of its schedule that runs")
	e.finishWell(outcome(second, store.Completed))
	e.released(node, waiting, "the last one that ends must release it")
}

func serialGroupChange(e *env) {
	row := e.planned("s")
	node := e.nodeFor("n", time.Hour)
	at := e.now.Add(-time.Hour)
	ids := e.insert(waitingJobs(row.ID, store.OriginTrigger, at, at.Add(1*time.Second), at.Add(2*time.Second), at.Add(3*time.Second))...)
	e.want(e.changeOne(store.RetryJobs, ids[1]), store.Unchanged, "a retry must not start a job that waits")
	e.want(e.cancel(ids[1]), store.Changed, "a job that waits can be cancelled")
	e.want([]store.State{e.state(ids[0]), e.state(ids[1]), e.state(ids[2])},
		[]store.State{store.StateReady, store.StateCancelled, store.StateWaiting}, "the end of a job that waited releases no other")
	e.cancel(ids[0])
	e.want(e.state(ids[2]), store.StateReady, "a job that is cancelled must release the next")
	e.want(e.changeOne(store.DeleteJobs, ids[2]), store.Changed, "a ready job can be deleted")
	e.released(node, ids[3], "a job that is deleted must release the next")
}

func serialGroupUnstarted(e *env) {
	e.planned("s")
	e.ring("s")
	res := e.ringAs("s", store.OverlapSkip)
	e.want([]int{len(res.Fired), len(res.Slots)}, []int{0, 1}, "under skip no unstarted jobs may accumulate")
	e.want(len(e.ringAs("s", store.OverlapAllow).Fired), 1, "under allow any number may")
	e.claimOne(e.nodeFor("n", time.Hour))
}

func serialGroupWake(e *env) {
	_, running, _ := e.queued()
	e.wakes(e.listen(), store.WakeJobs, "a released job", func() { e.finishWell(outcome(running, store.Completed)) })
}

func serialGroupEndsRace(e *env) {
	row := e.planned("s")
	node := e.nodeFor("n", 100*time.Hour)
	for range 15 {
		trigger := with(func(j *store.NewJob) { j.Schedule, j.Origin = row.ID, store.OriginTrigger })
		e.insert(trigger, trigger)
		running := e.claim(node, 2)
		waiting := e.ringAs("s", store.OverlapQueue).Fired[0].Job
		errs := make([]error, 2)
		e.both(func(i int, client store.Backend) {
			_, errs[i] = client.Finish(e.ctx, store.FinishRequest{Now: e.now, Outcomes: []store.Outcome{outcome(running[i], store.Completed)}})
		})
		e.must(errors.Join(errs...))
		e.released(node, waiting, "of two jobs that end at once one must release the waiting one")
	}
}

func serialGroupFireRace(e *env) {
	e.planned("s")
	node := e.nodeFor("n", 100*time.Hour)
	for range 15 {
		e.ring("s")
		running := e.claimOne(node)
		row := e.schedule("s")
		e.now = row.NextAt
		f := ringing(row)
		f.Overlap = store.OverlapQueue
		var fired store.FireResult
		errs := make([]error, 2)
		e.both(func(i int, client store.Backend) {
			if i == 0 {
				fired, errs[i] = client.Fire(e.ctx, store.FireRequest{Now: e.now, Firings: []store.Firing{f}})
				return
			}
			_, errs[i] = client.Finish(e.ctx, store.FinishRequest{Now: e.now, Outcomes: []store.Outcome{outcome(running, store.Completed)}})
		})
		e.must(errors.Join(errs...))
		e.released(node, fired.Fired[0].Job, "a job that fires at the moment the running one ends must not wait for ever")
	}
}

func serialGroupInsertRace(e *env) {
	row := e.planned("s")
	node := e.nodeFor("n", 100*time.Hour)
	for range 15 {
		e.insert(waitingJobs(row.ID, store.OriginBackfill, e.now)...)
		running := e.claimOne(node)
		var inserted store.InsertResult
		errs := make([]error, 2)
		e.both(func(i int, client store.Backend) {
			if i == 0 {
				inserted, errs[i] = client.Insert(e.ctx, store.InsertRequest{Now: e.now, Jobs: waitingJobs(row.ID, store.OriginBackfill, e.now)})
				return
			}
			_, errs[i] = client.Finish(e.ctx, store.FinishRequest{Now: e.now, Outcomes: []store.Outcome{outcome(running, store.Completed)}})
		})
		e.must(errors.Join(errs...))
		e.released(node, inserted.Jobs[0].ID, "a job that is inserted at the moment the running one ends must not wait for ever")
	}
}
