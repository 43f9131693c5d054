package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

var batchTests = []scenario{
	{"Counts", batchCounts},
	{"LastJob", batchLastJob},
	{"LastJobInATransaction", batchTx},
	{"Add", batchAdd},
	{"AddWithoutALastJob", batchAddPlain},
	{"AddWhileItEnds", batchAddRace},
	{"Refused", batchRefused},
	{"Filter", batchFilter},
	{"Kept", batchKept},
	{"Pruned", batchPruned},
	{"AllHaveEnded", batchAtEnd},
	{"DeletedJobsDoNotCount", batchDeleted},
	{"FailureBranches", batchFailureBranch},
	{"WithoutJobs", batchEmpty},
	{"WithoutTheLastJob", batchNotLast},
	{"Links", batchLinks},
	{"Keys", batchKeys},
	{"KeysOfAJobThatWaits", batchKeysLater},
	{"KeysRace", batchKeysRace},
}

// insertBatch inserts a new batch and returns its number and the numbers of its jobs.
func (e *env) insertBatch(finally *store.Finally, jobs ...store.NewJob) (batch int64, ids []int64) {
	e.t.Helper()
	res, err := e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Jobs: jobs, Batch: &store.BatchInsert{Finally: finally}})
	e.must(err)
	return res.Batch, res.IDs()
}

// batch returns a batch.
func (e *env) batch(id int64) store.Batch {
	e.t.Helper()
	list, err := store.List[store.Batch](e.ctx, e.b, store.ListRequest{IDs: []int64{id}, Limit: 10})
	e.must(err)
	if len(list) != 1 {
		e.t.Fatalf("batch %d is listed %d times", id, len(list))
	}
	return list[0]
}

// newJobs returns n plain jobs.
func newJobs(n int) []store.NewJob {
	jobs := make([]store.NewJob, n)
	for i := range jobs {
		jobs[i] = newJob()
	}
	return jobs
}

func batchCounts(e *env) {
	node := e.nodeFor("n", time.Hour)
	first, ids := e.insertBatch(nil, newJobs(4)...)
	e.tick(time.Second)
	second, _ := e.insertBatch(nil, newJob())
	e.ok(second > first, "numbers grow", first, second)
	e.want(e.batch(first), store.Batch{ID: first, CreatedAt: e.now.Add(-time.Second), Counts: [7]int64{store.StateReady: 4}}, "all are ready")
	e.want(e.job(ids[0]).Batch, first, "a job knows its batch")
	e.end(node, ids[0], store.Completed)
	claims := e.claim(node, 2)
	e.finishWell(outcome(claims[0], store.Failed))
	b := e.batch(first)
	e.want(b.Counts, [7]int64{store.StateReady: 1, store.StateRunning: 1, store.StateCompleted: 1, store.StateFailed: 1}, "the counts by state")
	e.want([]int64{b.Total(), b.Ended()}, []int64{4, 2}, "the progress")
	e.want(b.State(), store.StateRunning, "a batch with live jobs")
	e.finishWell(outcome(claims[1], store.Completed))
	e.changeOne(store.DeleteJobs, ids[3])
	b = e.batch(first)
	e.want(b.Total(), int64(3), "a deleted job does not count")
	e.want(b.State(), store.StateFailed, "a batch with a failed job")
	list, err := store.List[store.Batch](e.ctx, e.b, store.ListRequest{Limit: 1})
	e.must(err)
	e.want(list[0].ID, second, "the newest first")
	list, err = store.List[store.Batch](e.ctx, e.b, store.ListRequest{Before: store.Cursor{ID: second}, Limit: 5})
	e.must(err)
	e.want(len(list), 1, "a page")
	e.want(list[0].ID, first, "a page")
}

