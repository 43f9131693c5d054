package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// manyPredecessors is so many that an insert leaves notes instead of locking all of them, and
// that a step does not link all of them.
const manyPredecessors = 2_300

// afterManyOf returns a plain job that waits for many others.
func afterManyOf(on store.On, ids []int64) store.NewJob {
	return with(func(j *store.NewJob) {
		for _, id := range ids {
			j.After = append(j.After, store.Edge{Job: id, On: on})
		}
	})
}

// finishWith ends claimed jobs with one result.
func (e *env) finishWith(result store.Result, claims ...store.Claimed) {
	e.t.Helper()
	var outcomes []store.Outcome
	for _, c := range claims {
		outcomes = append(outcomes, outcome(c, result))
	}
	e.want(len(e.finish(outcomes...)), 0, "the outcomes must be accepted")
}

func afterMany(e *env) {
	node := e.nodeFor("n", time.Hour)
	ids := e.insertN(manyPredecessors)
	claims := e.claim(node, len(ids))
	e.finishWith(store.Completed, claims[:900]...)
	e.tick(time.Minute)
	ended := e.now
	e.finishWith(store.Completed, claims[900:1200]...)
	e.tick(time.Minute)

	all, some, failure := afterManyOf(store.OnSuccess, ids), afterManyOf(store.OnSuccess, ids), afterManyOf(store.OnFailure, ids)
	some.Any = true
	late := afterManyOf(store.OnEither, ids[:1200])
	late.After[1100].Delay = time.Hour
	dependents := e.insert(all, some, failure, late)
	e.want(e.state(dependents[0]), waits, "some predecessors have not ended")
	e.want(e.state(dependents[1]), store.StateReady, "with any, one that has ended is enough")
	e.want(e.state(dependents[2]), never, "the first edge that cannot match decides")
	e.want(e.job(dependents[2]).Reason, fmt.Sprintf("job %d completed", ids[0]), "the reason names a predecessor that has ended")
	e.want(e.state(dependents[3]), store.StateReady, "all of them have ended")
	e.want(e.job(dependents[3]).RunAt, ended.Add(time.Hour), "the delay counts from the end")
	e.want(len(e.job(dependents[0]).After), len(ids), "the job has its edges")

	more := make([]store.NewJob, 1500)
	for i := range more {
		more[i] = follows(on(ids[i%2], store.OnSuccess), on(ids[manyPredecessors-1-i%2], store.OnSuccess))
	}
	dependents = append(dependents[:1], e.insert(more...)...)
	e.finishWith(store.Completed, claims[1200:len(claims)-2]...)
	for _, id := range []int64{dependents[0], dependents[1], dependents[1500]} {
		e.want(e.state(id), waits, "some predecessors have not ended")
	}
	e.finishWith(store.Completed, claims[len(claims)-2:]...)
	n, err := e.b.CountJobs(e.ctx, store.CountJobsRequest{Now: e.now, JobFilter: store.JobFilter{IDs: dependents, States: []store.State{store.StateReady}}})
	e.must(err)
	e.want(n, int64(len(dependents)), "all predecessors have ended")

	before := len(e.list(store.ListJobsRequest{}))
	_, err = e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Jobs: []store.NewJob{newJob(), afterManyOf(store.OnSuccess, append(slices.Clone(ids), 1e12))}})
	var field *check.FieldError
	e.ok(errors.Is(err, store.ErrNotFound) && errors.As(err, &field) && field.Field == "after", "an unknown predecessor is refused", err)
	e.want(len(e.list(store.ListJobsRequest{})), before, "a refused request stores nothing")
}

// afterManyCut cuts inserts of a job with many predecessors at places where the driver looks at the
// context, also between the steps that link them. Predecessors end before another node goes on.
func afterManyCut(e *env) {
	if !has[store.Deferring](e.b) {
		e.t.Skip("nodes release dependents through an ability that this store does not have")
	}
	node := e.nodeFor("n", 1e6*time.Hour)
	between := 0
	for place, whole := int64(1), false; !whole; place += 1 + place/4 {
		ids := e.insertN(manyPredecessors)
		claims := e.claim(node, len(ids))
		e.finishWith(store.Completed, claims[:3]...)
		cut := newCutContext(e.ctx, place)
		_, _ = e.a.Insert(cut, store.InsertRequest{Now: e.now, Jobs: []store.NewJob{afterManyOf(store.OnSuccess, ids)}})
		whole = cut.looks.Load() < place
		cut.end()
		rule := fmt.Sprintf("cut at place %d", place)
		stored := e.list(store.ListJobsRequest{JobFilter: store.JobFilter{States: []store.State{waits}}})
		releases := e.heartbeat(node).Releases
		if len(stored) > 0 && releases {
			between++
		}
		half := len(claims) / 2
		e.finishWith(store.Completed, claims[3:half]...)
		e.settle()
		e.finishWith(store.Completed, claims[half:]...)
		e.settle()
		e.ok(!e.heartbeat(node).Releases, rule+": all is linked")
		for _, job := range stored {
			e.want(e.state(job.ID), store.StateReady, rule+": all predecessors have ended")
			e.want(len(e.job(job.ID).After), len(ids), rule+": a job that is stored has all of its edges")
		}
		e.ok(!whole || len(stored) == 1, rule+": the job is stored")
		e.cancelLive()
		if e.t.Failed() {
			return
		}
	}
	e.ok(between > 0, "some cuts must be between the insert and the last link")
	e.t.Logf("%d cuts between the insert and the last link", between)
}

// afterManyRace ends many predecessors while a job that waits for them is inserted.
func afterManyRace(e *env) {
	node := e.nodeFor("n", 1e6*time.Hour)
	for range max(afterRounds()/10, 2) {
		ids := e.insertN(manyPredecessors)
		claims := e.claim(node, len(ids))
		var dependents []int64
		e.atOnce(
			func(b store.Backend) error {
				for part := range slices.Chunk(claims, 100) {
					var outcomes []store.Outcome
					for _, c := range part {
						outcomes = append(outcomes, outcome(c, store.Completed))
					}
					if _, err := b.Finish(e.ctx, store.FinishRequest{Now: e.now, Outcomes: outcomes}); err != nil {
						return err
					}
				}
				return nil
			},
			func(b store.Backend) error {
				some := afterManyOf(store.OnSuccess, ids)
				some.Any = true
				res, err := b.Insert(e.ctx, store.InsertRequest{Now: e.now, Jobs: []store.NewJob{
					afterManyOf(store.OnSuccess, ids), some, afterManyOf(store.OnFailure, ids),
				}})
				for _, job := range res.Jobs {
					dependents = append(dependents, job.ID)
				}
				return err
			})
		e.settle()
		var started []int64
		for _, c := range e.claim(node, 5) {
			started = append(started, c.ID)
			e.finishWell(outcome(c, store.Completed))
		}
		slices.Sort(started)
		e.want(started, dependents[:2], "each dependent whose edges match starts once")
		e.want(e.state(dependents[2]), never, "the other dependent is not started")
	}
}
