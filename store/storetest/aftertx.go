package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

var afterTxTests = []scenario{
	{"OlderPredecessor", afterTxOlder},
	{"PredecessorOfTheTransaction", afterTxOwn},
	{"PredecessorThatKeepsNothing", afterTxForgotten},
	{"PredecessorThatLeavesNoRecord", afterTxNoRecord},
	{"RolledBack", afterTxRollback},
	{"RefusalsLeaveTheTransaction", afterTxRefusals},
	{"HoldsUpNothing", afterTxHoldsUpNothing},
	{"CommitAndEndAtTheSameMoment", afterTxRace},
	{"OwnJobOfTheWorker", afterTxWorker},
	{"WithKeys", afterKeys},
	{"WithKeysInATransaction", afterKeysTx},
	{"WithKeysRefused", afterKeysRefused},
	{"WithTheKeyOfAnotherTransaction", afterKeysWait},
}

// linked does what nodes do after a commit, and skips the rest of the test if they need an ability that is hidden here.
func (e *env) linked() {
	e.t.Helper()
	if able := e.settle(); !able && e.heartbeat(e.nodeFor("looks for notes", time.Hour)).Releases {
		e.t.Skip("nodes link jobs through an ability that is hidden here")
	}
}

// bounded makes a call that must not wait for an open transaction.
func (e *env) bounded(what string, call func(ctx context.Context) error) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.ctx, 20*time.Second)
	defer cancel()
	if err := call(ctx); err != nil {
		e.t.Fatalf("%s must not wait for an open transaction: %v", what, err)
	}
}

// afterTxOlder inserts dependents in transactions, of jobs that end in all ways at all moments.
func afterTxOlder(e *env) {
	node := e.nodeFor("n", 1e6*time.Hour)
	const delay = time.Hour
	for _, result := range []store.Result{store.Completed, store.Failed, store.Cancelled} {
		for _, moment := range []string{"before the insert", "before the commit", "after the commit", "after the link"} {
			rule := fmt.Sprintf("a predecessor that ended as %v %s: ", result.EndState(), moment)
			p := e.insertOne(newJob())
			c := e.claimOne(node)
			at := func(when string) {
				if moment == when {
					e.tick(time.Minute)
					e.finishWell(outcome(c, result))
				}
			}
			at("before the insert")
			tx := e.begin()
			var jobs []store.NewJob
			for _, o := range []store.On{store.OnSuccess, store.OnFailure, store.OnEither, store.OnEnd} {
				jobs = append(jobs, follows(store.Edge{Job: p, On: o, Delay: delay}), follows(on(p, o)))
			}
			ids := e.insertTx(tx.Tx, jobs...)
			if moment == "before the commit" && !e.RowLocks {
				moment = "after the commit"
			}
			at("before the commit")
			e.want(len(e.list(store.ListJobsRequest{JobFilter: store.JobFilter{IDs: ids}})), 0, rule+"others see no job before the commit")
			e.must(tx.Commit())
			if moment != "before the insert" && moment != "before the commit" {
				e.want(e.state(ids[0]), waits, rule+"the job waits")
				e.want(e.job(ids[0]).After, []store.JobEdge{{Edge: jobs[0].After[0]}}, rule+"the job has its edge")
			}
			at("after the commit")
			e.linked()
			at("after the link")
			ended := e.job(p).FinishedAt
			for i, id := range ids {
				want, matches := never, jobs[i].After[0].On.Matches(result.EndState())
				if matches {
					want = starts
				}
				e.want(e.state(id), want, rule+jobs[i].After[0].On.String())
				if delayed := i%2 == 0; matches && delayed {
					e.want(e.job(id).RunAt, ended.Add(delay), rule+"the delay counts from the end")
				}
				if !matches {
					e.want(e.job(id).Reason, store.NotStartedReason(store.Ended{ID: p, State: result.EndState()}), rule+"the reason")
				}
			}
			e.ok(!e.heartbeat(node).Releases, rule+"no note is left")
			e.cancelLive()
		}
	}
}

