package storetest

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

var lossTests = []scenario{
	{"ClaimedAhead", lossAhead},
	{"Begin", lossBegin},
	{"BeginOfANodeThatIsGone", lossBeginGone},
	{"BeginOfWhatTheNodeDoesNotHold", lossBeginForeign},
	{"BeginAndRescueAtTheSameMoment", lossBeginRace},
	{"TheLastClaimCounts", lossLastClaim},
	{"Leave", lossLeave},
	{"CancelRequest", lossCancelled},
	{"Delays", lossDelays},
	{"SuspectsAreClaimedApart", lossSuspects},
	{"ARetryIsNoLoss", lossRetry},
	{"RefundsAreCounted", lossRefunds},
}

// claimAhead claims jobs; all but the first few are claimed ahead.
func (e *env) claimAhead(node int64, limit, first int) store.ClaimResult {
	e.t.Helper()
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: limit, Ahead: limit - first})
	e.must(err)
	return res
}

func (e *env) beginJobs(node int64, batch int64, claims ...store.Claimed) error {
	_, err := e.b.BeginJobs(e.ctx, store.BeginRequest{Node: node, Batch: batch, Claims: refsOf(claims)})
	return err
}

func refsOf(claims []store.Claimed) (refs []store.ClaimRef) {
	for _, c := range claims {
		refs = append(refs, store.ClaimRef{ID: c.ID, Token: c.Token})
	}
	return refs
}

// lose lets a node's lease pass and rescues from it; it returns what may have begun.
func (e *env) lose(alive int64) (begun map[int64]bool) {
	e.t.Helper()
	e.tick(time.Minute)
	begun = map[int64]bool{}
	for _, job := range e.rescue(alive).Jobs {
		begun[job.ID] = job.Begun
	}
	return begun
}

func lossAhead(e *env) {
	dead, alive := e.node("dead"), e.nodeFor("alive", time.Hour)
	job := func(priority, attempts int16, loss store.OnLoss) store.NewJob {
		return with(func(j *store.NewJob) { j.Priority, j.MaxAttempts, j.OnLoss = priority, attempts, loss })
	}
	ids := e.insert(job(3, 1, store.OnLossRetry), job(2, 5, store.OnLossFail), job(3, 5, store.OnLossRetry),
		job(1, 1, store.OnLossRetry), job(1, 5, store.OnLossFail))
	got := e.claimAhead(dead, 9, 2)
	e.want(claimedIDs(got.Jobs), []int64{ids[3], ids[4], ids[1], ids[0], ids[2]}, "jobs claimed ahead must come back too, in order")
	e.want(len(e.claims(dead, false)), 5, "jobs claimed ahead must be among their node's claims")
	e.want(e.lose(alive), map[int64]bool{ids[3]: true, ids[4]: true, ids[1]: false, ids[0]: false, ids[2]: false},
		"the first Limit - Ahead jobs in their order may have begun, and no others")
	for _, id := range []int64{ids[3], ids[4]} {
		info := e.job(id)
		e.want([]any{info.State, info.Reason, info.Losses}, []any{store.StateFailed, store.LostReason, int16(1)},
			"what may have begun and may not run again must fail as lost, its loss counted")
	}
	for _, id := range []int64{ids[0], ids[1], ids[2]} {
		info := e.job(id)
		e.want([]any{info.State, info.RunAt, info.Attempt, info.Losses}, []any{store.StateReady, e.now, int16(0), int16(0)},
			"what cannot have begun must be ready now, its attempt refunded, without a loss, also with on_loss fail and on its last attempt")
	}
	e.want(claimedIDs(e.claim(alive, 9)), []int64{ids[1], ids[0], ids[2]}, "what cannot have begun must be claimable at once")
}

