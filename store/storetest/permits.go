package storetest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hourbell/hourbell/store"
)

var permitTests = []scenario{
	{"WithoutLimit", permitsWithoutLimit},
	{"InForceAtOnce", permitsInForceAtOnce},
	{"OfOtherLimits", permitsOfOtherLimits},
	{"Shared", permitsShared},
	{"OfSeveralLimits", permitsOfSeveralLimits},
	{"OfRunningJobs", permitsOfRunningJobs},
	{"Lowered", permitsLowered},
	{"OfDeadNodes", permitsOfDeadNodes},
	{"NeverTooMany", permitsNeverTooMany},
	{"Rate", rateOfQueue},
	{"RateOfPlaces", rateOfPlaces},
	{"RateAndKeys", rateAndKeys},
	{"RateAtOnce", rateAtOnce},
}

// exchange exchanges the permits of queue q.
func (e *env) exchange(node int64, inUse, want int) store.QueuePermits {
	e.t.Helper()
	res, err := e.a.ExchangePermits(e.ctx, store.ExchangePermitsRequest{Now: e.now, Node: node, Queue: "q", InUse: inUse, Want: want})
	e.must(err)
	return res
}

// claimWith claims jobs of kind k from queue q with permits.
func (e *env) claimWith(node int64, limit int, permits store.QueuePermits) store.ClaimResult {
	e.t.Helper()
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: limit, Permits: permits})
	e.must(err)
	return res
}

// queueLimit is a limit of queue q.
func queueLimit(name string, concurrency int) store.Limit {
	return store.Limit{Name: name, Queue: "q", Concurrency: concurrency}
}

func permitsWithoutLimit(e *env) {
	n := e.node("n")
	e.insertN(2)
	e.want(e.exchange(n, 0, 5), store.QueuePermits{}, "a queue without limits needs no permits")
	res := e.claimWith(n, 1, store.QueuePermits{})
	e.want([]any{len(res.Jobs), res.LimitRevision, res.NextStart}, []any{1, int64(0), time.Time{}}, "a queue without limits is claimed as ever")
	_, err := e.a.ExchangePermits(e.ctx, store.ExchangePermitsRequest{Now: e.now, Node: n + 100, Queue: "q", Want: 1})
	e.is(err, store.ErrNodeGone, "a node that is not registered gets no permits")
}

func permitsInForceAtOnce(e *env) {
	n := e.node("n")
	e.insertN(9)
	revision := e.putLimits(queueLimit("l", 5))[0].Revision
	res := e.claimWith(n, 1, store.QueuePermits{})
	e.want([]any{len(res.Jobs), res.LimitRevision}, []any{0, revision}, "a claim by a node that does not know the limit must take no job")
	permits := e.exchange(n, 0, 3)
	e.want(permits, store.QueuePermits{Revision: revision, Bounded: true, Permits: 3, Share: 3}, "a node must get the permits that it wants")
	res = e.claimWith(n, 3, permits)
	e.want([]any{len(res.Jobs), res.LimitRevision}, []any{3, revision}, "a claim with permits must take jobs")
	part, err := e.a.Claim(e.ctx, store.ClaimRequest{Part: true, Node: n, Queue: "q", Kinds: []string{"k"}, Limit: 1})
	e.must(err)
	e.want([]any{len(part.Jobs), part.LimitRevision}, []any{0, revision}, "a claim in part without permits must take no job")

	e.tick(time.Second)
	changed := e.putLimits(queueLimit("l", 4))[0].Revision
	e.want(len(e.claimWith(n, 1, permits).Jobs), 0, "a claim by a node that does not know the change must take no job")
	permits = e.exchange(n, 3, 4)
	e.want(permits.Revision, changed, "an exchange must make the change known")
	e.want(len(e.claimWith(n, 1, permits).Jobs), 1, "a claim with the permits of the change must take jobs")

	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfLimits, Now: e.now, Names: []string{"l"}}))
	e.want(e.exchange(n, 4, 9), store.QueuePermits{}, "a deleted limit must need no permits")
	e.want(len(e.claimWith(n, 3, store.QueuePermits{}).Jobs), 3, "after the deletion claims must take jobs without permits")
	e.putLimits(queueLimit("l", 2))
	e.want(e.exchange(n, 0, 9).Permits, 2, "a limit of the same name must begin without the permits of the deleted limit, when nothing is in use any more")
}

