package storetest

import (
	"errors"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

var listJobsTests = []scenario{
	{"Filters", listFilters},
	{"ScheduledAndRetrying", listScheduledAndRetrying},
	{"Pages", listPages},
	{"Parts", listParts},
	{"Within", listWithin},
	{"ArgsOnlyOnRequest", listArgs},
	{"NodeIsNamed", listNode},
}

func listFilters(e *env) {
	n := e.nodeFor("n", 24*time.Hour)
	row := e.put("s", "{}")
	kinds := func(queue, kind string, schedule int64) store.NewJob {
		return with(func(j *store.NewJob) { j.Queue, j.Kind, j.Schedule = queue, kind, schedule })
	}
	ids := e.insert(kinds("q", "k", 0), kinds("q", "k", row.ID), kinds("q", "k", 0), kinds("q", "k", row.ID), kinds("r", "k", row.ID), kinds("r", "l", 0))
	jobs := e.claim(n, 3)
	e.finish(outcome(jobs[0], store.Completed), outcome(jobs[1], store.Failed))
	for _, c := range []struct {
		req  store.ListJobsRequest
		want []int64
	}{
		{store.ListJobsRequest{}, []int64{ids[5], ids[4], ids[3], ids[2], ids[1], ids[0]}},
		{store.ListJobsRequest{JobFilter: store.JobFilter{States: []store.State{store.StateCompleted}}}, []int64{ids[0]}},
		{store.ListJobsRequest{JobFilter: store.JobFilter{States: []store.State{store.StateFailed, store.StateRunning}}}, []int64{ids[2], ids[1]}},
		{store.ListJobsRequest{JobFilter: store.JobFilter{States: []store.State{store.StateReady}}}, []int64{ids[5], ids[4], ids[3]}},
		{store.ListJobsRequest{JobFilter: store.JobFilter{States: []store.State{store.StateWaiting, store.StateCancelled}}}, nil},
		{store.ListJobsRequest{JobFilter: store.JobFilter{Queue: "r"}}, []int64{ids[5], ids[4]}},
		{store.ListJobsRequest{JobFilter: store.JobFilter{Kind: "l"}}, []int64{ids[5]}},
		{store.ListJobsRequest{JobFilter: store.JobFilter{Schedule: "s"}}, []int64{ids[4], ids[3], ids[1]}},
		{store.ListJobsRequest{JobFilter: store.JobFilter{Schedule: "nobody"}}, nil},
		{store.ListJobsRequest{JobFilter: store.JobFilter{Schedule: "s", Queue: "q", States: []store.State{store.StateReady}}}, []int64{ids[3]}},
		{store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{ids[0], ids[5], ids[5] + 1000}}}, []int64{ids[5], ids[0]}},
		{store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{ids[0], ids[5]}, Kind: "k"}}, []int64{ids[0]}},
		{store.ListJobsRequest{Before: ids[2]}, []int64{ids[1], ids[0]}},
		{store.ListJobsRequest{Limit: 2}, []int64{ids[5], ids[4]}},
	} {
		e.want(e.listIDs(c.req), c.want, "all given conditions must hold, greatest number first: "+show(c.req))
	}
	e.tick(time.Second)
	e.plan("s")
	e.changeSchedules(store.ResetSchedules, "s")
	e.changeSchedules(store.DeleteSchedules, "s")
	e.want(e.listIDs(store.ListJobsRequest{JobFilter: store.JobFilter{Schedule: "s"}}), []int64{ids[4], ids[3], ids[1]},
		"jobs of a deleted schedule must be found by its name")
	e.want([]string{e.job(ids[1]).ScheduleName, e.job(ids[3]).ScheduleName}, []string{"s", "s"}, "jobs of a deleted schedule must keep its name")
}

