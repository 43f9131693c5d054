package storetest

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

// estimateTests test counts that may be estimates; see ListRequest.Estimate.
var estimateTests = []scenario{
	{"CountsFewJobs", estimatesFew},
}

// estimatesFew checks that a store with few jobs is counted exactly, however long that may take.
func estimatesFew(e *env) {
	node := e.nodeFor("n", time.Hour)
	compare := func(what string) {
		e.t.Helper()
		want, err := store.List[store.QueueInfo](e.ctx, e.b, store.ListRequest{})
		e.must(err)
		kinds, err := store.List[store.KindInfo](e.ctx, e.b, store.ListRequest{})
		e.must(err)
		groups, err := store.List[store.GroupInfo](e.ctx, e.b, store.ListRequest{})
		e.must(err)
		for _, req := range []store.ListRequest{{Estimate: true}, {Estimate: true, Within: reachLimit}} {
			got, err := store.List[store.QueueInfo](e.ctx, e.a, req)
			e.must(err)
			e.want(got, want, what+": few jobs must be counted")
			ofKinds, err := store.List[store.KindInfo](e.ctx, e.a, req)
			e.must(err)
			e.want(ofKinds, kinds, what+": few jobs must be counted by kind")
			inGroups, err := store.List[store.GroupInfo](e.ctx, e.a, req)
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
