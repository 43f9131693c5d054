package storetest

import (
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

var alterJobsTests = []scenario{
	{"Move", moveJobs},
	{"MovedJobsAreFoundAtOnce", moveBehindClaims},
	{"Reprioritise", reprioritiseJobs},
	{"WaitingJobs", alterWaiting},
	{"OnlyWhatMatches", changeMatching},
	{"ClaimsAndMatches", changeMatchingConcurrently},
}

// claimFrom claims jobs of kind k from a queue, in part if the store can.
func (e *env) claimFrom(queue string, node int64, limit int) []store.Claimed {
	e.t.Helper()
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Part: true, Now: e.now, Node: node, Queue: queue, Kinds: []string{"k"}, Limit: limit})
	e.must(err)
	return res.Jobs
}

func moveJobs(e *env) {
	n := e.node("n")
	running := e.running(n)
	done := e.ended(n, newJob(), store.Failed, "why")
	ready, later := e.insertOne(newJob()), e.insertOne(with(func(j *store.NewJob) { j.Delay = time.Hour }))
	before := []store.JobInfo{e.job(running.ID), e.job(done), e.job(ready), e.job(later)}
	e.tick(time.Minute)
	const missing = 1 << 30
	changes := e.change(store.ChangeJobsRequest{Action: store.MoveJobs, IDs: []int64{running.ID, done, ready, later, missing}, Queue: "r"})
	e.want(changes, []store.JobChange{
		{ID: running.ID, Change: store.Unchanged},
		{ID: done, Change: store.Unchanged},
		{ID: ready, Change: store.Changed},
		{ID: later, Change: store.Changed},
		{ID: missing, Change: store.Missing},
	}, "jobs that wait for a worker are moved, and no others")
	before[2].Queue, before[2].RunAt, before[3].Queue = "r", e.now, "r"
	e.want([]store.JobInfo{e.job(running.ID), e.job(done), e.job(ready), e.job(later)}, before,
		"a move changes the queue, and makes a job that is due due from now on")
	e.want(claimedIDs(e.claim(n, 9)), []int64(nil), "a job that was moved must not be claimed from its old queue")
	e.want(claimedIDs(e.claimFrom("r", n, 9)), []int64{ready}, "a job that was moved must be claimed from its new queue")
	e.tick(time.Hour)
	e.want(claimedIDs(e.claimFrom("r", n, 9)), []int64{later}, "a job that was moved must be due when it was due before")
}

// moveBehindClaims: claims of the new queue have passed the instant at which the moved
// jobs were due.
func moveBehindClaims(e *env) {
	n := e.nodeFor("n", 24*time.Hour)
	old := e.insertN(3)
	e.tick(time.Hour)
	for range 3 {
		e.insertOne(with(func(j *store.NewJob) { j.Queue = "r" }))
		e.want(len(e.claimFrom("r", n, 5)), 1, "a due job must be claimed")
		e.tick(time.Second)
	}
	e.change(store.ChangeJobsRequest{Action: store.MoveJobs, IDs: old, Queue: "r"})
	e.want(claimedIDs(e.claimFrom("r", n, 5)), old, "the next claim must find jobs that were moved")
}

func reprioritiseJobs(e *env) {
	n := e.node("n")
	ids := e.insertN(4)
	e.tick(time.Minute)
	e.want(e.change(store.ChangeJobsRequest{Action: store.ReprioritiseJobs, IDs: []int64{ids[2]}, Priority: 1}),
		[]store.JobChange{{ID: ids[2], Change: store.Changed}}, "a ready job gets another priority")
	e.change(store.ChangeJobsRequest{Action: store.ReprioritiseJobs, IDs: []int64{ids[0]}, Priority: 9})
	e.want([]int16{e.job(ids[0]).Priority, e.job(ids[1]).Priority, e.job(ids[2]).Priority}, []int16{9, 5, 1}, "only the named jobs change")
	jobs := claimedIDs(e.claimFrom("q", n, 4))
	e.want(jobs, []int64{ids[2], ids[1], ids[3], ids[0]}, "jobs must be claimed by their new priority")
	e.want(e.changeOne(store.ReprioritiseJobs, ids[1]), store.Unchanged, "a running job keeps its priority")
}