// listScheduledAndRetrying: what people see as the state of a ready job is a
// condition of its own, also where it is one of several, and page by page.
func listScheduledAndRetrying(e *env) {
	n := e.nodeFor("n", 24*time.Hour)
	later := func(queue string) store.NewJob {
		return with(func(j *store.NewJob) { j.Queue, j.Delay = queue, time.Hour })
	}
	due := func(queue string) store.NewJob { return with(func(j *store.NewJob) { j.Queue = queue }) }
	first := e.insert(due("q"), due("q"), due("q"), due("q"))
	jobs := e.claim(n, 4)
	e.finish(outcome(jobs[0], store.Retry), retryIn(jobs[1], time.Hour), outcome(jobs[2], store.Completed))
	ids := e.insert(due("q"), later("q"), due("r"), later("r"), later("q"))
	retrying, running, completed := []int64{first[1], first[0]}, first[3], first[2]
	scheduled := []int64{ids[4], ids[3], ids[1]}
	ready := []int64{ids[4], ids[3], ids[2], ids[1], ids[0], first[1], first[0]}
	states := func(states ...store.State) []store.State { return states }
	for _, c := range []struct {
		req  store.ListJobsRequest
		want []int64
	}{
		{store.ListJobsRequest{JobFilter: store.JobFilter{Scheduled: true}}, scheduled},
		{store.ListJobsRequest{JobFilter: store.JobFilter{Retrying: true}}, retrying},
		{store.ListJobsRequest{JobFilter: store.JobFilter{Scheduled: true, Retrying: true}}, append(slices.Clone(scheduled), retrying...)},
		{store.ListJobsRequest{JobFilter: store.JobFilter{Retrying: true, States: states(store.StateRunning)}}, []int64{running, first[1], first[0]}},
		{store.ListJobsRequest{JobFilter: store.JobFilter{
			Retrying: true,
			States:   states(store.StateRunning, store.StateCompleted),
		}}, []int64{running, completed, first[1], first[0]}},
		{store.ListJobsRequest{JobFilter: store.JobFilter{Scheduled: true, States: states(store.StateCompleted)}}, append(slices.Clone(scheduled), completed)},
		{store.ListJobsRequest{JobFilter: store.JobFilter{States: states(store.StateReady)}}, ready},
		{store.ListJobsRequest{JobFilter: store.JobFilter{Scheduled: true, States: states(store.StateReady)}}, ready},
		{store.ListJobsRequest{JobFilter: store.JobFilter{Scheduled: true, Queue: "q"}}, []int64{ids[4], ids[1]}},
		{store.ListJobsRequest{JobFilter: store.JobFilter{Retrying: true, Queue: "r"}}, nil},
		{store.ListJobsRequest{JobFilter: store.JobFilter{Scheduled: true}, Limit: 2}, []int64{ids[4], ids[3]}},
		{store.ListJobsRequest{JobFilter: store.JobFilter{Scheduled: true}, Limit: 2, Before: ids[3]}, []int64{ids[1]}},
		{store.ListJobsRequest{JobFilter: store.JobFilter{Scheduled: true, IDs: []int64{ids[1], ids[2]}}}, []int64{ids[1]}},
	} {
		e.want(e.listIDs(c.req), c.want, "what is scheduled and what is retrying must be found as such: "+show(c.req))
	}
	e.tick(time.Hour)
	e.want(e.listIDs(store.ListJobsRequest{JobFilter: store.JobFilter{Scheduled: true}}), []int64(nil),
		"a job whose time has come must not be listed as scheduled")
	e.want(e.listIDs(store.ListJobsRequest{JobFilter: store.JobFilter{Retrying: true}}), retrying, "a job that was tried is retrying until it runs")
}

func listPages(e *env) {
	n := e.node("n")
	ids := e.insertN(25)
	jobs := e.claim(n, 15)
	for i, j := range jobs {
		if i%2 == 0 {
			e.finishWell(outcome(j, store.Completed))
		}
	}
	var got []int64
	for before := int64(0); ; before = got[len(got)-1] {
		page := e.listIDs(store.ListJobsRequest{Before: before, Limit: 4})
		e.ok(len(page) <= 4, "a page must not be longer than Limit", len(page))
		if len(page) == 0 || len(got) > len(ids) {
			break
		}
		got = append(got, page...)
	}
	slices.Reverse(ids)
	e.want(got, ids, "pages must give every job, alive or finished, once, greatest number first")
}