// afterTxOwn inserts jobs that follow each other by several calls of one transaction.
func afterTxOwn(e *env) {
	node := e.nodeFor("n", 1e6*time.Hour)
	older := e.insertOne(newJob())
	tx := e.begin()
	first := e.insertTx(tx.Tx, newJob())[0]
	second := e.insertTx(tx.Tx, follows(on(first, store.OnSuccess)))[0]
	third := e.insertTx(tx.Tx, newJob(), follows(place(1, store.OnSuccess), on(second, store.OnSuccess), on(older, store.OnSuccess)))
	never1 := e.insertTx(tx.Tx, follows(on(first, store.OnFailure)))[0]
	never2 := e.insertTx(tx.Tx, follows(on(never1, store.OnEither)))[0]
	e.must(tx.Commit())
	e.want(claimedIDs(e.claim(node, 10)), []int64{older, first, third[0]}, "only jobs without predecessors start")
	e.linked()
	e.want(len(e.claim(node, 10)), 0, "the others wait for the ends")
	var ran []int64
	for _, id := range []int64{older, third[0], first} {
		e.finishWell(store.Outcome{ID: id, Token: e.job(id).Token, Result: store.Completed, Alone: true})
	}
	for {
		claims := e.claim(node, 10)
		if len(claims) == 0 {
			break
		}
		for _, c := range claims {
			ran = append(ran, c.ID)
			e.finishWell(outcome(c, store.Completed))
		}
	}
	e.want(ran, []int64{second, third[1]}, "each dependent starts once, after its predecessors")
	e.want(e.state(never1), never, "an edge that did not match")
	e.want(e.job(never2).Reason, fmt.Sprintf("job %d completed", first), "what follows a job that is not started is not started")
}

// afterTxForgotten ends a predecessor, of the same transaction and of a kind that keeps nothing, before a node has linked
// its dependents.
func afterTxForgotten(e *env) {
	node := e.nodeFor("n", 1e6*time.Hour)
	for _, unique := range []string{"", "key"} {
		tx := e.begin()
		p := e.insertTx(tx.Tx, with(func(j *store.NewJob) { j.Unique = unique }))[0]
		ids := e.insertTx(tx.Tx, follows(on(p, store.OnSuccess)), follows(on(p, store.OnFailure)))
		e.must(tx.Commit())
		o := outcome(e.claimOne(node), store.Completed)
		o.Keep = store.Forget
		e.finishWell(o)
		e.tick(time.Second)
		_, err := e.a.Prune(e.ctx, store.PruneRequest{Now: e.now, Completed: time.Hour, Failed: time.Hour, Limit: 100})
		e.must(err)
		e.linked()
		e.want([]store.State{e.state(ids[0]), e.state(ids[1])}, []store.State{starts, never},
			"the end of the predecessor must not be forgotten before its dependents are linked")
		e.want(e.job(ids[1]).Reason, fmt.Sprintf("job %d completed", p), "the reason")
		c := e.claimOne(node)
		e.want(c.ID, ids[0], "the dependent starts")
		e.want(e.finish(o), []store.ClaimRef(nil), "a repeated outcome is recorded already")
		e.finishWell(outcome(c, store.Completed))
		e.tick(time.Second)
		_, err = e.a.Prune(e.ctx, store.PruneRequest{Now: e.now, Completed: time.Hour, Failed: time.Hour, Limit: 100})
		e.must(err)
		e.want(len(e.list(store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{p}}})), 0,
			"the next pruning deletes a predecessor that was kept for its dependents")
	}
}

// afterTxNoRecord lets predecessors leave no record while the transaction of their dependents is open.
func afterTxNoRecord(e *env) {
	if !e.RowLocks {
		e.t.Skip("other calls wait for the transaction")
	}
	node := e.nodeFor("n", 1e6*time.Hour)
	forgotten := e.insertOne(newJob())
	o := outcome(e.claimOne(node), store.Completed)
	o.Keep = store.Forget
	pruned := e.insertOne(newJob())
	e.end(node, pruned, store.Completed)
	deleted := e.insertOne(newJob())
	all := []int64{forgotten, pruned, deleted}
	tx := e.begin()
	var jobs []store.NewJob
	for _, p := range all {
		jobs = append(jobs, follows(on(p, store.OnSuccess)), follows(on(p, store.OnEither)))
	}
	ids := e.insertTx(tx.Tx, jobs...)
	e.finishWell(o)
	e.tick(2 * time.Hour)
	_, err := e.a.Prune(e.ctx, store.PruneRequest{Now: e.now, Completed: time.Hour, Failed: time.Hour, Limit: 100})
	e.must(err)
	e.changeOne(store.DeleteJobs, deleted)
	e.want(len(e.list(store.ListJobsRequest{})), 0, "all predecessors are gone")
	e.must(tx.Commit())
	e.linked()
	for i, id := range ids {
		e.want(e.state(id), never, "a job must not start, nor wait for ever, if nothing is known of the end of its predecessor")
		e.want(e.job(id).Reason, fmt.Sprintf("job %d left no record of its end", all[i/2]), "the reason")
	}
}

