package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

var laneTests = []scenario{
	{"ByKey", lanesByKey},
	{"ByKind", lanesByKind},
	{"OfAQueueAndKind", lanesOfQueue},
	{"OfPlaces", lanesOfPlaces},
	{"WindowAndWeights", lanesWindow},
	{"Priority", lanesPriority},
	{"NotDue", lanesNotDue},
	{"EveryEndGivesBack", lanesGivenBack},
	{"RetryGoesFirst", lanesRetry},
	{"Strict", lanesStrict},
	{"NoLongerStrict", lanesNoLongerStrict},
	{"StrictAndOverfull", lanesStrictOverfull},
	{"ParkedWithItsPermit", lanesParked},
	{"ParkedInAClosedLane", lanesParkedAndClosed},
	{"ParkedAndPausedAgain", lanesParkedAndPaused},
	{"DeadNode", lanesRescue},
	{"Pause", lanesPause},
	{"MovedJobs", lanesMoved},
	{"MovedOut", lanesMovedOut},
	{"MovedThereAndBack", lanesMovedBack},
	{"MovedJobsGoBehindExceptRetries", lanesMovedOrder},
	{"ReplacedJobs", lanesReplaced},
	{"SeveralLimits", lanesSeveral},
	{"Raised", lanesRaised},
	{"Lowered", lanesLowered},
	{"LoweredInSteps", lanesLoweredInSteps},
	{"NewLimitCountsWhatRuns", lanesNew},
	{"Deleted", lanesDeleted},
	{"NewScope", lanesNewScope},
	{"NewScopeKeepsTheOrder", lanesNewScopeOrder},
	{"OtherKindsOfWorkers", lanesOtherKinds},
	{"Backlog", lanesBacklog},
	{"ManyPermitsGivenBack", lanesManyGivenBack},
	{"EveryClaimHoldsItsPermit", lanesEveryClaim},
	{"Race", lanesRace},
	{"NewJobsDuringClaims", lanesNewJobs},
}

// limited returns a plain job with a key.
func limited(key string, more ...func(*store.NewJob)) store.NewJob {
	return with(func(j *store.NewJob) {
		j.Key = key
		for _, change := range more {
			change(j)
		}
	})
}

// inUse returns how many permits of a limit jobs hold.
func (e *env) inUse(name string) int64 {
	e.t.Helper()
	infos, err := store.List[store.LimitInfo](e.ctx, e.b, store.ListRequest{Now: e.now, Names: []string{name}})
	e.must(err)
	if len(infos) != 1 {
		e.t.Fatalf("limit %q must be listed once: got %d", name, len(infos))
	}
	return infos[0].InUse
}

// wantClaimed fails the test unless a claim takes these jobs, in this order, and returns the claims.
func (e *env) wantClaimed(node int64, rule string, ids ...int64) []store.Claimed {
	e.t.Helper()
	jobs := e.claim(node, 100)
	e.want(claimedIDs(jobs), ids, rule)
	return jobs
}

func perKey(n int) store.Limit {
	return store.Limit{Name: "per key", ByKey: true, Concurrency: n}
}

func lanesByKey(e *env) {
	e.putLimits(perKey(1))
	n := e.node("a")
	ids := e.insert(limited("x"), limited("x"), limited("y"), limited("x"), limited("y"), newJob())
	jobs := e.wantClaimed(n, "one job of each key runs, and jobs without a key are not limited", ids[0], ids[2], ids[5])
	e.want(e.inUse("per key"), int64(2), "the running jobs hold permits")
	e.wantClaimed(n, "the others wait")
	e.want(e.state(ids[1]), store.StateReady, "a job that waits for a permit is ready")
	e.finishWell(outcome(jobs[0], store.Completed))
	e.tick(time.Second)
	next := e.wantClaimed(n, "the end of a job lets the next job of its key run", ids[1])
	e.finishWell(outcome(next[0], store.Failed))
	e.finishWell(outcome(jobs[1], store.Completed))
	e.wantClaimed(n, "each key has its own order", ids[3], ids[4])
	e.want(e.inUse("per key"), int64(2), "permits pass from job to job")
}

func lanesByKind(e *env) {
	e.putLimits(store.Limit{Name: "k", Kind: "k", Concurrency: 2})
	n := e.node("a")
	ids := e.insert(newJob(), newJob(), newJob(), with(func(j *store.NewJob) { j.Queue = "r" }), with(func(j *store.NewJob) { j.Kind = "l" }))
	jobs := e.wantClaimed(n, "so many jobs of the kind run", ids[0], ids[1])
	claim := func(queue, kind string) []int64 {
		res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: queue, Kinds: []string{kind}, Limit: 10})
		e.must(err)
		return claimedIDs(res.Jobs)
	}
	e.want(claim("r", "k"), []int64(nil), "in all queues together")
	e.want(claim("q", "l"), ids[4:], "other kinds are not limited")
	e.finishWell(outcome(jobs[0], store.Completed))
	e.wantClaimed(n, "the first job that waited is next", ids[2])
	e.finishWell(outcome(jobs[1], store.Completed))
	e.wantClaimed(n, "no job of this queue waits")
	e.want(claim("r", "k"), ids[3:4], "a job of another queue has got the permit")
}