func permitsOfOtherLimits(e *env) {
	n := e.node("n")
	e.insertN(1)
	e.putLimits(queueLimit("other queue", 1), store.Limit{Name: "kind", Kind: "other", Concurrency: 1})
	limits := e.limits("other queue")
	limits[0].Queue = "r"
	e.putLimits(limits[0])
	e.want(e.exchange(n, 0, 5), store.QueuePermits{}, "limits of other queues, or of kinds, need no permits")
	e.want(len(e.claimWith(n, 1, store.QueuePermits{}).Jobs), 1, "limits of other queues, or of other kinds, must not hold up claims")
}

func permitsShared(e *env) {
	a, b, c := e.node("a"), e.node("b"), e.node("c")
	e.putLimits(queueLimit("l", 7))
	got := func(p store.QueuePermits) []any { return []any{p.Permits, p.Share, p.Scarce} }
	e.want(got(e.exchange(a, 0, 10)), []any{7, 7, true}, "a node alone must get all permits")
	e.want(got(e.exchange(b, 0, 10)), []any{0, 0, true}, "a node must get no permit that another node holds")
	e.want(got(e.exchange(a, 7, 10)), []any{7, 4, true}, "a node must keep permits for its jobs, and know that others want some")
	e.want(got(e.exchange(b, 0, 10)), []any{0, 0, true}, "a permit in use must not be given away")
	e.want(got(e.exchange(a, 5, 10)), []any{5, 4, true}, "a node must return what it does not use and others want")
	e.want(got(e.exchange(b, 0, 1)), []any{1, 1, true}, "a returned permit must be given to another node")
	e.want(got(e.exchange(b, 1, 5)), []any{2, 2, true}, "a node must get what is free")
	e.want(got(e.exchange(a, 2, 10)), []any{4, 4, true}, "a node must keep its share")
	e.want(got(e.exchange(c, 0, 10)), []any{1, 1, true}, "a third node must get what is left")
	e.want(got(e.exchange(a, 2, 10)), []any{3, 3, true}, "shares must become smaller with each node")
	e.want(got(e.exchange(b, 0, 0)), []any{0, 0, true}, "a node must be able to return all")
	e.want(got(e.exchange(c, 0, 0)), []any{0, 0, true}, "a node must be able to return all")
	e.want(got(e.exchange(a, 2, 6)), []any{6, 6, false}, "a node must get all permits that it wants when no other node wants permits")
}

func permitsOfSeveralLimits(e *env) {
	a, b := e.node("a"), e.node("b")
	e.putLimits(queueLimit("wide", 9), queueLimit("narrow", 3), store.Limit{Name: "rate", Queue: "q", Rate: 1, Per: time.Second, Burst: 1})
	rows := e.limits()
	p := e.exchange(a, 0, 5)
	e.want([]any{p.Permits, p.Bounded, p.Rated()}, []any{3, true, true}, "the narrowest limit must decide")
	revision := int64(0)
	for _, row := range rows {
		revision = max(revision, row.Revision)
	}
	e.want(p.Revision, revision, "the newest limit must have the revision")
	e.want(e.exchange(b, 0, 5).Permits, 0, "no permits must be left")
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfLimits, Now: e.now, Names: []string{"narrow"}}))
	e.want(e.exchange(b, 0, 9).Permits, 4, "permits of the other limit must be counted, and some left for the node that wants more")
}

func permitsOfRunningJobs(e *env) {
	a, b := e.node("a"), e.node("b")
	e.insertN(9)
	e.claim(a, 3)
	e.putLimits(queueLimit("l", 4))
	e.want(e.exchange(b, 0, 9).Permits, 1, "jobs that run when a limit is created must have permits")
	e.want(e.exchange(a, 2, 2).Permits, 2, "a node must be able to return permits of jobs that have ended")
	e.want(e.exchange(b, 0, 9).Permits, 2, "returned permits must be given to another node")
}

