package storetest

import (
	"errors"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

var rescueTests = []scenario{
	{"JobsStartElsewhere", rescueJobs},
	{"OnlyExpiredLeases", rescueExpired},
	{"NeverItself", rescueItself},
	{"AskerNotHeardLately", rescueUnheard},
	{"AskerNotRegistered", rescueUnregistered},
	{"OvertakenByAHeartbeat", rescueOvertaken},
	{"OnLossFail", rescueOnLoss},
	{"AttemptsExhausted", rescueExhausted},
	{"CancelRequest", rescueCancelled},
	{"Nothing", rescueNothing},
	{"TwoRescuersAtOnce", rescueRace},
	{"ClaimAtTheSameMoment", rescueClaimRace},
	{"HeartbeatAtTheSameMoment", rescueHeartbeatRace},
}

func rescueJobs(e *env) {
	dead, alive := e.node("dead"), e.nodeFor("alive", time.Hour)
	ids := e.insertN(3)
	claims := e.claim(dead, 3)
	e.finishWell(outcome(claims[2], store.Completed))
	mine := e.insertOne(newJob())
	e.claimOne(alive)
	e.tick(time.Minute)
	res := e.rescue(alive)
	slices.SortFunc(res.Jobs, func(a, b store.RescuedJob) int { return int(a.ID - b.ID) })
	e.want(res.Jobs, []store.RescuedJob{
		{ID: ids[0], Token: claims[0].Token, Kind: "k", Queue: "q", Node: dead, State: store.StateReady, Begun: true},
		{ID: ids[1], Token: claims[1].Token, Kind: "k", Queue: "q", Node: dead, State: store.StateReady, Begun: true},
	}, "a rescue must take the dead node's jobs, and tell")
	if len(res.Nodes) != 1 {
		e.t.Fatalf("a rescue must tell who died: %+v", res.Nodes)
	}
	node := res.Nodes[0]
	e.want([]any{node.ID, node.Name, node.Died, node.EndedAt}, []any{dead, "dead", true, e.now}, "a rescue must declare the node dead as of now")
	listed := e.nodes()[dead]
	e.want([]any{listed.Died, listed.EndedAt, listed.Running}, []any{true, e.now, int64(0)}, "a dead node must be listed as dead, holding nothing")
	info := e.job(ids[0])
	e.want([]any{info.State, info.RunAt, info.Attempt, info.Token, info.FinishedAt, info.Losses},
		[]any{store.StateReady, e.now.Add(store.LossDelay(1)), int16(1), claims[0].Token, time.Time{}, int16(1)},
		"a rescued job must be ready after a rest, its attempt spent, its token kept, its loss counted")
	e.want(e.state(mine), store.StateRunning, "living nodes' jobs must be left alone")
	e.want(len(e.claims(dead, false)), 0, "a dead node must hold nothing")
	e.want(len(e.claim(alive, 10)), 0, "rescued jobs must not be claimable at once")
	e.tick(store.LossDelay(1))
	again := e.claim(alive, 10)
	e.want(claimedIDs(again), ids[:2], "rescued jobs must be claimable after their rest")
	e.ok(again[0].Token > claims[0].Token && again[0].Attempt == 2, "a rescued job must get a greater token and the next attempt", again)
	e.want(e.finish(outcome(claims[0], store.Completed)), []store.ClaimRef{{ID: ids[0], Token: claims[0].Token}}, "a zombie must be refused")
}

func rescueExpired(e *env) {
	n, m := e.node("n"), e.node("m")
	e.insertN(1)
	e.claimOne(n)
	e.tick(15*time.Second - time.Microsecond)
	res := e.rescue(m)
	e.want([]int{len(res.Nodes), len(res.Jobs)}, []int{0, 0},
		"a node must not be declared dead before its lease has passed by the store's clock (not by any other)")
	e.want(len(e.claims(n, false)), 1, "a living node's claims must be left alone")
	e.tick(time.Microsecond)
	res = e.rescue(m)
	e.want([]int{len(res.Nodes), len(res.Jobs)}, []int{1, 1}, "a node must be declared dead once its lease has passed")
	e.now = time.Date(2002, 1, 1, 0, 0, 0, 0, time.UTC) // a store clock behind the real time
	n = e.node("n")
	e.tick(14 * time.Second)
	e.want(len(e.rescue(m).Nodes), 0, "a node whose lease has passed by the node's clock, but not by the store's, must live")
	e.heartbeat(n)
}

func rescueItself(e *env) {
	n := e.node("n")
	e.insertN(1)
	e.claimOne(n)
	e.tick(time.Hour)
	for _, ask := range []func(int64) store.RescueResult{e.rescueUnheard, e.rescue} {
		res := ask(n)
		e.want([]int{len(res.Nodes), len(res.Jobs), len(e.claims(n, false))}, []int{0, 0, 1}, "a node must not rescue from itself")
	}
	e.heartbeat(n)
}

// refusedRescue checks that a rescue does nothing although there is a dead node
// with one job.
func (e *env) refusedRescue(asker, dead int64, rule string) {
	e.t.Helper()
	before := e.nodes()
	res := e.rescueUnheard(asker)
	e.want([]int{len(res.Nodes), len(res.Jobs)}, []int{0, 0}, rule)
	e.want(e.nodes(), before, "a rescue that may not be must touch no node")
	e.want(len(e.claims(dead, false)), 1, "a rescue that may not be must take no job")
}

func rescueUnheard(e *env) {
	const lease, us = 20 * time.Second, time.Microsecond
	dead := e.nodeFor("dead", time.Second)
	e.insertN(1)
	e.claimOne(dead)
	asker := e.nodeFor("asker", lease)
	e.tick(lease/2 + us)
	e.refusedRescue(asker, dead, "a rescue by a node that was not heard lately must do nothing")
	e.tick(time.Hour)
	e.refusedRescue(asker, dead, "a rescue that is executed long after it was sent must do nothing")
	heard := e.now.Add(time.Hour)
	e.now = heard
	e.heartbeat(asker)
	e.now = heard.Add(-lease/2 - us) // the clock was set back
	e.refusedRescue(asker, dead, "a rescue by a node that was heard far in the future must do nothing")
	for _, away := range []time.Duration{-lease / 2, lease / 2} {
		e.now = heard.Add(away)
		res := e.rescueUnheard(asker)
		e.want([]int{len(res.Nodes), len(res.Jobs)}, []int{1, 1}, "a node that was heard within half its lease must be able to rescue")
		e.insertN(1)
		e.claimOne(e.nodeFor("dead", time.Second))
	}
}

func rescueUnregistered(e *env) {
	left, died, alive := e.nodeFor("left", 100*time.Hour), e.nodeFor("died", time.Minute), e.nodeFor("alive", 100*time.Hour)
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: left})
	e.must(err)
	e.tick(time.Minute)
	e.want(len(e.rescue(alive).Nodes), 1, "the silent node has died")
	dead := e.nodeFor("dead", time.Second)
	e.insertN(1)
	e.claimOne(dead)
	e.tick(time.Second)
	for _, asker := range []int64{left, died, alive + 1000, 0} {
		e.refusedRescue(asker, dead, "a rescue by a node that is unknown, has left or was declared dead must do nothing")
	}
	e.want(len(e.rescue(alive).Jobs), 1, "a registered node must be able to rescue")
}

