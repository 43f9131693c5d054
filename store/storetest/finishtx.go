package storetest

import (
	"errors"
	"time"

	"github.com/hourbell/hourbell/store"
)

var finishTxTests = []scenario{
	{"WithTheTransaction", finishTxCommit},
	{"RolledBack", finishTxRollback},
	{"Commits", finishTxCommits},
	{"LostClaimRollsBack", finishTxLost},
	{"LostClaimIsNotCommitted", finishTxLostCommit},
	{"AfterARescueBeforeAnotherClaim", finishTxLate},
	{"Twice", finishTxTwice},
	{"WithOutput", finishTxOutput},
	{"WithAWaitingJob", finishTxGroup},
	{"WithAFollowUp", finishTxFollowUp},
	{"FreesTheKey", finishTxUnique},
	{"EndedTransaction", finishTxEnded},
	{"ForeignTransaction", finishTxForeign},
	{"FindClaim", findClaims},
	{"OthersDoNotWait", finishTxOthers},
	{"OtherSchedulesDoNotWait", finishTxSlots},
	{"RescueComesBack", finishTxRescue},
	{"RescueAfterACommit", finishTxRescueCommitted},
	{"RescueAfterAHeartbeat", finishTxRescueEndedBatch},
	{"LeaveLeavesItToARescue", finishTxLeave},
}

// finishTx records the completion of a claim in a transaction, together with an
// insert, and returns the number of the inserted job.
func (e *env) finishTx(tx Transaction, o store.Outcome) (effect int64) {
	e.t.Helper()
	effect = e.insertTx(tx.Tx, with(func(j *store.NewJob) { j.Queue = "effects" }))[0]
	res, err := e.a.Finish(e.ctx, store.FinishRequest{Now: e.now, Tx: tx.Tx, Outcomes: []store.Outcome{o}})
	e.must(err)
	e.want(len(res.Refused), 0, "the completion of a valid claim must be accepted in a transaction")
	return effect
}

// effects returns how many effects were committed.
func (e *env) effects() int {
	e.t.Helper()
	return len(e.list(store.ListJobsRequest{JobFilter: store.JobFilter{Queue: "effects"}}))
}

func (e *env) findClaim(c store.Claimed) store.ClaimState {
	e.t.Helper()
	state, err := e.b.FindClaim(e.ctx, store.ClaimRef{ID: c.ID, Token: c.Token})
	e.must(err)
	return state
}

func finishTxCommit(e *env) {
	n := e.node("n")
	c := e.running(n)
	e.tick(time.Second)
	tx := e.begin()
	e.finishTx(tx, outcome(c, store.Completed))
	e.want([]any{e.state(c.ID), e.effects()}, []any{store.StateRunning, 0}, "before the commit others must see neither the completion nor the effect")
	e.must(tx.Commit())
	info := e.job(c.ID)
	e.want([]any{info.State, info.Token, info.FinishedAt, e.effects()}, []any{store.StateCompleted, c.Token, e.now, 1},
		"the commit must make completion and effect real together")
	e.want(len(e.claims(n, false)), 0, "a job that was completed in a transaction must not be claimed")
	e.finishWell(outcome(c, store.Completed)) // recorded already
}

func finishTxRollback(e *env) {
	c := e.running(e.node("n"))
	tx := e.begin()
	e.finishTx(tx, outcome(c, store.Completed))
	e.must(tx.Rollback())
	e.want([]any{e.state(c.ID), e.effects()}, []any{store.StateRunning, 0}, "after a roll-back neither the completion nor the effect must exist")
	e.finishWell(outcome(c, store.Failed))
	e.want(e.state(c.ID), store.StateFailed, "after a roll-back the claim must still be valid")
}

// finishCommit records a completion and commits.
func (e *env) finishCommit(tx Transaction, c store.Claimed) (store.FinishResult, error) {
	e.insertTx(tx.Tx, with(func(j *store.NewJob) { j.Queue = "effects" }))
	return e.a.Finish(e.ctx, store.FinishRequest{Now: e.now, Tx: tx.Tx, Commit: true, Outcomes: []store.Outcome{outcome(c, store.Completed)}})
}

func finishTxCommits(e *env) {
	c := e.running(e.node("n"))
	tx := e.begin()
	res, err := e.finishCommit(tx, c)
	e.must(err)
	e.want(len(res.Refused), 0, "a valid claim must be accepted")
	e.want([]any{e.state(c.ID), e.effects()}, []any{store.StateCompleted, 1}, "with Commit the call must commit completion and effect")
	e.want(e.findClaim(c), store.ClaimCompleted, "the claim must be found completed")
	_ = tx.Rollback()
	e.want(e.effects(), 1, "a roll-back after the commit must do nothing")
}