func lossBegin(e *env) {
	dead, alive := e.node("dead"), e.nodeFor("alive", time.Hour)
	ids := e.insertN(6)
	got := e.claimAhead(dead, 6, 0)
	e.must(e.beginJobs(dead, got.Batch, got.Jobs[1]))
	for range 2 {
		e.is(e.beginJobs(dead, got.Batch, got.Jobs[1], got.Jobs[4]), nil, "to let jobs begin again must be harmless")
	}
	e.finishWell(outcome(got.Jobs[2], store.Completed))
	e.want(e.lose(alive), map[int64]bool{ids[0]: false, ids[1]: true, ids[3]: false, ids[4]: true, ids[5]: false},
		"what BeginJobs named may have begun, and nothing else")

	dead = e.node("dead")
	got = e.claimAhead(dead, 3, 3)
	e.must(e.beginJobs(dead, got.Batch, got.Jobs[0]))
	all := map[int64]bool{}
	for _, job := range got.Jobs {
		all[job.ID] = true
	}
	e.want(e.lose(alive), all, "where nothing was claimed ahead, BeginJobs takes nothing back")
}

func lossBeginGone(e *env) {
	left, dead, alive := e.node("left"), e.node("dead"), e.nodeFor("alive", time.Hour)
	ids := e.insertN(1)
	got := e.claimAhead(dead, 1, 0)
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: left})
	e.must(err)
	e.lose(alive)
	for _, gone := range []int64{left, dead, alive + 1000, 0} {
		e.is(e.beginJobs(gone, got.Batch, got.Jobs...), store.ErrNodeGone,
			"a node that is unknown, has left or was declared dead must be told when it lets jobs begin")
	}
	e.want(e.job(ids[0]).Attempt, int16(0), "a job of a node that is gone must not begin")
}

func lossBeginForeign(e *env) {
	dead, other, alive := e.node("dead"), e.node("other"), e.nodeFor("alive", time.Hour)
	ids := e.insertN(2)
	first, second := e.claimAhead(dead, 1, 0), e.claimAhead(other, 1, 0)
	e.must(e.beginJobs(other, first.Batch, first.Jobs...))
	e.must(e.beginJobs(dead, first.Batch))
	stale := second.Jobs[0]
	e.finishWell(outcome(stale, store.Release))
	again := e.claimAhead(other, 1, 0)
	e.want(claimedIDs(again.Jobs), ids[1:], "a job that was handed back is claimed again")
	e.must(e.beginJobs(other, second.Batch, stale))
	e.want(e.lose(alive), map[int64]bool{ids[0]: false, ids[1]: false}, "a node must let nothing begin but what it holds, under the token by which it holds it")
}

func lossBeginRace(e *env) {
	alive := e.nodeFor("alive", 10000*time.Hour)
	for range 40 {
		dead := e.nodeFor("dead", time.Second)
		id := e.insertOne(newJob())
		got := e.claimAhead(dead, 1, 0)
		e.tick(time.Minute)
		e.heartbeat(alive)
		var rescued store.RescueResult
		req := e.rescueBy(alive)
		errs := make([]error, 2)
		e.both(func(i int, client store.Backend) {
			if i == 0 {
				_, errs[0] = client.BeginJobs(e.ctx, store.BeginRequest{Node: dead, Batch: got.Batch, Claims: refsOf(got.Jobs)})
				return
			}
			rescued, errs[1] = client.Rescue(e.ctx, req)
		})
		e.must(errs[1])
		if errs[0] != nil {
			e.is(errs[0], store.ErrNodeGone, "to let a job begin at the moment of a rescue may only fail as gone")
		}
		if len(rescued.Jobs) != 1 {
			e.t.Fatalf("the job must be rescued: %+v", rescued)
		}
		e.want(rescued.Jobs[0].Begun, errs[0] == nil, "a job that was let begin at the moment of a rescue must count as begun, and one that was not must not")
		e.changeOne(store.DeleteJobs, id)
	}
}

func lossLastClaim(e *env) {
	n, alive := e.nodeFor("n", time.Minute), e.nodeFor("alive", 10*time.Hour)
	ids := e.insertN(3)
	first := e.claimAhead(n, 3, 3)
	e.finishWell(outcome(first.Jobs[0], store.Release))
	again := e.claimAhead(n, 1, 0)
	e.want(claimedIDs(again.Jobs), ids[:1], "a job that was handed back is claimed again")
	e.finishWell(outcome(first.Jobs[1], store.Release))
	e.claimAhead(n, 1, 1)
	e.want(e.lose(alive), map[int64]bool{ids[0]: false, ids[1]: true, ids[2]: true}, "whether a job may have begun must follow from its last claim")
}