func batchLastJob(e *env) {
	node := e.nodeFor("n", time.Hour)
	for _, test := range []struct {
		name    string
		finally store.Finally
		results []store.Result
		want    store.State
	}{
		{"all, all completed", store.Finally{On: store.OnSuccess}, []store.Result{store.Completed, store.Completed}, store.StateReady},
		{"all, the first failed", store.Finally{On: store.OnSuccess}, []store.Result{store.Failed, store.Completed}, store.StateNotStarted},
		{"all, the last failed", store.Finally{On: store.OnSuccess}, []store.Result{store.Completed, store.Failed}, store.StateNotStarted},
		{"failed, all completed", store.Finally{On: store.OnFailure, Any: true}, []store.Result{store.Completed, store.Completed}, store.StateNotStarted},
		{"failed, the first failed", store.Finally{On: store.OnFailure, Any: true}, []store.Result{store.Failed, store.Completed}, store.StateReady},
		{"failed, the last was cancelled", store.Finally{On: store.OnFailure, Any: true}, []store.Result{store.Completed, store.Cancelled}, store.StateReady},
		{"always, all completed", store.Finally{On: store.OnEnd}, []store.Result{store.Completed, store.Completed}, store.StateReady},
		{"always, all failed", store.Finally{On: store.OnEnd}, []store.Result{store.Failed, store.Failed}, store.StateReady},
	} {
		id, ids := e.insertBatch(&test.finally, newJobs(3)...)
		e.want(e.batch(id).Finally, ids[2], test.name+": the last job")
		for i, result := range test.results {
			e.want(e.state(ids[2]), store.StateWaiting, test.name+": it waits for all")
			e.end(node, ids[i], result)
		}
		e.want(e.state(ids[2]), test.want, test.name)
		b := e.batch(id)
		e.want(b.Total(), int64(2), "the last job is not counted")
		e.want(b.FinallyState, test.want, test.name)
		if test.want == store.StateReady {
			e.want(b.State(), store.StateRunning, "its last job has not ended")
			e.end(node, ids[2], store.Completed)
		}
	}
	id, ids := e.insertBatch(&store.Finally{On: store.OnEnd}, newJob(), follows(place(1, store.OnFailure)), newJob())
	e.end(node, ids[0], store.Completed)
	e.want(e.state(ids[1]), store.StateNotStarted, "a failure branch")
	e.want(e.state(ids[2]), store.StateReady, "always, also if a job was not started")
	e.end(node, ids[2], store.Completed)
	b := e.batch(id)
	e.want(b.State(), store.StateCompleted, "a job that was not started is no failure")
}

func batchTx(e *env) {
	node := e.nodeFor("n", time.Hour)
	tx, err := e.Begin(e.ctx)
	e.must(err)
	req := store.InsertRequest{Now: e.now, Tx: tx.Tx, Jobs: newJobs(3), Batch: &store.BatchInsert{Finally: &store.Finally{On: store.OnSuccess}}}
	_, err = e.a.Insert(e.ctx, req)
	e.must(err)
	e.must(tx.Rollback())
	list, err := store.List[store.Batch](e.ctx, e.b, store.ListRequest{Limit: 10})
	e.must(err)
	e.want(len(list), 0, "nothing is left of a batch that was rolled back")
	tx, err = e.Begin(e.ctx)
	e.must(err)
	req.Tx = tx.Tx
	res, err := e.a.Insert(e.ctx, req)
	e.must(err)
	e.must(tx.Commit())
	b := e.batch(res.Batch)
	e.want(b.Total(), int64(2), "the batch was committed")
	for _, id := range res.IDs() {
		e.end(node, id, store.Completed)
	}
	b = e.batch(res.Batch)
	e.want(b.State(), store.StateCompleted, "the batch has ended")
}

// add adds jobs to a batch.
func (e *env) add(b store.Backend, batch int64, jobs ...store.NewJob) ([]int64, error) {
	res, err := b.Insert(e.ctx, store.InsertRequest{Now: e.now, Jobs: jobs, Batch: &store.BatchInsert{ID: batch}})
	return res.IDs(), err
}

