package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
)

var uniqueTests = []scenario{
	{"OneJobPerKeyAndKind", uniqueOnce},
	{"AKeyIsFreeWhenItsJobHasEnded", uniqueEnds},
	{"ARevivedJobTakesItsKeyBack", uniqueRevived},
	{"ARetryWaitsForATransaction", uniqueRetryWaits},
	{"RetriesAndInsertsRace", uniqueRetryRace},
	{"InATransaction", uniqueInTx},
	{"ATransactionIsWaitedFor", uniqueWaits},
	{"AllAtOnceAgree", uniqueRace},
}

// insertUnique inserts a job of a kind with a key and returns its number, or
// the number of the living job with that key.
func (e *env) insertUnique(client store.Backend, tx store.Tx, kind, key string) (id int64, found bool) {
	e.t.Helper()
	id, found, err := e.tryUnique(client, tx, kind, key)
	e.must(err)
	return id, found
}

func (e *env) tryUnique(client store.Backend, tx store.Tx, kind, key string) (id int64, found bool, err error) {
	res, err := e.tryKeyed(client, tx, keyed(kind, key))
	if err != nil {
		return 0, false, err
	}
	return res[0].ID, res[0].Existed, nil
}

// tryKeyed inserts jobs that may have keys.
func (e *env) tryKeyed(client store.Backend, tx store.Tx, jobs ...store.NewJob) ([]store.Inserted, error) {
	res, err := client.Insert(e.ctx, store.InsertRequest{Now: e.now, Tx: tx, Jobs: jobs})
	if err == nil && len(res.Jobs) != len(jobs) {
		err = fmt.Errorf("an insert of %d jobs must return an answer for each, not %d", len(jobs), len(res.Jobs))
	}
	return res.Jobs, err
}

// keyed returns a plain job with a key.
func keyed(kind, key string) store.NewJob {
	return with(func(j *store.NewJob) { j.Kind, j.Unique = kind, key })
}

func (e *env) wantNew(client store.Backend, tx store.Tx, kind, key, rule string) int64 {
	e.t.Helper()
	id, found := e.insertUnique(client, tx, kind, key)
	e.ok(!found, rule, "found", id)
	return id
}

func (e *env) wantFound(want int64, client store.Backend, tx store.Tx, kind, key, rule string) {
	e.t.Helper()
	id, found := e.insertUnique(client, tx, kind, key)
	e.ok(found && id == want, rule, "got", id, "found", found, "want", want)
}

func uniqueOnce(e *env) {
	first := e.wantNew(e.a, nil, "k", "key", "the first job with a key must be stored")
	e.want(e.job(first).Unique, "key", "a listed job must show its key")
	before := e.job(first)
	e.wantFound(first, e.b, nil, "k", "key", "a second job with the key must not be stored")
	e.want(e.job(first), before, "the job that lives must stay as it is")
	e.wantNew(e.b, nil, "l", "key", "a job of another kind may have the same key")
	e.wantNew(e.a, nil, "k", "Key", "keys must be compared byte by byte")
	e.wantNew(e.a, nil, "k", "key ", "keys must be compared with their spaces")
	plain := e.insertOne(newJob())
	e.want(e.job(plain).Unique, "", "a job without a key must show none")
	e.want(len(e.list(store.ListJobsRequest{})), 5, "nothing else may be stored")
}

func uniqueEnds(e *env) {
	node := e.node("n")
	ends := map[string]func(c store.Claimed){
		"completed": func(c store.Claimed) { e.finishWell(store.Outcome{ID: c.ID, Token: c.Token, Result: store.Completed}) },
		"failed": func(c store.Claimed) {
			e.finishWell(store.Outcome{ID: c.ID, Token: c.Token, Result: store.Failed, Error: "e"})
		},
		"cancelled": func(c store.Claimed) {
			e.finishWell(store.Outcome{ID: c.ID, Token: c.Token, Result: store.Cancelled, Error: "e"})
		},
	}
	for name, end := range ends {
		id := e.wantNew(e.a, nil, "k", "key", "after an end the key must be free")
		e.wantFound(id, e.a, nil, "k", "key", "a ready job must hold its key")
		c := e.claimOne(node)
		e.wantFound(id, e.b, nil, "k", "key", "a running job must hold its key")
		e.finishWell(store.Outcome{ID: c.ID, Token: c.Token, Result: store.Retry, Error: "e"})
		e.wantFound(id, e.a, nil, "k", "key", "a job that waits for its next attempt must hold its key")
		end(e.claimOne(node))
		e.want(e.job(id).Unique, "key", "a job that is "+name+" must still show its key")
	}
	id := e.wantNew(e.a, nil, "k", "key", "after an end the key must be free")
	e.want(e.cancel(id), store.Changed, "a ready job must be cancelled at once")
	id = e.wantNew(e.a, nil, "k", "key", "after a cancellation the key must be free")
	e.want(e.changeOne(store.DeleteJobs, id), store.Changed, "a ready job must be deleted at once")
	e.wantNew(e.a, nil, "k", "key", "after a deletion the key must be free")
}