func alterWaiting(e *env) {
	n := e.node("n")
	row := e.put("s", "{}")
	of := func(slot int) store.NewJob {
		return with(func(j *store.NewJob) {
			j.Schedule, j.Origin, j.Slot, j.Waiting = row.ID, store.OriginBackfill, e.now.Add(time.Duration(slot)*time.Second), true
		})
	}
	ids := e.insert(of(0), of(1))
	e.want([]store.State{e.state(ids[0]), e.state(ids[1])}, []store.State{store.StateReady, store.StateWaiting}, "one job of a serial group is ready")
	changes := e.change(store.ChangeJobsRequest{Action: store.MoveJobs, IDs: []int64{ids[1]}, Queue: "r"})
	e.want(changes, []store.JobChange{{ID: ids[1], Change: store.Changed}}, "a waiting job is moved")
	e.want(e.state(ids[1]), store.StateWaiting, "a job that was moved goes on waiting")
	e.finishWell(outcome(e.claimOne(n), store.Completed))
	e.want(claimedIDs(e.claimFrom("r", n, 1)), []int64{ids[1]}, "a job that was moved while it waited must be claimed from its new queue")
}

// changeMatching: a change compares its filter with the jobs as they are.
func changeMatching(e *env) {
	n := e.node("n")
	failed := e.ended(n, newJob(), store.Failed, "dial tcp")
	other := e.ended(n, newJob(), store.Failed, "no such user")
	done := e.ended(n, newJob(), store.Completed, "")
	ready := e.insertOne(newJob())
	all := []int64{ready, done, other, failed}
	answers := func(changes []store.JobChange) (out []store.Change) {
		for _, c := range changes {
			out = append(out, c.Change)
		}
		return out
	}
	for _, c := range []struct {
		action store.JobAction
		match  store.JobFilter
		want   []store.Change
	}{
		{
			store.RetryJobs,
			store.JobFilter{Error: "dial", States: []store.State{store.StateFailed}},
			[]store.Change{store.Missing, store.Missing, store.Missing, store.Changed},
		},
		{
			store.RetryJobs,
			store.JobFilter{Error: "dial", States: []store.State{store.StateFailed}},
			[]store.Change{store.Missing, store.Missing, store.Missing, store.Missing},
		},
		{store.CancelJobs, store.JobFilter{Retrying: true}, []store.Change{store.Missing, store.Missing, store.Missing, store.Changed}},
		{
			store.DeleteJobs,
			store.JobFilter{States: []store.State{store.StateCompleted}, Kind: "l"},
			[]store.Change{store.Missing, store.Missing, store.Missing, store.Missing},
		},
		{
			store.DeleteJobs,
			store.JobFilter{States: []store.State{store.StateCompleted}, Kind: "k"},
			[]store.Change{store.Missing, store.Changed, store.Missing, store.Missing},
		},
		{store.DeleteJobs, store.JobFilter{FinishedSince: e.now.Add(-time.Hour)}, []store.Change{store.Missing, store.Missing, store.Changed, store.Changed}},
	} {
		changes := e.change(store.ChangeJobsRequest{Action: c.action, IDs: all, Match: c.match, Reason: "why"})
		e.want(answers(changes), c.want, "jobs that do not match are missing, and stay as they are: "+show(c.match))
	}
	e.want(e.listIDs(store.ListJobsRequest{}), []int64{ready}, "only jobs that matched are deleted")
}

// changeMatchingConcurrently: a job that is claimed before a change has locked it does
// not match any more.
func changeMatchingConcurrently(e *env) {
	n := e.nodeFor("n", time.Hour)
	for range 10 {
		ids := e.insertN(20)
		var claimed []store.Claimed
		var changes []store.JobChange
		e.both(func(i int, client store.Backend) {
			if i == 0 {
				for range 4 {
					res, err := client.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: "q", Kinds: []string{"k"}, Limit: 4})
					if err != nil {
						e.t.Error(err)
					}
					claimed = append(claimed, res.Jobs...)
				}
				return
			}
			res, err := client.ChangeJobs(e.ctx, store.ChangeJobsRequest{
				Now: e.now, Action: store.CancelJobs, IDs: ids, Match: store.JobFilter{States: []store.State{store.StateReady}}, Reason: "why",
			})
			if err != nil {
				e.t.Error(err)
			}
			changes = res.Changes
		})
		for _, c := range changes {
			isClaimed := slices.Contains(claimedIDs(claimed), c.ID)
			e.ok(c.Change == store.Changed && !isClaimed || c.Change == store.Missing && isClaimed,
				"a job is either claimed, or cancelled while it is ready", c, isClaimed)
		}
		e.want(len(e.claims(n, true)), 0, "a running job must not be asked to end by a change of ready jobs")
		for _, c := range claimed {
			e.finishWell(outcome(c, store.Completed))
		}
	}
}
