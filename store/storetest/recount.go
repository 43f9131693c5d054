package storetest

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

var recountTests = []scenario{
	{"NothingIsWrong", recountNothing},
	{"JobsThatNoNodeRuns", recountIdle},
	{"PausedJobsThatNoNodeRuns", recountParked},
	{"HeadsOfLanes", recountHeads},
	{"Places", recountPlaces},
	{"EndedLimits", recountEnded},
	{"LanesOfEndedLimits", recountEndedLanes},
}

// recount makes steps of RecountPermits until nothing is left to do, and returns what they have done.
func (e *env) recount(node int64) (all store.RecountResult) {
	e.t.Helper()
	for {
		out, err := e.b.RecountPermits(e.ctx, store.RecountRequest{Now: e.now, Node: node, Limit: 2})
		e.must(err)
		all.Lanes, all.Nodes, all.Jobs = append(all.Lanes, out.Lanes...), all.Nodes+out.Nodes, all.Jobs+out.Jobs
		if !out.More {
			return all
		}
	}
}

// register registers a node for some kinds in queue q.
func (e *env) register(name string, change func(*store.RegisterRequest), kinds ...string) int64 {
	e.t.Helper()
	req := store.RegisterRequest{Now: e.now, Name: name, Lease: 15 * time.Second, Queues: []string{"q"}, Kinds: kinds}
	change(&req)
	res, err := e.a.Register(e.ctx, req)
	e.must(err)
	return res.Node
}

func unchanged(*store.RegisterRequest) {}

// claimKind claims one job of a kind from queue q, and returns its number; 0: none.
func (e *env) claimKind(node int64, kind string) int64 {
	e.t.Helper()
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: node, Queue: "q", Kinds: []string{kind}, Limit: 1})
	e.must(err)
	if len(res.Jobs) == 0 {
		return 0
	}
	return res.Jobs[0].ID
}

func recountNothing(e *env) {
	e.want(e.recount(0), store.RecountResult{}, "in a store without limits nothing is wrong")
	e.putLimits(perKey(1), store.Limit{Name: "k", Kind: "k", Concurrency: 3}, queueLimit("whole", 5))
	n := e.node("a")
	permits := e.exchange(n, 0, 5)
	e.insert(limited("x"), limited("x"), limited("y"), limited("z"), limited("z"), newJob())
	jobs := e.claimWith(n, 2, permits).Jobs
	e.want(e.recount(0), store.RecountResult{}, "jobs that run, that can be claimed and that wait are counted")
	e.finishWell(outcome(jobs[0], store.Completed))
	e.finishWell(retryIn(jobs[1], time.Minute))
	e.want(e.recount(0), store.RecountResult{}, "permits that were given back and are not passed on yet are counted")
	e.want(e.inUse("whole"), int64(5), "a living node keeps its permits")
	e.tick(16 * time.Second)
	other := e.node("b")
	e.rescue(other)
	e.want(e.recount(0), store.RecountResult{}, "so are the permits of a dead node")
}

func recountIdle(e *env) {
	e.putLimits(perKey(1))
	k, l := e.register("k", unchanged, "k"), e.register("l", unchanged, "l")
	inKind := func(kind string) func(*store.NewJob) { return func(j *store.NewJob) { j.Kind = kind } }
	ids := e.insert(limited("a"), limited("x"), limited("x", inKind("l")))
	e.want(e.claimKind(k, "k"), ids[0], "one job is claimed, and the next has a permit")
	e.want(e.recount(0), store.RecountResult{}, "a job that a living node runs keeps its permit")
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: k})
	e.must(err)
	e.want(e.claimKind(l, "l"), int64(0), "the permit is in use")
	e.want(e.recount(l+100), store.RecountResult{}, "only the oldest living node does something")
	e.want(e.recount(l).Jobs > 0, true, "a job that no living node runs gives its permit back")
	e.want(e.inUse("per key"), int64(0), "which is free")
	e.want(e.claimKind(l, "l"), ids[2], "another job gets it")
	e.want(e.recount(l), store.RecountResult{}, "then nothing is left to do")
	again := e.register("k", unchanged, "k")
	e.want(e.claimKind(again, "k"), ids[0], "a node that runs the kind takes the jobs whose permits are free")
	e.want(e.claimKind(again, "k"), int64(0), "and no others")
}

