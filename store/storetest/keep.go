package storetest

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

var keepTests = []scenario{
	{"Forgotten", keepForgotten},
	{"ForgottenInABatch", keepForgottenBatch},
	{"ForgottenReleasesTheGroup", keepForgottenGroup},
	{"ForgottenFollowsUp", keepForgottenFollowUp},
	{"ForgottenFreesTheKey", keepForgottenKey},
	{"ForgottenHoldsTheKey", keepForgottenHold},
	{"ForgottenRepeated", keepForgottenRepeated},
	{"ForgottenByAZombie", keepForgottenZombie},
	{"OnlyCompletedAndFailed", keepOnlyEnds},
	{"ForItsTime", keepTime},
	{"LongerThanOthers", keepLonger},
	{"Limit", keepLimit},
	{"Revived", keepRevived},
}

// keeping returns an outcome with a time to keep the job.
func keeping(c store.Claimed, result store.Result, keep time.Duration) store.Outcome {
	o := outcome(c, result)
	o.Keep = keep
	return o
}

// gone checks that there is no trace of a job.
func (e *env) gone(id int64, rule string) {
	e.t.Helper()
	jobs := e.list(store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{id}}, Attempts: true})
	e.want(len(jobs), 0, rule)
	e.want(e.changeOne(store.RetryJobs, id), store.Missing, rule)
}

func keepForgotten(e *env) {
	n := e.nodeFor("n", time.Hour)
	for _, result := range []store.Result{store.Completed, store.Failed} {
		for _, text := range []string{"", "e"} {
			for _, alone := range []bool{true, false} {
				c := e.running(n)
				o := outcome(c, store.Retry)
				o.Error = "first"
				e.finishWell(o)
				c = e.claimOne(n)
				e.cancel(c.ID)
				o = keeping(c, result, store.Forget)
				o.Error, o.Alone = text, alone
				e.finishWell(o)
				e.gone(c.ID, "a job that ends with Forget must leave no row")
				e.want(len(e.claims(n, true)), 0, "a cancel request must end with its claim")
				e.want(len(e.claims(n, false)), 0, "a claim must end with its job")
				e.finishWell(o)
			}
		}
	}
	e.want(e.prune(store.PruneRequest{Completed: time.Microsecond, Failed: time.Microsecond}), store.PruneResult{}, "a forgotten job leaves nothing to prune")
}

func keepForgottenBatch(e *env) {
	n := e.node("n")
	e.insertN(90)
	var outcomes []store.Outcome
	for i, c := range e.claim(n, 90) {
		o := keeping(c, store.Completed, []time.Duration{0, store.Forget, time.Minute}[i%3])
		if i%5 == 0 {
			o.Output = []byte("out")
		}
		o.Alone = i%2 == 0
		outcomes = append(outcomes, o)
	}
	e.want(e.finish(outcomes...), []store.ClaimRef(nil), "outcomes with any Keep must be accepted together")
	e.want(e.finish(outcomes...), []store.ClaimRef(nil), "a repetition must not be refused")
	e.want(len(e.listIDs(store.ListJobsRequest{})), 60, "only jobs with Forget must be gone")
	e.tick(time.Minute + time.Microsecond)
	e.want(e.prune(store.PruneRequest{Completed: time.Hour}), store.PruneResult{Jobs: 30}, "only jobs whose own time has passed must go")
	e.want(e.prune(store.PruneRequest{Completed: time.Minute}), store.PruneResult{Jobs: 30}, "the others must go by their age")
}

func keepForgottenGroup(e *env) {
	node, running, waiting := e.queued()
	e.finishWell(keeping(running, store.Completed, store.Forget))
	e.gone(running.ID, "a schedule's job that ends with Forget must leave no row")
	e.released(node, waiting, "a job that waits must be released when a job is forgotten")
	e.want(len(e.slots(store.ListRequest{Names: []string{"s"}})), 2, "the records of the slots must stay")
}

func keepForgottenFollowUp(e *env) {
	n := e.node("n")
	c := e.running(n)
	o := keeping(c, store.Failed, store.Forget)
	o.After = &store.FollowUp{Failing: true, Jobs: []store.NewJob{with(func(j *store.NewJob) { j.Queue = "hooks" })}}
	e.finishWell(o)
	e.finishWell(o)
	e.want(len(e.list(store.ListJobsRequest{JobFilter: store.JobFilter{Queue: "hooks"}})), 1, "the follow-up of a forgotten job must happen once")
}