func lanesOfQueue(e *env) {
	e.putLimits(store.Limit{Name: "a", Queue: "q", Kind: "k", Concurrency: 1}, store.Limit{Name: "b", Queue: "r", ByKey: true, Concurrency: 1})
	n := e.node("a")
	ids := e.insert(limited("x"), limited("x"), with(func(j *store.NewJob) { j.Queue = "r" }), with(func(j *store.NewJob) { j.Queue = "r" }))
	e.wantClaimed(n, "a limit of a kind in a queue", ids[0])
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: "r", Kinds: []string{"k"}, Limit: 10})
	e.must(err)
	e.want(claimedIDs(res.Jobs), ids[2:], "does not concern another queue")
}

func lanesOfPlaces(e *env) {
	n := e.node("a")
	in := func(queue, key string) store.NewJob { return limited(key, func(j *store.NewJob) { j.Queue = queue }) }
	ids := e.insert(in("q@host", "x"), in("q", "x"), in("q@host", "x"), in("qq@host", "x"), in("q-2", "x"), in("q@host", "y"))
	e.want(e.claimIn(n, "q@host"), []int64{ids[0], ids[2], ids[5]}, "jobs of a place run")
	e.putLimits(store.Limit{Name: "key", Queue: "q", ByKey: true, Concurrency: 3}, store.Limit{Name: "kind", Queue: "q", Kind: "k", Concurrency: 4})
	e.want([]int64{e.inUse("key"), e.inUse("kind")}, []int64{3, 3}, "and hold permits of new limits of the queue")
	e.want(e.claimIn(n, "q"), ids[1:2], "the queue and its places share the permits")
	more := e.insert(in("q@host", "z"), in("q", "z"))
	e.want(e.claimIn(n, "q@host"), []int64(nil), "which are all in use")
	e.want(e.claimIn(n, "q"), []int64(nil), "also for the queue itself")
	e.want(append(e.claimIn(n, "qq@host"), e.claimIn(n, "q-2")...), ids[3:5], "other queues are not limited")
	e.want(e.state(more[0]), store.StateReady, "a job that waits for a permit is ready")
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfLimits, Now: e.now, Names: []string{"kind"}}))
	e.want(append(e.claimIn(n, "q@host"), e.claimIn(n, "q")...), more, "without the limit all of them run")
	e.putLimits(store.Limit{Name: "whole", Queue: "q", Concurrency: 1})
	e.insert(in("q", ""), in("q@host", ""), in("qq@host", ""), limited("", func(j *store.NewJob) { j.Queue, j.Delay = "q@host", time.Minute }))
	whole, err := store.List[store.LimitInfo](e.ctx, e.b, store.ListRequest{Now: e.now, Names: []string{"whole"}})
	e.must(err)
	e.want(whole[0].Waiting, int64(2), "due jobs of places wait for a limit of the whole queue, too")
}

func lanesWindow(e *env) {
	limit := perKey(2)
	limit.Weights = map[string]int{"big": 3}
	e.putLimits(limit)
	n := e.node("a")
	var jobs []store.NewJob
	for range 10 {
		jobs = append(jobs, limited("big"))
	}
	jobs = append(jobs, limited("small"), limited("small"), limited("small"))
	ids := e.insert(jobs...)
	claimed := e.wantClaimed(n, "a weight widens the lane of a key", append(slices.Clone(ids[:6]), ids[10], ids[11])...)
	for _, j := range claimed[:3] {
		e.finishWell(outcome(j, store.Completed))
	}
	e.tick(time.Second)
	e.wantClaimed(n, "as many jobs go on as have ended", ids[6:9]...)
}

func lanesPriority(e *env) {
	e.putLimits(perKey(1))
	n := e.node("a")
	ids := e.insert(limited("x"), limited("x"))
	jobs := e.wantClaimed(n, "the first job", ids[0])
	urgent := e.insertOne(limited("x", func(j *store.NewJob) { j.Priority = 1 }))
	e.wantClaimed(n, "a more urgent job waits, too")
	e.finishWell(outcome(jobs[0], store.Completed))
	jobs = e.wantClaimed(n, "it overtakes jobs of its key that wait", urgent)
	e.finishWell(outcome(jobs[0], store.Completed))
	e.wantClaimed(n, "then the others", ids[1])
}

func lanesNotDue(e *env) {
	e.putLimits(perKey(1))
	n := e.node("a")
	later := e.insertOne(limited("x", func(j *store.NewJob) { j.Delay = time.Minute }))
	now := e.insertOne(limited("x"))
	jobs := e.wantClaimed(n, "a job that is due later takes no permit", now)
	e.tick(time.Minute)
	e.wantClaimed(n, "it takes its permit when it is due")
	e.finishWell(outcome(jobs[0], store.Completed))
	e.wantClaimed(n, "and then runs", later)
}