func permitsLowered(e *env) {
	a, b := e.node("a"), e.node("b")
	e.putLimits(queueLimit("l", 5))
	e.exchange(a, 0, 5)
	e.putLimits(queueLimit("l", 2))
	p := e.exchange(a, 4, 5)
	e.want([]any{p.Permits, p.Share, p.Scarce}, []any{4, 2, true}, "a lowered limit must leave the jobs that run, and allow no more")
	e.want(e.exchange(b, 0, 5).Permits, 0, "there must be no permits until enough jobs have ended")
	e.want(e.exchange(a, 1, 5).Permits, 1, "a lowered limit must be shared")
	e.want(e.exchange(b, 0, 5).Permits, 1, "a lowered limit must be shared")
	e.putLimits(queueLimit("l", 8))
	e.want(e.exchange(b, 1, 3).Permits, 3, "a raised limit must be in force at once")
}

func permitsOfDeadNodes(e *env) {
	a, b, c := e.nodeFor("a", 10*time.Second), e.nodeFor("b", time.Hour), e.nodeFor("c", time.Hour)
	e.insertN(9)
	e.putLimits(queueLimit("l", 4))
	e.claimWith(a, 2, e.exchange(a, 0, 3))
	e.claimWith(c, 1, e.exchange(c, 0, 1))
	e.tick(time.Minute)
	e.want(e.exchange(b, 0, 9).Permits, 0, "the permits of a node must not be free before its claims are taken")
	e.want(len(e.rescue(b).Jobs), 2, "the jobs of the dead node must be taken")
	e.want(e.exchange(b, 0, 9).Permits, 3, "the permits of a dead node must be free when its claims are taken")
	_, err := e.a.ExchangePermits(e.ctx, store.ExchangePermitsRequest{Now: e.now, Node: a, Queue: "q", InUse: 2, Want: 3})
	e.is(err, store.ErrNodeGone, "a dead node must get no permits")
	_, err = e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: c})
	e.must(err)
	e.want(e.exchange(b, 3, 9).Permits, 4, "the permits of a node that left must be free")
}

// permitsNeverTooMany lets two nodes exchange permits concurrently, and counts.
func permitsNeverTooMany(e *env) {
	const most, rounds = 5, 40
	nodes := []int64{e.node("a"), e.node("b")}
	e.putLimits(queueLimit("l", most))
	held := make([]int, len(nodes))
	for range rounds {
		inUse := make([]int, len(nodes))
		for i := range held {
			inUse[i] = rand.IntN(held[i] + 1)
		}
		e.both(func(i int, client store.Backend) {
			res, err := client.ExchangePermits(e.ctx, store.ExchangePermitsRequest{Now: e.now, Node: nodes[i], Queue: "q", InUse: inUse[i], Want: rand.IntN(most + 1)})
			if err != nil {
				e.t.Error(err)
			}
			held[i] = res.Permits
		})
		e.ok(held[0]+held[1] <= most, "concurrent exchanges must not give out more permits than there are:", held)
	}
}

// rated is a limit of 10 starts per second of queue q, after a rest 5 at once.
func rated(name string) store.Limit {
	return store.Limit{Name: name, Queue: "q", Rate: 10, Per: time.Second, Burst: 5}
}