func batchAdd(e *env) {
	node := e.nodeFor("n", time.Hour)
	id, ids := e.insertBatch(&store.Finally{On: store.OnSuccess}, newJobs(2)...)
	claim := e.claimOne(node)
	added, err := e.add(e.a, id, newJob(), follows(place(1, store.OnSuccess), on(ids[0], store.OnSuccess)))
	e.must(err)
	b := e.batch(id)
	e.want(b.Total(), int64(3), "added jobs count")
	e.finishWell(outcome(claim, store.Completed))
	e.want(e.state(ids[1]), store.StateWaiting, "the last job waits for added jobs")
	e.end(node, added[0], store.Completed)
	e.end(node, added[1], store.Completed)
	e.want(len(e.job(ids[1]).After), 3, "the last job has an edge on each")
	e.want(e.state(ids[1]), store.StateReady, "all have ended")
	_, err = e.add(e.a, id, newJob())
	e.is(err, store.ErrBatchEnded, "its last job waits no more")
	_, err = e.add(e.a, id+100, newJob())
	e.is(err, store.ErrNotFound, "an unknown batch")
}

func batchAddPlain(e *env) {
	node := e.nodeFor("n", time.Hour)
	id, ids := e.insertBatch(nil, newJob())
	added, err := e.add(e.a, id, newJob())
	e.must(err)
	e.end(node, ids[0], store.Completed)
	_, err = e.add(e.a, id, newJob())
	e.must(err)
	e.end(node, added[0], store.Completed)
	e.end(node, added[0]+1, store.Completed)
	_, err = e.add(e.a, id, newJob())
	e.is(err, store.ErrBatchEnded, "no job of it is live")
	b := e.batch(id)
	e.want(b.Total(), int64(3), "a refused job is not stored")
}

// batchAddRace adds a job to a batch at the moment when its only job ends: either the last
// job waits for the new job, or the job is refused.
func batchAddRace(e *env) {
	node := e.nodeFor("n", time.Hour)
	for round := range 4 * afterRounds() {
		var last *store.Finally
		if round%2 == 0 {
			last = &store.Finally{On: store.OnSuccess}
		}
		id, ids := e.insertBatch(last, newJobs(2)...)
		claims := e.claim(node, 2)
		var addErr error
		e.atOnce(
			func(b store.Backend) error {
				var outcomes []store.Outcome
				for _, c := range claims {
					outcomes = append(outcomes, outcome(c, store.Completed))
				}
				_, err := b.Finish(e.ctx, store.FinishRequest{Now: e.now, Outcomes: outcomes})
				return err
			},
			func(b store.Backend) error {
				_, addErr = e.add(b, id, newJob())
				return nil
			})
		e.settle()
		want := []int64{ids[1]}
		if last == nil {
			want = nil
		}
		if addErr == nil {
			want = append([]int64{ids[1] + 1}, want...)
		} else {
			e.is(addErr, store.ErrBatchEnded, "a refused job")
		}
		for _, job := range want {
			e.end(node, job, store.Completed)
		}
		b := e.batch(id)
		e.want(b.State(), store.StateCompleted, "the batch has ended")
	}
}

func batchRefused(e *env) {
	keyed := with(func(j *store.NewJob) { j.Unique = "k" })
	for name, req := range map[string]store.InsertRequest{
		"empty":      {Batch: &store.BatchInsert{}},
		"negative":   {Jobs: newJobs(1), Batch: &store.BatchInsert{ID: -1}},
		"second":     {Jobs: newJobs(2), Batch: &store.BatchInsert{ID: 1, Finally: &store.Finally{}}},
		"key":        {Jobs: []store.NewJob{newJob(), keyed}, Batch: &store.BatchInsert{}},
		"outcome":    {Jobs: newJobs(2), Batch: &store.BatchInsert{Finally: &store.Finally{On: 9}}},
		"after":      {Jobs: []store.NewJob{newJob(), follows(place(1, store.OnSuccess))}, Batch: &store.BatchInsert{Finally: &store.Finally{}}},
		"edge":       {Jobs: []store.NewJob{follows(place(1, store.OnSuccess))}, Batch: &store.BatchInsert{}},
		"older edge": {Jobs: []store.NewJob{follows(on(99, store.OnSuccess))}, Batch: &store.BatchInsert{}},
	} {
		req.Now = e.now
		if _, err := e.a.Insert(e.ctx, req); err == nil {
			e.t.Errorf("%s: the insert must be refused", name)
		}
	}
	tx, err := e.Begin(e.ctx)
	e.must(err)
	_, err = e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Tx: tx.Tx, Jobs: newJobs(1), Batch: &store.BatchInsert{ID: 1}})
	e.ok(err != nil, "an older batch in a transaction of the program")
	e.must(tx.Rollback())
	e.want(len(e.list(store.ListJobsRequest{})), 0, "a refused request stores nothing")
	list, err := store.List[store.Batch](e.ctx, e.b, store.ListRequest{Limit: 10})
	e.must(err)
	e.want(len(list), 0, "a refused request stores nothing")
}