func afterTxRollback(e *env) {
	node := e.nodeFor("n", 1e6*time.Hour)
	p, ended := e.insertOne(newJob()), e.insertOne(newJob())
	c := e.claim(node, 2)
	e.finishWell(outcome(c[1], store.Completed))
	tx := e.begin()
	e.insertTx(tx.Tx, follows(on(p, store.OnSuccess)), follows(on(ended, store.OnSuccess)), follows(on(ended, store.OnFailure)))
	own := e.insertTx(tx.Tx, newJob())[0]
	e.insertTx(tx.Tx, follows(on(own, store.OnSuccess)))
	e.must(tx.Rollback())
	e.linked()
	e.ok(!e.heartbeat(node).Releases, "no note is left of an insert that was rolled back")
	e.want(e.listIDs(store.ListJobsRequest{}), []int64{ended, p}, "no job is left of an insert that was rolled back")
	links, err := store.List[store.Link](e.ctx, e.b, store.ListRequest{IDs: []int64{p, ended, own}, Limit: 10})
	e.must(err)
	e.want(len(links), 0, "no edge is left of an insert that was rolled back")
	e.finishWell(outcome(c[0], store.Completed))
	e.want(len(e.claim(node, 10)), 0, "nothing follows")
}

func afterTxRefusals(e *env) {
	node := e.nodeFor("n", 1e6*time.Hour)
	p := e.insertOne(newJob())
	e.insertOne(with(func(j *store.NewJob) { j.Unique, j.Delay = "taken", time.Hour }))
	tx := e.begin()
	first := e.insertTx(tx.Tx, follows(on(p, store.OnSuccess)))[0]
	for name, jobs := range map[string][]store.NewJob{
		"unknown":          {newJob(), follows(on(p+1000, store.OnSuccess))},
		"unknown, new key": {newJob(), with(func(j *store.NewJob) { j.Unique, j.After = "new", []store.Edge{on(p+1000, store.OnSuccess)} })},
		"taken key is error": {follows(on(p, store.OnSuccess)), with(func(j *store.NewJob) {
			j.Unique, j.OnConflict, j.After = "taken", store.OnConflictError, []store.Edge{on(p, 0)}
		})},
	} {
		_, err := e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Tx: tx.Tx, Jobs: jobs})
		e.ok(errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDuplicate), name+": the insert is refused", err)
	}
	second := e.insertTx(tx.Tx, follows(on(first, store.OnSuccess)))[0]
	e.must(tx.Commit())
	e.linked()
	e.want(len(e.list(store.ListJobsRequest{})), 4, "a refused insert leaves nothing in its transaction, which goes on")
	for _, id := range []int64{p, first, second} {
		e.end(node, id, store.Completed)
	}
}

