package storetest

import (
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

var maintenanceTests = []scenario{
	{"PruneByAge", pruneAge},
	{"PruneZeroKeeps", pruneZero},
	{"PruneLimit", pruneLimit},
	{"PruneWhatEndedTogether", pruneTogether},
	{"PruneLeavesWhatLives", pruneLeaves},
	{"Now", maintenanceNow},
}

// prune prunes all rows but events.
func (e *env) prune(req store.PruneRequest) store.PruneResult {
	e.t.Helper()
	e.keepEvents(290 * 365 * 24 * time.Hour)
	req.Now = e.now
	if req.Limit == 0 {
		req.Limit = 1000
	}
	res, err := e.a.Prune(e.ctx, req)
	e.must(err)
	return res
}

// old makes one row of each kind that can be pruned and returns the jobs:
// completed, cancelled, failed.
func (e *env) old() []int64 {
	n := e.node("old")
	e.insertN(3)
	jobs := e.claim(n, 3)
	var outcomes []store.Outcome
	for i, result := range []store.Result{store.Completed, store.Cancelled, store.Failed} {
		o := outcome(jobs[i], result)
		o.Error = "why"
		outcomes = append(outcomes, o)
	}
	e.finish(outcomes...)
	e.put("s", "1")
	e.account("s", missed(0, 0))
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: n})
	e.must(err)
	return claimedIDs(jobs)
}

func pruneAge(e *env) {
	ids := e.old()
	all := store.PruneRequest{Completed: time.Hour, Failed: 2 * time.Hour, Slots: 3 * time.Hour, Nodes: 4 * time.Hour}
	left := func() []int {
		return []int{len(e.list(store.ListJobsRequest{})), len(e.slots(store.ListRequest{})), len(e.nodes())}
	}
	e.tick(time.Hour)
	e.want(e.prune(all), store.PruneResult{}, "what is exactly as old as asked must stay, by the request's Now")
	e.tick(time.Microsecond)
	e.want(e.prune(all), store.PruneResult{Jobs: 2}, "completed and cancelled jobs that are older must go")
	e.want(e.listIDs(store.ListJobsRequest{}), []int64{ids[2]}, "failed jobs have an age of their own")
	e.tick(time.Hour)
	e.want(e.prune(all), store.PruneResult{Jobs: 1}, "failed jobs that are older must go")
	e.tick(time.Hour)
	e.want(left(), []int{0, 1, 1}, "slots and nodes have ages of their own")
	e.want(e.prune(all), store.PruneResult{Slots: 1}, "records of slots that are older must go")
	e.tick(time.Hour)
	e.want(e.prune(all), store.PruneResult{Nodes: 1}, "ended nodes that are older must go")
	e.want(left(), []int{0, 0, 0}, "what is pruned must be gone")
	e.want(e.prune(all), store.PruneResult{}, "what is gone cannot go again")
	e.want(e.changeOne(store.RetryJobs, ids[0]), store.Missing, "a pruned job is not found")
}

func pruneZero(e *env) {
	e.old()
	e.tick(1000 * time.Hour)
	e.want(e.prune(store.PruneRequest{}), store.PruneResult{}, "a zero duration must keep that sort for ever")
	e.want(e.prune(store.PruneRequest{Failed: time.Hour}), store.PruneResult{Jobs: 1}, "only what was asked for may go")
	e.want(e.prune(store.PruneRequest{Slots: time.Hour}), store.PruneResult{Slots: 1}, "only what was asked for may go")
	e.want([]int{len(e.list(store.ListJobsRequest{})), len(e.nodes())}, []int{2, 1}, "a zero duration must keep that sort for ever")
}

func pruneLimit(e *env) {
	n := e.node("n")
	e.insertN(10)
	for _, j := range e.claim(n, 10) {
		e.finishWell(outcome(j, store.Completed))
	}
	e.tick(time.Hour)
	req := store.PruneRequest{Completed: time.Minute, Limit: 4}
	e.want(e.prune(req), store.PruneResult{Jobs: 4, More: true}, "a prune must stop at Limit and say that there may be more")
	e.want(e.prune(req), store.PruneResult{Jobs: 4, More: true}, "a prune must stop at Limit and say that there may be more")
	e.want(e.prune(req), store.PruneResult{Jobs: 2}, "a prune that did not reach Limit must not ask for more")
}