// keyedGraph returns jobs of a graph with a last job, whose keys are kept for an hour after the insert.
func keyedGraph(key string) ([]store.NewJob, *store.Finally) {
	jobs := append(diamond(), newJob())
	for i := range jobs {
		jobs[i].Unique, jobs[i].UniqueFor, jobs[i].OnConflict = fmt.Sprint(key, i), time.Hour, store.OnConflictError
	}
	return jobs, &store.Finally{On: store.OnSuccess}
}

// refusedFor checks that an insert into a new batch is refused because of the keys of a job, and stores nothing.
func (e *env) refusedFor(holder int64, conflict store.Conflict, finally *store.Finally, jobs ...store.NewJob) {
	e.t.Helper()
	batches := func() int {
		list, err := store.List[store.Batch](e.ctx, e.b, store.ListRequest{Limit: 100})
		e.must(err)
		return len(list)
	}
	before, beforeBatches := len(e.list(store.ListJobsRequest{})), batches()
	_, err := e.b.Insert(e.ctx, store.InsertRequest{Now: e.now, Jobs: jobs, Batch: &store.BatchInsert{Finally: finally}})
	var duplicate *store.DuplicateError
	if !errors.As(err, &duplicate) {
		e.t.Fatalf("an insert with a key that is taken must be refused: %v", err)
	}
	e.want(*duplicate, store.DuplicateError{ID: holder, Conflict: conflict}, "the error has the job with the key of the first job")
	e.want([]int{len(e.list(store.ListJobsRequest{})), batches()}, []int{before, beforeBatches}, "a refused request stores nothing")
}

// batchKeys: the jobs of a batch may have keys. They are all stored, or none of them.
func batchKeys(e *env) {
	node := e.nodeFor("n", 1e6*time.Hour)
	jobs, finally := keyedGraph("k")
	id, ids := e.insertBatch(finally, jobs...)
	e.want(e.job(ids[3]).After, []store.JobEdge{{Edge: on(ids[1], store.OnSuccess)}, {Edge: on(ids[2], store.OnSuccess)}}, "jobs with keys have edges")
	e.want([]any{e.job(ids[0]).Unique, e.job(ids[4]).Unique, e.batch(id).Finally}, []any{"k0", "k4", ids[4]}, "jobs and the last job have keys")
	e.refusedFor(ids[0], store.ConflictKept, finally, jobs...)
	for _, choice := range []store.OnConflict{store.OnConflictReplace, store.OnConflictReschedule} {
		before := e.job(ids[1])
		other := conflicting("k1", choice, after(time.Minute), func(j *store.NewJob) { j.Args = []byte(`"new"`) })
		e.want(e.insertHeld(e.a, nil, other), answered(ids[1], store.ConflictKept), "an enqueue with the key of a job of a batch changes nothing")
		e.want(e.job(ids[1]), before, "the job of the batch stays as it is")
	}
	for i, job := range ids {
		if i == 2 {
			e.tick(time.Second)
		}
		e.end(node, job, store.Completed)
	}
	_, err := e.a.Prune(e.ctx, store.PruneRequest{Now: e.now.Add(50 * time.Minute), Completed: time.Microsecond, Failed: time.Microsecond, Limit: 100})
	e.must(err)
	e.refusedFor(ids[0], store.ConflictHeld, finally, jobs...)
	e.want(len(e.list(store.ListJobsRequest{JobFilter: store.JobFilter{Batch: id}})), 5, "jobs that hold their keys stay")
	e.tick(time.Hour)
	_, err = e.a.Prune(e.ctx, store.PruneRequest{Now: e.now, Completed: time.Microsecond, Failed: time.Microsecond, Limit: 100})
	e.must(err)
	again, _ := e.insertBatch(finally, jobs...)
	e.ok(again > id, "the keys are free after their time", again, id)
	tx, err := e.Begin(e.ctx)
	e.must(err)
	free, finally := keyedGraph("free")
	_, err = e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Tx: tx.Tx, Jobs: free, Batch: &store.BatchInsert{Finally: finally}})
	e.ok(err != nil, "keys of a batch in a transaction of the program")
	e.must(tx.Rollback())
}

