package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

var laneRateTests = []scenario{
	{"ByKey", laneRatesByKey},
	{"ByKind", laneRatesByKind},
	{"OnlyAtOnce", laneRatesOnlyAtOnce},
	{"StartsAreUsedByClaims", laneRatesUsed},
	{"NoMoreAfterARest", laneRatesRest},
	{"WithConcurrency", laneRatesConcurrency},
	{"UnusedStartsComeBack", laneRatesComeBack},
	{"RetriesNeedStarts", laneRatesRetry},
	{"Changed", laneRatesChanged},
	{"WhyJobsWait", laneRatesWaits},
	{"QueueRateChanged", queueRateChanged},
	{"Closed", lanesClosed},
	{"ClosedInSteps", lanesClosedInSteps},
	{"ClosedQueue", queueClosed},
	{"Race", laneRatesRace},
}

// ratePerKey is a limit of 10 starts of each key per second, after a rest burst at once.
func ratePerKey(burst int) store.Limit {
	return store.Limit{Name: "rate", ByKey: true, Rate: 10, Per: time.Second, Burst: burst}
}

// startIn claims jobs of a queue that start at once.
func (e *env) startIn(queue string, node int64, limit int) store.ClaimResult {
	e.t.Helper()
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: node, Queue: queue, Kinds: []string{"k"}, Limit: limit, Starts: true})
	e.must(err)
	return res
}

// wantStarted fails the test unless jobs of queue q start, in this order, and returns the claims.
func (e *env) wantStarted(node int64, rule string, ids ...int64) []store.Claimed {
	e.t.Helper()
	res := e.startIn("q", node, 100)
	e.want(claimedIDs(res.Jobs), ids, rule)
	return res.Jobs
}

// wantNext fails the test unless a claim takes nothing and comes back after a time.
func (e *env) wantNext(node int64, after time.Duration, rule string) {
	e.t.Helper()
	res := e.startIn("q", node, 100)
	e.want(claimedIDs(res.Jobs), []int64(nil), rule)
	e.want(res.NextDue.Sub(e.now).String(), after.String(), "the claim must know when the next job may start")
}

// slackOf returns how late a job under the rate of a limit may begin.
func slackOf(limit store.Limit) time.Duration {
	rate, _ := limit.Pace()
	return rate.Slack()
}

func laneRatesByKey(e *env) {
	e.putLimits(ratePerKey(1))
	slack := slackOf(ratePerKey(1))
	n := e.node("a")
	ids := e.insert(limited("x"), limited("x"), limited("x"), limited("y"), newJob(), newJob())
	jobs := e.wantStarted(n, "one job of each key starts, and jobs without a key are not limited", ids[0], ids[3], ids[4], ids[5])
	e.want([]time.Duration{jobs[0].Slack, jobs[1].Slack, jobs[2].Slack}, []time.Duration{slack, slack, 0},
		"a claimed job must know whether a rate let it start, and how late it may begin")
	e.wantNext(n, 100*time.Millisecond, "the end of jobs is of no account")
	for _, j := range jobs {
		e.finishWell(outcome(j, store.Completed))
	}
	e.tick(99 * time.Millisecond)
	e.wantNext(n, time.Millisecond, "no job may start before its time")
	e.tick(time.Millisecond)
	e.wantStarted(n, "a job must start at its time", ids[1])
	e.tick(100 * time.Millisecond)
	e.wantStarted(n, "the jobs of a key start in their order", ids[2])
}

func laneRatesByKind(e *env) {
	rate := store.Limit{Name: "rate", Kind: "k", Rate: 10, Per: time.Second, Burst: 2}
	e.putLimits(rate, store.Limit{Name: "other", Queue: "r", Kind: "k", Rate: 1, Per: time.Second, Burst: 1})
	n := e.node("a")
	inR := func(j *store.NewJob) { j.Queue = "r" }
	ids := e.insert(newJob(), newJob(), newJob(), with(inR), with(inR))
	startedInR := func(rule string, ids ...int64) {
		e.t.Helper()
		e.want(claimedIDs(e.startIn("r", n, 10).Jobs), ids, rule)
	}
	e.wantStarted(n, "a job that starts late must leave room in the burst", ids[0])
	e.tick(slackOf(rate))
	e.wantStarted(n, "as many jobs of the kind start as the rate allows", ids[1])
	startedInR("in all queues together")
	e.tick(100 * time.Millisecond)
	startedInR("jobs that wait for a start are served in their order, whatever their queue")
	e.wantStarted(n, "the first of them", ids[2])
	e.tick(100 * time.Millisecond)
	startedInR("then a job of the other queue", ids[3])
	e.tick(100 * time.Millisecond)
	startedInR("each limit of a job must allow its start")
	more := e.insertOne(newJob())
	e.wantStarted(n, "a job that may not start keeps no start from others", more)
	e.tick(900 * time.Millisecond)
	startedInR("a job starts when all its limits allow it", ids[4])
}