func lanesGivenBack(e *env) {
	e.putLimits(perKey(1))
	n := e.node("a")
	for name, end := range map[string]func(store.Claimed){
		"completed":  func(j store.Claimed) { e.finishWell(outcome(j, store.Completed)) },
		"failed":     func(j store.Claimed) { e.finishWell(outcome(j, store.Failed)) },
		"with error": func(j store.Claimed) { o := outcome(j, store.Failed); o.Error = "no"; e.finishWell(o) },
		"cancelled":  func(j store.Claimed) { e.finishWell(outcome(j, store.Cancelled)) },
		"forgotten":  func(j store.Claimed) { o := outcome(j, store.Completed); o.Keep = store.Forget; e.finishWell(o) },
		"kept":       func(j store.Claimed) { o := outcome(j, store.Completed); o.Keep = time.Hour; e.finishWell(o) },
		"result":     func(j store.Claimed) { o := outcome(j, store.Completed); o.Value = []byte(`1`); e.finishWell(o) },
		"retried":    func(j store.Claimed) { e.finishWell(retryIn(j, 100*time.Hour)) },
		"snoozed":    func(j store.Claimed) { o := outcome(j, store.Snooze); o.Delay = 100 * time.Hour; e.finishWell(o) },
	} {
		ids := e.insert(limited(name), limited(name))
		jobs := e.wantClaimed(n, name+": the first job runs", ids[0])
		end(jobs[0])
		e.want(e.inUse("per key"), int64(0), name+": the permit is given back")
		jobs = e.wantClaimed(n, name+": the next job runs", ids[1])
		e.finishWell(outcome(jobs[0], store.Completed))
	}
	ids := e.insert(limited("unbegun"), limited("unbegun"), limited("unbegun"), limited("unbegun"))
	jobs := e.wantClaimed(n, "the first job runs", ids[0])
	e.want(e.cancel(ids[1]), store.Changed, "a job that waits is cancelled")
	e.want(e.changeOne(store.DeleteJobs, ids[2]), store.Changed, "a job that waits is deleted")
	e.finishWell(outcome(jobs[0], store.Completed))
	jobs = e.wantClaimed(n, "neither of them gets a permit", ids[3])
	e.finishWell(outcome(jobs[0], store.Completed))
	e.want(e.inUse("per key"), int64(0), "no permit is left")
	// Jobs with a permit that are not claimed yet.
	for _, action := range []store.JobAction{store.CancelJobs, store.DeleteJobs} {
		pair := e.insert(newJob(), limited("unclaimed"), limited("unclaimed"))
		e.want(claimedIDs(e.claim(n, 1)), pair[:1], "one job is claimed")
		e.want(e.inUse("per key"), int64(1), "and another has a permit")
		e.changeOne(action, pair[1])
		e.want(e.inUse("per key"), int64(0), "which it gives back if it ends unclaimed")
		e.tick(time.Second)
		jobs := e.wantClaimed(n, "the permit passes on", pair[2])
		e.finishWell(outcome(jobs[0], store.Completed))
	}
}

func lanesRetry(e *env) {
	e.putLimits(perKey(1))
	n := e.node("a")
	ids := e.insert(limited("x"), limited("x"), limited("x"))
	jobs := e.wantClaimed(n, "the first job", ids[0])
	e.finishWell(retryIn(jobs[0], 10*time.Second))
	jobs = e.wantClaimed(n, "the next job runs while the first job waits for its next attempt", ids[1])
	e.tick(10 * time.Second)
	e.wantClaimed(n, "the permit is in use")
	e.finishWell(outcome(jobs[0], store.Completed))
	jobs = e.wantClaimed(n, "the retry goes first", ids[0])
	e.finishWell(outcome(jobs[0], store.Release))
	jobs = e.wantClaimed(n, "also after a release", ids[0])
	e.finishWell(outcome(jobs[0], store.Completed))
	e.wantClaimed(n, "then the others", ids[2])
}

func lanesStrict(e *env) {
	limit := perKey(1)
	limit.Strict = true
	e.putLimits(limit)
	n := e.node("a")
	ids := e.insert(limited("x"), limited("x"), limited("y"))
	jobs := e.wantClaimed(n, "the first jobs", ids[0], ids[2])
	e.finishWell(retryIn(jobs[0], 10*time.Second))
	e.finishWell(outcome(jobs[1], store.Completed))
	e.wantClaimed(n, "the job keeps its permit until its next attempt")
	e.want(e.inUse("per key"), int64(1), "it holds the permit")
	e.tick(10 * time.Second)
	jobs = e.wantClaimed(n, "the retry has its permit", ids[0])
	snooze := outcome(jobs[0], store.Snooze)
	snooze.Delay = 10 * time.Second
	e.finishWell(snooze)
	jobs = e.wantClaimed(n, "a job that snoozes holds no permit", ids[1])
	e.finishWell(outcome(jobs[0], store.Completed))
	e.tick(10 * time.Second)
	e.wantClaimed(n, "and runs later", ids[0])
}

// lanesNoLongerStrict lets jobs that wait for their next attempts hold permits while their limit stops being strict.
func lanesNoLongerStrict(e *env) {
	limit := perKey(2)
	limit.Strict = true
	e.putLimits(limit)
	n := e.node("a")
	ids := e.insert(limited("x"), limited("x"), limited("x"), limited("x"))
	jobs := e.wantClaimed(n, "the first jobs", ids[0], ids[1])
	e.finishWell(retryIn(jobs[0], 10*time.Minute))
	e.finishWell(retryIn(jobs[1], 20*time.Minute))
	e.putLimits(perKey(1))
	e.want(e.inUse("per key"), int64(0), "jobs that are not due give their permits back")
	jobs = e.wantClaimed(n, "and let the next job pass", ids[2])
	e.tick(10 * time.Minute)
	e.wantClaimed(n, "the limit is in force")
	e.finishWell(outcome(jobs[0], store.Completed))
	jobs = e.wantClaimed(n, "the retry goes first when it is due", ids[0])
	e.want(e.inUse("per key"), int64(1), "its permit is the only permit in use")
	e.finishWell(outcome(jobs[0], store.Completed))
	jobs = e.wantClaimed(n, "the other retry is not due", ids[3])
	e.finishWell(outcome(jobs[0], store.Completed))
	e.tick(10 * time.Minute)
	e.wantClaimed(n, "and runs when it is due", ids[1])
	e.want(e.recount(0), store.RecountResult{}, "all permits are counted")
}