// batchKeysLater: a single job with a key may have older predecessors.
func batchKeysLater(e *env) {
	node := e.nodeFor("n", time.Hour)
	older := e.insertOne(newJob())
	job := conflicting("key", store.OnConflictError)
	job.Kind, job.After = newJob().Kind, []store.Edge{on(older, store.OnSuccess)}
	_, ids := e.insertBatch(nil, job)
	e.want(e.state(ids[0]), store.StateWaiting, "the job waits")
	e.refusedFor(ids[0], store.ConflictKept, nil, job)
	e.end(node, older, store.Completed)
	e.end(node, ids[0], store.Completed)
}

// batchKeysRace inserts one graph with keys twice at once: it is stored once.
func batchKeysRace(e *env) {
	for round := range 20 {
		jobs, finally := keyedGraph(fmt.Sprint("race ", round, " "))
		var errs [2]error
		insert := func(err *error) func(store.Backend) error {
			return func(b store.Backend) error {
				_, *err = b.Insert(e.ctx, store.InsertRequest{Now: e.now, Jobs: jobs, Batch: &store.BatchInsert{Finally: finally}})
				return nil
			}
		}
		e.atOnce(insert(&errs[0]), insert(&errs[1]))
		if errs[0] == nil {
			errs[0], errs[1] = errs[1], errs[0]
		}
		e.is(errs[0], store.ErrDuplicate, "one of both inserts is refused")
		e.must(errs[1])
	}
	e.want(len(e.list(store.ListJobsRequest{})), 100, "jobs of one graph in each round")
}

func batchFilter(e *env) {
	node := e.nodeFor("n", time.Hour)
	e.insertN(1)
	id, ids := e.insertBatch(nil, newJobs(3)...)
	e.insertBatch(nil, newJob())
	for _, c := range e.claim(node, 2) {
		e.finishWell(outcome(c, store.Completed))
	}
	filter := store.JobFilter{Batch: id}
	var got []int64
	for _, job := range e.list(store.ListJobsRequest{JobFilter: filter, OldestFirst: true}) {
		got = append(got, job.ID)
	}
	e.want(got, ids, "the jobs of the batch, live and finished")
	n, err := e.b.CountJobs(e.ctx, store.CountJobsRequest{Now: e.now, JobFilter: filter})
	e.must(err)
	e.want(n, int64(3), "the count")
	e.want(len(e.list(store.ListJobsRequest{JobFilter: filter, Before: ids[2], Limit: 1})), 1, "a page")
	res, err := e.a.ChangeJobs(e.ctx, store.ChangeJobsRequest{Now: e.now, Action: store.CancelJobs, IDs: []int64{ids[2], ids[2] + 1}, Match: filter})
	e.must(err)
	e.want([]store.Change{res.Changes[0].Change, res.Changes[1].Change}, []store.Change{store.Changed, store.Missing}, "the filter is compared under the lock")
}

