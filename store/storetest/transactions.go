package storetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// WorkerStore is a fresh, empty store under test with transactions for workers.
type WorkerStore[T any] struct {
	// Clients are two backends over separate connections to one store.
	Clients [2]store.Backend
	// Transactions are on the store of the clients.
	Transactions store.Transactions[T]
}

// RunTransactions tests the transactions that a driver makes for workers. Tests
// run one after the other, as in Run. Operations is the number of races between a
// worker and a cancel, instead of 200; HOURBELL_STORETEST_OPS overrides it
// with a tenth.
func RunTransactions[T any](t *testing.T, open func(t *testing.T) WorkerStore[T], options ...Option) {
	s := settings{operations: 200}
	for _, option := range options {
		option(&s)
	}
	s.operations = min(1000, number(t, "HOURBELL_STORETEST_OPS", 10*s.operations)/10)
	if testing.Short() {
		s.operations = min(s.operations, 50)
	}
	for name, test := range map[string]func(*workerEnv[T]){
		"Commit":            (*workerEnv[T]).commits,
		"IsKeptAlive":       (*workerEnv[T]).isKeptAlive,
		"EndsWhenCompleted": (*workerEnv[T]).endsWhenCompleted,
		"Rollback":          (*workerEnv[T]).rollsBack,
		"LostClaim":         (*workerEnv[T]).losesItsClaim,
		"WithConsequences":  (*workerEnv[T]).hasConsequences,
		"Keep":              (*workerEnv[T]).keeps,
		"ContextHasEnded":   (*workerEnv[T]).contextEnds,
		"CancelAtTheMoment": (*workerEnv[T]).cancelRace,
		"RescueAtTheMoment": (*workerEnv[T]).rescueRace,
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			test(&workerEnv[T]{env: newEnv(t, Store{Clients: w.Clients}), txs: w.Transactions, races: s.operations})
		})
	}
}

// workerEnv is a test of RunTransactions.
type workerEnv[T any] struct {
	*env
	txs   store.Transactions[T]
	races int64
}

// beginWork begins a transaction and writes the effect of a job in it.
func (e *workerEnv[T]) beginWork(c store.Claimed) (store.WorkerTx[T], error) {
	for again := false; ; again = true {
		tx, err := e.txs.Begin(e.ctx, store.BeginTxRequest{Idle: 30 * time.Second, Again: again})
		if err != nil {
			return tx, err
		}
		job := with(func(j *store.NewJob) { j.Queue, j.Args = "effects", strconv.AppendInt(nil, c.ID, 10) })
		if _, err = e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Tx: tx.Tx, Jobs: []store.NewJob{job}}); err == nil {
			return tx, nil
		}
		tx.Rollback()
		if !e.txs.GaveUp(err) {
			return tx, err
		}
	}
}

// work runs one attempt as a node does, and reports whether it completed the job.
func (e *workerEnv[T]) work(c store.Claimed) (completed bool, err error) {
	for {
		tx, err := e.beginWork(c)
		if err != nil {
			return false, err
		}
		res, err := e.complete(tx, c)
		tx.Rollback()
		if err == nil || !e.txs.GaveUp(err) {
			return err == nil && len(res.Refused) == 0, err
		}
	}
}

func (e *workerEnv[T]) complete(tx store.WorkerTx[T], c store.Claimed) (store.FinishResult, error) {
	return e.a.Finish(e.ctx, store.FinishRequest{Now: e.now, Tx: tx.Tx, Commit: true, Outcomes: []store.Outcome{outcome(c, store.Completed)}})
}

// effectsOf returns how often the effect of a job was committed.
func (e *workerEnv[T]) effectsOf(id int64) (n int) {
	e.t.Helper()
	for _, job := range e.list(store.ListJobsRequest{JobFilter: store.JobFilter{Queue: "effects"}, Attempts: true, Limit: 1 << 20}) {
		if string(job.Args) == strconv.FormatInt(id, 10) {
			n++
		}
	}
	return n
}