// lanesStrictOverfull lets more jobs of a key run than a strict limit allows when it begins, or when it becomes less. Their next
// attempts keep to the limit.
func lanesStrictOverfull(e *env) {
	n := e.node("a")
	ids := e.insert(limited("x\""), limited("x\""), limited("x\""))
	jobs := e.wantClaimed(n, "the jobs have no limit", ids...)
	limit := perKey(1)
	limit.Strict, limit.Weights = true, map[string]int{"x\"": 2}
	e.putLimits(limit)
	e.want(e.inUse("per key"), int64(3), "jobs that run hold permits of a new limit")
	for _, job := range jobs {
		e.finishWell(retryIn(job, 10*time.Second))
	}
	e.tick(10 * time.Second)
	again := e.claim(n, 3)
	e.want([]any{len(again), e.inUse("per key")}, []any{2, int64(2)}, "two of the next attempts run")
	limit.Weights = nil
	e.putLimits(limit)
	e.finishWell(retryIn(again[0], 0))
	e.want(len(e.claim(n, 3)), 0, "one runs, which is enough now")
	e.finishWell(retryIn(again[1], 10*time.Second))
	e.want(len(e.claim(n, 3)), 0, "it keeps its permit until its next attempt")
	e.tick(10 * time.Second)
	last := e.wantClaimed(n, "and has the permit then", again[1].ID)
	for range 2 {
		e.finishWell(outcome(last[0], store.Completed))
		last = e.claim(n, 3)
		e.want(len(last), 1, "then the others, one at a time")
	}
	e.finishWell(outcome(last[0], store.Completed))
	e.want(e.recount(0), store.RecountResult{}, "all permits are counted")
}

func lanesRescue(e *env) {
	e.putLimits(perKey(1))
	dead := e.node("dead")
	ids := e.insert(limited("x"), limited("x"))
	e.wantClaimed(dead, "the first job", ids[0])
	e.tick(14 * time.Second)
	living := e.node("living")
	e.wantClaimed(living, "a permit is not free before the claim is lost")
	e.tick(2 * time.Second)
	e.ok(len(e.rescue(living).Jobs) == 1, "the job is taken from the dead node")
	jobs := e.wantClaimed(living, "the permit is free as soon as the claim is lost", ids[1])
	e.tick(store.LossDelay(1))
	e.wantClaimed(living, "and the lost job needs a permit", []int64(nil)...)
	e.finishWell(outcome(jobs[0], store.Completed))
	e.wantClaimed(living, "which it gets", ids[0])
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: living})
	e.must(err)
	e.want(e.inUse("per key"), int64(0), "a node that leaves gives back the permits of its jobs")
}

func lanesPause(e *env) {
	e.putLimits(perKey(1))
	n := e.node("a")
	inGroup := func(j *store.NewJob) { j.Group = "g" }
	urgent := func(j *store.NewJob) { j.Priority = 1 }
	ids := e.insert(newJob(), limited("x", inGroup), limited("x", inGroup), limited("x"))
	e.want(claimedIDs(e.claim(n, 1)), ids[:1], "one job is claimed, and the others get permits or wait")
	e.want(e.inUse("per key"), int64(1), "a job of the group has the permit")
	e.must(e.putPause(e.a, store.PutPause{Subject: store.SubjectGroup, Name: "g"}))
	e.want(e.inUse("per key"), int64(0), "jobs of a paused group hold no permits")
	jobs := e.wantClaimed(n, "other jobs of the key go on", ids[3])
	other := e.insertOne(limited("x", inGroup, urgent))
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Now: e.now, Of: store.OfPauses, Subject: store.SubjectGroup, Names: []string{"g"}}))
	e.wantClaimed(n, "the limit holds after the pause")
	e.finishWell(outcome(jobs[0], store.Completed))
	jobs = e.wantClaimed(n, "jobs of the group get permits again", other)
	e.finishWell(outcome(jobs[0], store.Completed))
	jobs = e.wantClaimed(n, "in their order", ids[1])
	e.finishWell(outcome(jobs[0], store.Completed))
	e.wantClaimed(n, "in their order", ids[2])
}

func lanesMoved(e *env) {
	e.putLimits(store.Limit{Name: "per key", Queue: "q", ByKey: true, Concurrency: 1})
	n := e.node("a")
	ids := e.insert(newJob(), limited("x"), limited("x"), limited("x"))
	e.want(claimedIDs(e.claim(n, 1)), ids[:1], "the first job is claimed, and the second job has a permit")
	for _, id := range ids[1:3] {
		e.change(store.ChangeJobsRequest{Action: store.MoveJobs, Queue: "r", IDs: []int64{id}})
	}
	e.want(e.inUse("per key"), int64(0), "a job that is moved gives its permit back")
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: "r", Kinds: []string{"k"}, Limit: 10})
	e.must(err)
	e.want(claimedIDs(res.Jobs), ids[1:3], "no limit concerns the other queue")
	e.change(store.ChangeJobsRequest{Action: store.ReprioritiseJobs, Priority: 9, IDs: ids[3:]})
	e.wantClaimed(n, "a job gets a permit with another priority", ids[3])
}

func lanesMovedOut(e *env) {
	e.putLimits(store.Limit{Name: "kind", Queue: "q", Kind: "k", Concurrency: 1})
	n := e.node("a")
	ids := e.insert(newJob(), newJob())
	e.wantClaimed(n, "one job of the kind", ids[0])
	e.change(store.ChangeJobsRequest{Action: store.MoveJobs, Queue: "r", IDs: ids[1:]})
	e.want(claimedIDs(e.startIn("r", n, 9).Jobs), ids[1:], "no limit concerns the other queue, where a job without a key has nothing rare")
}