// rescueOvertaken: a rescue is on its way while the store's clock is set forward, so that all leases seem to have
// passed, and a heartbeat of its node overtakes it.
func rescueOvertaken(e *env) {
	alive, asker := e.node("alive"), e.node("asker")
	e.insertN(1)
	e.claimOne(alive)
	e.heartbeat(asker)
	delayed := e.rescueBy(asker)
	e.tick(time.Hour)
	e.heartbeat(asker)
	answered := e.rescueBy(asker)
	for _, beat := range []int64{delayed.Beat, answered.Beat + 1, 0} {
		res, err := e.a.Rescue(e.ctx, store.RescueRequest{Now: e.now, Node: asker, Beat: beat})
		e.must(err)
		e.want([]int{len(res.Nodes), len(res.Jobs)}, []int{0, 0}, "a rescue whose node has sent another heartbeat must do nothing")
	}
	e.want(len(e.claims(alive, false)), 1, "a rescue whose node has sent another heartbeat must take no job")
	res, err := e.a.Rescue(e.ctx, answered)
	e.must(err)
	e.want([]int{len(res.Nodes), len(res.Jobs)}, []int{1, 1}, "a node that knows the answer to its last heartbeat must be able to rescue")
	e.want(e.nodes()[alive].Beats, int64(0), "the heartbeats of a node that has ended must not be listed")
}