func recountParked(e *env) {
	limit := perKey(1)
	limit.Strict = true
	e.putLimits(limit)
	k, l := e.register("k", unchanged, "k"), e.register("l", unchanged, "l")
	ids := e.insert(limited("x", func(j *store.NewJob) { j.Group = "g" }), limited("x", func(j *store.NewJob) { j.Kind = "l" }))
	e.want(e.claimKind(k, "k"), ids[0], "the first job of the key runs")
	e.pause("g", time.Time{})
	e.finishWell(retryIn(e.claimOf(k, ids[0]), time.Second))
	e.tick(2 * time.Second)
	e.want(e.claimKind(k, "k"), int64(0), "the job is paused before its retry")
	e.want(e.inUse("per key"), int64(1), "and keeps its permit, because the limit is strict")
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: k})
	e.must(err)
	e.want(e.recount(l).Jobs, 1, "a paused job that no living node runs gives its permit back")
	e.want(e.claimKind(l, "l"), ids[1], "another job gets it")
	again := e.register("k", unchanged, "k")
	e.want(e.claimKind(again, "k"), int64(0), "the job is still paused")
}

func recountHeads(e *env) {
	e.putLimits(perKey(1))
	both, l := e.register("both", unchanged, "k", "l"), e.register("l", unchanged, "l")
	first := e.insertOne(limited("x", func(j *store.NewJob) { j.Kind = "l" }))
	e.want(e.claimKind(l, "l"), first, "the first job of the key runs")
	ids := e.insert(limited("x"), limited("x"), limited("x"), limited("x"), limited("x", func(j *store.NewJob) { j.Kind = "l" }))
	for _, kind := range []string{"k", "l"} {
		e.want(e.claimKind(both, kind), int64(0), "the others wait")
	}
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: both})
	e.must(err)
	e.want(e.recount(l).Jobs, 4, "jobs that no living node runs leave the head of a lane")
	_, err = e.a.Finish(e.ctx, store.FinishRequest{Now: e.now, Outcomes: []store.Outcome{outcome(e.claimOf(l, first), store.Completed)}})
	e.must(err)
	e.want(e.claimKind(l, "l"), ids[4], "so that they do not hold up others")
}

func recountEnded(e *env) {
	e.putLimits(perKey(1))
	k, l := e.register("k", unchanged, "k"), e.register("l", unchanged, "l")
	first := e.insert(limited("a"), limited("x"))[0]
	e.want(e.claimKind(k, "k"), first, "one job is claimed, and the next has a permit")
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfLimits, Now: e.now, Names: []string{"per key"}}))
	e.want(e.claimKind(l, "l"), int64(0), "a claim finds that the limit has ended")
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: k})
	e.must(err)
	for _, limits := range [][]store.Limit{nil, {{Name: "whole", Queue: "r", Concurrency: 1}}} {
		e.putLimits(limits...)
		e.want(e.recount(l), store.RecountResult{}, "without limits of kinds and keys, nothing is taken from jobs")
	}
	e.putLimits(store.Limit{Name: "other kind", Kind: "m", Concurrency: 1})
	e.want(e.recount(l), store.RecountResult{Jobs: 1}, "otherwise also the permit of the limit that has ended")
}

// recountEndedLanes: a limit that has ended concerns the next claim of each of its queues, whether permits were counted before or not.
func recountEndedLanes(e *env) {
	e.putLimits(perKey(1), store.Limit{Name: "one", Queue: "q", Kind: "k", Concurrency: 1})
	n := e.node("a")
	ids := e.insert(limited("x"), newJob(), newJob())
	for _, id := range ids[:2] {
		job := e.wantClaimed(n, "one job runs at a time", id)[0]
		if id == ids[1] {
			e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfLimits, Now: e.now, Names: []string{"per key"}}))
			e.recount(n)
		}
		e.finishWell(outcome(job, store.Completed))
	}
	e.want(e.inUse("one"), int64(0), "no job holds the permit")
	e.want(len(e.claimFrom("r", n, 1)), 0, "another queue has no job")
	e.want(e.inUse("one"), int64(1), "the claim, which the limit that has ended concerns, has passed the permit on")
}

// claimOf returns a claim that a node holds.
func (e *env) claimOf(node, job int64) store.Claimed {
	e.t.Helper()
	refs, err := e.a.Claims(e.ctx, store.ClaimsRequest{Now: e.now, Node: node})
	e.must(err)
	for _, ref := range refs {
		if ref.ID == job {
			return store.Claimed{ID: ref.ID, Token: ref.Token}
		}
	}
	e.t.Fatalf("node %d does not hold job %d", node, job)
	return store.Claimed{}
}