// taken makes another node take a claimed job.
func (e *env) taken() (old, present store.Claimed) {
	e.t.Helper()
	dead, alive := e.node("dead"), e.nodeFor("alive", time.Hour)
	old = e.running(dead)
	e.tick(time.Minute)
	e.rescue(alive)
	e.tick(time.Minute)
	return old, e.claimOne(alive)
}

func finishTxLost(e *env) {
	old, present := e.taken()
	tx := e.begin()
	e.insertTx(tx.Tx, with(func(j *store.NewJob) { j.Queue = "effects" }))
	res, err := e.a.Finish(e.ctx, store.FinishRequest{Now: e.now, Tx: tx.Tx, Outcomes: []store.Outcome{outcome(old, store.Completed)}})
	e.ok(err != nil || len(res.Refused) == 1, "a lost claim must be refused in a transaction", res, err)
	e.ok(tx.Commit() != nil, "after a lost claim the transaction must not be committed")
	e.want([]any{e.state(old.ID), e.effects()}, []any{store.StateRunning, 0}, "the effects of a lost claim must never exist")
	e.finishWell(outcome(present, store.Completed))
}

func finishTxLostCommit(e *env) {
	old, present := e.taken()
	tx := e.begin()
	res, err := e.finishCommit(tx, old)
	e.ok(err != nil || len(res.Refused) == 1, "a lost claim must be refused with Commit", res, err)
	_ = tx.Rollback()
	e.want([]any{e.state(old.ID), e.effects()}, []any{store.StateRunning, 0}, "the effects of a lost claim must never exist")
	e.want([]any{e.findClaim(old), e.findClaim(present)}, []any{store.ClaimLost, store.ClaimHeld}, "the lost claim must be found lost")
}

func finishTxLate(e *env) {
	dead, alive := e.node("dead"), e.nodeFor("alive", time.Hour)
	c := e.running(dead)
	e.tick(time.Minute)
	e.rescue(alive)
	res, err := e.finishCommit(e.begin(), c)
	e.must(err)
	e.want([]any{len(res.Refused), e.state(c.ID), e.effects()}, []any{0, store.StateCompleted, 1}, "a late completion must count if no other claim took the job")
}

func finishTxTwice(e *env) {
	c := e.running(e.node("n"))
	tx := e.begin()
	e.finishTx(tx, outcome(c, store.Completed))
	e.finishTx(tx, outcome(c, store.Completed))
	e.must(tx.Commit())
	e.want([]any{e.state(c.ID), e.effects()}, []any{store.StateCompleted, 2}, "a repetition in the same transaction must change nothing")
}

func finishTxOutput(e *env) {
	c := e.running(e.node("n"))
	tx := e.begin()
	o := outcome(c, store.Completed)
	o.Output = []byte("it went\x00well")
	e.finishTx(tx, o)
	e.must(tx.Commit())
	info := e.job(c.ID)
	e.want(len(info.Attempts), 1, "an attempt with output must leave a record")
	e.want(string(info.Attempts[0].Output), "it went\x00well", "the output must be kept byte for byte")
}

func finishTxGroup(e *env) {
	node, running, waiting := e.queued()
	tx := e.begin()
	e.finishTx(tx, outcome(running, store.Completed))
	e.want(e.state(waiting), store.StateWaiting, "before the commit no waiting job may be released")
	e.must(tx.Rollback())
	e.want(e.state(waiting), store.StateWaiting, "after a roll-back no waiting job may be released")
	tx = e.begin()
	e.finishTx(tx, outcome(running, store.Completed))
	e.must(tx.Commit())
	e.released(node, waiting, "the commit must release the waiting job")
}

func finishTxFollowUp(e *env) {
	n := e.node("n")
	s := e.put("s", "{}").ID
	e.endsWith(n, store.Failed, fails(s, "bad"))
	since := e.now
	o := outcome(e.running(n), store.Completed)
	o.After = recovers(s, "well")
	tx := e.begin()
	e.finishTx(tx, o)
	e.want(e.hooks(), []string{"bad"}, "before the commit there must be no follow-up")
	e.must(tx.Rollback())
	e.wantHooks("s", since, "after a roll-back there must be no follow-up", "bad")
	tx = e.begin()
	e.finishTx(tx, o)
	e.must(tx.Commit())
	e.wantHooks("s", time.Time{}, "the follow-up must happen with the commit", "bad", "well")
}

func finishTxUnique(e *env) {
	n := e.node("n")
	e.wantNew(e.a, nil, "k", "key", "the first job with a key must be stored")
	c := e.claimOne(n)
	tx := e.begin()
	e.finishTx(tx, outcome(c, store.Completed))
	e.must(tx.Commit())
	e.wantNew(e.a, nil, "k", "key", "a completion in a transaction must free the key")
}