func rescueOnLoss(e *env) {
	c := e.lost(func(j *store.NewJob) { j.OnLoss = store.OnLossFail })
	info := e.job(c.ID)
	e.want([]any{info.State, info.Reason, info.FinishedAt, info.Attempt},
		[]any{store.StateFailed, store.LostReason, e.now, int16(1)}, "a job with on_loss fail must fail as lost, and never start twice")
	e.want(len(e.claim(e.node("n"), 9)), 0, "a lost job with on_loss fail must not be claimed")
	e.changeOne(store.RetryJobs, c.ID)
	e.want(claimedIDs(e.claim(e.node("n"), 9)), []int64{c.ID}, "a person may retry a lost job")
}

func rescueExhausted(e *env) {
	alive := e.nodeFor("alive", 1000*time.Hour)
	id := e.insertOne(with(func(j *store.NewJob) { j.MaxAttempts = 2 }))
	for attempt, state := range []store.State{store.StateReady, store.StateFailed} {
		c := e.claimOne(e.node("dead"))
		e.want(c.Attempt, int16(attempt+1), "attempts are counted")
		e.tick(time.Minute)
		res := e.rescue(alive)
		e.tick(time.Minute)
		if len(res.Jobs) != 1 {
			e.t.Fatalf("the job must be rescued: %+v", res)
		}
		e.want(res.Jobs[0].State, state, "a rescued job must run again while it has attempts left, and fail then")
	}
	info := e.job(id)
	e.want([]any{info.State, info.Reason}, []any{store.StateFailed, store.LostReason}, "a job that kills its nodes is capped by max attempts")
}

func rescueCancelled(e *env) {
	for _, change := range []func(*store.NewJob){
		func(*store.NewJob) {},
		func(j *store.NewJob) { j.OnLoss = store.OnLossFail },
		func(j *store.NewJob) { j.MaxAttempts = 1 },
	} {
		dead, alive := e.node("dead"), e.nodeFor("alive", time.Hour)
		id := e.insertOne(with(change))
		e.claimOne(dead)
		e.cancel(id)
		e.tick(time.Minute)
		res := e.rescue(alive)
		if len(res.Jobs) != 1 {
			e.t.Fatalf("the job must be taken: %+v", res)
		}
		info := e.job(id)
		e.want([]any{res.Jobs[0].State, info.State, info.Reason, info.FinishedAt, info.CancelAsked},
			[]any{store.StateCancelled, store.StateCancelled, "asked by the test", e.now, false}, "a lost job with a cancel request must be cancelled")
	}
}

func rescueNothing(e *env) {
	n := e.node("n")
	e.node("m")
	res := e.rescue(n)
	e.want([]int{len(res.Nodes), len(res.Jobs)}, []int{0, 0}, "where all live, a rescue does nothing")
	e.tick(time.Minute)
	e.want(len(e.rescue(n).Nodes), 1, "a node is declared dead once")
	e.want(len(e.rescue(n).Nodes), 0, "a node is declared dead once")
}

