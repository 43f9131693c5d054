package storetest

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

// estimateTests test counts that may be estimates; see store.Estimator.
var estimateTests = []scenario{
	{"CountsFewJobs", estimatesFew},
}

// estimatesFew checks that a store with few jobs is counted exactly, however long that may take.
func estimatesFew(e *env) {
	node := e.nodeFor("n", time.Hour)
	estimates := e.a.(store.Estimator)
	compare := func(what string) {
		e.t.Helper()
		want, err := e.b.ListQueues(e.ctx, store.ListQueuesRequest{})
		e.must(err)
		kinds, err := e.b.ListKinds(e.ctx, store.ListKindsRequest{})
		e.must(err)
		groups, err := e.b.ListGroups(e.ctx, store.ListGroupsRequest{})
		e.must(err)
		for _, req := range []store.EstimateRequest{{}, {Within: reachLimit}} {
			got, err := estimates.EstimateQueues(e.ctx, req)
			e.must(err)
			e.want(got, want, what+": few jobs must be counted")
			ofKinds, err := estimates.EstimateKinds(e.ctx, req)
			e.must(err)
			e.want(ofKinds, kinds, what+": few jobs must be counted by kind")
			inGroups, err := estimates.EstimateGroups(e.ctx, req)
			e.must(err)
			e.want(inGroups, groups, what+": few jobs and schedules must be counted")
		}
	}
	compare("an empty store")
	e.insert(newJob(), newJob(),
		with(func(j *store.NewJob) { j.Queue = "a" }), with(func(j *store.NewJob) { j.Queue, j.Priority = "a", 9 }),
		with(func(j *store.NewJob) { j.Queue, j.RunAt = "later", e.now.Add(time.Hour) }))
	e.claim(node, 1)
	compare("ready, scheduled and running jobs")
}