func finishTxEnded(e *env) {
	c := e.running(e.node("n"))
	for _, end := range []func(Transaction) error{
		func(tx Transaction) error { return tx.Commit() },
		func(tx Transaction) error { return tx.Rollback() },
	} {
		for _, commit := range []bool{false, true} {
			tx := e.begin()
			e.must(end(tx))
			_, err := e.a.Finish(e.ctx, store.FinishRequest{Now: e.now, Tx: tx.Tx, Commit: commit, Outcomes: []store.Outcome{outcome(c, store.Completed)}})
			e.ok(errors.Is(err, store.ErrTxEnded), "a completion in a transaction that has ended must give ErrTxEnded", err)
			e.want(e.state(c.ID), store.StateRunning, "a transaction that has ended must complete nothing")
		}
	}
}

func finishTxForeign(e *env) {
	c := e.running(e.node("n"))
	_, err := e.a.Finish(e.ctx, store.FinishRequest{Now: e.now, Tx: foreignTx{}, Outcomes: []store.Outcome{outcome(c, store.Completed)}})
	e.ok(errors.Is(err, store.ErrForeignTx), "another driver's transaction must give ErrForeignTx", err)
	e.want(e.state(c.ID), store.StateRunning, "another driver's transaction must complete nothing")
}

func findClaims(e *env) {
	n := e.node("n")
	c := e.running(n)
	e.want(e.findClaim(c), store.ClaimHeld, "a running job must be found held")
	e.finishWell(retryIn(c, time.Minute))
	e.want(e.findClaim(c), store.ClaimHeld, "a job that waits for its next attempt has its token")
	e.tick(time.Hour)
	again := e.claimOne(n)
	e.want([]any{e.findClaim(c), e.findClaim(again)}, []any{store.ClaimLost, store.ClaimHeld}, "the next claim must end the claim before")
	e.finishWell(outcome(again, store.Completed))
	e.want([]any{e.findClaim(c), e.findClaim(again)}, []any{store.ClaimLost, store.ClaimCompleted},
		"only the claim that completed the job must be found completed")
	failed := e.running(n)
	e.finishWell(outcome(failed, store.Failed))
	e.want(e.findClaim(failed), store.ClaimLost, "a job that failed was not completed")
	e.changeOne(store.DeleteJobs, again.ID)
	e.want(e.findClaim(again), store.ClaimCompleted, "a job whose row is gone was completed")
}

// open leaves a transaction open in which a job is completed.
func (e *env) open(node int64) (Transaction, store.Claimed) {
	e.t.Helper()
	if !e.RowLocks {
		e.t.Skip("in this store an open transaction that has written makes all other writers wait")
	}
	c := e.running(node)
	tx := e.begin()
	e.finishTx(tx, outcome(c, store.Completed))
	return tx, c
}

func finishTxOthers(e *env) {
	n := e.nodeFor("n", time.Hour)
	tx, c := e.open(n)
	e.want(e.findClaim(c), store.ClaimLocked, "the claim must be found locked")
	id := e.insertOne(newJob())
	other := e.claimOne(n)
	e.want(other.ID, id, "others must claim")
	e.finishWell(outcome(other, store.Completed))
	e.heartbeat(n)
	e.want(len(e.claims(n, false)), 1, "the claims must be read")
	waiting := e.insertOne(newJob())
	e.want(e.cancel(waiting), store.Changed, "other jobs must be cancelled")
	e.tick(time.Hour)
	e.prune(store.PruneRequest{Completed: time.Minute, Failed: time.Minute, Slots: time.Minute, Nodes: time.Minute, Limit: 10})
	e.must(tx.Commit())
	e.want(e.state(c.ID), store.StateCompleted, "the transaction must be committed")
}

func finishTxSlots(e *env) {
	if !e.RowLocks {
		e.t.Skip("in this store an open transaction that has written makes all other writers wait")
	}
	n := e.nodeFor("n", time.Hour)
	e.planned("s")
	e.ring("s")
	c := e.claimOne(n)
	e.planned("other")
	tx := e.begin()
	e.finishTx(tx, outcome(c, store.Completed))
	s, other := e.schedule("s"), e.schedule("other")
	for _, row := range []store.Schedule{s, other} {
		if row.NextAt.After(e.now) {
			e.now = row.NextAt
		}
	}
	res, err := e.a.Fire(e.ctx, store.FireRequest{Now: e.now, Firings: []store.Firing{ringing(s), ringing(other)}})
	e.must(err)
	fired := map[int64]bool{}
	for _, one := range res.Fired {
		fired[one.Schedule] = true
	}
	e.ok(fired[other.ID], "slots of other schedules must fire while a job of a schedule is completed", res)
	e.must(tx.Commit())
	e.want(e.state(c.ID), store.StateCompleted, "the transaction must be committed")
}