func batchKept(e *env) {
	node := e.nodeFor("n", 1e6*time.Hour)
	_, ids := e.insertBatch(&store.Finally{On: store.OnSuccess}, newJobs(3)...)
	p := e.insertOne(newJob())
	d := e.insertOne(follows(on(p, store.OnSuccess)))
	o := outcome(e.claimOne(node), store.Completed)
	o.Keep = time.Microsecond
	e.finishWell(o)
	e.end(node, ids[1], store.Completed)
	prune := func() {
		e.tick(100 * time.Hour)
		_, err := e.a.Prune(e.ctx, store.PruneRequest{Now: e.now, Completed: time.Hour, Failed: time.Hour, Limit: 100})
		e.must(err)
	}
	left := func() (ids []int64) {
		for _, job := range e.list(store.ListJobsRequest{OldestFirst: true}) {
			ids = append(ids, job.ID)
		}
		return ids
	}
	prune()
	e.want(left(), append(ids, p, d), "jobs of a batch that has not ended stay")
	claims := e.claim(node, 2) // p and the last job
	e.finish(outcome(claims[0], store.Completed), outcome(claims[1], store.Completed))
	prune()
	e.want(left(), []int64{p, d}, "a job stays while a job follows it")
	e.end(node, d, store.Completed)
	prune()
	prune() // a driver may look at jobs that had to stay one run later
	e.want(len(left()), 0, "nothing has to stay")
}

func batchPruned(e *env) {
	node := e.nodeFor("n", 1e6*time.Hour)
	id, ids := e.insertBatch(nil, newJob())
	open, _ := e.insertBatch(nil, with(func(j *store.NewJob) { j.RunAt = e.now.Add(1e5 * time.Hour) }))
	e.end(node, ids[0], store.Completed)
	for range 3 {
		e.tick(100 * time.Hour)
		_, err := e.a.Prune(e.ctx, store.PruneRequest{Now: e.now, Completed: time.Hour, Failed: 2 * time.Hour, Limit: 100})
		e.must(err)
	}
	list, err := store.List[store.Batch](e.ctx, e.b, store.ListRequest{IDs: []int64{id, open}, Limit: 10})
	e.must(err)
	e.want(fmt.Sprint(len(list), list[0].ID), fmt.Sprint(1, open), "a batch goes when its jobs are gone")
}

// batchAtEnd: a job that waits for all ends is decided by all of them, also by those that
// earlier steps decided, or the insert.
func batchAtEnd(e *env) {
	node := e.nodeFor("n", time.Hour)
	atEnd := func(anyOf bool, edges ...store.Edge) int64 {
		return e.insertOne(with(func(j *store.NewJob) { j.After, j.Any, j.AtEnd = edges, anyOf, true }))
	}
	old := e.insertOne(newJob())
	e.end(node, old, store.Failed)
	ids := e.insertN(2)
	all := atEnd(false, on(old, store.OnSuccess), on(ids[0], store.OnSuccess), on(ids[1], store.OnSuccess))
	some := atEnd(true, on(old, store.OnFailure), on(ids[0], store.OnFailure), on(ids[1], store.OnFailure))
	ended := atEnd(true, on(old, store.OnEnd))
	e.want(e.state(ended), store.StateReady, "decided by the insert")
	e.cancel(ended)
	e.end(node, ids[0], store.Completed)
	e.want([]store.State{e.state(all), e.state(some)}, []store.State{store.StateWaiting, store.StateWaiting}, "one has not ended")
	e.end(node, ids[1], store.Completed)
	e.want(e.state(all), store.StateNotStarted, "an edge that was missed at the insert counts")
	e.want(e.job(all).Reason, fmt.Sprintf("job %d failed", old), "the reason")
	e.want(e.state(some), store.StateReady, "an edge that matched at the insert counts")
}

// The ways in which a last job waits.
var (
	finallyAll    = store.Finally{On: store.OnSuccess}
	finallyFailed = store.Finally{On: store.OnFailure, Any: true}
	finallyAlways = store.Finally{On: store.OnEnd}
)