func laneRatesOnlyAtOnce(e *env) {
	e.putLimits(store.Limit{Name: "rate", Queue: "q", ByKey: true, Rate: 10, Per: time.Second, Burst: 1})
	n := e.node("a")
	ids := e.insert(limited("x"), newJob())
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: "q", Kinds: []string{"k"}, Limit: 10})
	e.must(err)
	e.want(claimedIDs(res.Jobs), []int64(nil), "a claim that may claim in advance must take no job of a queue with such a rate")
	e.ok(res.Rated, "and must know why")
	part, err := e.a.Claim(e.ctx, store.ClaimRequest{Part: true, Queue: "q", Node: n, Kinds: []string{"k"}, Limit: 10})
	e.must(err)
	e.ok(len(part.Jobs) == 0 && part.Rated, "nor a claim in part")
	res = e.startIn("q", n, 10)
	e.want(claimedIDs(res.Jobs), ids, "a claim whose jobs start at once takes them")
	e.ok(res.Rated, "the claim must know of the rate")
	other := e.insertOne(with(func(j *store.NewJob) { j.Queue = "r" }))
	res, err = e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: "r", Kinds: []string{"k"}, Limit: 10})
	e.must(err)
	e.want(claimedIDs(res.Jobs), []int64{other}, "other queues are not concerned")
	e.ok(!res.Rated, "other queues have no rate")
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfLimits, Now: e.now, Names: []string{"rate"}}))
	more := e.insertOne(limited("x"))
	e.wantClaimed(n, "nor is a queue whose rate was deleted", more)
}

// laneRatesUsed lets jobs have starts that no claim uses for long.
func laneRatesUsed(e *env) {
	e.putLimits(ratePerKey(5))
	n := e.node("a")
	jobs := []store.NewJob{newJob()}
	for range 30 {
		jobs = append(jobs, limited("x"))
	}
	ids := e.insert(jobs...)
	e.want(claimedIDs(e.startIn("q", n, 1).Jobs), ids[:1], "one job is claimed, and others may start")
	e.want(e.inUse("rate"), int64(4), "as many jobs have starts as may start at once")
	e.tick(time.Hour)
	e.want(claimedIDs(e.startIn("q", n, 2).Jobs), ids[1:3], "a start that was not used for long")
	e.want(claimedIDs(e.startIn("q", n, 9).Jobs), ids[3:5], "must not allow more than the burst, however late it is used")
	e.wantNext(n, slackOf(ratePerKey(5)), "and starts count from when they are used")
	e.tick(slackOf(ratePerKey(5)))
	e.wantStarted(n, "the next start", ids[5])
	e.tick(100 * time.Millisecond)
	e.wantStarted(n, "and the next", ids[6])
}

func laneRatesRest(e *env) {
	e.putLimits(ratePerKey(3))
	n := e.node("a")
	var jobs []store.NewJob
	for range 12 {
		jobs = append(jobs, limited("x"))
	}
	ids := e.insert(jobs...)
	e.wantStarted(n, "the burst", ids[0], ids[1])
	e.tick(time.Hour)
	e.wantStarted(n, "an outage must not be made up for", ids[2], ids[3])
	e.tick(slackOf(ratePerKey(3)))
	e.wantStarted(n, "one more", ids[4])
	e.tick(200 * time.Millisecond)
	e.wantStarted(n, "as many as became due since", ids[5], ids[6])
}

func laneRatesConcurrency(e *env) {
	limit := ratePerKey(1)
	limit.Concurrency = 2
	e.putLimits(limit)
	n := e.node("a")
	ids := e.insert(limited("x"), limited("x"), limited("x"), limited("x"))
	first := e.wantStarted(n, "one job starts", ids[0])
	e.tick(100 * time.Millisecond)
	e.wantStarted(n, "another job starts at its time", ids[1])
	e.tick(time.Second)
	e.wantStarted(n, "no more jobs run at a time than the limit allows")
	e.finishWell(outcome(first[0], store.Completed))
	e.wantStarted(n, "the end of a job lets the next job start", ids[2])
	e.want(e.inUse("rate"), int64(2), "jobs that run hold permits")
}

