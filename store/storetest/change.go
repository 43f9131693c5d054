package storetest

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

var changeJobsTests = []scenario{
	{"CancelReady", cancelReady},
	{"CancelRunning", cancelRunning},
	{"CancelFinishedAndUnknown", cancelFinished},
	{"CancelBySchedule", cancelBySchedule},
	{"RetryFinished", retryFinished},
	{"RetryReadyAndRunning", retryLive},
	{"Delete", deleteJobs},
	{"AnswersInOrder", changeOrder},
	{"NeitherNumbersNorSchedule", changeNothing},
}

func cancelReady(e *env) {
	id, other := e.insertOne(newJob()), e.insertOne(newJob())
	e.tick(time.Second)
	e.want(e.cancel(id), store.Changed, "cancelling a ready job changes it")
	info := e.job(id)
	e.want([]any{info.State, info.FinishedAt, info.Reason, info.StartedAt, info.Attempt},
		[]any{store.StateCancelled, e.now, "asked by the test", time.Time{}, int16(0)}, "a ready job that is cancelled must end as cancelled, with the reason")
	e.want(claimedIDs(e.claim(e.node("n"), 9)), []int64{other}, "a cancelled job must not be claimed")
}

func cancelRunning(e *env) {
	n := e.node("n")
	e.insertN(3)
	jobs := e.claim(n, 3)
	e.want(e.cancel(jobs[1].ID), store.Requested, "cancelling a running job leaves a request")
	e.want(e.cancel(jobs[1].ID), store.Requested, "cancelling a running job again is harmless")
	info := e.job(jobs[1].ID)
	e.want([]any{info.State, info.CancelAsked, info.Token}, []any{store.StateRunning, true, jobs[1].Token},
		"a running job that is cancelled goes on, with a request")
	e.want(e.job(jobs[0].ID).CancelAsked, false, "a cancel request is for its job alone")
	e.want(e.claims(n, true), []store.ClaimRef{{ID: jobs[1].ID, Token: jobs[1].Token}},
		"Claims with Cancelled must give exactly the claims whose cancellation was requested")
	e.want(len(e.claims(n, false)), 3, "Claims must give all that the node holds")
}

func cancelFinished(e *env) {
	n := e.node("n")
	c := e.running(n)
	e.finishWell(outcome(c, store.Completed))
	before := e.job(c.ID)
	e.tick(time.Second)
	e.want(e.cancel(c.ID), store.Unchanged, "cancelling a finished job changes nothing")
	e.want(e.job(c.ID), before, "cancelling a finished job changes nothing")
	for _, action := range []store.JobAction{store.CancelJobs, store.RetryJobs, store.DeleteJobs} {
		e.want(e.changeOne(action, c.ID+1000), store.Missing, "a job that does not exist is not found")
	}
}

func cancelBySchedule(e *env) {
	n := e.nodeFor("n", 24*time.Hour)
	row, other := e.planned("s"), e.planned("other")
	done := e.ring("s")
	e.finishWell(outcome(e.claimOne(n), store.Completed))
	runs := e.ring("s")
	e.claimOne(n)
	trigger := e.insertOne(with(func(j *store.NewJob) { j.Schedule, j.Origin = row.ID, store.OriginTrigger }))
	waits := e.insertOne(with(func(j *store.NewJob) { j.Schedule, j.Origin, j.Delay = row.ID, store.OriginBackfill, time.Hour }))
	free := e.insertOne(newJob())
	foreign := e.insertOne(with(func(j *store.NewJob) { j.Schedule = other.ID }))
	changes := e.change(store.ChangeJobsRequest{Action: store.CancelJobs, Schedule: "s", Reason: "stop"})
	e.want(changes, []store.JobChange{{ID: runs, Change: store.Requested}, {ID: trigger, Change: store.Changed}, {ID: waits, Change: store.Changed}},
		"cancelling by schedule must reach all its live jobs, answered by number")
	e.want([]store.State{e.state(done), e.state(runs), e.state(trigger), e.state(waits), e.state(free), e.state(foreign)},
		[]store.State{store.StateCompleted, store.StateRunning, store.StateCancelled, store.StateCancelled, store.StateReady, store.StateReady},
		"cancelling by schedule must reach its jobs alone")
	e.want(e.job(waits).Reason, "stop", "a cancelled job must keep the reason")
	e.want(len(e.change(store.ChangeJobsRequest{Action: store.CancelJobs, Schedule: "nobody"})), 0, "a schedule without jobs has nothing to cancel")
}