func listArgs(e *env) {
	id := e.insertOne(fullJob(e.now))
	info := e.list(store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{id}}})[0]
	e.ok(info.Args == nil && info.Headers == nil, "args and headers are read only where Attempts asks for them", info)
}

func listNode(e *env) {
	n := e.nodeFor("n/日本", time.Hour)
	ids := e.insertN(4)
	e.want(e.job(ids[0]).Node, "", "a job that has never run has no node")
	jobs := e.claim(n, 4)
	named := func(ids []int64, when string) {
		e.t.Helper()
		for _, id := range ids {
			info := e.job(id)
			e.want(info.Node, "n/日本", "a job must name the node of its last attempt "+when)
			for _, a := range info.Attempts {
				e.want(a.Node, "n/日本", "an attempt must name its node "+when)
			}
		}
	}
	named(ids, "while it runs")
	for i, result := range []store.Result{store.Completed, store.Failed, store.Retry} {
		o := outcome(jobs[i], result)
		o.Error = "why"
		e.finishWell(o)
	}
	named(ids, "when that is over")
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: n})
	e.must(err)
	named(ids, "when the node has left")
	m := e.nodeFor("m", time.Hour)
	for _, c := range e.claim(m, 4) {
		e.want(e.job(c.ID).Node, "m", "a job must name the node of its last attempt, not of one before")
	}
	named(ids[:2], "when the node has left")
}

// listParts: a list and a count of a range of numbers, of live and finished jobs.
func listParts(e *env) {
	n := e.nodeFor("n", 24*time.Hour)
	ids := e.insert(newJobs(6)...)
	for _, job := range e.claim(n, 2) {
		e.finishWell(outcome(job, store.Completed))
	}
	for _, f := range []store.JobFilter{{}, {Kind: newJob().Kind}} {
		for from := range ids {
			for to := range ids {
				var want []int64
				for i := to - 1; i > from; i-- {
					want = append(want, ids[i])
				}
				e.want(e.listIDs(store.ListJobsRequest{JobFilter: f, After: ids[from], Before: ids[to]}), want, "the numbers between the bounds, greatest first")
				got, err := e.b.CountJobs(e.ctx, store.CountJobsRequest{Now: e.now, JobFilter: f, After: ids[from], Before: ids[to]})
				e.must(err)
				e.want(got, int64(len(want)), "a count of the numbers between the bounds")
			}
		}
		e.want(e.listIDs(store.ListJobsRequest{JobFilter: f, After: ids[3]}), []int64{ids[5], ids[4]}, "the numbers above a bound")
		got, err := e.b.CountJobs(e.ctx, store.CountJobsRequest{Now: e.now, JobFilter: f, After: ids[1]})
		e.must(err)
		e.want(got, int64(4), "a count of the numbers above a bound")
	}
}

// listWithin: a store either answers in time or says that it did not, and works as before
// afterwards.
func listWithin(e *env) {
	ids := e.insert(newJobs(3)...)
	for range 20 {
		jobs, err := e.b.ListJobs(e.ctx, store.ListJobsRequest{Now: e.now, Limit: 2, Within: time.Microsecond, Attempts: true})
		if !errors.Is(err, store.ErrSlow) {
			e.must(err)
			e.want(len(jobs), 2, "a list in time is complete")
		}
		n, err := e.b.CountJobs(e.ctx, store.CountJobsRequest{Now: e.now, Within: time.Microsecond})
		if !errors.Is(err, store.ErrSlow) {
			e.must(err)
			e.want(n, int64(3), "a count in time is complete")
		}
	}
	jobs, err := e.b.ListJobs(e.ctx, store.ListJobsRequest{Now: e.now, Limit: 3, Within: time.Hour})
	e.must(err)
	e.want([]int64{jobs[0].ID, jobs[1].ID, jobs[2].ID}, []int64{ids[2], ids[1], ids[0]}, "a list with time enough")
}