func (e *workerEnv[T]) commits() {
	c := e.running(e.node("n"))
	tx, err := e.beginWork(c)
	e.must(err)
	e.want([]any{e.state(c.ID), e.effectsOf(c.ID)}, []any{store.StateRunning, 0}, "before the commit others must see nothing")
	res, err := e.complete(tx, c)
	e.must(err)
	e.want([]any{len(res.Refused), e.state(c.ID), e.effectsOf(c.ID)}, []any{0, store.StateCompleted, 1}, "the commit must make completion and effect real")
	tx.Rollback()
	e.want(e.effectsOf(c.ID), 1, "a roll-back after the commit must do nothing")
	_, err = e.complete(tx, c)
	e.is(err, store.ErrTxEnded, "a transaction that has ended must not complete a job")
}

// isKeptAlive keeps a transaction alive that is idle for longer than the database allows, and keeps it
// alive while the worker uses it.
func (e *workerEnv[T]) isKeptAlive() {
	const idle = 1500 * time.Millisecond // far more than a pause, which a busy machine prolongs
	c := e.running(e.node("n"))
	tx, err := e.txs.Begin(e.ctx, store.BeginTxRequest{Idle: idle})
	e.must(err)
	defer tx.Rollback()
	keep := func() {
		if tx.KeepAlive != nil {
			e.must(tx.KeepAlive(e.ctx))
		}
	}
	for range 5 {
		time.Sleep(idle / 4)
		keep()
	}
	returned := make(chan struct{})
	kept := make(chan error, 1)
	go func() {
		defer close(kept)
		for tx.KeepAlive != nil {
			select {
			case <-returned:
				return
			default:
			}
			if err := tx.KeepAlive(e.ctx); err != nil {
				kept <- err
				return
			}
		}
	}()
	job := with(func(j *store.NewJob) { j.Queue, j.Args = "effects", strconv.AppendInt(nil, c.ID, 10) })
	for range 5 {
		_, err = e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Tx: tx.Tx, Jobs: []store.NewJob{job}})
		e.must(err)
	}
	close(returned)
	e.must(<-kept)
	res, err := e.complete(tx, c)
	e.must(err)
	e.want([]any{len(res.Refused), e.state(c.ID), e.effectsOf(c.ID)}, []any{0, store.StateCompleted, 5}, "a transaction that was kept alive must be committed")
}

// endsWhenCompleted completes a job in a transaction that has been open for a while: delays of
// dependents count from the completion.
func (e *workerEnv[T]) endsWhenCompleted() {
	for _, keep := range []time.Duration{0, time.Hour, store.Forget} {
		e.real()
		c := e.running(e.node("n"))
		d := e.insertOne(follows(store.Edge{Job: c.ID, Delay: time.Minute}))
		tx, err := e.txs.Begin(e.ctx, store.BeginTxRequest{Idle: 30 * time.Second})
		e.must(err)
		time.Sleep(20 * time.Millisecond)
		before := e.real()
		o := outcome(c, store.Completed)
		o.Keep = keep
		_, err = e.a.Finish(e.ctx, store.FinishRequest{Tx: tx.Tx, Commit: true, Outcomes: []store.Outcome{o}})
		e.must(err)
		if keep != store.Forget {
			e.between("finished_at", before, e.job(c.ID).FinishedAt)
		}
		e.settle()
		e.between("the end from which a delay counts", before, e.job(d).RunAt.Add(-time.Minute))
		e.cancelLive()
	}
}