func rateOfQueue(e *env) {
	n := e.node("n")
	e.insertN(40)
	e.putLimits(rated("l"))
	permits := e.exchange(n, 0, 9)
	e.want([]any{permits.Bounded, permits.Rated()}, []any{false, true}, "a rate needs no permits")
	claimed := func(limit int) []any {
		e.t.Helper()
		res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: "q", Kinds: []string{"k"}, Limit: limit, Ahead: limit - 1, Permits: permits})
		e.must(err)
		next := time.Duration(0)
		if !res.NextStart.IsZero() {
			next = res.NextStart.Sub(e.now)
		}
		return []any{len(res.Jobs), next.String()}
	}
	slack := permits.Slack
	e.want(slack, 100*time.Millisecond, "a rate must allow a job to begin late")
	e.want(claimed(2), []any{2, "0s"}, "a claim of few jobs must take them")
	e.want(claimed(9), []any{2, slack.String()}, "a claim must take no more jobs than may start, and know when the next may start")
	e.tick(slack - time.Millisecond)
	e.want(claimed(9), []any{0, "1ms"}, "no job may start before its time")
	e.tick(time.Millisecond)
	e.want(claimed(9), []any{1, "100ms"}, "a job must start at its time")
	e.tick(time.Hour)
	e.want(claimed(9), []any{4, slack.String()}, "an outage must not be made up for")
	e.tick(time.Second)
	part, err := e.a.Claim(e.ctx, store.ClaimRequest{Part: true, Now: e.now, Node: n, Queue: "q", Kinds: []string{"k"}, Limit: 9, Permits: permits})
	e.must(err)
	e.want(len(part.Jobs), 4, "a claim in part must keep the rate")
	e.claim(n, 9)
	e.want(claimed(9), []any{0, slack.String()}, "a refused claim must not change the rate")
}

func rateAndKeys(e *env) {
	n := e.node("n")
	e.putLimits(rated("l"), perKey(1))
	e.insert(limited("a"), limited("b"), limited("b"), limited("c"), limited("d"), limited("e"), limited("f"))
	permits := e.exchange(n, 0, 0)
	e.want(len(e.claimWith(n, 9, permits).Jobs), 4, "jobs that get permits of their keys must keep the rate of the queue")
	e.want(len(e.claimWith(n, 9, permits).Jobs), 0, "no job may start before its time")
	e.tick(time.Hour)
	e.want(len(e.claimWith(n, 9, permits).Jobs), 2, "later the other jobs must start, except the second of a key")
}

func rateOfPlaces(e *env) {
	n := e.node("n")
	e.insertN(9)
	for range 9 {
		e.insert(with(func(j *store.NewJob) { j.Queue = "q@host" }))
	}
	e.putLimits(rated("l"), queueLimit("c", 2))
	permits := e.exchange(n, 0, 9)
	e.want([]any{permits.Permits, permits.Rated()}, []any{2, true}, "a queue may have a rate and a bound")
	claimed := func(queue, within string) int {
		e.t.Helper()
		res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: queue, Within: within, Kinds: []string{"k"}, Limit: 3, Permits: permits})
		e.must(err)
		return len(res.Jobs)
	}
	e.want([]int{claimed("q", ""), claimed("q@host", "q"), claimed("q", "q")}, []int{3, 1, 0}, "the queues of places must share the rate of their queue")
	e.want(claimed("q@host", ""), 0, "permits of a queue are not permits of another")
	e.putLimits(queueLimit("c", 9))
	e.want(e.exchange(n, 4, 4).Permits, 4, "jobs of places that run must have permits")
	e.want(e.exchange(e.node("m"), 0, 9).Permits, 5, "jobs of places that run must have permits")
}

// rateAtOnce lets two nodes claim concurrently.
func rateAtOnce(e *env) {
	nodes := []int64{e.node("a"), e.node("b")}
	e.insertN(60)
	e.putLimits(rated("l"))
	permits := e.exchange(nodes[0], 0, 1)
	total := 0
	for round := range 10 {
		var jobs [2]int
		e.both(func(i int, client store.Backend) {
			res, err := client.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: nodes[i], Queue: "q", Kinds: []string{"k"}, Limit: 9, Permits: permits})
			if err != nil {
				e.t.Error(fmt.Sprint(round, err))
			}
			jobs[i] = len(res.Jobs)
		})
		total += jobs[0] + jobs[1]
		e.tick(100 * time.Millisecond)
	}
	e.want(total, 13, "concurrent claims must keep the rate together: 4 at once, and then 9 in 0.9 s")
}
