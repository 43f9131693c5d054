package storetest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
)

var uniqueForTests = []scenario{
	{"AKeyIsHeldAfterTheEnd", heldAfterEnd},
	{"AKeyIsTakenUntilTheEnd", heldUntilEnd},
	{"EveryInsertMeetsAHold", heldForAll},
	{"ManyInARequest", heldBatch},
	{"ADeletionFreesTheKey", heldDeleted},
	{"ARetryTakesItsOwnKey", heldRevived},
	{"AFinishedJobIsKept", heldKept},
	{"InATransaction", heldInTx},
	{"TheWinnerRollsBackWhileFourWait", heldWinnerRollsBack},
	{"AllAtOnceAgree", heldRace},
}

// held returns a plain job that holds a key.
func held(kind, key string, d time.Duration) store.NewJob {
	job := keyed(kind, key)
	job.UniqueFor = d
	return job
}

// insertHeld inserts one job that may hold its key.
func (e *env) insertHeld(client store.Backend, tx store.Tx, job store.NewJob) store.Inserted {
	e.t.Helper()
	return e.insertKeyed(client, tx, job)[0]
}

// endHeld inserts a job that holds its key, runs it to its end, and returns its number.
func (e *env) endHeld(node int64, key string, d time.Duration, result store.Result) int64 {
	e.t.Helper()
	answer := e.insertHeld(e.a, nil, held("k", key, d))
	e.want(answer, store.Inserted{ID: answer.ID}, "the first job with a key must be stored")
	o := outcome(e.claimOne(node), result)
	o.Error = "e"
	e.finishWell(o)
	return answer.ID
}

func keptBy(id int64) store.Inserted {
	return store.Inserted{ID: id, Existed: true, Conflict: store.ConflictKept}
}

func heldBy(id int64) store.Inserted {
	return store.Inserted{ID: id, Existed: true, Conflict: store.ConflictHeld}
}

func heldAfterEnd(e *env) {
	node := e.node("n")
	for _, result := range []store.Result{store.Completed, store.Failed, store.Cancelled} {
		key := fmt.Sprint("key ", result)
		id := e.endHeld(node, key, time.Minute, result)
		e.tick(time.Minute - time.Microsecond)
		e.want(e.insertHeld(e.b, nil, held("k", key, time.Minute)), heldBy(id), "until its instant a key must be held after the end of its job")
		e.want(e.insertHeld(e.b, nil, held("l", key, time.Minute)).Existed, false, "another kind must have its own keys")
		e.tick(time.Microsecond)
		next := e.insertHeld(e.b, nil, held("k", key, time.Minute))
		e.want(next, store.Inserted{ID: next.ID}, "at its instant a key must be free")
		e.want(e.insertHeld(e.b, nil, held("k", key, time.Minute)), keptBy(next.ID), "the next job must hold the key")
		e.claim(node, 5)
	}
}

func heldUntilEnd(e *env) {
	node := e.node("n")
	first := e.insertHeld(e.a, nil, held("k", "key", time.Minute))
	e.want(e.insertHeld(e.b, nil, held("k", "key", time.Hour)), keptBy(first.ID), "while its job lives a key must be taken")
	e.tick(time.Hour)
	e.want(e.insertHeld(e.b, nil, held("k", "key", time.Minute)), keptBy(first.ID), "a job that lives must have its key also after the instant")
	e.finishWell(outcome(e.claimOne(node), store.Completed))
	second := e.insertHeld(e.a, nil, held("k", "key", time.Minute))
	e.want(second.Existed, false, "after the end and the instant the key must be free")
	e.tick(30 * time.Second)
	e.finishWell(outcome(e.claimOne(node), store.Completed))
	e.tick(30*time.Second - time.Microsecond)
	e.want(e.insertHeld(e.a, nil, held("k", "key", time.Second)), heldBy(second.ID), "the time must count from the insert of the job, not from its end")
}

func heldForAll(e *env) {
	node := e.node("n")
	id := e.endHeld(node, "key", time.Minute, store.Completed)
	e.want(e.insertHeld(e.a, nil, keyed("k", "key")), heldBy(id), "also a job that holds no key must meet a hold")
	e.tick(time.Minute)
	plain := e.insertHeld(e.a, nil, keyed("k", "key"))
	e.want(plain.Existed, false, "a hold that is over must not count")
	e.want(e.insertHeld(e.b, nil, held("k", "key", time.Minute)), keptBy(plain.ID), "a job that holds its key must meet a live job")
	e.finishWell(outcome(e.claimOne(node), store.Completed))
	e.want(e.insertHeld(e.a, nil, keyed("k", "key")).Existed, false, "a job that was not stored must hold nothing")
}