func uniqueRevived(e *env) {
	n := e.node("n")
	id := e.wantNew(e.a, nil, "k", "key", "the first job with a key must be stored")
	e.finishWell(outcome(e.claimOne(n), store.Failed))
	other := e.wantNew(e.a, nil, "k", "key", "after a failure the key must be free")
	before := e.job(id)
	e.want(e.retry(id, id), []store.JobChange{{ID: id, Change: store.KeyTaken, Holder: other}, {ID: id, Change: store.KeyTaken, Holder: other}},
		"a job whose key another job holds must not be revived, and the answer must name the holder")
	e.want(e.job(id), before, "a job that could not be revived must stay as it was")
	e.wantFound(other, e.a, nil, "k", "key", "the key must stay with the job that holds it")

	e.want(e.changeOne(store.DeleteJobs, other), store.Changed, "a ready job must be deleted at once")
	e.want(e.retry(id, id), []store.JobChange{{ID: id, Change: store.Changed}, {ID: id, Change: store.Changed}}, "a job whose key is free must be revived")
	e.want([]any{e.job(id).State, e.job(id).Unique}, []any{store.StateReady, "key"}, "a revived job must take its key back")
	e.wantFound(id, e.b, nil, "k", "key", "a revived job must hold its key")

	e.want(e.cancel(id), store.Changed, "a ready job must be cancelled at once")
	second := e.wantNew(e.a, nil, "k", "key", "after a cancellation the key must be free")
	e.want(e.cancel(second), store.Changed, "a ready job must be cancelled at once")
	elsewhere := e.wantNew(e.a, nil, "l", "key", "another kind has keys of its own")
	e.want(e.cancel(elsewhere), store.Changed, "a ready job must be cancelled at once")
	plain := e.insertOne(newJob())
	e.want(e.cancel(plain), store.Changed, "a ready job must be cancelled at once")
	e.want(e.retry(second, plain, id, elsewhere), []store.JobChange{
		{ID: second, Change: store.Changed},
		{ID: plain, Change: store.Changed},
		{ID: id, Change: store.KeyTaken, Holder: second},
		{ID: elsewhere, Change: store.Changed},
	}, "of two jobs with one key the first that is named must be revived, and the others of the request as they are")
}

// retry makes jobs ready again.
func (e *env) retry(ids ...int64) []store.JobChange {
	e.t.Helper()
	return e.change(store.ChangeJobsRequest{Action: store.RetryJobs, IDs: ids})
}

// untilEnd makes a call that has to wait for the end of a transaction, ends the transaction, and returns the answer. waits is
// why the call has to wait.
func untilEnd[Answer any](e *env, end func() error, waits string, call func() (Answer, error)) Answer {
	e.t.Helper()
	type result struct {
		answer Answer
		err    error
	}
	results := make(chan result, 1)
	go func() {
		answer, err := call()
		results <- result{answer, err}
	}()
	select {
	case got := <-results:
		e.ok(false, waits, got)
		results <- got // read again below
	case <-time.After(100 * time.Millisecond):
	}
	e.must(end())
	got := <-results
	e.must(got.err)
	return got.answer
}

func uniqueRetryWaits(e *env) {
	for _, name := range []string{"commit", "roll-back"} {
		id := e.wantNew(e.a, nil, "k", name, "the first job with a key must be stored")
		e.want(e.cancel(id), store.Changed, "a ready job must be cancelled at once")
		tx := e.begin()
		end := map[string]func() error{"commit": tx.Commit, "roll-back": tx.Rollback}[name]
		other := e.wantNew(e.a, tx.Tx, "k", name, "after a cancellation the key must be free")
		res := untilEnd(e, end, "a retry must wait for a transaction that has inserted a job with the key", func() (store.ChangeJobsResult, error) {
			return e.b.ChangeJobs(e.ctx, store.ChangeJobsRequest{Now: e.now, Action: store.RetryJobs, IDs: []int64{id}})
		})
		want := store.JobChange{ID: id, Change: store.Changed}
		if name == "commit" {
			want = store.JobChange{ID: id, Change: store.KeyTaken, Holder: other}
		}
		e.want(res.Changes, []store.JobChange{want}, "after the "+name+" of the transaction, the retry must be answered by which job lives")
	}
}