// batchDeleted: a job that is deleted counts neither for its batch nor for the last job, whether it has ended or
// not; for other dependents it counts as a failure, with a word of its own.
func batchDeleted(e *env) {
	node := e.nodeFor("n", time.Hour)
	for _, test := range []struct {
		finally       store.Finally
		after, deadly store.State // of the last job: if the other job completed, and if all jobs were deleted
		reason        string      // if all were deleted
	}{
		{finallyAll, store.StateReady, store.StateReady, ""},
		{finallyFailed, store.StateNotStarted, store.StateNotStarted, store.NoneFailedReason},
		{finallyAlways, store.StateReady, store.StateReady, ""},
	} {
		for _, last := range []bool{false, true} { // whether the deletion is the last end
			id, ids := e.insertBatch(&test.finally, newJobs(3)...)
			if !last {
				e.changeOne(store.DeleteJobs, ids[1])
			}
			e.end(node, ids[0], store.Completed)
			if last {
				e.changeOne(store.DeleteJobs, ids[1])
			}
			e.want(e.state(ids[2]), test.after, fmt.Sprintf("%v: a job was deleted before its end (last: %v)", test.finally, last))
			b := e.batch(id)
			e.want([]int64{b.Total(), b.Counts[store.StateCompleted]}, []int64{1, 1}, "completed 1 of 1")
			e.cancel(ids[2])
		}
		_, ids := e.insertBatch(&test.finally, newJobs(4)...)
		e.end(node, ids[0], store.Failed)
		e.changeOne(store.DeleteJobs, ids[0]) // after its end
		e.changeOne(store.DeleteJobs, ids[1])
		e.want(e.state(ids[3]), store.StateWaiting, "a job has not ended")
		e.changeOne(store.DeleteJobs, ids[2])
		if test.finally != finallyFailed { // a job did fail
			e.want(e.state(ids[3]), test.deadly, fmt.Sprintf("%v: a failed job was deleted, and the others", test.finally))
		}
		e.cancel(ids[3])
		_, ids = e.insertBatch(&test.finally, newJobs(3)...)
		e.changeOne(store.DeleteJobs, ids[0])
		e.changeOne(store.DeleteJobs, ids[1])
		e.want(e.state(ids[2]), test.deadly, fmt.Sprintf("%v: all jobs were deleted", test.finally))
		e.want(e.job(ids[2]).Reason, test.reason, "the reason")
		e.cancel(ids[2])
	}
	gone := e.insertOne(newJob())
	ids := e.insert(follows(on(gone, store.OnSuccess)), follows(on(gone, store.OnFailure)))
	e.changeOne(store.DeleteJobs, gone)
	e.want(e.job(ids[0]).Reason, fmt.Sprintf("job %d was deleted", gone), "deleted is a word of its own")
	e.want(e.state(ids[1]), store.StateReady, "for other dependents a deletion is a failure")
}

// batchFailureBranch: a job that is not started because its edge does not match is no failure.
func batchFailureBranch(e *env) {
	node := e.nodeFor("n", time.Hour)
	for _, test := range []struct {
		finally store.Finally
		first   store.Result
		want    store.State
	}{
		{finallyAll, store.Completed, store.StateReady},
		{finallyAll, store.Failed, store.StateNotStarted},
		{finallyFailed, store.Completed, store.StateNotStarted},
		{finallyFailed, store.Failed, store.StateReady},
		{finallyAlways, store.Completed, store.StateReady},
	} {
		id, ids := e.insertBatch(&test.finally, newJob(), follows(place(1, store.OnFailure)), newJob(), newJob())
		e.end(node, ids[0], test.first)
		if test.first == store.Completed {
			e.end(node, ids[2], store.Completed)
		} else {
			for _, claim := range e.claim(node, 2) {
				e.finishWell(outcome(claim, store.Completed))
			}
		}
		e.want(e.state(ids[3]), test.want, fmt.Sprintf("%v after %v", test.finally, test.first))
		e.ok((e.batch(id).Counts[store.StateFailed] == 0) == (test.first == store.Completed), "the counts agree")
		e.cancel(ids[3])
	}
	ids := e.insert(newJob(), follows(place(1, store.OnFailure)), follows(place(2, store.OnSuccess)))
	e.end(node, ids[0], store.Completed)
	e.want(e.state(ids[2]), store.StateNotStarted, "another job that follows a job that was not started is not started")
}