func heldBatch(e *env) {
	node := e.node("n")
	old := e.endHeld(node, "old", time.Hour, store.Completed)
	live := e.insertHeld(e.a, nil, keyed("k", "live")).ID
	got := e.insertKeyed(e.a, nil, held("k", "z", time.Hour), newJob(), held("k", "old", time.Hour), keyed("k", "a"), held("k", "live", time.Hour),
		held("k", "z", time.Minute), keyed("k", "old"), held("l", "z", time.Hour))
	e.want(got, []store.Inserted{
		{ID: got[0].ID}, {ID: got[1].ID}, heldBy(old), {ID: got[3].ID}, keptBy(live), keptBy(got[0].ID), heldBy(old), {ID: got[7].ID},
	}, "each job of a request must get its own answer")
	for _, c := range e.claim(node, 10) {
		e.finishWell(outcome(c, store.Completed))
	}
	e.tick(time.Hour - time.Microsecond)
	again := e.insertKeyed(e.b, nil, keyed("k", "z"), keyed("k", "a"), keyed("l", "z"), keyed("k", "live"))
	e.want([]store.Inserted{again[0], again[2]}, []store.Inserted{heldBy(got[0].ID), keptBy(got[7].ID)},
		"each job of a request must hold its own key, the first with a key")
	e.want([]bool{again[1].Existed, again[3].Existed}, []bool{false, false}, "the other keys of a request must be free after the end")
	large := make([]store.NewJob, 5100)
	for i := range large {
		large[i] = held("m", fmt.Sprint((i*7919)%len(large)), time.Hour)
	}
	stored := e.insertKeyed(e.a, nil, large...)
	_, err := e.a.ChangeJobs(e.ctx, store.ChangeJobsRequest{Now: e.now, Action: store.CancelJobs, IDs: store.InsertResult{Jobs: stored}.IDs()})
	e.must(err)
	for i, answer := range e.insertKeyed(e.b, nil, large...) {
		if answer != heldBy(stored[i].ID) {
			e.t.Fatalf("job %d of a large request: %+v, want held by %d", i, answer, stored[i].ID)
		}
	}
}

func heldDeleted(e *env) {
	node := e.node("n")
	id := e.endHeld(node, "key", time.Hour, store.Completed)
	e.want(e.changeOne(store.DeleteJobs, id), store.Changed, "a finished job must be deleted")
	live := e.insertHeld(e.a, nil, held("k", "key", time.Hour))
	e.want(live.Existed, false, "after the deletion of a finished job its key must be free")
	e.want(e.changeOne(store.DeleteJobs, live.ID), store.Changed, "a ready job must be deleted")
	e.want(e.insertHeld(e.a, nil, keyed("k", "key")).Existed, false, "after the deletion of a ready job its key must be free")
}

func heldRevived(e *env) {
	node := e.node("n")
	first := e.endHeld(node, "key", time.Minute, store.Failed)
	e.tick(time.Minute)
	second := e.endHeld(node, "key", time.Hour, store.Failed)
	before := e.job(first)
	e.want(e.retry(first), []store.JobChange{{ID: first, Change: store.KeyTaken, Holder: second}}, "a job whose key another job holds must not be revived")
	e.want(e.job(first), before, "a job that could not be revived must stay as it was")
	e.want(e.retry(second), []store.JobChange{{ID: second, Change: store.Changed}}, "a job must take back the key that it holds itself")
	e.want(e.insertHeld(e.a, nil, held("k", "key", time.Minute)), keptBy(second), "a revived job must have its key")
	e.finishWell(outcome(e.claimOne(node), store.Completed))
	e.want(e.insertHeld(e.a, nil, held("k", "key", time.Minute)), heldBy(second), "a job that was revived must hold its key after its second end")
	e.tick(time.Hour)
	e.want(e.retry(first), []store.JobChange{{ID: first, Change: store.Changed}}, "when the hold is over, the other job must be revived")
}

func heldKept(e *env) {
	node := e.node("n")
	held := []int64{
		e.endHeld(node, "a", 3*time.Hour, store.Completed), e.endHeld(node, "b", 2*time.Hour, store.Failed),
		e.endHeld(node, "c", 2*time.Hour, store.Cancelled),
	}
	plain := e.insertN(3)
	for _, c := range e.claim(node, 3) {
		e.finishWell(outcome(c, store.Completed))
	}
	all := store.PruneRequest{Completed: time.Second, Failed: time.Second, Limit: 2}
	prune := func() (n int) {
		for {
			res := e.prune(all)
			if n += res.Jobs; !res.More {
				return n
			}
		}
	}
	e.tick(time.Hour)
	e.want(prune(), len(plain), "a job that holds its key must not be pruned, and not hold up others")
	e.want(e.listIDs(store.ListJobsRequest{}), []int64{held[2], held[1], held[0]}, "the jobs that hold their keys must stay")
	e.tick(time.Hour)
	e.want(prune(), 2, "jobs that held their keys must be pruned when that is over")
	e.want(e.insertHeld(e.a, nil, keyed("k", "a")).ID, held[0], "a hold must not be pruned before its time")
	e.tick(time.Hour)
	e.want(prune(), 1, "jobs that held their keys must be pruned when that is over")
	e.want(e.insertHeld(e.a, nil, keyed("k", "a")).Existed, false, "the key must be free then")
}