func (e *workerEnv[T]) rollsBack() {
	c := e.running(e.node("n"))
	tx, err := e.beginWork(c)
	e.must(err)
	tx.Rollback()
	tx.Rollback()
	e.want([]any{e.state(c.ID), e.effectsOf(c.ID)}, []any{store.StateRunning, 0}, "a roll-back must leave nothing")
	_, err = e.complete(tx, c)
	e.is(err, store.ErrTxEnded, "a transaction that was rolled back must not complete a job")
	e.want(e.state(c.ID), store.StateRunning, "a transaction that was rolled back must not complete a job")
	completed, err := e.work(c)
	e.must(err)
	e.ok(completed, "the claim must still be valid after a roll-back")
}

func (e *workerEnv[T]) losesItsClaim() {
	old, present := e.taken()
	completed, err := e.work(old)
	e.ok(!completed, "a lost claim must not complete the job", err)
	e.want([]any{e.state(old.ID), e.effectsOf(old.ID)}, []any{store.StateRunning, 0}, "the effect of a lost claim must never exist")
	completed, err = e.work(present)
	e.must(err)
	e.want([]any{completed, e.effectsOf(old.ID)}, []any{true, 1}, "the present claim must complete the job")
}

func (e *workerEnv[T]) hasConsequences() {
	node, running, waiting := e.queued()
	tx, err := e.beginWork(running)
	e.must(err)
	o := outcome(running, store.Completed)
	o.Output = []byte("said")
	res, err := e.a.Finish(e.ctx, store.FinishRequest{Now: e.now, Tx: tx.Tx, Commit: true, Outcomes: []store.Outcome{o}})
	e.must(err)
	e.want([]any{len(res.Refused), e.state(running.ID), e.effectsOf(running.ID)}, []any{0, store.StateCompleted, 1},
		"a job with output, of a serial group, must be completed")
	e.released(node, waiting, "the completion must release the waiting job")
}

// keeps completes jobs that are not kept, or kept for a time of their own.
func (e *workerEnv[T]) keeps() {
	for _, keep := range []time.Duration{store.Forget, time.Minute} {
		for _, alone := range []bool{true, false} {
			old, present := e.taken()
			for _, c := range []store.Claimed{old, present} {
				tx, err := e.beginWork(c)
				e.must(err)
				o := keeping(c, store.Completed, keep)
				o.Alone, o.Value = alone, []byte("1")
				res, err := e.a.Finish(e.ctx, store.FinishRequest{Now: e.now, Tx: tx.Tx, Commit: true, Outcomes: []store.Outcome{o}})
				e.must(err)
				tx.Rollback()
				e.want([]any{len(res.Refused) == 0, e.effectsOf(c.ID) == 1},
					[]any{c.Token == present.Token, c.Token == present.Token},
					"the present claim must complete the job with its effect, and a lost claim must not")
			}
			e.want(e.findClaim(present), store.ClaimCompleted, "the claim must be found completed")
			e.tick(time.Minute + time.Microsecond)
			if keep != store.Forget {
				e.want([]any{e.state(present.ID), string(e.job(present.ID).Result)}, []any{store.StateCompleted, "1"}, "the job must be kept with its result")
				e.want(e.prune(store.PruneRequest{}), store.PruneResult{Jobs: 1}, "the job must go when its time has passed")
			}
			e.gone(present.ID, "a job that is not kept must be gone")
		}
	}
}

func (e *workerEnv[T]) contextEnds() {
	c := e.running(e.node("n"))
	ctx, cancel := context.WithCancel(e.ctx)
	tx, err := e.txs.Begin(ctx, store.BeginTxRequest{Idle: 30 * time.Second})
	e.must(err)
	cancel()
	_, err = e.a.Finish(ctx, store.FinishRequest{Now: e.now, Tx: tx.Tx, Commit: true, Outcomes: []store.Outcome{outcome(c, store.Completed)}})
	e.ok(err != nil, "a completion must fail after its context has ended")
	tx.Rollback()
	e.want(e.findClaim(c), store.ClaimHeld, "after the roll-back the claim must be found held")
	completed, err := e.work(c)
	e.must(err)
	e.ok(completed, "the store must go on after a context has ended")
}