func lanesMovedBack(e *env) {
	e.putLimits(store.Limit{Name: "per key", Queue: "q", ByKey: true, Concurrency: 1})
	n := e.node("a")
	ids := e.insert(newJob(), limited("x"), limited("x"))
	e.want(claimedIDs(e.claim(n, 1)), ids[:1], "the first job is claimed, and the second job has a permit")
	for _, queue := range []string{"r", "q"} {
		e.tick(time.Second)
		e.change(store.ChangeJobsRequest{Action: store.MoveJobs, Queue: queue, IDs: ids[1:2]})
	}
	e.wantClaimed(n, "a job that was moved to another queue and back has no permit, and goes behind the others", ids[2])
}

func lanesMovedOrder(e *env) {
	e.putLimits(perKey(1))
	n := e.node("a")
	ids := e.insert(limited("x"), limited("x"), limited("x"), limited("x"))
	jobs := e.wantClaimed(n, "the first job", ids[0])
	e.finishWell(retryIn(jobs[0], 10*time.Second))
	jobs = e.wantClaimed(n, "the second job, while the first job waits for its next attempt", ids[1])
	e.tick(11 * time.Second)
	e.wantClaimed(n, "the permit is in use")
	e.change(store.ChangeJobsRequest{Action: store.MoveJobs, Queue: "r", IDs: []int64{ids[0], ids[2]}})
	e.finishWell(outcome(jobs[0], store.Completed))
	jobs = e.startIn("r", n, 9).Jobs
	e.want(claimedIDs(jobs), ids[:1], "a retry that is moved still goes first")
	e.finishWell(outcome(jobs[0], store.Completed))
	e.want(claimedIDs(e.startIn("r", n, 9).Jobs), []int64(nil), "another job that is moved goes behind the jobs that wait")
	jobs = e.wantClaimed(n, "which were due before it was moved", ids[3])
	e.finishWell(outcome(jobs[0], store.Completed))
	e.want(claimedIDs(e.startIn("r", n, 9).Jobs), ids[2:3], "and then starts")
}

func lanesReplaced(e *env) {
	e.putLimits(perKey(1))
	n := e.node("a")
	unique := func(j *store.NewJob) { j.Unique, j.OnConflict = "u", store.OnConflictReplace }
	ids := e.insert(newJob(), limited("x", unique), limited("x"))
	e.want(claimedIDs(e.claim(n, 1)), ids[:1], "a job with a unique key has the permit")
	e.insert(limited("y", unique))
	e.tick(time.Second)
	e.wantClaimed(n, "a job that becomes another job has a permit of its new key, and its permit is free", ids[1], ids[2])
	e.want(e.inUse("per key"), int64(2), "each key has its lane")
}

func lanesSeveral(e *env) {
	e.putLimits(perKey(1), store.Limit{Name: "k", Kind: "k", Concurrency: 2})
	n := e.node("a")
	ids := e.insert(limited("x"), limited("x"), limited("y"), limited("y"), limited("z"), newJob())
	jobs := e.wantClaimed(n, "a job needs the permits of all its limits", ids[0], ids[2])
	e.want([]int64{e.inUse("per key"), e.inUse("k")}, []int64{2, 2}, "a job that waits holds no permit")
	e.finishWell(outcome(jobs[0], store.Completed))
	e.tick(time.Second)
	jobs = append(jobs, e.wantClaimed(n, "the first job whose permits are all free", ids[1])...)
	e.finishWell(outcome(jobs[2], store.Completed))
	e.tick(time.Second)
	last := e.wantClaimed(n, "a job that finds one permit in use is passed over", ids[4])
	e.finishWell(outcome(jobs[1], store.Completed))
	e.tick(time.Second)
	e.wantClaimed(n, "and comes when it is free", ids[3])
	e.finishWell(outcome(last[0], store.Completed))
	e.tick(time.Second)
	e.wantClaimed(n, "the last job", ids[5])
}

func lanesRaised(e *env) {
	e.putLimits(perKey(1))
	n := e.node("a")
	ids := e.insert(limited("x"), limited("x"), limited("x"), limited("x"))
	e.wantClaimed(n, "one job", ids[0])
	e.putLimits(perKey(3))
	e.wantClaimed(n, "a limit that is raised lets waiting jobs run", ids[1], ids[2])
	e.want(e.inUse("per key"), int64(3), "all permits are in use")
}

func lanesLowered(e *env) {
	e.putLimits(perKey(4))
	n := e.node("a")
	ids := e.insert(limited("x"), limited("x"), limited("x"), limited("x"), limited("x"))
	jobs := e.claim(n, 2)
	e.want(claimedIDs(jobs), ids[:2], "two jobs run, and two more have permits")
	e.want(e.inUse("per key"), int64(4), "four permits are in use")
	e.putLimits(perKey(1))
	e.wantClaimed(n, "jobs that were not claimed give their permits back")
	e.want(e.inUse("per key"), int64(2), "what runs goes on")
	e.finishWell(outcome(jobs[0], store.Completed))
	e.wantClaimed(n, "no permit is free while more jobs run than the limit allows")
	e.finishWell(outcome(jobs[1], store.Completed))
	e.tick(time.Second)
	jobs = e.wantClaimed(n, "jobs that had permits go first", ids[2])
	e.finishWell(outcome(jobs[0], store.Completed))
	e.wantClaimed(n, "and keep their order", ids[3])
}