// batchEmpty: the last job of a batch without other jobs is decided at once.
func batchEmpty(e *env) {
	insert := func(finally store.Finally, inTx bool) (int64, int64) {
		req := store.InsertRequest{Now: e.now, Jobs: newJobs(1), Batch: &store.BatchInsert{Finally: &finally}}
		var tx Transaction
		if inTx {
			var err error
			tx, err = e.Begin(e.ctx)
			e.must(err)
			req.Tx = tx.Tx
		}
		res, err := e.a.Insert(e.ctx, req)
		e.must(err)
		if inTx {
			e.must(tx.Commit())
		}
		return res.Batch, res.Jobs[0].ID
	}
	for _, inTx := range []bool{false, true} {
		for finally, want := range map[store.Finally]store.State{
			finallyAll:    store.StateReady,
			finallyFailed: store.StateNotStarted, finallyAlways: store.StateReady,
		} {
			batch, last := insert(finally, inTx)
			e.want(e.state(last), want, fmt.Sprintf("%v of an empty batch", finally))
			b := e.batch(batch)
			e.want([]int64{b.Total(), b.Finally}, []int64{0, last}, "the batch has its last job only")
			if want == store.StateNotStarted {
				e.want(e.job(last).Reason, store.NoneFailedReason, "the reason")
				e.want(b.State(), store.StateCompleted, "nothing has failed")
			}
			_, err := e.add(e.a, batch, newJob())
			e.is(err, store.ErrBatchEnded, "its last job does not wait")
		}
	}
}

// batchNotLast: a filter can leave out the last jobs of batches, live and finished, also under the lock of a change.
func batchNotLast(e *env) {
	node := e.nodeFor("n", time.Hour)
	group := func(j *store.NewJob) { j.Group = "g" }
	ended, one := e.insertBatch(&finallyAlways, with(group), with(group))
	e.end(node, one[0], store.Completed)
	e.end(node, one[1], store.Completed)
	batch, ids := e.insertBatch(&finallyAlways, with(group), with(group), with(group))
	plain := e.insertOne(with(group))
	e.want(e.matching(store.JobFilter{Group: "g", NotLast: true}), []int64{one[0], ids[0], ids[1], plain}, "all but the last jobs")
	e.want(e.matching(store.JobFilter{Batch: batch, NotLast: true}), ids[:2], "of one batch")
	e.want(e.matching(store.JobFilter{Batch: ended, NotLast: true}), one[:1], "of a batch that has ended")
	e.want(e.matching(store.JobFilter{Batch: batch}), ids, "all jobs of a batch")
	changes := e.change(store.ChangeJobsRequest{
		Action: store.CancelJobs, IDs: append(slices.Clone(ids), plain),
		Match: store.JobFilter{Group: "g", NotLast: true},
	})
	e.want(changes, []store.JobChange{{ID: ids[0]}, {ID: ids[1]}, {ID: ids[2], Change: store.Missing}, {ID: plain}}, "a change compares again")
	e.want(e.state(ids[2]), store.StateReady, "the last job runs after the others were cancelled")
}

func batchLinks(e *env) {
	ids := e.insert(diamond()...)
	e.insert(diamond()...)
	e.end(e.nodeFor("n", time.Hour), ids[0], store.Completed)
	links := func(limit int, ids ...int64) []store.Link {
		list, err := store.List[store.Link](e.ctx, e.b, store.ListRequest{IDs: ids, Limit: limit})
		e.must(err)
		return list
	}
	matched := store.JobEdge{Edge: store.Edge{Job: ids[0], On: store.OnEither, Delay: time.Second}, State: store.EdgeMatched}
	open := store.JobEdge{Edge: on(ids[2], store.OnSuccess)}
	e.want(links(10, ids[2]), []store.Link{{Dependent: ids[2], JobEdge: matched}, {Dependent: ids[3], JobEdge: open}}, "the edges of a job and of its dependents")
	e.want(len(links(10, ids...)), 4, "each edge once")
	e.want(len(links(1, ids[0])), 1, "a limit")
	e.want(len(links(10, ids[3]+100)), 0, "no edges")
}