// together calls two functions at the same moment, more or less.
func together(a, b func()) {
	var both sync.WaitGroup
	for _, do := range []func(){a, b} {
		pause := time.Duration(rand.Int64N(int64(2 * time.Millisecond)))
		both.Go(func() {
			time.Sleep(pause)
			do()
		})
	}
	both.Wait()
}

// cancelRace cancels jobs while their workers complete them. The caller of the
// cancel, the worker and the store must agree about each job.
func (e *workerEnv[T]) cancelRace() {
	n := e.nodeFor("n", 24*time.Hour)
	seen := map[string]int{}
	for range e.races {
		c := e.running(n)
		var answer store.Change
		var completed, asked bool
		var errs [2]error
		together(func() {
			res, err := e.b.ChangeJobs(e.ctx, store.ChangeJobsRequest{Now: e.now, Action: store.CancelJobs, IDs: []int64{c.ID}, Reason: "asked"})
			if errs[0] = err; err == nil {
				answer = res.Changes[0].Change
			}
		}, func() {
			claims, err := e.a.Claims(e.ctx, store.ClaimsRequest{Node: n, Cancelled: true})
			if asked = len(claims) > 0; err == nil && !asked {
				completed, err = e.work(c)
			}
			errs[1] = err
		})
		e.must(errors.Join(errs[0], errs[1]))
		if !completed {
			e.ok(asked, "only a cancel may prevent the completion")
			e.finishWell(outcome(c, store.Cancelled))
		}
		state, effects := e.state(c.ID), e.effectsOf(c.ID)
		switch {
		case completed && state == store.StateCompleted && effects == 1 && (answer == store.Unchanged || answer == store.Requested):
		case !completed && state == store.StateCancelled && effects == 0 && answer == store.Requested:
		default:
			e.t.Fatalf("the cancel was answered with %v, the worker completed it: %v, the state is %v, effects: %d", answer, completed, state, effects)
		}
		seen[state.String()+" "+strconv.Itoa(int(answer))]++
		e.changeOne(store.DeleteJobs, c.ID)
		for _, id := range e.listIDs(store.ListJobsRequest{JobFilter: store.JobFilter{Queue: "effects"}, Limit: 10}) {
			e.changeOne(store.DeleteJobs, id)
		}
	}
	e.t.Log(seen)
}

// rescueRace lets another node take jobs while their workers complete them. Each
// job must have one effect in the end.
func (e *workerEnv[T]) rescueRace() {
	alive := e.nodeFor("alive", 24*time.Hour)
	seen := map[bool]int{}
	for range e.races / 5 {
		c := e.running(e.node("dying"))
		e.tick(time.Minute)
		e.heartbeat(alive)
		req := e.rescueBy(alive)
		var completed bool
		var again store.ClaimResult
		var errs [2]error
		together(func() {
			completed, errs[0] = e.work(c)
		}, func() {
			if _, errs[1] = e.b.Rescue(e.ctx, req); errs[1] == nil {
				again, errs[1] = e.b.Claim(e.ctx, store.ClaimRequest{Now: e.now.Add(time.Hour), Node: alive, Queue: "q", Kinds: []string{"k"}, Limit: 1})
			}
		})
		e.must(errs[1])
		for !completed && len(again.Jobs) == 0 { // the rescue left the job to the transaction, or the claim skipped it
			e.tick(time.Hour)
			e.rescue(alive)
			e.tick(time.Hour)
			again.Jobs = e.claim(alive, 1)
		}
		e.want(completed, len(again.Jobs) == 0, "a job must either be completed or taken")
		seen[completed]++
		for _, job := range again.Jobs {
			done, err := e.work(job)
			e.must(err)
			e.ok(done, "the node that took the job must complete it")
		}
		e.want([]any{e.state(c.ID), e.effectsOf(c.ID)}, []any{store.StateCompleted, 1}, "each job must have one effect")
	}
	e.t.Log(seen)
}