// putInSteps puts a limit, and returns the permits of one job in the call.
func (e *env) putInSteps(limit store.Limit) {
	e.t.Helper()
	_, err := e.a.Put(e.ctx, store.PutRequest{Now: e.now, AtOnce: 1, Limits: []store.PutLimit{{Limit: limit}}})
	e.must(err)
}

// lanesLoweredInSteps lets more jobs hold permits than one call returns.
func lanesLoweredInSteps(e *env) {
	e.putLimits(perKey(9))
	n := e.node("a")
	var jobs []store.NewJob
	for range 9 {
		jobs = append(jobs, limited("x"))
	}
	ids := e.insert(jobs...)
	e.want(claimedIDs(e.claim(n, 1)), ids[:1], "one job runs, and eight more have permits")
	e.putInSteps(perKey(3))
	e.wantClaimed(n, "also permits that the put has not returned come back before jobs are claimed", ids[1], ids[2])
	e.want(e.inUse("per key"), int64(3), "as many permits are in use as the limit has")
	e.insertOne(limited("y"))
	e.putLimits(perKey(9))
	e.claim(n, 1)
	e.putInSteps(store.Limit{Name: "k", Kind: "k", Concurrency: 5})
	e.want(e.inUse("k"), int64(4), "jobs that run have permits of a new limit")
	e.wantClaimed(n, "jobs that had permits before need permits of the new limit", ids[4])
	e.want(e.inUse("per key"), int64(5), "and hold no others until then")
	e.want(e.recount(0), store.RecountResult{}, "all permits are counted")
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfLimits, Now: e.now, Names: []string{"per key", "k"}}))
	e.want(len(e.claim(n, 9)), 5, "without limits all jobs can start")
}

func lanesNew(e *env) {
	n := e.node("a")
	ids := e.insert(limited("x"), limited("x"), limited("x"))
	jobs := e.claim(n, 2)
	e.putLimits(perKey(1))
	e.want(e.inUse("per key"), int64(2), "jobs that run hold permits of a new limit")
	e.wantClaimed(n, "so that no other job starts")
	for _, j := range jobs {
		e.finishWell(outcome(j, store.Completed))
	}
	e.wantClaimed(n, "until they have ended", ids[2])
	other := e.insert(limited("y", func(j *store.NewJob) { j.Priority = 4 }), limited("y"), newJob())
	e.want(claimedIDs(e.claim(n, 1)), other[:1], "one job of the key y")
	e.putLimits(store.Limit{Name: "k", Kind: "k", Concurrency: 3})
	e.want(e.inUse("k"), int64(2), "a limit for jobs of another limit")
	e.wantClaimed(n, "has one permit left", other[2])
}

func lanesDeleted(e *env) {
	e.putLimits(perKey(1))
	n := e.node("a")
	ids := e.insert(limited("x"), limited("x"), limited("x"))
	jobs := e.wantClaimed(n, "one job", ids[0])
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfLimits, Now: e.now, Names: []string{"per key"}}))
	e.wantClaimed(n, "without the limit all jobs run", ids[1:]...)
	e.putLimits(perKey(1))
	e.want(e.inUse("per key"), int64(3), "a limit with the name is another limit")
	e.finishWell(outcome(jobs[0], store.Completed))
	e.want(e.inUse("per key"), int64(2), "whose permits are given back")
	e.wantClaimed(n, "nothing waits")
}

func lanesNewScope(e *env) {
	e.putLimits(store.Limit{Name: "a", Kind: "k", Concurrency: 1})
	n := e.node("a")
	ids := e.insert(limited("x"), limited("x"), limited("y"))
	jobs := e.wantClaimed(n, "one job of the kind", ids[0])
	e.putLimits(store.Limit{Name: "a", ByKey: true, Concurrency: 1})
	e.wantClaimed(n, "with another scope the limit is another limit", ids[2])
	e.want(e.inUse("a"), int64(2), "whose permits the running jobs hold")
	e.finishWell(outcome(jobs[0], store.Completed))
	e.wantClaimed(n, "and pass on", ids[1])
}

func lanesNewScopeOrder(e *env) {
	e.putLimits(perKey(1))
	n := e.node("a")
	var running, waiting []store.NewJob
	for i := range 45 { // more lanes than a step reads
		key := fmt.Sprint(i)
		running, waiting = append(running, limited(key)), append(waiting, limited(key))
	}
	first := e.wantClaimed(n, "one job of each key runs", e.insert(running...)...)
	ids := e.insert(waiting...)
	e.wantClaimed(n, "the others wait")
	for i := range first {
		e.finishWell(outcome(first[i], store.Completed))
	}
	e.tick(time.Second)
	limit := perKey(1)
	limit.Kind = "k"
	e.putLimits(limit)
	e.insert(waiting...)
	e.wantClaimed(n, "jobs that have waited under the old scope go before new jobs", ids...)
}

func lanesOtherKinds(e *env) {
	e.putLimits(perKey(1))
	n := e.node("a")
	other := e.insertOne(limited("x", func(j *store.NewJob) { j.Kind = "l" }))
	id := e.insertOne(limited("x"))
	e.wantClaimed(n, "a job that the claim may not take does not hold up others of its key", id)
	e.want(e.state(other), store.StateReady, "it stays ready")
}