func rescueRace(e *env) {
	rescuers := []int64{e.nodeFor("a", 1000*time.Hour), e.nodeFor("b", 1000*time.Hour)}
	for range 15 {
		dead := e.node("dead")
		ids := e.insertN(10)
		e.claim(dead, 10)
		e.tick(time.Minute)
		reqs := [2]store.RescueRequest{e.rescueBy(rescuers[0]), e.rescueBy(rescuers[1])}
		var results [2]store.RescueResult
		var errs [2]error
		e.both(func(i int, client store.Backend) {
			results[i], errs[i] = client.Rescue(e.ctx, reqs[i])
		})
		e.must(errors.Join(errs[:]...))
		var got []int64
		for _, j := range append(results[0].Jobs, results[1].Jobs...) {
			got = append(got, j.ID)
		}
		slices.Sort(got)
		e.want(got, ids, "two rescuers at once must rescue each job once")
		e.want(len(results[0].Nodes)+len(results[1].Nodes), 1, "two rescuers at once must declare a node dead once")
		e.change(store.ChangeJobsRequest{Action: store.DeleteJobs, IDs: ids})
	}
}

func rescueClaimRace(e *env) {
	alive := e.nodeFor("alive", 10000*time.Hour)
	for range 40 {
		dead := e.nodeFor("dead", time.Second)
		id := e.insertOne(newJob())
		e.tick(time.Minute)
		var claimed store.ClaimResult
		var rescued store.RescueResult
		req := e.rescueBy(alive)
		errs := make([]error, 2)
		e.both(func(i int, client store.Backend) {
			if i == 0 {
				claimed, errs[0] = client.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: dead, Queue: "q", Kinds: []string{"k"}, Limit: 1})
				return
			}
			rescued, errs[1] = client.Rescue(e.ctx, req)
		})
		e.must(errs[1])
		e.want(len(rescued.Nodes), 1, "the silent node must be declared dead")
		if errs[0] != nil {
			e.is(errs[0], store.ErrNodeGone, "a claim at the moment of a rescue may only fail as gone")
			e.want(len(rescued.Jobs), 0, "what was not claimed must not be rescued")
		} else {
			e.want(len(rescued.Jobs), len(claimed.Jobs), "what a node claimed just before it was declared dead must be rescued from it")
		}
		e.want(len(e.claims(dead, false)), 0, "no dead node may keep a claim")
		e.want(e.state(id), store.StateReady, "no dead node may keep a claim")
		e.changeOne(store.DeleteJobs, id)
	}
}

func rescueHeartbeatRace(e *env) {
	alive := e.nodeFor("alive", 10000*time.Hour)
	for range 20 {
		silent := e.nodeFor("silent", time.Second)
		e.insertN(1)
		c := e.claimOne(silent)
		e.tick(time.Minute)
		var rescued store.RescueResult
		req := e.rescueBy(alive)
		errs := make([]error, 2)
		e.both(func(i int, client store.Backend) {
			if i == 0 {
				_, errs[0] = client.Heartbeat(e.ctx, store.HeartbeatRequest{Now: e.now, Node: silent})
				return
			}
			rescued, errs[1] = client.Rescue(e.ctx, req)
		})
		e.must(errs[1])
		if errs[0] == nil {
			e.want([]int{len(rescued.Nodes), len(rescued.Jobs)}, []int{0, 0}, "a node whose heartbeat succeeded must keep its jobs")
			e.want(len(e.claims(silent, false)), 1, "a node whose heartbeat succeeded must keep its jobs")
			e.finishWell(outcome(c, store.Completed))
			_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: silent})
			e.must(err)
			continue
		}
		e.is(errs[0], store.ErrNodeGone, "a heartbeat at the moment of a rescue may only fail as gone")
		e.want(len(rescued.Jobs), 1, "a node that was declared dead must lose its jobs")
		e.changeOne(store.DeleteJobs, c.ID)
	}
}