// afterTxHoldsUpNothing makes calls that concern predecessors while a transaction is open that has inserted dependents of
// them.
func afterTxHoldsUpNothing(e *env) {
	if !e.RowLocks {
		e.t.Skip("other calls wait for the transaction")
	}
	node := e.nodeFor("n", 1e6*time.Hour)
	ids := e.insertN(6)
	claims := e.claim(node, 3)
	e.finishWell(outcome(claims[0], store.Failed))
	tx := e.begin()
	var dependents []int64
	for _, id := range ids {
		dependents = append(dependents, e.insertTx(tx.Tx, follows(on(id, store.OnEither)))[0])
	}
	change := func(action store.JobAction, id int64) func(context.Context) error {
		return func(ctx context.Context) error {
			res, err := e.b.ChangeJobs(ctx, store.ChangeJobsRequest{Now: e.now, Action: action, IDs: []int64{id}})
			if err == nil && res.Changes[0].Change != store.Changed {
				err = fmt.Errorf("%v", res.Changes)
			}
			return err
		}
	}
	e.bounded("an enqueue of a dependent without the transaction", func(ctx context.Context) error {
		res, err := e.b.Insert(ctx, store.InsertRequest{Now: e.now, Jobs: []store.NewJob{follows(on(ids[1], store.OnSuccess)), follows(on(ids[3], store.OnFailure))}})
		dependents = append(dependents, res.IDs()...)
		return err
	})
	e.bounded("the outcome of a predecessor", func(ctx context.Context) error {
		_, err := e.b.Finish(ctx, store.FinishRequest{Now: e.now, Outcomes: []store.Outcome{outcome(claims[1], store.Completed), outcome(claims[2], store.Retry)}})
		return err
	})
	e.bounded("the retry by hand of a predecessor", change(store.RetryJobs, ids[0]))
	e.bounded("the cancellation of a predecessor", change(store.CancelJobs, ids[3]))
	e.bounded("the deletion of a predecessor", change(store.DeleteJobs, ids[4]))
	e.bounded("the claim of a predecessor", func(ctx context.Context) error {
		res, err := e.b.Claim(ctx, store.ClaimRequest{Now: e.now, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 10})
		if claims = res.Jobs; err == nil && len(claims) != 5 { // three predecessors, and the two dependents that were inserted without the transaction
			err = fmt.Errorf("got %v", claimedIDs(claims))
		}
		return err
	})
	e.bounded("a heartbeat", func(ctx context.Context) error {
		_, err := e.b.Heartbeat(ctx, store.HeartbeatRequest{Now: e.now, Node: node})
		return err
	})
	if deferring, able := e.b.(store.Deferring); able {
		e.bounded("the release of dependents", func(ctx context.Context) error {
			return deferring.CarryOut(ctx, store.CarryOutRequest{Now: e.now})
		})
	}
	e.bounded("pruning", func(ctx context.Context) error {
		_, err := e.b.Prune(ctx, store.PruneRequest{Now: e.now.Add(2 * time.Hour), Completed: time.Hour, Failed: time.Hour, Limit: 100})
		return err
	})
	e.must(tx.Commit())
	e.linked()
	for _, c := range claims {
		e.finishWell(outcome(c, store.Completed))
	}
	var got []store.State
	for _, id := range dependents[:6] {
		got = append(got, e.state(id))
	}
	// The fifth predecessor was deleted before the commit; the second and the fourth are kept because jobs follow them.
	e.want(got, []store.State{starts, starts, starts, starts, never, starts}, "the dependents are linked after the commit")
}

// afterTxRace ends predecessors at the moment of the commit that inserts their dependents.
func afterTxRace(e *env) {
	node := e.nodeFor("n", time.Hour)
	for range afterRounds() {
		ids := e.insertN(2)
		claims := e.claim(node, 2)
		var dependents []int64
		e.atOnce(
			func(b store.Backend) (err error) {
				some := follows(on(ids[0], store.OnSuccess), on(ids[1], store.OnSuccess))
				some.Any = true
				jobs := []store.NewJob{follows(on(ids[0], store.OnSuccess), on(ids[1], store.OnSuccess)), some, follows(on(ids[1], store.OnFailure))}
				for range 100 { // a program repeats a transaction for which the file was locked
					if dependents, err = e.insertAlone(jobs...); err == nil {
						break
					}
					time.Sleep(time.Millisecond)
				}
				return err
			},
			func(b store.Backend) error {
				for _, c := range claims {
					if _, err := b.Finish(e.ctx, store.FinishRequest{Now: e.now, Outcomes: []store.Outcome{outcome(c, store.Completed)}}); err != nil {
						return err
					}
				}
				return nil
			})
		e.linked()
		started := claimedIDs(e.claim(node, 5))
		slices.Sort(started)
		e.want(started, dependents[:2], "each dependent whose edges match starts once")
		e.want(e.state(dependents[2]), never, "the other dependent is not started")
		e.cancelLive()
	}
}