func lossLeave(e *env) {
	n, m := e.nodeFor("n", time.Hour), e.nodeFor("m", time.Hour)
	ids := e.insert(with(func(j *store.NewJob) { j.OnLoss = store.OnLossFail }), with(func(j *store.NewJob) { j.MaxAttempts = 1 }), newJob())
	got := e.claimAhead(n, 3, 0)
	e.must(e.beginJobs(n, got.Batch, got.Jobs[2]))
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: n})
	e.must(err)
	for _, id := range ids {
		info := e.job(id)
		e.want([]any{info.State, info.RunAt, info.Attempt, info.Losses}, []any{store.StateReady, e.now, int16(0), int16(0)},
			"what a leaving node held and cannot have begun must be ready now, and no loss counts")
	}
	e.want(claimedIDs(e.claim(m, 9)), ids, "what a leaving node held must be claimable at once")
}

func lossCancelled(e *env) {
	dead, alive := e.node("dead"), e.nodeFor("alive", time.Hour)
	ids := e.insertN(2)
	e.claimAhead(dead, 2, 1)
	e.cancel(ids[0])
	e.cancel(ids[1])
	e.lose(alive)
	e.want([]store.State{e.state(ids[0]), e.state(ids[1])}, []store.State{store.StateCancelled, store.StateCancelled},
		"a lost job with a cancel request must be cancelled, whether it may have begun or not")
	e.want([]int16{e.job(ids[0]).Losses, e.job(ids[1]).Losses}, []int16{1, 0}, "a loss counts where the job may have begun")
}

// claimSuspect claims up to two suspects.
func (e *env) claimSuspect(node int64) store.ClaimResult {
	e.t.Helper()
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 2, Suspects: true})
	e.must(err)
	return res
}

func lossDelays(e *env) {
	alive := e.nodeFor("alive", 10000*time.Hour)
	id := e.insertOne(with(func(j *store.NewJob) { j.MaxAttempts = 20 }))
	var waits []time.Duration
	for n := range int16(9) {
		dead := e.node("dead")
		if n < store.SuspectLosses {
			e.claimOne(dead)
		} else {
			e.want(claimedIDs(e.claimSuspect(dead).Jobs), []int64{id}, "a suspect must be claimable as one")
		}
		e.lose(alive)
		info := e.job(id)
		e.want(info.Losses, n+1, "losses in a row are counted")
		waits = append(waits, info.RunAt.Sub(e.now))
		e.now = info.RunAt
	}
	const s = time.Second
	e.want(waits, []time.Duration{s / 4, 5 * s, 25 * s, 125 * s, 625 * s, 3125 * s, time.Hour, time.Hour, time.Hour},
		"the rest must grow with the losses in a row, up to an hour")
}