func heldInTx(e *env) {
	tx := e.begin()
	id := e.insertHeld(e.a, tx.Tx, held("k", "key", time.Hour)).ID
	e.want(e.insertHeld(e.a, tx.Tx, held("k", "key", time.Hour)), keptBy(id), "a transaction must find what it inserted itself")
	e.must(tx.Rollback())
	node := e.node("n")
	id = e.endHeld(node, "key", time.Hour, store.Completed)
	tx = e.begin()
	e.want(e.insertHeld(e.a, tx.Tx, held("k", "key", time.Hour)), heldBy(id), "a roll-back must leave the key free, and a transaction must meet a hold")
	other := e.insertKeyed(e.a, tx.Tx, held("k", "other", time.Hour), newJob(), keyed("k", "key"))
	e.want([]bool{other[0].Existed, other[1].Existed, other[2].Existed}, []bool{false, false, true}, "a transaction must go on after it has met a hold")
	e.must(tx.Commit())
	e.want(e.cancel(other[0].ID), store.Changed, "a ready job must be cancelled")
	e.want(e.insertHeld(e.b, nil, held("k", "other", time.Hour)), heldBy(other[0].ID), "a transaction's job must hold its key after the commit")
}

// heldWinnerRollsBack has four inserts wait for a transaction that has inserted their key and
// rolls back: one of them stores its job, and the others find it.
func heldWinnerRollsBack(e *env) {
	for name, job := range map[string]store.NewJob{"plain": keyed("k", "plain"), "held": held("k", "held", time.Hour)} {
		tx := e.begin()
		e.want(e.insertHeld(e.a, tx.Tx, job).Existed, false, "the first job with a key must be stored")
		var mu sync.Mutex
		ids, stored := map[int64]bool{}, 0
		var failed error
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				answers, err := e.tryKeyed(e.Clients[i%2], nil, job)
				mu.Lock()
				defer mu.Unlock()
				failed = errors.Join(failed, err)
				for _, answer := range answers {
					if ids[answer.ID] = true; !answer.Existed {
						stored++
					}
				}
			})
		}
		time.Sleep(100 * time.Millisecond)
		mu.Lock()
		e.ok(len(ids) == 0, name+": inserts must wait for a transaction that has inserted their key", ids)
		mu.Unlock()
		e.must(tx.Rollback())
		all.Wait()
		e.must(failed)
		e.ok(len(ids) == 1 && stored == 1, name+": after the roll-back one of four must store its job, and the others find it", ids, stored)
	}
}

// heldRace inserts one key from many goroutines, while its jobs are claimed and end at
// once: one job is stored for each period.
func heldRace(e *env) {
	const rounds, goroutines = 15, 4
	node := e.node("n")
	for round := range rounds {
		e.tick(time.Hour)
		var mu sync.Mutex
		ids, stored := map[int64]bool{}, 0
		var failed error
		over := make(chan struct{})
		var worker sync.WaitGroup
		worker.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 5})
				for _, c := range res.Jobs {
					_, ended := e.a.Finish(e.ctx, store.FinishRequest{Now: e.now, Outcomes: []store.Outcome{outcome(c, store.Completed)}})
					err = errors.Join(err, ended)
				}
				mu.Lock()
				failed = errors.Join(failed, err)
				mu.Unlock()
			}
		})
		e.both(func(_ int, client store.Backend) {
			var all sync.WaitGroup
			for range goroutines {
				all.Go(func() {
					for range 3 {
						answers, err := e.tryKeyed(client, nil, held("k", fmt.Sprint(round%2), time.Minute))
						mu.Lock()
						failed = errors.Join(failed, err)
						for _, answer := range answers {
							if ids[answer.ID] = true; !answer.Existed {
								stored++
							}
						}
						mu.Unlock()
					}
				})
			}
			all.Wait()
		})
		close(over)
		worker.Wait()
		e.must(failed)
		e.ok(len(ids) == 1 && stored == 1, "of all inserts of a key in its period one must store its job and the others find it", ids, stored)
	}
}
