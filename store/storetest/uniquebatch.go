package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
)

// keyedBatchTests test inserts of several jobs that may have keys.
var keyedBatchTests = []scenario{
	{"MixedJobs", batchMixed},
	{"SameKeysInOneRequest", batchSameKeys},
	{"OtherJobsOfSchedules", batchSchedules},
	{"TravelsWithTheClaim", batchClaimed},
	{"LargeBatch", batchLarge},
	{"InATransaction", batchInTx},
	{"ATransactionIsWaitedFor", batchWaits},
	{"AnErrorStoresNothing", batchNone},
	{"AllAtOnceAgree", batchRace},
}

// insertKeyed inserts jobs that may have keys.
func (e *env) insertKeyed(client store.Backend, tx store.Tx, jobs ...store.NewJob) []store.Inserted {
	e.t.Helper()
	answers, err := e.tryKeyed(client, tx, jobs...)
	e.must(err)
	return answers
}

// existed returns which of the answers say that a job existed.
func existed(answers []store.Inserted) []bool {
	var out []bool
	for _, answer := range answers {
		out = append(out, answer.Existed)
	}
	return out
}

func batchMixed(e *env) {
	before := e.wantNew(e.a, nil, "k", "b", "the first job with a key must be stored")
	plain := with(func(j *store.NewJob) { j.Args, j.Queue, j.Headers = []byte(`"plain"`), "r", []byte(`{"a":"b"}`) })
	last := with(func(j *store.NewJob) {
		j.Unique, j.Args, j.Priority, j.OnLoss = "a", []byte(`"a"`), 2, store.OnLossFail
	})
	got := e.insertKeyed(e.b, nil, keyed("k", "c"), plain, keyed("k", "b"), keyed("l", "b"), newJob(), last)
	e.want(existed(got), []bool{false, false, true, false, false, false}, "only a job whose key a live job of its kind has may be left out")
	e.want(got[2].ID, before, "the answer for a job that was left out must be the number of the live job")
	stored := []int64{got[0].ID, got[1].ID, got[3].ID, got[4].ID, got[5].ID}
	e.ok(slices.IsSorted(stored) && stored[0] > before, "the numbers of the stored jobs must grow in the order of the request", stored)
	for i, want := range map[int]store.NewJob{0: keyed("k", "c"), 1: plain, 3: keyed("l", "b"), 4: newJob(), 5: last} {
		job := e.job(got[i].ID)
		e.ok(sameJSON(job.Headers, want.Headers), "headers must be kept", string(job.Headers))
		job.Headers = want.Headers
		e.want(job.JobSpec, want.JobSpec, "each job of a batch must be stored as requested, with its own key or none")
		e.want([]any{job.RunAt, job.CreatedAt, job.State}, []any{e.now, e.now, store.StateReady}, "a job of a batch must be ready at once")
	}
	e.want(len(e.list(store.ListJobsRequest{})), 6, "nothing else may be stored")
}

func batchSameKeys(e *env) {
	got := e.insertKeyed(e.a, nil, keyed("k", "a"), keyed("l", "a"), keyed("k", "a"), newJob(), keyed("k", "a"))
	e.want(existed(got), []bool{false, false, true, false, true}, "of the jobs with one kind and key in a request the first must be stored")
	e.want([]int64{got[2].ID, got[4].ID}, []int64{got[0].ID, got[0].ID}, "the answer for the other jobs with the key must be the number of the first")
	e.want(len(e.list(store.ListJobsRequest{})), 3, "a job with the key of another job of its request must not be stored")
	got = e.insertKeyed(e.a, nil, keyed("k", "a"), keyed("k", "a"))
	e.want(existed(got), []bool{true, true}, "all jobs with the key of a live job must be left out")
	e.want(got[0], got[1], "all jobs with one key must get the same answer")
}

func batchSchedules(e *env) {
	row := e.put("s", "{}")
	waiting := waitingJobs(row.ID, store.OriginBackfill, e.now, e.now.Add(time.Second))
	trigger := with(func(j *store.NewJob) { j.Schedule, j.Origin = row.ID, store.OriginTrigger })
	got := e.insertKeyed(e.a, nil, waiting[0], keyed("k", "a"), waiting[1], trigger)
	e.want(existed(got), []bool{false, false, false, false}, "jobs with and without a schedule must be stored in one request")
	var states []store.State
	for _, answer := range got {
		states = append(states, e.state(answer.ID))
	}
	e.want(states, []store.State{store.StateReady, store.StateReady, store.StateWaiting, store.StateReady},
		"jobs that wait must wait also if a job of the request has a key")
}

func batchClaimed(e *env) {
	e.insertKeyed(e.a, nil, keyed("k", "a"), newJob())
	var keys []string
	for _, c := range e.claim(e.node("n"), 2) {
		keys = append(keys, c.Unique)
	}
	e.want(keys, []string{"a", ""}, "a claim must return the keys of the jobs")
}