func recountPlaces(e *env) {
	e.putLimits(perKey(1))
	here := e.register("here", func(r *store.RegisterRequest) { r.Host, r.Labels = "web1", []string{"zone=a"} }, "k")
	var jobs []store.NewJob
	for _, queue := range []string{"q", "q@web1", "q@zone=a", "q@web2", "r"} {
		jobs = append(jobs, limited(queue, func(j *store.NewJob) { j.Queue = queue }))
	}
	ids := e.insert(jobs...)
	there := e.register("there", unchanged, "k")
	for i, job := range jobs { // the first claim of each queue takes a plain job, so that the job with the key keeps its permit unclaimed
		e.insertOne(with(func(j *store.NewJob) { j.Queue, j.Priority = job.Queue, 1 }))
		res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: there, Queue: job.Queue, Kinds: []string{"k"}, Limit: 1})
		e.must(err)
		e.ok(len(res.Jobs) == 1 && res.Jobs[0].ID != ids[i], "a claim takes the urgent job")
	}
	e.want(e.inUse("per key"), int64(5), "each job with a key has a permit")
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: there})
	e.must(err)
	e.want(e.recount(here).Jobs, 2, "the queues of another host, and a queue that no node has, lose their permits")
	e.want(e.inUse("per key"), int64(3), "the queues of the node and of its places keep them")
}

// WrongCounts is a test for drivers whose lanes count permits. spoil changes the store behind the driver: the lane with
// the key "low" counts no permit in use and two starts, and the lane with the key "high" three permits and no start,
// and a node with the number -1 holds a permit of the limit "whole". A recount has to repair all of it, once.
func WrongCounts(t *testing.T, b store.Backend, spoil func()) {
	e := newEnv(t, Store{Clients: [2]store.Backend{b, b}})
	limit := perKey(1)
	limit.Rate, limit.Per, limit.Burst = 10, time.Second, 1
	e.putLimits(limit, store.Limit{Name: "whole", Queue: "r", Concurrency: 1})
	n := e.node("n")
	ids := e.insert(limited("low"), limited("low"), limited("high"), limited("high"))
	jobs := e.wantStarted(n, "one job of each key runs", ids[0], ids[2])
	e.want(claimedIDs(e.startIn("q", n, 9).Jobs), []int64(nil), "the others wait")
	spoil()
	want := store.RecountResult{Nodes: 1, Lanes: []store.LaneRepair{
		{Limit: "per key", Key: "low", Counted: store.LaneCount{Starts: 2}, Held: store.LaneCount{Permits: 1}},
		{Limit: "per key", Key: "high", Counted: store.LaneCount{Permits: 3}, Held: store.LaneCount{Permits: 1}},
	}}
	got, err := e.a.RecountPermits(e.ctx, store.RecountRequest{Now: e.now, Node: n, Limit: 10})
	e.must(err)
	slices.SortFunc(got.Lanes, func(a, b store.LaneRepair) int { return cmp.Compare(a.Counted.Permits, b.Counted.Permits) })
	e.want(got, want, "a recount must repair what is wrong")
	e.want(e.recount(n), store.RecountResult{}, "a recount after a repair has nothing to do")
	e.tick(time.Second)
	e.wantStarted(n, "no job of a key starts while another runs", []int64(nil)...)
	for _, job := range jobs {
		e.finishWell(outcome(job, store.Completed))
	}
	e.wantStarted(n, "the next job of each key runs when the permit is free", ids[1], ids[3])
}

// IdleLanes is a test for drivers that keep lanes as rows. count returns how many there are. A lane stays when its last job has ended,
// and a recount deletes it.
func IdleLanes(t *testing.T, b store.Backend, count func() int) {
	e := newEnv(t, Store{Clients: [2]store.Backend{b, b}})
	e.putLimits(perKey(1))
	n := e.node("n")
	ids := e.insert(limited("x"), limited("y"))
	jobs := e.wantStarted(n, "a job of each key runs", ids...)
	e.finishWell(outcome(jobs[0], store.Completed))
	e.wantStarted(n, "no other job is there", []int64(nil)...)
	e.want(count(), 2, "the lane of a key without jobs stays")
	e.recount(n)
	e.want(count(), 1, "a recount deletes it, and no lane of a job that runs")
	next := e.insertOne(limited("x"))
	e.wantStarted(n, "the next job of the key gets another lane", next)
	e.want(count(), 2, "which is a row")
}
