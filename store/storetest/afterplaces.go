package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// place returns an edge on an earlier job of the same insert.
func place(place int, on store.On) store.Edge { return store.Edge{Place: place, On: on} }

// diamond returns four jobs: the second and the third wait for the first, and the fourth
// waits for both.
func diamond() []store.NewJob {
	return []store.NewJob{
		newJob(), follows(place(1, store.OnSuccess)), follows(store.Edge{Place: 1, On: store.OnEither, Delay: time.Second}),
		follows(place(2, store.OnSuccess), place(3, store.OnSuccess)),
	}
}

func afterPlaces(e *env) {
	node := e.nodeFor("n", time.Hour)
	older := e.insertOne(newJob())
	e.end(node, older, store.Failed)
	jobs := append(diamond(), follows(on(older, store.OnSuccess)), follows(place(5, store.OnSuccess), place(1, store.OnSuccess)))
	ids := e.insert(jobs...)
	e.settle()
	e.ok(slices.IsSorted(ids), "the numbers grow in the order of the request", ids)
	e.want([]store.State{e.state(ids[0]), e.state(ids[1]), e.state(ids[2]), e.state(ids[3])},
		[]store.State{store.StateReady, store.StateWaiting, store.StateWaiting, store.StateWaiting}, "only the first may start")
	e.want(e.state(ids[4]), store.StateNotStarted, "an older predecessor is decided by the insert")
	e.want(e.state(ids[5]), store.StateNotStarted, "what follows a job that is not started is not started")
	e.want(e.job(ids[3]).After, []store.JobEdge{{Edge: on(ids[1], store.OnSuccess)}, {Edge: on(ids[2], store.OnSuccess)}},
		"edges have the numbers of the predecessors")
	e.end(node, ids[0], store.Completed)
	e.end(node, ids[1], store.Completed)
	e.want(len(e.claim(node, 5)), 0, "the third is delayed")
	e.tick(time.Second)
	e.end(node, ids[2], store.Completed)
	e.end(node, ids[3], store.Completed)
}

func afterPlacesTx(e *env) {
	node := e.nodeFor("n", time.Hour)
	tx, err := e.Begin(e.ctx)
	e.must(err)
	req := store.InsertRequest{Now: e.now, Tx: tx.Tx, Jobs: diamond()}
	_, err = e.a.Insert(e.ctx, req)
	e.must(err)
	e.must(tx.Rollback())
	e.want(len(e.list(store.ListJobsRequest{})), 0, "nothing is left of an insert that was rolled back")

	tx, err = e.Begin(e.ctx)
	e.must(err)
	req.Tx = tx.Tx
	res, err := e.a.Insert(e.ctx, req)
	e.must(err)
	e.must(tx.Commit())
	ids := res.IDs()
	for i, id := range ids {
		if i == 2 {
			e.tick(time.Second)
		}
		e.end(node, id, store.Completed)
	}
}

func afterPlacesRefused(e *env) {
	p := e.insertOne(newJob())
	keyed := with(func(j *store.NewJob) { j.Unique = "k" })
	for name, jobs := range map[string][]store.NewJob{
		"itself":   {follows(place(1, store.OnSuccess))},
		"later":    {follows(place(2, store.OnSuccess)), newJob()},
		"negative": {newJob(), follows(place(-1, store.OnSuccess))},
		"both":     {newJob(), follows(store.Edge{Place: 1, Job: p})},
		"twice":    {newJob(), follows(place(1, store.OnSuccess), place(1, store.OnFailure))},
		"key":      {keyed, follows(place(1, store.OnSuccess))},
	} {
		_, err := e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Jobs: jobs})
		var field *check.FieldError
		if !errors.As(err, &field) || field.Field != "after" {
			e.t.Errorf("%s: an insert with such an edge must be refused: %v", name, err)
		}
	}
	e.want(len(e.list(store.ListJobsRequest{})), 1, "a refused request stores nothing")
}

// afterPlacesRandom inserts random graphs, some together with jobs that have keys, and ends
// their jobs in random ways. Each job must end as the rule gives it, and in order.
func afterPlacesRandom(e *env) {
	rng, node := e.random(), e.nodeFor("n", time.Hour)
	for round := range 10 {
		jobs := make([]store.NewJob, 30)
		for i := range jobs {
			jobs[i] = newJob()
			for _, p := range rng.Perm(i)[:min(i, rng.IntN(4))] {
				if jobs[p].Unique == "" {
					jobs[i].After = append(jobs[i].After, place(p+1, store.On(rng.IntN(3))))
				}
			}
			if jobs[i].Any = rng.IntN(3) == 0; len(jobs[i].After) == 0 && rng.IntN(4) == 0 {
				jobs[i].Unique = fmt.Sprint(round, "-", i)
			}
		}
		ids := e.insert(jobs...)
		ended := map[int64]store.State{}
		for {
			claims := e.claim(node, 1+rng.IntN(5))
			if len(claims) == 0 {
				break
			}
			var outcomes []store.Outcome
			for _, c := range claims {
				result := []store.Result{store.Completed, store.Completed, store.Failed}[rng.IntN(3)]
				ended[c.ID] = result.EndState()
				outcomes = append(outcomes, outcome(c, result))
			}
			e.finish(outcomes...)
		}
		for i, id := range ids {
			w := store.Wait{Open: len(jobs[i].After), Any: jobs[i].Any}
			for _, edge := range jobs[i].After {
				w.Decide(edge, store.Ended{State: ended[ids[edge.Place-1]]})
			}
			if w.State() == store.StateNotStarted && len(jobs[i].After) > 0 {
				ended[id] = store.StateNotStarted
			}
			e.want(e.state(id), ended[id], fmt.Sprintf("round %d, job %d", round, i+1))
		}
	}
}

// random returns a random source whose seed is printed.
func (e *env) random() *rand.Rand {
	seed := number(e.t, "HOURBELL_STORETEST_SEED", int64(rand.Uint32()))
	e.t.Logf("HOURBELL_STORETEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(uint64(seed), 0))
}