// insertAlone inserts jobs in a transaction of their own.
func (e *env) insertAlone(jobs ...store.NewJob) ([]int64, error) {
	tx, err := e.Begin(e.ctx)
	if err != nil {
		return nil, err
	}
	res, err := e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Tx: tx.Tx, Jobs: jobs})
	if err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return res.IDs(), tx.Commit()
}

// afterTxWorker inserts, in the transaction in which a job completes, a job that follows it.
func afterTxWorker(e *env) {
	node := e.nodeFor("n", time.Hour)
	for _, keep := range []time.Duration{0, store.Forget} {
		e.insertOne(newJob())
		c := e.claimOne(node)
		tx := e.begin()
		ids := e.insertTx(tx.Tx, follows(on(c.ID, store.OnSuccess)), follows(on(c.ID, store.OnFailure)))
		o := outcome(c, store.Completed)
		o.Keep = keep
		res, err := e.a.Finish(e.ctx, store.FinishRequest{Now: e.now, Tx: tx.Tx, Outcomes: []store.Outcome{o}})
		e.must(err)
		e.want(len(res.Refused), 0, "the outcome is accepted")
		e.must(tx.Commit())
		e.linked()
		e.want([]store.State{e.state(ids[0]), e.state(ids[1])}, []store.State{starts, never}, "a job may follow the job that inserts it")
		e.cancelLive()
	}
}

// keyedAfter returns a job with a key and predecessors.
func keyedAfter(key string, edges ...store.Edge) store.NewJob {
	return with(func(j *store.NewJob) { j.Unique, j.After = key, edges })
}

// afterKeys inserts jobs with keys and predecessors.
func afterKeys(e *env) {
	afterKeysBy(e, func(jobs ...store.NewJob) []store.Inserted {
		res, err := e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Jobs: jobs})
		e.must(err)
		return res.Jobs
	})
}

// afterKeysTx does the same in a transaction for each insert.
func afterKeysTx(e *env) {
	afterKeysBy(e, func(jobs ...store.NewJob) []store.Inserted {
		tx := e.begin()
		res, err := e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Tx: tx.Tx, Jobs: jobs})
		e.must(err)
		e.must(tx.Commit())
		e.linked()
		return res.Jobs
	})
}

func afterKeysBy(e *env, insert func(...store.NewJob) []store.Inserted) {
	node := e.nodeFor("n", 1e6*time.Hour)
	ids := e.insertN(2)
	p, other := ids[0], ids[1]
	d := insert(keyedAfter("d", on(p, store.OnSuccess)))[0]
	e.want(d.Existed, false, "a free key is given to a job that waits")
	e.want(e.state(d.ID), waits, "the job waits")
	e.want(insert(keyedAfter("d", on(other, store.OnSuccess)))[0],
		store.Inserted{ID: d.ID, Existed: true, Conflict: store.ConflictKept}, "the job that waits has the key")
	e.want(e.job(d.ID).After, []store.JobEdge{{Edge: on(p, store.OnSuccess)}}, "the predecessors of a job that has the key stay what they were")
	e.want(insert(keyedAfter("d", on(1e12, store.OnSuccess)))[0].ID, d.ID, "if another job has the key, the predecessors do not matter")

	several := insert(keyedAfter("x", on(p, store.OnSuccess)), keyedAfter("x", on(other, store.OnSuccess)),
		follows(on(other, store.OnSuccess)), keyedAfter("d", on(other, store.OnSuccess)))
	e.want([]bool{several[0].Existed, several[1].Existed, several[2].Existed, several[3].Existed},
		[]bool{false, true, false, true}, "the jobs of an insert count one after the other")
	e.want([]int64{several[1].ID, several[3].ID}, []int64{several[0].ID, d.ID}, "the answer has the job that has the key")
	e.want(len(e.job(several[0].ID).After), 1, "the predecessors of a job that has the key stay what they were")

	claims := e.claim(node, 5)
	e.finishWell(outcome(claims[0], store.Completed))
	e.want([]store.State{e.state(d.ID), e.state(several[0].ID), e.state(several[2].ID)},
		[]store.State{starts, starts, waits}, "a job with a key starts after its predecessor")
	e.want(insert(keyedAfter("d", on(p, store.OnFailure)))[0].ID, d.ID, "the job that is ready has the key")
	e.want(e.state(d.ID), starts, "an edge of the call that does not match does not concern the job that has the key")
	e.finishWell(outcome(claims[1], store.Completed))
	for _, c := range e.claim(node, 5) {
		e.finishWell(outcome(c, store.Completed))
	}
	missed := insert(keyedAfter("d", on(p, store.OnFailure)))[0]
	e.want(missed.Existed, false, "the key is free after the end of its job")
	e.want(e.state(missed.ID), never, "a job with a key whose edge cannot match is not started")

	hold := keyedAfter("held", on(p, store.OnSuccess))
	hold.UniqueFor = time.Hour
	h := insert(hold)[0]
	e.end(node, h.ID, store.Completed)
	e.want(insert(keyedAfter("held", on(p, store.OnSuccess)))[0],
		store.Inserted{ID: h.ID, Existed: true, Conflict: store.ConflictHeld}, "a job that has ended may hold its key")
	e.want(len(e.claim(node, 5)), 0, "nothing else starts")

	e.insertOne(with(func(j *store.NewJob) { j.Unique = "until start" }))
	runs := e.claimOne(node)
	next := keyedAfter("until start", on(runs.ID, store.OnSuccess))
	next.UntilStart = true
	n := insert(next)[0]
	e.want(n.Existed, false, "the key of a job that has begun passes to a job that follows it")
	e.finishWell(outcome(runs, store.Completed))
	e.end(node, n.ID, store.Completed)
}