func retryFinished(e *env) {
	n := e.node("n")
	for _, result := range []store.Result{store.Completed, store.Failed, store.Cancelled} {
		c := e.running(n)
		o := outcome(c, result)
		o.Error = "why"
		e.finishWell(o)
		before := e.job(c.ID)
		e.tick(time.Minute)
		e.want(e.changeOne(store.RetryJobs, c.ID), store.Changed, "retrying a finished job changes it")
		want := before
		want.State, want.RunAt, want.FinishedAt, want.Reason = store.StateReady, e.now, time.Time{}, ""
		got := e.job(c.ID)
		want.Node = got.Node // the contract does not define it while the job is ready
		e.want(got, want, "a retried job must be ready now under its old number, with all that it had")
		d := e.claimOne(n)
		e.want([]any{d.ID, d.Attempt, d.MaxAttempts}, []any{c.ID, int16(2), int16(5)}, "a retried job goes on counting")
		e.finishWell(outcome(d, store.Completed))
	}
	id := e.insertOne(with(func(j *store.NewJob) { j.MaxAttempts = 1 }))
	e.finishWell(outcome(e.claimOne(n), store.Failed))
	e.changeOne(store.RetryJobs, id)
	e.want(e.job(id).MaxAttempts, int16(2), "a retried job must have at least one more attempt")
}

func retryLive(e *env) {
	n := e.node("n")
	later := e.insertOne(with(func(j *store.NewJob) { j.Delay = time.Hour }))
	e.want(e.changeOne(store.RetryJobs, later), store.Changed, "retrying a ready job changes it")
	e.want(e.job(later).RunAt, e.now, "retrying a ready job must pull it to now")
	c := e.claimOne(n)
	before := e.job(c.ID)
	e.want(e.changeOne(store.RetryJobs, c.ID), store.Unchanged, "retrying a running job changes nothing")
	e.want(e.job(c.ID), before, "retrying a running job changes nothing")
	due := e.insertOne(with(func(j *store.NewJob) { j.RunAt = e.now.Add(-time.Hour) }))
	e.changeOne(store.RetryJobs, due)
	e.want(e.job(due).RunAt, e.now.Add(-time.Hour), "retrying a job that is due must not make it later")
}

func deleteJobs(e *env) {
	n := e.node("n")
	c := e.running(n)
	e.want(e.changeOne(store.DeleteJobs, c.ID), store.Unchanged, "a running job must not be deleted")
	e.want(e.state(c.ID), store.StateRunning, "a running job must not be deleted")
	o := outcome(c, store.Failed)
	o.Error = "why"
	e.finishWell(o)
	ready := e.insertOne(newJob())
	for _, id := range []int64{c.ID, ready} {
		e.want(e.changeOne(store.DeleteJobs, id), store.Changed, "a job that does not run must be deleted")
		e.want(len(e.list(store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{id}}})), 0, "a deleted job must not be listed")
		e.want(e.changeOne(store.DeleteJobs, id), store.Missing, "a deleted job is not found")
		e.want(e.changeOne(store.RetryJobs, id), store.Missing, "a deleted job is not found")
	}
	e.want(len(e.claim(n, 9)), 0, "a deleted job must not be claimed")
	e.ok(e.insertOne(newJob()) > ready, "the number of a deleted job must not be used again")
}

func changeOrder(e *env) {
	n := e.node("n")
	runs := e.running(n).ID
	ids := e.insertN(3)
	changes := e.change(store.ChangeJobsRequest{Action: store.CancelJobs, IDs: []int64{ids[2], ids[0] + 1000, runs, ids[0]}, Reason: "x"})
	e.want(changes, []store.JobChange{
		{ID: ids[2], Change: store.Changed}, {ID: ids[0] + 1000, Change: store.Missing}, {ID: runs, Change: store.Requested}, {ID: ids[0], Change: store.Changed},
	}, "ChangeJobs must answer in the order of the request's numbers")
	e.want(e.state(ids[1]), store.StateReady, "jobs that were not named must be left alone")
}

func changeNothing(e *env) {
	n := e.node("n")
	runs := e.running(n).ID
	id := e.insertOne(newJob())
	for _, action := range []store.JobAction{store.CancelJobs, store.RetryJobs, store.DeleteJobs} {
		e.want(len(e.change(store.ChangeJobsRequest{Action: action})), 0, "a request that names nothing must change nothing")
	}
	e.want([]any{e.state(runs), e.job(runs).CancelAsked, e.state(id)}, []any{store.StateRunning, false, store.StateReady},
		"a request that names nothing must change nothing")
}