func laneRatesComeBack(e *env) {
	e.putLimits(ratePerKey(2))
	n := e.node("a")
	for name, leave := range map[string]func(id int64){
		"cancelled": func(id int64) { e.cancel(id) },
		"deleted":   func(id int64) { e.changeOne(store.DeleteJobs, id) },
		"moved": func(id int64) {
			e.change(store.ChangeJobsRequest{Action: store.MoveJobs, Queue: "elsewhere", IDs: []int64{id}})
		},
		"paused": func(id int64) {
			e.must(e.putPause(e.a, store.PutPause{Subject: store.SubjectGroup, Name: "g"}))
		},
	} {
		ids := e.insert(newJob(), limited(name, func(j *store.NewJob) { j.Group = "g" }), limited(name))
		e.want(claimedIDs(e.startIn("q", n, 1).Jobs), ids[:1], name+": one job is claimed, and another has a start")
		leave(ids[1])
		e.wantStarted(n, name+": a job that has left gives its start back unused", ids[2])
		e.tick(time.Hour)
		if name == "paused" {
			e.must(e.a.Delete(e.ctx, store.DeleteRequest{Now: e.now, Of: store.OfPauses, Subject: store.SubjectGroup, Names: []string{"g"}}))
			e.wantStarted(n, "after the pause the job starts", ids[1])
		}
		e.tick(time.Hour)
	}
}

func laneRatesRetry(e *env) {
	e.putLimits(store.Limit{Name: "strict", ByKey: true, Concurrency: 1, Strict: true}, ratePerKey(1))
	n := e.node("a")
	id := e.insertOne(limited("x"))
	jobs := e.wantStarted(n, "the first attempt", id)
	e.finishWell(retryIn(jobs[0], 50*time.Millisecond))
	e.want(e.inUse("strict"), int64(0), "under a rate, a job keeps no permit until its next attempt")
	e.tick(50 * time.Millisecond)
	e.wantNext(n, 50*time.Millisecond, "each attempt needs a start")
	e.tick(50 * time.Millisecond)
	jobs = e.wantStarted(n, "which it gets", id)
	e.finishWell(outcome(jobs[0], store.Release))
	e.wantNext(n, 100*time.Millisecond, "a job that did not begin has used its start")
	e.tick(100 * time.Millisecond)
	e.wantStarted(n, "and needs another", id)
}

func laneRatesChanged(e *env) {
	slow := ratePerKey(5)
	slow.Per = time.Hour
	e.putLimits(slow)
	n := e.node("a")
	var jobs []store.NewJob
	for range 12 {
		jobs = append(jobs, limited("x"))
	}
	ids := e.insert(jobs...)
	e.want(claimedIDs(e.startIn("q", n, 2).Jobs), ids[:2], "two jobs start, and more have starts")
	e.putLimits(ratePerKey(1))
	e.wantNext(n, 100*time.Millisecond, "a changed limit is in force at once, and its interval counts from now")
	e.tick(100 * time.Millisecond)
	e.wantStarted(n, "jobs that had starts go first", ids[2])
	fast := ratePerKey(20)
	fast.Per = 100 * time.Millisecond
	e.putLimits(fast)
	e.tick(200 * time.Millisecond)
	e.wantStarted(n, "a faster rate lets waiting jobs start", ids[3:]...)
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfLimits, Now: e.now, Names: []string{"rate"}}))
	more := e.insertOne(limited("x"))
	e.wantStarted(n, "without the limit all jobs start", more)
}

func laneRatesWaits(e *env) {
	limit := e.putLimits(ratePerKey(1))[0]
	n := e.node("a")
	ids := e.insert(limited("x"), limited("x"), limited("x"))
	e.wantStarted(n, "one job starts", ids[0])
	e.tick(30 * time.Millisecond)
	next := e.now.Add(70 * time.Millisecond)
	waits, err := store.List[store.LimitWait](e.ctx, e.b, store.ListRequest{Now: e.now, IDs: ids})
	e.must(err)
	e.want(waits, []store.LimitWait{
		{Job: ids[1], Limit: limit, Key: "x", InUse: 1, Until: next},
		{Job: ids[2], Limit: limit, Key: "x", InUse: 1, Before: 1, Until: next},
	}, "a job that waits for a start knows when the next job may start")
	infos, err := store.List[store.LimitInfo](e.ctx, e.b, store.ListRequest{Now: e.now, Lanes: 5})
	e.must(err)
	e.want(infos[0].Lanes, []store.LaneInfo{{Key: "x", InUse: 1, Waiting: 2, Until: next}}, "and so does its lane")
}