// lanesRace lets two clients claim and finish jobs of a few keys, with the store's clock. In between they recount permits, which are
// never wrong.
func lanesRace(e *env) {
	e.now = time.Time{}
	e.putLimits(perKey(2), store.Limit{Name: "k", Kind: "k", Concurrency: 5})
	var jobs []store.NewJob
	for i := range 120 {
		jobs = append(jobs, limited(fmt.Sprint(i%4)))
	}
	e.insert(jobs...)
	running := make(chan map[string]int, 1)
	running <- map[string]int{}
	nodes := [2]int64{e.node("a"), e.node("b")}
	left := make(chan int, 1)
	left <- len(jobs)
	count := func(key string, n int) {
		byKey := <-running
		byKey[key] += n
		byKey[""] += n
		if byKey[key] > 2 || byKey[""] > 5 {
			e.t.Errorf("more jobs run than limits allow: %v", byKey)
		}
		running <- byKey
	}
	deadline := time.Now().Add(30 * time.Second)
	e.both(func(i int, client store.Backend) {
		for time.Now().Before(deadline) {
			res, err := client.Claim(e.ctx, store.ClaimRequest{Node: nodes[i], Queue: "q", Kinds: []string{"k"}, Limit: 1 + i*2})
			if err != nil {
				e.t.Error(err)
				return
			}
			var done []store.Outcome
			for _, j := range res.Jobs {
				count(j.Key, 1)
			}
			for _, j := range res.Jobs {
				count(j.Key, -1)
				done = append(done, outcome(j, store.Completed))
			}
			if _, err := client.Finish(e.ctx, store.FinishRequest{Outcomes: done}); err != nil {
				e.t.Error(err)
				return
			}
			if recount, err := client.RecountPermits(e.ctx, store.RecountRequest{Limit: 10}); err != nil || recount.Lanes != nil {
				e.t.Errorf("a recount has found %v, %v", recount.Lanes, err)
				return
			}
			n := <-left - len(done)
			left <- n
			if n == 0 {
				return
			}
		}
	})
	e.want(<-left, 0, "all jobs run in the end")
	e.want([]int64{e.inUse("per key"), e.inUse("k")}, []int64{0, 0}, "no permit is left in use")
}

// lanesNewJobs inserts jobs of a key without a free permit while another client claims. A claim looks for jobs that need permits
// before it takes jobs; a job that is inserted between these two steps has to wait, too. Each round has a queue from which the
// client has not claimed before.
func lanesNewJobs(e *env) {
	e.now = time.Time{}
	e.putLimits(perKey(1))
	n := e.node("a")
	e.wantClaimed(n, "the first job holds the permit", e.insertOne(limited("x")))
	for round := range 5 {
		queue := fmt.Sprint("q", round)
		inserted := make(chan struct{})
		e.both(func(i int, client store.Backend) {
			if i == 0 {
				defer close(inserted)
				for range 50 {
					job := limited("x", func(j *store.NewJob) { j.Queue = queue })
					if _, err := client.Insert(e.ctx, store.InsertRequest{Jobs: []store.NewJob{job}}); err != nil {
						e.t.Error(err)
						return
					}
				}
				return
			}
			for claims := 0; ; claims++ {
				res, err := client.Claim(e.ctx, store.ClaimRequest{Node: n, Queue: queue, Kinds: []string{"k"}, Limit: 10})
				if err != nil || len(res.Jobs) > 0 {
					e.t.Errorf("claim %d of round %d, of jobs whose key has no permit left, took %d jobs: %v", claims, round, len(res.Jobs), err)
					return
				}
				select {
				case <-inserted:
					return
				default:
				}
			}
		})
	}
	e.want(e.inUse("per key"), int64(1), "the first job holds the permit")
}

// lanesBacklog has more due jobs of one key than one claim can let wait, before jobs of another key and without a key.
func lanesBacklog(e *env) {
	e.putLimits(perKey(1))
	n := e.node("a")
	backlog := e.insert(slices.Repeat([]store.NewJob{limited("x")}, 6000)...)
	urgent := func(j *store.NewJob) { j.Priority = 4 }
	later := func(j *store.NewJob) { j.Priority = 6 }
	ids := append(e.insert(limited("y", later), limited("y", later), newJob()), e.insertOne(limited("z", urgent)))
	want := []int64{ids[3], backlog[0], ids[2], ids[0]}
	e.wantClaimed(n, "a claim takes the first job of each key, however many jobs of one key are due", want...)
	part, err := e.b.Claim(e.ctx, store.ClaimRequest{Part: true, Now: e.now, Node: n, Queue: "q", Kinds: []string{"k"}, Limit: 3})
	e.must(err)
	e.want(len(part.Jobs), 0, "the others wait")
}

// lanesManyGivenBack: a job that can have the last of very many permits that were given back has not waited.
func lanesManyGivenBack(e *env) {
	const many = 40
	e.putLimits(perKey(1))
	n := e.node("a")
	var jobs []store.NewJob
	for i := range many {
		jobs = append(jobs, limited(fmt.Sprint("key ", i)))
	}
	e.insert(jobs...)
	for _, job := range e.claim(n, many) {
		e.finishWith(store.Completed, job)
	}
	due := e.now
	next := e.insertOne(limited(fmt.Sprint("key ", many-1)))
	e.tick(time.Second)
	later := e.insertOne(newJob())
	e.tick(time.Second)
	claimed := e.claim(n, 2)
	e.want(claimedIDs(claimed), []int64{next, later}, "the job that was due first goes first")
	e.ok(claimed[0].RunAt.Equal(due), "its time has not changed", claimed[0].RunAt)
}