// pruneTogether prunes jobs that ended in one call: some failed, one was
// deleted, and some were revived, so that they fail together later.
func pruneTogether(e *env) {
	n := e.node("n")
	e.insertN(60)
	jobs := e.claim(n, 60)
	end := func(result store.Result, jobs ...store.Claimed) {
		var outcomes []store.Outcome
		for _, j := range jobs {
			outcomes = append(outcomes, outcome(j, result))
		}
		e.finish(outcomes...)
	}
	end(store.Failed, jobs[50:]...)
	end(store.Completed, jobs[:50]...)
	e.want(e.changeOne(store.DeleteJobs, jobs[49].ID), store.Changed, "a completed job can be deleted")
	for _, j := range jobs[:20] {
		e.want(e.changeOne(store.RetryJobs, j.ID), store.Changed, "a completed job can be revived")
	}
	e.tick(time.Hour)
	end(store.Failed, e.claim(n, 20)...)
	left := func() int { return len(e.list(store.ListJobsRequest{})) }
	e.tick(time.Hour)
	req, sum := store.PruneRequest{Completed: time.Minute, Limit: 20}, 0
	for more, calls := true, 0; more; calls++ {
		res := e.prune(req)
		if res.Jobs > req.Limit || calls == 10 {
			e.t.Fatalf("call %d of a prune took %d jobs with a limit of %d", calls, res.Jobs, req.Limit)
		}
		sum, more = sum+res.Jobs, res.More
	}
	e.want([]int{sum, left()}, []int{29, 30}, "of the 50 that completed together one was deleted and 20 failed later")
	e.want(e.prune(store.PruneRequest{Failed: 90 * time.Minute}), store.PruneResult{Jobs: 10}, "what was revived has the age of its second end")
	e.want(e.prune(store.PruneRequest{Failed: time.Minute}), store.PruneResult{Jobs: 20}, "failed jobs that are older must go")
}

func pruneLeaves(e *env) {
	n, dead := e.nodeFor("n", 10000*time.Hour), e.node("silent")
	_, err := e.trySync("o", 7, "kept")
	e.must(err)
	e.planned("s")
	id := e.ring("s")
	c := e.claimOne(n)
	ready := e.insertOne(newJob())
	o := outcome(c, store.Retry)
	o.Error = "why"
	e.finishWell(o)
	e.claimOne(n)
	row := e.schedule("s")
	mark := row.Mark
	e.put("gone", "1")
	e.changeSchedules(store.DeleteSchedules, "gone")
	e.tick(1000 * time.Hour)
	all := store.PruneRequest{Completed: time.Minute, Failed: time.Minute, Slots: time.Minute, Nodes: time.Minute}
	e.want(e.prune(all), store.PruneResult{Slots: 1}, "only what is finished and old may go")
	ids := e.listIDs(store.ListJobsRequest{})
	slices.Sort(ids)
	e.want(ids, []int64{id, ready}, "living jobs must stay, however old")
	e.want(len(e.job(id).Attempts), 1, "attempts of living jobs must stay")
	e.want([]int64{e.nodes()[n].ID, e.nodes()[dead].ID}, []int64{n, dead}, "nodes that have not ended must stay")
	e.want(scheduleNames(e.schedules(store.ListRequest{Deleted: true})), []string{"gone", "kept", "s"}, "schedules and tombstones must stay")
	e.want([]any{e.schedule("s").Mark, e.schedule("s").Fired}, []any{mark, int64(1)}, "the mark and the counter must outlive the records")
	_, err = e.trySync("o", 6, "kept")
	e.is(err, store.ErrStale, "an owner's sync revision must stay")
	f := ringing(row)
	e.fire(f)
	e.want(e.fire(f).Lost, []int64{row.ID}, "one slot, one job: also after its record is pruned")
}

func maintenanceNow(e *env) {
	before := time.Now()
	a, err := e.a.Now(e.ctx)
	e.must(err)
	b, err := e.b.Now(e.ctx)
	e.must(err)
	e.ok(!b.Before(a), "both clients must read one clock, which goes forward", a, b)
	e.ok(a.Location() == time.UTC && a.Nanosecond()%1000 == 0, "the store's clock must be read in UTC, to the microsecond", a)
	e.ok(a.Sub(before).Abs() < 10*time.Minute, "the store's clock must be a clock", a, before)
}