// queueRateChanged changes the rate of a whole queue.
func queueRateChanged(e *env) {
	slow := rated("l")
	slow.Per = 24 * time.Hour
	e.putLimits(slow)
	n := e.node("n")
	ids := e.insertN(20)
	claim := func() store.ClaimResult {
		e.t.Helper()
		permits := e.exchange(n, 0, 9)
		res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: "q", Kinds: []string{"k"}, Limit: 9, Permits: permits})
		e.must(err)
		return res
	}
	e.want(len(claim().Jobs), 4, "the burst")
	waits, err := store.List[store.LimitWait](e.ctx, e.b, store.ListRequest{Now: e.now, IDs: ids[19:]})
	e.must(err)
	e.ok(len(waits) == 1 && waits[0].Until.Equal(e.now.Add(slackOf(slow))), "a job of the queue must know when the next job may start:", waits)
	fast := rated("l")
	e.putLimits(fast)
	e.want(len(claim().Jobs), 0, "a faster rate holds from when it was put")
	e.tick(100*time.Millisecond + slackOf(fast))
	e.want(len(claim().Jobs), 1, "and waits no longer than its own interval")
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfLimits, Now: e.now, Names: []string{"l"}}))
	e.putLimits(fast)
	e.want(len(claim().Jobs), 4, "another limit has its own rate")
}

// laneRatesRace lets two clients claim jobs of a few keys at the same instants.
func laneRatesRace(e *env) {
	e.putLimits(ratePerKey(1))
	nodes := [2]int64{e.node("a"), e.node("b")}
	var jobs []store.NewJob
	for i := range 80 {
		jobs = append(jobs, limited(fmt.Sprint("key", i%4)))
	}
	e.insert(jobs...)
	for round := range 10 {
		var got [2][]string
		e.both(func(i int, client store.Backend) {
			for range 2 {
				res, err := client.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: nodes[i], Queue: "q", Kinds: []string{"k"}, Limit: 9, Starts: true})
				if err != nil {
					e.t.Error(fmt.Sprint(round, err))
				}
				for _, j := range res.Jobs {
					got[i] = append(got[i], j.Key)
				}
			}
		})
		keys := slices.Sorted(slices.Values(slices.Concat(got[0], got[1])))
		e.want(len(slices.Compact(slices.Clone(keys))), len(keys), "no two jobs of a key may start at the same instant")
		e.ok(len(keys) >= 2, "concurrent claims must not keep each other from starting jobs:", round, keys)
		e.tick(100 * time.Millisecond)
	}
}

// lanesClosedInSteps lets more jobs hold permits than one call returns.
func lanesClosedInSteps(e *env) {
	e.putLimits(perKey(9))
	n := e.node("a")
	ids := e.insert(limited("x"), limited("x"), limited("x"), limited("x"), limited("y"))
	jobs := e.startIn("q", n, 1).Jobs
	req := store.CloseLanesRequest{Now: e.now, AtOnce: 1, Jobs: []store.LimitedJob{{JobSpec: jobs[0].JobSpec, For: time.Minute}}}
	e.must(e.a.CloseLanes(e.ctx, req))
	e.wantStarted(n, "no job of the key starts, also none whose permit the call has not returned", ids[4])
	e.want(e.inUse("per key"), int64(2), "only jobs that run hold permits")
	e.tick(time.Minute)
	e.wantStarted(n, "the jobs start at their time", ids[1:4]...)
}

// close lets nothing start for a while under the limits of jobs.
func (e *env) close(after time.Duration, jobs ...store.Claimed) {
	e.t.Helper()
	req := store.CloseLanesRequest{Now: e.now}
	for _, j := range jobs {
		req.Jobs = append(req.Jobs, store.LimitedJob{JobSpec: j.JobSpec, For: after})
	}
	e.must(e.a.CloseLanes(e.ctx, req))
}