func keepForgottenKey(e *env) {
	n := e.node("n")
	keyed := with(func(j *store.NewJob) { j.Unique = "a" })
	first := e.insertOne(keyed)
	c := e.claimOne(n)
	e.finishWell(keeping(c, store.Completed, store.Forget))
	e.ok(e.insertOne(keyed) > first, "the key of a forgotten job must be free")
}

func keepForgottenHold(e *env) {
	n := e.nodeFor("n", 100*time.Hour)
	held := func() store.Claimed {
		e.insertOne(with(func(j *store.NewJob) { j.Unique, j.UniqueFor = "a", time.Hour }))
		return e.claimOne(n)
	}
	for _, alone := range []bool{true, false} {
		c := held()
		retry := outcome(c, store.Retry)
		retry.Error = "first"
		e.finishWell(retry)
		c = e.claimOne(n)
		o := keeping(c, store.Completed, store.Forget)
		o.Alone, o.Value = alone, []byte("1")
		if !alone {
			o.Output = []byte("out")
		}
		e.finishWell(o)
		e.finishWell(o)
		info := e.job(c.ID)
		e.want([]any{info.State, info.FinishedAt, len(info.Attempts), string(info.Result)},
			[]any{store.StateCompleted, e.now, 1, ""}, "a forgotten job that holds its key must keep its row, without its result")
		e.tick(time.Hour)
		e.want(e.prune(store.PruneRequest{}), store.PruneResult{}, "a job must stay for as long as it holds its key")
		e.tick(time.Microsecond)
		e.want(e.prune(store.PruneRequest{}).Jobs, 1, "a forgotten job must go when its key is free")
		e.gone(c.ID, "what is pruned must be gone")
	}
	c := held()
	e.finishWell(keeping(c, store.Completed, time.Minute))
	e.tick(30 * time.Minute)
	e.want(e.prune(store.PruneRequest{}), store.PruneResult{}, "a job must stay for as long as it holds its key, longer than its own time")
	e.tick(time.Hour)
	e.want(e.prune(store.PruneRequest{}).Jobs, 1, "a job must go when its key is free and its own time has passed")
}

func keepForgottenRepeated(e *env) {
	n := e.node("n")
	c := e.running(n)
	e.finishWell(keeping(c, store.Completed, store.Forget))
	e.finishWell(keeping(c, store.Completed, store.Forget))
	refused := []store.ClaimRef{{ID: c.ID, Token: c.Token}}
	e.want(e.finish(outcome(c, store.Completed)), refused, "an outcome without Forget of a job that is gone must be refused")
	for _, result := range []store.Result{store.Cancelled, store.Retry, store.Release} {
		e.want(e.finish(keeping(c, result, store.Forget)), refused, "only an end can be recorded by the absence of its job")
	}
	c = e.running(n)
	e.finishWell(outcome(c, store.Completed))
	e.finishWell(keeping(c, store.Completed, store.Forget))
	e.want(e.state(c.ID), store.StateCompleted, "a repetition with Forget must leave a job that is kept")
	e.want(e.finish(keeping(c, store.Failed, store.Forget)), []store.ClaimRef{{ID: c.ID, Token: c.Token}},
		"another outcome of a finished job must be refused, with Forget too")
}

func keepForgottenZombie(e *env) {
	c := e.lost(func(*store.NewJob) {})
	e.tick(store.LossDelay(1))
	m := e.node("next")
	d := e.claimOne(m)
	before := e.job(c.ID)
	zombie, refused := keeping(c, store.Completed, store.Forget), []store.ClaimRef{{ID: c.ID, Token: c.Token}}
	e.want(e.finish(zombie), refused, "a zombie must be refused while another claim has the job")
	e.want(e.job(c.ID), before, "a refused outcome must touch nothing")
	e.finishWell(outcome(d, store.Completed))
	before = e.job(c.ID)
	e.want(e.finish(zombie), refused, "a zombie must be refused after another claim completed the job")
	e.want(e.job(c.ID), before, "a refused outcome must touch nothing")

	c = e.lost(func(*store.NewJob) {})
	e.finishWell(keeping(c, store.Completed, store.Forget))
	e.gone(c.ID, "a late outcome with Forget must leave no row, the record of the loss neither")
}