func lossSuspects(e *env) {
	alive := e.nodeFor("alive", 10000*time.Hour)
	ids := append(e.insertN(2), e.insertOne(with(func(j *store.NewJob) { j.Priority = 9 })))
	for range store.SuspectLosses {
		dead := e.node("dead")
		got := e.claimAhead(dead, 3, 2)
		e.want(claimedIDs(got.Jobs), ids, "jobs with fewer losses are no suspects")
		e.lose(alive)
		e.tick(time.Minute)
	}
	e.insertOne(with(func(j *store.NewJob) { j.RunAt = e.now.Add(time.Hour) }))
	n := e.node("n")
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: "q", Kinds: []string{"k"}, Limit: 9})
	e.must(err)
	e.want(claimedIDs(res.Jobs), []int64{ids[2]}, "a claim must take no suspects unless it asks for them")
	e.want(res.Jobs[0].Losses, int16(0), "a claim must tell how often a job was lost")
	e.want(res.NextDue, e.now.Add(time.Hour), "NextDue must not be the due time of a suspect")
	e.want(res.NoSuspects, false, "a claim must not deny suspects that are due")
	for _, req := range []store.ClaimRequest{{Kinds: []string{"other"}}, {Kinds: []string{"k"}, Queue: "other"}, {Exact: []store.ExactJob{exactly("k", "[]")}}} {
		req.Now, req.Node, req.Limit, req.Suspects = e.now, n, 9, true
		if req.Queue == "" {
			req.Queue = "q"
		}
		res, err := e.a.Claim(e.ctx, req)
		e.must(err)
		e.want(len(res.Jobs), 0, "a claim of suspects must look at queue, kind and args")
	}
	res, err = e.a.Claim(e.ctx, store.ClaimRequest{
		Now: e.now, Node: n, Queue: "q",
		Exact: []store.ExactJob{exactly("k", "{}")}, Limit: 1, Ahead: 1, Suspects: true,
	})
	e.must(err)
	e.want(claimedIDs(res.Jobs), ids[:1], "a claim of suspects must take one by kind and args, the first in order")
	e.want(res.Jobs[0].Losses, int16(store.SuspectLosses), "a claim must tell how often a job was lost")
	rest := e.claimSuspect(n)
	e.want(claimedIDs(rest.Jobs), ids[1:2], "a claim of suspects must take all that are left, and nothing else")
	e.want(rest.NextDue, time.Time{}, "a claim of suspects has no NextDue")
	e.finishWell(outcome(rest.Jobs[0], store.Release))
	e.want(len(e.claim(n, 9)), 0, "a suspect that was handed back must stay a suspect")
	e.finishWell(outcome(rest.Jobs[0], store.Completed))
	e.want(e.job(ids[1]).Losses, int16(store.SuspectLosses), "a job that has ended must tell its losses")
	e.changeOne(store.RetryJobs, ids[1])
	e.want(len(e.claim(n, 9)), 0, "a suspect that is retried by hand must stay a suspect")
	e.want(claimedIDs(e.claimSuspect(n).Jobs), ids[1:2], "a suspect that is retried by hand must stay a suspect")
	e.want(e.lose(alive)[ids[0]], false, "a suspect that was claimed ahead has not begun")
	queues, err := store.List[store.QueueInfo](e.ctx, e.b, store.ListRequest{Now: e.now})
	e.must(err)
	e.want(queues[0].Ready+queues[0].Scheduled, int64(4), "suspects must be counted with their queue")
}

func lossRetry(e *env) {
	dead, alive := e.node("dead"), e.nodeFor("alive", 10000*time.Hour)
	id := e.insertOne(newJob())
	e.claimOne(dead)
	e.lose(alive)
	e.tick(time.Minute)
	dead = e.node("dead")
	c := e.claimOne(dead)
	e.want(c.Losses, int16(1), "a claim must tell how often a job was lost")
	e.finishWell(outcome(c, store.Retry))
	e.want(e.job(id).Losses, int16(0), "an attempt that ended by itself ends the row of losses")
	e.claimOne(dead)
	e.lose(alive)
	e.want(e.job(id).Losses, int16(1), "losses count in a row")
}

func lossRefunds(e *env) {
	n := e.node("n")
	id := e.insertOne(newJob())
	release := func(lost bool) store.Claimed {
		c := e.claimOne(n)
		o := outcome(c, store.Release)
		o.LeaseLost = lost
		e.finishWell(o)
		e.finishWell(o) // repeated
		e.want(e.job(id).Attempt, int16(0), "a release must refund the attempt")
		return c
	}
	var refunds []int16
	for _, lost := range []bool{true, false, true, false} {
		refunds = append(refunds, release(lost).Refunds)
	}
	e.want(append(refunds, e.claimOne(n).Refunds), []int16{0, 1, 1, 2, 2}, "refunds after lost leases must be counted, once each, and no others")
	claims := e.claims(n, false)
	e.finishWell(store.Outcome{ID: claims[0].ID, Token: claims[0].Token, Result: store.Failed})
	e.changeOne(store.RetryJobs, id)
	e.want(e.claimOne(n).Refunds, int16(0), "a retry by hand must forget the refunds")
}
