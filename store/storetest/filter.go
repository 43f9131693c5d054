package storetest

import (
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

var filterTests = []scenario{
	{"ByUniqueKey", filterByUniqueKey},
	{"ByKey", filterByKey},
	{"ByGroup", filterByGroup},
	{"ByError", filterByError},
	{"ByArgs", filterByArgs},
	{"ByTime", filterByTime},
	{"OldestFirst", filterOldestFirst},
	{"Count", filterCount},
}

// matching returns the numbers of the jobs that match a filter, smallest first. The
// count, the list in both orders and the list by numbers must agree on them.
func (e *env) matching(f store.JobFilter) []int64 {
	e.t.Helper()
	newest := e.listIDs(store.ListJobsRequest{JobFilter: f})
	oldest := e.listIDs(store.ListJobsRequest{JobFilter: f, OldestFirst: true})
	slices.Reverse(newest)
	e.want(newest, oldest, "both orders must list the same jobs: "+show(f))
	n, err := e.b.CountJobs(e.ctx, store.CountJobsRequest{JobFilter: f, Now: e.now})
	e.must(err)
	e.want(n, int64(len(oldest)), "CountJobs must count the jobs that are listed: "+show(f))
	return oldest
}

// ended inserts a job, claims it and ends it with a result and an error.
func (e *env) ended(node int64, job store.NewJob, result store.Result, text string) int64 {
	e.t.Helper()
	id := e.insertOne(job)
	o := outcome(e.claimOne(node), result)
	o.Error, o.Delay = text, time.Hour
	e.finishWell(o)
	return id
}

func filterByUniqueKey(e *env) {
	n := e.node("n")
	keyed := func(kind, key string) store.NewJob {
		return with(func(j *store.NewJob) { j.Kind, j.Unique = kind, key })
	}
	ended := e.ended(n, keyed("k", "ü"), store.Failed, "why")
	ids := e.insert(keyed("k", "ü"), keyed("l", "ü"), keyed("k", "other"), newJob())
	e.want(e.matching(store.JobFilter{Unique: "ü"}), []int64{ended, ids[0], ids[1]}, "jobs must be found by their key, also jobs that have ended")
	e.want(e.matching(store.JobFilter{Unique: "ü", Kind: "k", States: []store.State{store.StateReady}}), []int64{ids[0]}, "a key is one of the conditions")
	e.want(e.matching(store.JobFilter{Unique: "Ü"}), []int64(nil), "a key must be compared byte by byte")
}

func filterByGroup(e *env) {
	filterByLabel(e, "group", func(spec *store.JobSpec) *string { return &spec.Group }, func(filter *store.JobFilter) *string { return &filter.Group })
}

func filterByKey(e *env) {
	filterByLabel(e, "key", func(spec *store.JobSpec) *string { return &spec.Key }, func(filter *store.JobFilter) *string { return &filter.Key })
}

// filterByLabel checks a field of jobs, and the condition on it.
func filterByLabel(e *env, what string, field func(*store.JobSpec) *string, condition func(*store.JobFilter) *string) {
	n := e.node("n")
	labelled := func(label string) store.NewJob { return with(func(j *store.NewJob) { *field(&j.JobSpec) = label }) }
	of := func(id int64) string {
		job := e.job(id)
		return *field(&job.JobSpec)
	}
	ended := e.ended(n, labelled("ü"), store.Failed, "why")
	ids := e.insert(labelled("ü"), labelled("Ü"), newJob())
	filter := store.JobFilter{}
	*condition(&filter) = "ü"
	e.want(e.matching(filter), []int64{ended, ids[0]}, "jobs must be found by their "+what+", byte by byte, also jobs that have ended")
	filter.States = []store.State{store.StateFailed}
	e.want(e.matching(filter), []int64{ended}, "the "+what+" is one of the conditions")
	e.change(store.ChangeJobsRequest{Action: store.RetryJobs, IDs: []int64{ended}})
	e.want(of(ended), "ü", "a job that is retried keeps its "+what)
	e.want(*field(&e.claim(n, 3)[0].JobSpec), "ü", "a claim has the "+what)
	e.cancelReason(ids[1], "")
	e.want(of(ids[1]), "Ü", "a job keeps its "+what+" when it ends")
}

func filterByError(e *env) {
	n := e.node("n")
	first := e.ended(n, newJob(), store.Retry, `dial tcp 10.0.0.1: 100%_"sure"`)
	second := e.ended(n, newJob(), store.Retry, "Dial again")
	failed := e.ended(n, newJob(), store.Failed, "dial tcp: no route")
	done := e.ended(n, newJob(), store.Completed, "")
	e.cancelReason(e.insertOne(newJob()), "dial is cancelled")
	cancelled := e.listIDs(store.ListJobsRequest{Limit: 1})[0]
	for text, want := range map[string][]int64{
		"dial tcp": {first, failed}, "Dial": {second}, "%_": {first}, "1%0": nil, "10_0": nil, `"sure"`: {first}, `\`: nil, "'": nil,
		"dial": {first, failed, cancelled},
	} {
		e.want(e.matching(store.JobFilter{Error: text}), want, "a job matches if its last error contains the text, byte for byte: "+text)
	}
	e.want(e.matching(store.JobFilter{Error: "dial", States: []store.State{store.StateFailed}}), []int64{failed}, "an error is one of the conditions")
	e.tick(2 * time.Hour)
	for _, c := range e.claim(n, 2) {
		o := outcome(c, store.Retry)
		o.Error = "newer"
		if c.ID == second {
			o = outcome(c, store.Completed)
			o.Output = []byte("printed")
		}
		e.finishWell(o)
	}
	e.want(e.matching(store.JobFilter{Error: "dial tcp 10"}), []int64(nil), "an error before the last error does not count")
	e.want(e.matching(store.JobFilter{Error: "newer"}), []int64{first}, "the newest error counts")
	e.want(e.matching(store.JobFilter{Error: "Dial"}), []int64{second}, "an attempt without an error leaves the last error as it is")
	e.want(e.state(done), store.StateCompleted, "a job without an error")
}

func filterByArgs(e *env) {
	n := e.node("n")
	having := func(args string) store.NewJob { return with(func(j *store.NewJob) { j.Args = []byte(args) }) }
	ended := e.ended(n, having(`{"customer":42,"name":"Zoë"}`), store.Completed, "")
	failed := e.ended(n, having(`{"customer": 421}`), store.Failed, "why")
	ids := e.insert(having(`{"customer":"42","share":"100%_sure"}`), having(`{"Customer":7}`))
	for text, want := range map[string][]int64{
		"42": {ended, failed, ids[0]}, "customer": {ended, failed, ids[0]}, "Customer": {ids[1]}, "ë": {ended}, "e\u0301": nil,
		`:42,`: {ended}, `"42"`: {ids[0]}, "0%_s": {ids[0]}, "1%0": nil, "100_": nil, `\`: nil, "'": nil,
	} {
		e.want(e.matching(store.JobFilter{ArgsText: text}), want, "a job matches if its arguments contain the text, byte for byte: "+text)
	}
	e.want(e.matching(store.JobFilter{ArgsText: "42", States: []store.State{store.StateFailed}}), []int64{failed}, "a text of the arguments is one of the conditions")
	e.want(e.matching(store.JobFilter{ArgsText: "42", IDs: ids}), ids[:1], "a text of the arguments is a condition besides numbers")
	e.change(store.ChangeJobsRequest{Action: store.CancelJobs, IDs: ids, Match: store.JobFilter{ArgsText: "42"}})
	e.want([]store.State{e.state(ids[0]), e.state(ids[1])}, []store.State{store.StateCancelled, store.StateReady}, "a change of the jobs whose arguments contain a text")
}

// cancelReason cancels a job for a reason.
func (e *env) cancelReason(id int64, reason string) {
	e.t.Helper()
	e.change(store.ChangeJobsRequest{Action: store.CancelJobs, IDs: []int64{id}, Reason: reason})
}

func filterByTime(e *env) {
	n := e.nodeFor("n", 24*time.Hour)
	start := e.now
	var ids []int64
	for range 4 { // made and ended at 0, 1, 2 and 3 minutes
		ids = append(ids, e.ended(n, newJob(), store.Completed, ""))
		e.tick(time.Minute)
	}
	live := e.insertOne(newJob()) // made at 4 minutes
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	for _, c := range []struct {
		f    store.JobFilter
		want []int64
	}{
		{store.JobFilter{CreatedSince: at(2)}, []int64{ids[2], ids[3], live}},
		{store.JobFilter{CreatedSince: at(2).Add(time.Microsecond)}, []int64{ids[3], live}},
		{store.JobFilter{CreatedUntil: at(2)}, ids[:2]},
		{store.JobFilter{CreatedUntil: at(2).Add(time.Microsecond)}, ids[:3]},
		{store.JobFilter{CreatedSince: at(1), CreatedUntil: at(3)}, ids[1:3]},
		{store.JobFilter{FinishedSince: at(2)}, ids[2:4]},
		{store.JobFilter{FinishedUntil: at(2)}, ids[:2]},
		{store.JobFilter{FinishedSince: at(1), FinishedUntil: at(2), CreatedSince: at(0)}, ids[1:2]},
		{store.JobFilter{FinishedSince: at(0), States: []store.State{store.StateReady}}, nil},
	} {
		e.want(e.matching(c.f), c.want, "since is inclusive, until is not, and a live job has no end: "+show(c.f))
	}
}

func filterOldestFirst(e *env) {
	n := e.node("n")
	ids := e.insertN(25)
	for _, j := range e.claim(n, 10) {
		e.finishWell(outcome(j, store.Completed))
	}
	var got []int64
	for after := int64(0); ; after = got[len(got)-1] {
		page := e.listIDs(store.ListJobsRequest{OldestFirst: true, After: after, Before: ids[22], Limit: 4})
		if len(page) == 0 || len(got) > len(ids) {
			break
		}
		got = append(got, page...)
	}
	e.want(got, ids[:22], "pages with OldestFirst must give every job below Before once, smallest number first")
}

func filterCount(e *env) {
	e.want(len(e.matching(store.JobFilter{})), 0, "an empty store has no jobs")
	n := e.node("n")
	e.insertN(12)
	for _, j := range e.claim(n, 5) {
		e.finishWell(outcome(j, store.Failed))
	}
	e.want(len(e.matching(store.JobFilter{})), 12, "live and finished jobs count")
	e.want(len(e.matching(store.JobFilter{States: []store.State{store.StateFailed}})), 5, "finished jobs alone")
	e.want(len(e.matching(store.JobFilter{States: []store.State{store.StateReady}})), 7, "live jobs alone")
}