// batchLarge inserts more jobs than one statement takes, in an order that is not the
// order of the keys.
func batchLarge(e *env) {
	const n = 6000
	jobs := make([]store.NewJob, n)
	for i := range jobs {
		jobs[i] = newJob()
		jobs[i].Args = fmt.Append(nil, i)
		if i%3 > 0 {
			jobs[i].Unique = fmt.Sprintf("%04d", (i*7919)%n)
		}
	}
	half := e.insertKeyed(e.a, nil, jobs[:n/2]...)
	all := e.insertKeyed(e.b, nil, jobs...)
	for i, answer := range all {
		want := i < n/2 && jobs[i].Unique != ""
		if answer.Existed != want || want && answer.ID != half[i].ID {
			e.t.Fatalf("job %d of a large batch: the answer is %+v, its key existed: %v", i, answer, want)
		}
		if !want && i > 0 && !all[i-1].Existed && answer.ID <= all[i-1].ID {
			e.t.Fatalf("job %d of a large batch: numbers must grow in the order of the request", i)
		}
	}
	for _, i := range []int{0, 1, n/2 + 1, n - 2, n - 1} {
		job := e.job(all[i].ID)
		e.want([]string{string(job.Args), job.Unique}, []string{fmt.Sprint(i), jobs[i].Unique}, "each job of a large batch must be stored under its number")
	}
}

func batchInTx(e *env) {
	before := e.wantNew(e.a, nil, "k", "before", "the first job with a key must be stored")
	tx := e.begin()
	first := e.insertKeyed(e.a, tx.Tx, keyed("k", "a"), newJob(), keyed("k", "before"))
	e.want(existed(first), []bool{false, false, true}, "a transaction must find the jobs that live")
	e.want(first[2].ID, before, "the answer must be the number of the live job")
	second := e.insertKeyed(e.a, tx.Tx, keyed("k", "b"), keyed("k", "a"))
	e.want(existed(second), []bool{false, true}, "a transaction must find what it inserted itself")
	e.want(second[1].ID, first[0].ID, "the answer must be the number of the job of the same transaction")
	e.want(len(e.list(store.ListJobsRequest{})), 1, "before its commit a transaction's insert must not be seen by others")
	e.must(tx.Commit())
	e.want(len(e.list(store.ListJobsRequest{})), 4, "a transaction must store what it did not find")
}

func batchWaits(e *env) {
	for _, name := range []string{"commit", "roll-back"} {
		tx := e.begin()
		end := map[string]func() error{"commit": tx.Commit, "roll-back": tx.Rollback}[name]
		theirs := e.insertKeyed(e.a, tx.Tx, keyed("k", name))
		jobs := untilEnd(e, end, "an insert with a key of a transaction must wait for its end", func() ([]store.Inserted, error) {
			return e.tryKeyed(e.b, nil, newJob(), keyed("k", name), keyed("k", "other "+name))
		})
		e.want(existed(jobs), []bool{false, name == "commit", false}, "after the "+name+" of the transaction, the answer must be whether its job lives")
		e.ok(name != "commit" || jobs[1].ID == theirs[0].ID, "the answer must be the number of the job that lives", jobs)
	}
}

// batchNone makes requests that fail: in a transaction that has ended, in the
// transaction of no driver, and with a context that has ended.
func batchNone(e *env) {
	ended := e.begin()
	e.must(ended.Rollback())
	over, cancel := context.WithCancel(e.ctx)
	cancel()
	jobs := []store.NewJob{keyed("k", "b"), newJob(), keyed("k", "a")}
	for _, try := range []struct {
		ctx context.Context
		tx  store.Tx
	}{{e.ctx, ended.Tx}, {e.ctx, foreignTx{}}, {over, nil}} {
		_, err := e.b.Insert(try.ctx, store.InsertRequest{Now: e.now, Tx: try.tx, Jobs: jobs})
		e.ok(err != nil, "the insert must fail")
		e.want(len(e.list(store.ListJobsRequest{})), 0, "an insert that failed must have stored none of its jobs")
	}
	got := e.insertKeyed(e.a, nil, jobs...)
	e.want(existed(got), []bool{false, false, false}, "an insert that failed must leave its keys free")
}

// batchRace inserts the same keys in different orders, several batches at once: no two
// of them may wait for each other.
func batchRace(e *env) {
	const rounds, keys, goroutines = 15, 12, 3
	for round := range rounds {
		var mu sync.Mutex
		ids, stored := map[string]map[int64]bool{}, map[string]int{}
		var failed error
		answer := func(jobs []store.NewJob, answers []store.Inserted, err error) {
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
			for i, a := range answers {
				key := jobs[i].Unique
				if ids[key] == nil {
					ids[key] = map[int64]bool{}
				}
				if ids[key][a.ID] = true; !a.Existed {
					stored[key]++
				}
			}
		}
		e.both(func(client int, backend store.Backend) {
			var all sync.WaitGroup
			for g := range goroutines {
				jobs := make([]store.NewJob, 0, keys)
				for i := range keys { // each in an order of its own
					jobs = append(jobs, keyed("k", fmt.Sprint(round, " ", (i*(2*g+1+client*4)+g)%keys)))
				}
				all.Go(func() {
					answers, err := e.tryKeyed(backend, nil, jobs...)
					answer(jobs, answers, err)
				})
			}
			all.Wait()
		})
		e.must(failed)
		for key := range ids {
			e.ok(len(ids[key]) == 1 && stored[key] == 1, "of all batches with a key at once one must store its job and the others find it", key, ids[key], stored[key])
		}
	}
	e.want(len(e.list(store.ListJobsRequest{})), rounds*keys, "there must be one job for each key")
}