func finishTxRescue(e *env) {
	dead, alive := e.node("dead"), e.nodeFor("alive", time.Hour)
	tx, c := e.open(dead)
	other := e.running(dead)
	e.tick(time.Minute)
	res := e.rescue(alive)
	e.want([]int{len(res.Nodes), len(res.Jobs)}, []int{1, 1}, "a rescue must not wait for the job of an open transaction, nor take it")
	e.want(res.Jobs[0].ID, other.ID, "a rescue must take the other jobs of the node")
	e.want([]any{e.state(c.ID), e.findClaim(c)}, []any{store.StateRunning, store.ClaimLocked}, "the job of the open transaction must stay as it is")
	next := e.heartbeat(alive).NextExpiry
	e.want(next, e.now.Add(store.LookAgain), "a heartbeat must return when to look again")
	e.now = next
	res = e.rescue(alive)
	e.want([]int{len(res.Nodes), len(res.Jobs)}, []int{0, 0}, "while the transaction is open, a rescue must leave the job")
	next = e.heartbeat(alive).NextExpiry
	e.want(next, e.now.Add(store.LookAgain), "each time it must look again later")
	e.must(tx.Rollback())
	e.now = next
	res = e.rescue(alive)
	e.want(len(res.Nodes), 0, "a node dies once")
	e.want(res.Jobs, []store.RescuedJob{{ID: c.ID, Token: c.Token, Kind: "k", Queue: "q", Node: dead, State: store.StateReady, Begun: true}},
		"after the transaction has ended, a rescue must take its job")
	info := e.job(c.ID)
	e.want([]any{info.State, info.RunAt, info.Attempt, info.Losses},
		[]any{store.StateReady, e.now.Add(store.LossDelay(1)), int16(1), int16(1)}, "the rule of a loss must hold for it")
	e.want(e.heartbeat(alive).NextExpiry, time.Time{}, "then there is nothing left to look at")
	e.want(e.effects(), 0, "the effect was rolled back")
}

func finishTxRescueCommitted(e *env) {
	dead, alive := e.node("dead"), e.nodeFor("alive", time.Hour)
	tx, c := e.open(dead)
	e.tick(time.Minute)
	e.rescue(alive)
	e.must(tx.Commit())
	e.want([]any{e.state(c.ID), e.effects()}, []any{store.StateCompleted, 1}, "a completion that a rescue did not wait for must count")
	e.tick(time.Minute)
	e.want(len(e.rescue(alive).Jobs), 0, "a completed job must not be rescued")
	e.want(e.heartbeat(alive).NextExpiry, time.Time{}, "then there is nothing left to look at")
}

func finishTxRescueEndedBatch(e *env) {
	if !e.RowLocks {
		e.t.Skip("in this store an open transaction that has written makes all other writers wait")
	}
	dead, alive := e.node("dead"), e.nodeFor("alive", time.Hour)
	e.insertOne(newJob())
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: dead, Queue: "q", Kinds: []string{"k"}, Limit: 1})
	e.must(err)
	if res.Batch == 0 {
		e.t.Skip("this store does not number claims")
	}
	tx := e.begin()
	e.finishTx(tx, outcome(res.Jobs[0], store.Completed))
	e.tick(time.Minute)
	e.want(len(e.rescue(alive).Jobs), 0, "a rescue must leave the job of an open transaction")
	_, err = e.a.Heartbeat(e.ctx, store.HeartbeatRequest{Now: e.now, Node: dead, EndedBatches: []int64{res.Batch}})
	e.is(err, store.ErrNodeGone, "the heartbeat of a dead node must fail")
	e.must(tx.Rollback())
	e.tick(store.LookAgain)
	e.want(len(e.rescue(alive).Jobs), 1, "a dead node must not make the store forget a job that a rescue has left")
}

func finishTxLeave(e *env) {
	leaving, alive := e.nodeFor("leaving", time.Hour), e.nodeFor("alive", time.Hour)
	tx, c := e.open(leaving)
	res, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: leaving})
	e.must(err)
	e.want([]int{len(res.Nodes), len(res.Jobs)}, []int{1, 0}, "a leave must not wait for the job of an open transaction, nor take it")
	e.must(tx.Rollback())
	e.tick(store.LookAgain)
	res = e.rescue(alive)
	e.want(len(res.Jobs), 1, "a rescue must take the job that a leave has left")
	info := e.job(c.ID)
	e.want([]any{info.State, info.RunAt, info.Attempt, info.Losses}, []any{store.StateReady, e.now, int16(0), int16(0)}, "the rule of a leave must hold for it")
}