// parked lets a job run under a strict limit, fail, and be parked before its retry, with its permit, because its group is paused.
func (e *env) parked(node int64, key string) int64 {
	e.t.Helper()
	limit := perKey(1)
	limit.Strict = true
	e.putLimits(limit)
	id := e.insertOne(limited(key, func(j *store.NewJob) { j.Group = "g" }))
	e.wantClaimed(node, "the job of the group runs", id)
	e.pause("g", time.Time{})
	e.finishWell(retryIn(e.claimOf(node, id), time.Second))
	e.tick(2 * time.Second)
	e.wantClaimed(node, "the job is paused before its retry")
	e.want(e.inUse("per key"), int64(1), "and keeps its permit")
	return id
}

func lanesParked(e *env) {
	n := e.node("n")
	for i, changed := range []store.Limit{
		{Name: "kind", Kind: "k", Concurrency: 1},                  // a further limit
		{Name: "per key", ByKey: true, Concurrency: 1},             // not strict any more
		{Name: "per key", Kind: "k", Concurrency: 1, Strict: true}, // another scope
	} {
		key := fmt.Sprint("key ", i)
		id := e.parked(n, key)
		e.putLimits(changed)
		others := e.insert(limited(key), limited(key))
		jobs := e.wantClaimed(n, "under the changed limit, another job runs during the pause", others[0])
		e.resume("g")
		e.wantClaimed(n, "after the pause, the job needs a permit of the changed limit")
		e.finishWell(outcome(jobs[0], store.Completed))
		jobs = e.wantClaimed(n, "which it gets before the others, because it is a retry", id)
		e.want(e.inUse(changed.Name), int64(1), "a job that runs holds a permit")
		e.finishWell(outcome(jobs[0], store.Completed))
		jobs = e.wantClaimed(n, "then the others", others[1])
		e.finishWell(outcome(jobs[0], store.Completed))
		e.want(e.recount(0), store.RecountResult{}, "all permits are counted")
		for _, limit := range e.limits() {
			e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfLimits, Now: e.now, Names: []string{limit.Name}}))
		}
	}
}

func lanesParkedAndClosed(e *env) {
	n := e.node("n")
	id := e.parked(n, "x")
	e.must(e.a.CloseLanes(e.ctx, store.CloseLanesRequest{Now: e.now, Jobs: []store.LimitedJob{{JobSpec: e.job(id).JobSpec, For: time.Minute}}}))
	e.want(e.inUse("per key"), int64(0), "a job of a closed lane that no node has claimed gives its permit back, also if it is parked")
	e.resume("g")
	e.wantClaimed(n, "and does not start before the lane is open")
	e.tick(time.Minute)
	e.wantClaimed(n, "then it starts", id)
}

func lanesParkedAndPaused(e *env) {
	n := e.node("n")
	id := e.parked(n, "x")
	e.pauseOf(store.SubjectKind, "other", time.Time{})
	e.want(e.inUse("per key"), int64(1), "a pause that does not concern the job leaves it its permit")
	e.pauseOf(store.SubjectKey, "x", time.Time{})
	e.want(e.inUse("per key"), int64(0), "a further pause that concerns it takes its permit")
	e.resume("g")
	e.wantClaimed(n, "the further pause goes on")
	e.resumeOf(store.SubjectKey, "x")
	e.wantClaimed(n, "then it gets a permit again", id)
}

// lanesEveryClaim claims one job at a time, in each way in which jobs are claimed, from a queue in which limited jobs lie among many others, also
// where a claim does not look. A job that runs holds its permit, and the limit holds.
func lanesEveryClaim(e *env) {
	const width, many = 2, 40
	alive := e.nodeFor("alive", 10_000*time.Hour)
	exact := []store.ExactJob{exactly("k", string(newJob().Args))}
	for name, claim := range map[string]store.ClaimRequest{
		"kinds":           {Kinds: []string{"k"}},
		"kinds at once":   {Kinds: []string{"k"}, Starts: true},
		"exact":           {Exact: exact},
		"exact at once":   {Exact: exact, Starts: true},
		"aged":            {Kinds: []string{"k"}, DueFor: time.Second},
		"aged exact":      {Exact: exact, DueFor: time.Second},
		"suspects":        {Kinds: []string{"k"}, Suspects: true},
		"suspects, exact": {Exact: exact, Suspects: true},
	} {
		var jobs []store.NewJob
		for i := range many {
			key := ""
			if i%8 == 7 || i > many-4 {
				key = name
			}
			jobs = append(jobs, limited(key))
		}
		e.insert(jobs...)
		for range store.SuspectLosses {
			if claim.Suspects {
				dead := e.node("dead")
				e.want(len(e.claim(dead, many)), many, "all jobs are claimed by a node that dies")
				e.lose(alive)
			}
			e.tick(time.Hour)
		}
		e.putLimits(perKey(width))
		running, ended := map[int64]store.Claimed{}, 0
		for round := 0; ended < many && round < 4*many; round++ {
			req := claim
			req.Now, req.Node, req.Queue, req.Limit = e.now, alive, "q", 1
			res, err := e.a.Claim(e.ctx, req)
			e.must(err)
			var limited int64
			for _, job := range res.Jobs {
				running[job.ID] = job
			}
			for _, job := range running {
				if job.Key != "" {
					limited++
				}
			}
			if inUse := e.inUse("per key"); limited > inUse || inUse > width {
				e.t.Errorf("%s: %d jobs of the key run, %d hold permits, and %d may", name, limited, inUse, width)
				break
			}
			if len(res.Jobs) > 0 {
				continue
			}
			for id, job := range running { // the others wait
				e.finishWell(outcome(job, store.Completed))
				delete(running, id)
				ended++
			}
			e.tick(time.Minute)
		}
		e.want(ended, many, name+": all jobs run")
		e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfLimits, Now: e.now, Names: []string{"per key"}}))
	}
}