func keepOnlyEnds(e *env) {
	n := e.node("n")
	for _, result := range []store.Result{store.Cancelled, store.Retry, store.Release} {
		c := e.running(n)
		e.cancel(c.ID)
		e.finishWell(keeping(c, result, store.Forget))
		e.want(e.state(c.ID), store.StateCancelled, "Keep must not matter for a job that ends as cancelled")
	}
	e.tick(time.Hour)
	e.want(e.prune(store.PruneRequest{Completed: time.Minute}), store.PruneResult{Jobs: 3}, "a cancelled job is kept by its age")
}

func keepTime(e *env) {
	n := e.node("n")
	c, d := e.running(n), e.running(n)
	o := keeping(c, store.Completed, time.Minute)
	o.Output = []byte("out")
	e.finishWell(o)
	e.finishWell(keeping(d, store.Failed, time.Hour))
	e.tick(time.Minute)
	e.want(e.prune(store.PruneRequest{}), store.PruneResult{}, "a job must stay for exactly the time of its Keep")
	e.tick(time.Microsecond)
	e.want(e.prune(store.PruneRequest{}), store.PruneResult{Jobs: 1}, "a job must go after its own time, although others are kept for ever")
	e.gone(c.ID, "what is pruned must be gone")
	e.tick(time.Hour)
	e.want(e.prune(store.PruneRequest{}), store.PruneResult{Jobs: 1}, "a failed job must go after its own time")
}

func keepLonger(e *env) {
	n := e.node("n")
	const ever = 1<<63 - 1
	e.insertN(40)
	var outcomes []store.Outcome
	for i, c := range e.claim(n, 40) {
		outcomes = append(outcomes, keeping(c, []store.Result{store.Completed, store.Failed}[i%2], ever))
	}
	e.finish(outcomes...)
	e.tick(100 * 365 * 24 * time.Hour)
	e.want(e.prune(store.PruneRequest{Completed: time.Minute, Failed: time.Minute}), store.PruneResult{},
		"the ages of others must not matter for a job with a Keep")
	e.want(e.state(outcomes[0].ID), store.StateCompleted, "a job must stay for the time of its Keep")
}

func keepLimit(e *env) {
	n := e.node("n")
	e.insertN(10)
	for i, c := range e.claim(n, 10) {
		e.finishWell(keeping(c, store.Completed, time.Duration(10-i)*time.Second))
	}
	e.tick(time.Minute)
	req := store.PruneRequest{Limit: 4}
	e.want(e.prune(req), store.PruneResult{Jobs: 4, More: true}, "a prune must stop at Limit and say that there may be more")
	ids := e.listIDs(store.ListJobsRequest{})
	e.want(len(ids), 6, "what is pruned must be gone")
	e.want([]bool{ids[0] > ids[5], ids[0]-ids[5] < 6}, []bool{true, true}, "the jobs whose time passed first must go first")
	e.want(e.prune(req), store.PruneResult{Jobs: 4, More: true}, "a prune must stop at Limit and say that there may be more")
	e.want(e.prune(req), store.PruneResult{Jobs: 2}, "a prune that did not reach Limit must not ask for more")
}

// keepRevived has jobs end twice, each time with another time to be kept.
func keepRevived(e *env) {
	n := e.node("n")
	const jobs = 20
	ids := e.insertN(2 * jobs)
	end := func(keeps ...time.Duration) {
		var outcomes []store.Outcome
		for i, c := range e.claim(n, 2*jobs) {
			outcomes = append(outcomes, keeping(c, store.Completed, keeps[i/jobs]))
		}
		e.want(len(outcomes), 2*jobs, "all jobs must be claimed")
		e.finish(outcomes...)
	}
	end(0, 10*time.Minute)
	for _, id := range ids {
		e.changeOne(store.RetryJobs, id)
	}
	end(time.Hour, 0)
	e.tick(10*time.Minute + time.Microsecond)
	e.want(e.prune(store.PruneRequest{Completed: 20 * time.Minute}), store.PruneResult{}, "the time of a first end must not matter after the second")
	e.want(e.prune(store.PruneRequest{Completed: time.Minute}), store.PruneResult{Jobs: jobs}, "the second end decides that the age counts")
	e.tick(time.Hour)
	e.want(e.prune(store.PruneRequest{}), store.PruneResult{Jobs: jobs}, "the second end decides that the own time counts")
}