// uniqueRetryRace retries two finished jobs with one key and inserts others with that
// key, plainly and in transactions, all at once: one job lives at the end, and every
// answer names it.
func uniqueRetryRace(e *env) {
	const rounds = 20
	for round := range rounds {
		key := fmt.Sprint("race ", round)
		var ended []int64
		for range 2 {
			id := e.wantNew(e.a, nil, "k", key, "the key must be free")
			e.want(e.cancel(id), store.Changed, "a ready job must be cancelled at once")
			ended = append(ended, id)
		}
		var mu sync.Mutex
		winners, named := 0, map[int64]bool{}
		var failed error
		answer := func(won bool, id int64, err error) {
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
			if named[id] = true; won {
				winners++
			}
		}
		e.both(func(_ int, client store.Backend) {
			var all sync.WaitGroup
			for _, ids := range [][]int64{{ended[0], ended[1]}, {ended[1], ended[0]}} {
				all.Go(func() {
					res, err := client.ChangeJobs(e.ctx, store.ChangeJobsRequest{Now: e.now, Action: store.RetryJobs, IDs: ids})
					for _, c := range res.Changes {
						if c.Change == store.Changed {
							c.Holder = c.ID // also of one that was revived before and is ready
						}
						answer(false, c.Holder, nil)
					}
					answer(false, 0, err)
				})
			}
			all.Go(func() {
				id, found, err := e.tryUnique(client, nil, "k", key)
				answer(err == nil && !found, id, err)
			})
			all.Wait()
		})
		e.must(failed)
		delete(named, 0)
		e.want(len(named), 1, "retries and inserts with one key must agree on the job that lives")
		for id := range named {
			e.want([]any{e.state(id), e.job(id).Unique}, []any{store.StateReady, key}, "the job that every answer names must live, with its key")
			e.ok(winners == 0 == slices.Contains(ended, id), "the job that lives was either revived or inserted", winners, id)
			e.want(e.cancel(id), store.Changed, "a ready job must be cancelled at once")
		}
	}
}

func uniqueInTx(e *env) {
	tx := e.begin()
	id := e.wantNew(e.a, tx.Tx, "k", "key", "the first job with a key must be stored")
	e.wantFound(id, e.a, tx.Tx, "k", "key", "a transaction must find what it inserted itself")
	e.must(tx.Rollback())
	e.want(len(e.list(store.ListJobsRequest{})), 0, "rolled-back work must never have existed")
	id = e.wantNew(e.b, nil, "k", "key", "a rolled-back job must leave its key free")
	tx = e.begin()
	e.wantFound(id, e.a, tx.Tx, "k", "key", "a transaction must find the job that lives")
	e.wantNew(e.a, tx.Tx, "k", "other", "a transaction must go on after it has found a job")
	e.must(tx.Commit())
	e.want(len(e.list(store.ListJobsRequest{})), 2, "a transaction must store what it did not find")
}

func uniqueWaits(e *env) {
	for _, name := range []string{"commit", "roll-back"} {
		tx := e.begin()
		end := map[string]func() error{"commit": tx.Commit, "roll-back": tx.Rollback}[name]
		id := e.wantNew(e.a, tx.Tx, "k", name, "the first job with a key must be stored")
		found := false
		lives := untilEnd(e, end, "an insert must wait for a transaction that has inserted a job with the key", func() (lives int64, err error) {
			lives, found, err = e.tryUnique(e.b, nil, "k", name)
			return lives, err
		})
		e.want(found, name == "commit", "after the "+name+" of the other transaction, found must be whether its job lives")
		e.ok(!found || lives == id, "what is found must be the job that lives", lives, id)
	}
}

func uniqueRace(e *env) {
	const rounds, goroutines = 20, 4
	for round := range rounds {
		key := fmt.Sprint(round)
		var mu sync.Mutex
		ids, stored := map[int64]bool{}, 0
		var failed error
		e.both(func(_ int, client store.Backend) {
			var all sync.WaitGroup
			for range goroutines {
				all.Go(func() {
					id, found, err := e.tryUnique(client, nil, "k", key)
					mu.Lock()
					defer mu.Unlock()
					ids[id], failed = true, errors.Join(failed, err)
					if err == nil && !found {
						stored++
					}
				})
			}
			all.Wait()
		})
		e.must(failed)
		e.ok(len(ids) == 1 && stored == 1, "of all who insert a key at once one must store its job and the others find it", len(ids), stored)
	}
	e.want(len(e.list(store.ListJobsRequest{})), rounds, "there must be one job for each key")
}