func afterKeysRefused(e *env) {
	p := e.insertOne(newJob())
	holder := e.insertOne(with(func(j *store.NewJob) { j.Unique = "d" }))
	for _, choice := range []store.OnConflict{store.OnConflictReplace, store.OnConflictReschedule} {
		job := keyedAfter("d", on(p, store.OnSuccess))
		job.OnConflict = choice
		_, err := e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Jobs: []store.NewJob{job}})
		var field *check.FieldError
		e.ok(errors.As(err, &field) && field.Field == "after",
			"a job that may change another job has no predecessors, because the other job would not wait for them", err)
	}
	job := keyedAfter("d", on(p, store.OnSuccess))
	job.OnConflict = store.OnConflictError
	_, err := e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Jobs: []store.NewJob{follows(on(p, store.OnSuccess)), job}})
	var duplicate *store.DuplicateError
	e.ok(errors.As(err, &duplicate) && duplicate.ID == holder && duplicate.Index == 1, "a taken key is an error", err)
	_, err = e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Jobs: []store.NewJob{newJob(), keyedAfter("new", on(1e12, store.OnSuccess))}})
	e.is(err, store.ErrNotFound, "nothing is known of the predecessor")
	e.want(len(e.list(store.ListJobsRequest{})), 2, "a refused insert stores nothing")
	e.want(e.insertOne(keyedAfter("new", on(p, store.OnSuccess))) > holder, true, "the key of a refused job is free")
}

// afterKeysWait inserts a job whose key an open transaction has inserted, and ends its predecessor while the insert waits.
func afterKeysWait(e *env) {
	if !e.RowLocks {
		e.t.Skip("other calls wait for the transaction")
	}
	node := e.nodeFor("n", time.Hour)
	p := e.insertOne(newJob())
	c := e.claimOne(node)
	tx := e.begin()
	e.insertTx(tx.Tx, with(func(j *store.NewJob) { j.Unique, j.Delay = "d", time.Hour }))
	inserted := make(chan store.InsertResult, 1)
	failed := make(chan error, 1)
	go func() {
		res, err := e.b.Insert(e.ctx, store.InsertRequest{Now: e.now, Jobs: []store.NewJob{keyedAfter("d", on(p, store.OnSuccess))}})
		inserted <- res
		failed <- err
	}()
	time.Sleep(50 * time.Millisecond) // so that it waits already; if not, the test shows less
	e.bounded("the outcome of a predecessor, while the insert of a dependent waits for a key", func(ctx context.Context) error {
		_, err := e.a.Finish(ctx, store.FinishRequest{Now: e.now, Outcomes: []store.Outcome{outcome(c, store.Completed)}})
		return err
	})
	e.must(tx.Rollback())
	d := <-inserted
	e.must(<-failed)
	e.linked()
	e.want(e.state(d.Jobs[0].ID), starts, "the insert gets the key after the rollback")
}