func lanesClosed(e *env) {
	perKey := perKey(2)
	perKey.Queue = "q"
	e.putLimits(ratePerKey(100), perKey)
	n := e.node("a")
	ids := e.insert(limited("x"), limited("x"), limited("x"), limited("y"), limited("y"))
	jobs := e.startIn("q", n, 1).Jobs
	e.want(claimedIDs(jobs), ids[:1], "one job starts, and others may start")
	e.close(30*time.Second, jobs[0])
	e.close(10*time.Second, jobs[0])
	e.wantStarted(n, "no job of the key starts, also no job that might have started; other keys go on", ids[3:]...)
	infos, err := store.List[store.LimitInfo](e.ctx, e.b, store.ListRequest{Now: e.now, Names: []string{"per key"}, Lanes: 5})
	e.must(err)
	lane := infos[0].Lanes[0]
	e.want([]any{lane.Key, lane.Until}, []any{"x", e.now.Add(30 * time.Second)}, "the lane lists until when nothing starts")
	snooze := outcome(jobs[0], store.Snooze)
	snooze.Delay = 30 * time.Second
	e.finishWell(snooze)
	urgent := e.insertOne(limited("x", func(j *store.NewJob) { j.Priority = 1 }))
	e.wantNext(n, 30*time.Second, "a new job of the key waits, too")
	waits, err := store.List[store.LimitWait](e.ctx, e.b, store.ListRequest{Now: e.now, IDs: []int64{urgent}})
	e.must(err)
	e.ok(len(waits) == 1 && waits[0].Until.Equal(e.now.Add(30*time.Second)), "a job that waits knows until when:", waits)
	e.tick(30*time.Second - time.Millisecond)
	e.wantNext(n, time.Millisecond, "the later of two instants counts")
	e.tick(time.Millisecond)
	first := e.wantStarted(n, "then as many start as may start, by priority, and jobs that might have started go first", urgent, ids[1])
	for _, j := range first {
		e.finishWell(outcome(j, store.Completed))
	}
	e.tick(time.Second)
	e.wantStarted(n, "no permit is lost", ids[0], ids[2])
	e.close(time.Minute, store.Claimed{JobSpec: store.JobSpec{Queue: "q", Kind: "k"}})
	free := e.insertOne(newJob())
	e.wantStarted(n, "a job that no limit concerns closes nothing", free)
}

func queueClosed(e *env) {
	n := e.node("n")
	e.insertN(9)
	e.insert(with(func(j *store.NewJob) { j.Queue = "q@host" }), with(func(j *store.NewJob) { j.Queue = "r" }))
	e.putLimits(queueLimit("c", 5))
	permits := e.exchange(n, 0, 5)
	claim := func(queue, within string) store.ClaimResult {
		e.t.Helper()
		req := store.ClaimRequest{Now: e.now, Node: n, Queue: queue, Within: within, Kinds: []string{"k"}, Limit: 1, Permits: permits}
		if queue == "r" {
			req.Permits = store.QueuePermits{}
		}
		res, err := e.a.Claim(e.ctx, req)
		e.must(err)
		return res
	}
	jobs := claim("q", "").Jobs
	e.want(len(jobs), 1, "a job of the queue")
	e.close(time.Minute, jobs[0])
	res := claim("q", "")
	e.want([]any{len(res.Jobs), res.NextStart, res.LimitRevision}, []any{0, e.now.Add(time.Minute), permits.Revision},
		"nothing of the queue starts, and a claim knows until when")
	part, err := e.a.Claim(e.ctx, store.ClaimRequest{Part: true, Now: e.now, Node: n, Queue: "q", Kinds: []string{"k"}, Limit: 9, Permits: permits})
	e.must(err)
	e.want(len(part.Jobs), 0, "nor by a claim in part")
	e.want([]int{len(claim("q@host", "q").Jobs), len(claim("r", "").Jobs)}, []int{0, 1}, "nor anything of its places; other queues go on")
	e.tick(time.Minute)
	e.want([]int{len(claim("q", "").Jobs), len(claim("q@host", "q").Jobs)}, []int{1, 1}, "then it goes on")
	e.close(time.Hour, jobs[0])
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfLimits, Now: e.now, Names: []string{"c"}}))
	permits = store.QueuePermits{}
	e.want(len(claim("q", "").Jobs), 1, "without the limit nothing waits")
}
