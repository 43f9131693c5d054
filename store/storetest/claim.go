package storetest

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
)

var claimTests = []scenario{
	{"Order", claimOrder},
	{"AgedJobs", claimAged},
	{"AgedExactJobs", claimAgedExact},
	{"KindsQueueAndLimit", claimFilter},
	{"NotYetDue", claimNotYet},
	{"NextDue", claimNextDue},
	{"MarksTheJob", claimMarks},
	{"ClaimedJobsAreNotClaimedAgain", claimOnce},
	{"NodeThatIsGone", claimGone},
	{"NodeWhoseLeasePassedButLives", claimExpired},
	{"TokensGrow", claimTokens},
	{"TokensGrowForASchedule", claimScheduleTokens},
	{"FinishedAndRunningAreNotClaimed", claimStates},
	{"ManyAtOnce", claimConcurrent},
	{"CancelAtTheSameMoment", claimCancelRace},
}

func claimOrder(e *env) {
	job := func(priority int16, ago time.Duration) store.NewJob {
		return with(func(j *store.NewJob) { j.Priority, j.RunAt = priority, e.now.Add(-ago) })
	}
	ids := e.insert(job(5, time.Second), job(9, time.Hour), job(5, time.Minute), job(1, 0), job(5, time.Minute), job(2, time.Second))
	got := e.claim(e.node("n"), 10)
	e.want(claimedIDs(got), []int64{ids[3], ids[5], ids[2], ids[4], ids[0], ids[1]},
		"a claim must give the lowest priority number first, then run_at, then number")
	ids = e.insert(job(5, time.Second), job(9, time.Hour), job(5, time.Minute), job(1, 0))
	e.want(claimedIDs(e.claim(e.node("n"), 2)), []int64{ids[3], ids[2]}, "a limited claim must take the first in order")
}

// dueSince returns a job of a priority that has been due for a while.
func (e *env) dueSince(priority int16, ago time.Duration, changes ...func(*store.NewJob)) store.NewJob {
	return with(func(j *store.NewJob) {
		j.Priority, j.RunAt = priority, e.now.Add(-ago)
		for _, change := range changes {
			change(j)
		}
	})
}

func claimAged(e *env) {
	n := e.nodeFor("n", time.Hour)
	claim := func(limit, ahead int, dueFor time.Duration) []int64 {
		res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: "q", Kinds: []string{"k", "l"}, Limit: limit, Ahead: ahead, DueFor: dueFor})
		e.must(err)
		return claimedIDs(res.Jobs)
	}
	kind := func(kind string) func(*store.NewJob) { return func(j *store.NewJob) { j.Kind = kind } }
	ids := e.insert(
		e.dueSince(1, 0), e.dueSince(1, 9*time.Second), e.dueSince(9, 10*time.Second), e.dueSince(4, time.Hour), e.dueSince(4, time.Minute, kind("l")),
		e.dueSince(1, 10*time.Second-time.Microsecond), e.dueSince(2, 20*time.Second), e.dueSince(9, 2*time.Hour), e.dueSince(5, time.Minute),
		e.dueSince(3, 3*time.Hour, kind("other")), e.dueSince(3, 3*time.Hour, func(j *store.NewJob) { j.Queue = "r" }))
	e.want(claim(9, 0, 4*time.Hour), []int64(nil), "a claim of aged jobs must take no younger job")
	e.want(claim(3, 2, 10*time.Second), []int64{ids[3], ids[4], ids[7]},
		"a claim of aged jobs must take the jobs that have been due for longest, then the first numbers, and return them in the order of every claim")
	alive := e.nodeFor("alive", 24*time.Hour)
	before := e.now
	e.tick(2 * time.Hour)
	e.want(e.lose(alive), map[int64]bool{ids[3]: true, ids[4]: false, ids[7]: false},
		"of a claim of aged jobs, the first jobs in the order of every claim may begin")
	n = alive
	e.changeOne(store.DeleteJobs, ids[3])
	e.changeOne(store.DeleteJobs, ids[4])
	e.changeOne(store.DeleteJobs, ids[7])
	e.want(claim(9, 0, e.now.Sub(before)+10*time.Second), []int64{ids[6], ids[8], ids[2]},
		"a claim of aged jobs must take all jobs that have been due for so long, to the microsecond")
	e.want(claim(1, 0, 0), ids[5:6], "a claim without an age must take the first in order")
	e.want(claim(9, 0, time.Hour), []int64{ids[1], ids[0]}, "a claim of aged jobs must take what is left")
}

func claimAgedExact(e *env) {
	n := e.node("n")
	args := func(args string) func(*store.NewJob) { return func(j *store.NewJob) { j.Args = []byte(args) } }
	kind := func(j *store.NewJob) { j.Kind = "l" }
	ids := e.insert(e.dueSince(1, time.Second, args("1")), e.dueSince(8, 3*time.Minute, args("1")),
		e.dueSince(7, 4*time.Minute, args("2")), e.dueSince(9, time.Minute, kind), e.dueSince(2, 2*time.Minute, args("1")))
	claim := func(limit int) []int64 {
		res, err := e.a.Claim(e.ctx, store.ClaimRequest{
			Now: e.now, Node: n, Queue: "q", Kinds: []string{"l"},
			Exact: []store.ExactJob{exactly("k", "1")}, Limit: limit, DueFor: time.Minute,
		})
		e.must(err)
		return claimedIDs(res.Jobs)
	}
	e.want(claim(2), []int64{ids[4], ids[1]}, "a claim of aged jobs must take exact jobs, the oldest whatever their priority")
	e.want(claim(9), ids[3:4], "a claim of aged jobs must take jobs of its kinds, and leave younger jobs and other args")
}

func claimFilter(e *env) {
	kind := func(queue, kind string) store.NewJob {
		return with(func(j *store.NewJob) { j.Queue, j.Kind = queue, kind })
	}
	ids := e.insert(kind("q", "x"), kind("q", "y"), kind("r", "x"), kind("q", "z"), kind("q", "x"), kind("q", "x"))
	n := e.node("n")
	claim := func(queue string, limit int, kinds ...string) []int64 {
		res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: queue, Kinds: kinds, Limit: limit})
		e.must(err)
		return claimedIDs(res.Jobs)
	}
	e.want(claim("none", 9, "x"), []int64(nil), "a claim must take from its queue only")
	e.want(claim("q", 9), []int64(nil), "a claim without kinds must take nothing")
	e.want(claim("q", 9, "X", "x "), []int64(nil), "kinds are compared as they are")
	e.want(claim("q", 2, "x", "z"), []int64{ids[0], ids[3]}, "a claim must take its kinds only, up to its limit")
	e.want(claim("q", 9, "y"), []int64{ids[1]}, "a claim must take its kinds only")
	e.want(claim("q", 9, "x", "y", "z"), []int64{ids[4], ids[5]}, "a claim must take all of its kinds that are left")
	e.want(claim("r", 9, "x"), []int64{ids[2]}, "jobs of another queue must be left for it")
}

func claimNotYet(e *env) {
	n := e.nodeFor("n", 24*time.Hour)
	id := e.insertOne(with(func(j *store.NewJob) { j.RunAt = e.now.Add(time.Hour) }))
	e.tick(time.Hour - time.Microsecond)
	e.want(len(e.claim(n, 9)), 0, "a job must not be claimed before run_at by the request's Now (not by any other clock)")
	e.tick(time.Microsecond)
	e.want(claimedIDs(e.claim(n, 9)), []int64{id}, "a job must be claimable at run_at")
	e.now = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC) // a store clock behind the real time
	e.insertOne(with(func(j *store.NewJob) { j.RunAt = e.now.Add(time.Second) }))
	e.want(len(e.claim(n, 9)), 0, "a job that is due by the node's clock, but not by the store's, must not be claimed")
}

func claimNextDue(e *env) {
	n := e.node("n")
	claim := func(limit int) store.ClaimResult {
		res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: "q", Kinds: []string{"k"}, Limit: limit})
		e.must(err)
		return res
	}
	e.want(claim(1).NextDue, time.Time{}, "NextDue must be zero where no ready job waits")
	e.insert(newJob(),
		with(func(j *store.NewJob) { j.RunAt = e.now.Add(3 * time.Minute) }),
		with(func(j *store.NewJob) { j.RunAt = e.now.Add(2 * time.Minute); j.Kind = "other" }),
		with(func(j *store.NewJob) { j.RunAt = e.now.Add(time.Minute); j.Queue = "other" }),
		with(func(j *store.NewJob) { j.RunAt = e.now.Add(-time.Minute); j.Kind = "other" }))
	res := claim(2)
	e.want(len(res.Jobs), 1, "one job is due")
	e.want(res.Now, e.now, "a claim must return the store's now")
	e.want(res.NextDue, e.now.Add(2*time.Minute), "NextDue must be the earliest run_at after now in the queue, of any kind")
}

func claimMarks(e *env) {
	n := e.node("the node")
	id := e.insertOne(newJob())
	created := e.now
	e.tick(time.Second)
	c := e.claimOne(n)
	info := e.job(id)
	e.want([]any{info.State, info.Attempt, info.Token, info.StartedAt, info.Node, info.RunAt, info.CreatedAt, info.FinishedAt},
		[]any{store.StateRunning, int16(1), c.Token, e.now, "the node", created, created, time.Time{}},
		"a claim must make the job running, with attempt + 1, its token, started_at now and its node's name")
	e.want(e.claims(n, false), []store.ClaimRef{{ID: id, Token: c.Token}}, "a claimed job must be among its node's claims")
	e.want(e.nodes()[n].Running, int64(1), "a claimed job must be counted with its node")
}

func claimOnce(e *env) {
	n, m := e.node("n"), e.node("m")
	ids := e.insertN(3)
	e.want(claimedIDs(e.claim(n, 2)), ids[:2], "the first claim takes the first jobs")
	e.want(claimedIDs(e.claim(m, 9)), ids[2:], "a claim must not take what another node holds")
	e.want(len(e.claim(n, 9)), 0, "a claim must not take what its own node holds")
	e.tick(365 * 24 * time.Hour)
	e.want(len(e.claim(m, 9)), 0, "a claim must never take a running job because of its age")
}

func claimGone(e *env) {
	e.insertN(1)
	left, dead, alive := e.node("left"), e.node("dead"), e.nodeFor("alive", time.Hour)
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: left})
	e.must(err)
	e.tick(time.Minute)
	e.rescue(alive)
	for _, gone := range []int64{left, dead, alive + 1000, 0} {
		res, err := e.b.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: gone, Queue: "q", Kinds: []string{"k"}, Limit: 1})
		e.is(err, store.ErrNodeGone, "a claim of a node that is unknown, has left or was declared dead must give ErrNodeGone")
		e.want(len(res.Jobs), 0, "a claim of a node that is gone must give no job")
		_, err = e.b.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: gone, Queue: "empty", Kinds: []string{"k"}, Limit: 1})
		e.is(err, store.ErrNodeGone, "a claim of a node that is gone must give ErrNodeGone also where no job is due")
	}
	e.want(len(e.list(store.ListJobsRequest{JobFilter: store.JobFilter{States: []store.State{store.StateReady}}})), 1,
		"a claim of a node that is gone must touch nothing")
}

func claimExpired(e *env) {
	n := e.node("n")
	e.tick(time.Hour)
	e.insertN(1)
	e.want(len(e.claim(n, 1)), 1, "a node whose lease has expired, but which has not been declared dead, may still claim")
}

func claimTokens(e *env) {
	n := e.node("n")
	id := e.insertOne(newJob())
	other := e.insertOne(with(func(j *store.NewJob) { j.Queue = "other" }))
	var last int64
	for range 5 {
		c := e.claimOne(n)
		e.ok(c.Token > last, "each claim of a job must get a token greater than all before", c.Token, "after", last)
		last = c.Token
		e.want(e.job(id).Token, last, "the job must bear its last token")
		e.finishWell(outcome(c, store.Retry))
	}
	c := e.claimOne(n)
	e.ok(c.Token > last, "a retry must not reset the token", c.Token, "after", last)
	e.finishWell(outcome(c, store.Failed))
	e.changeOne(store.RetryJobs, id)
	e.want(e.job(id).Token, c.Token, "RetryJobs must leave the token as it is")
	d := e.claimOne(n)
	e.ok(d.Token > c.Token, "the token must go on through history and back", d.Token, "after", c.Token)
	e.finishWell(outcome(d, store.Release))
	e.ok(e.claimOne(n).Token > d.Token, "a release refunds the attempt, not the token")
	e.want(e.state(other), store.StateReady, "other jobs must be left alone")
}

func claimScheduleTokens(e *env) {
	n := e.nodeFor("n", 24*time.Hour)
	e.planned("s")
	var last int64
	for round := range 5 {
		var ids []int64
		for range 3 {
			ids = append(ids, e.ringAs("s", store.OverlapAllow).Fired[0].Job)
		}
		if round == 2 {
			e.changeOne(store.DeleteJobs, ids[2])
		}
		jobs := e.claim(n, 9)
		low, high := jobs[0].Token, jobs[0].Token
		for _, j := range jobs {
			low, high = min(low, j.Token), max(high, j.Token)
		}
		e.ok(low > last, "each claim must get a token greater than every one given before for its schedule", low, "after", last)
		last = high
		for _, j := range jobs {
			e.finishWell(outcome(j, store.Completed))
		}
		_, err := e.a.Prune(e.ctx, store.PruneRequest{Now: e.now.Add(time.Hour), Completed: time.Minute, Limit: 100})
		e.must(err)
	}
}

func claimStates(e *env) {
	n := e.node("n")
	e.insertN(3)
	jobs := e.claim(n, 3)
	e.finish(outcome(jobs[0], store.Completed), outcome(jobs[1], store.Failed), outcome(jobs[2], store.Cancelled))
	e.want(len(e.claim(n, 9)), 0, "finished jobs must never be claimed")
}

// taken collects concurrent claims.
type taken struct {
	sync.Mutex
	jobs map[int64][]int64 // tokens by job
	n    int
	errs []error
}

func (k *taken) add(jobs []store.Claimed, err error) (total int) {
	k.Lock()
	defer k.Unlock()
	for _, j := range jobs {
		k.jobs[j.ID] = append(k.jobs[j.ID], j.Token)
		k.n++
	}
	if err != nil {
		k.errs = append(k.errs, err)
	}
	return k.n + len(k.errs)
}

func claimConcurrent(e *env) {
	const total, limit = 400, 7
	e.insertN(total)
	seen := &taken{jobs: map[int64][]int64{}}
	nodes := []int64{e.node("n"), e.node("m")}
	deadline := time.Now().Add(20 * time.Second)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for time.Now().Before(deadline) {
				res, err := e.Clients[i%2].Claim(e.ctx, store.ClaimRequest{
					Now: e.now, Node: nodes[i%2], Queue: "q", Kinds: []string{"k"}, Limit: limit,
				})
				if len(res.Jobs) > limit {
					err = errors.Join(err, errors.New("more than Limit jobs came back"))
				}
				if seen.add(res.Jobs, err) >= total {
					return
				}
			}
		})
	}
	group.Wait()
	e.want(seen.errs, []error(nil), "claims at the same moment must not fail")
	e.want(len(seen.jobs), total, "claims at the same moment must together get every job")
	for id, tokens := range seen.jobs {
		e.ok(len(tokens) == 1, "no job may be handed to two claims", id, tokens)
	}
	held := append(e.claims(nodes[0], false), e.claims(nodes[1], false)...)
	e.want(len(held), total, "the node must hold the jobs that it has claimed")
	for _, ref := range held {
		e.ok(slices.Contains(seen.jobs[ref.ID], ref.Token), "a job must bear the token that its claim got", ref)
	}
}

func claimCancelRace(e *env) {
	n := e.node("n")
	for range 30 {
		id := e.insertOne(newJob())
		var claimed []store.Claimed
		var changes []store.JobChange
		errs := make([]error, 2)
		e.both(func(i int, client store.Backend) {
			if i == 0 {
				res, err := client.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: "q", Kinds: []string{"k"}, Limit: 1})
				claimed, errs[0] = res.Jobs, err
				return
			}
			res, err := client.ChangeJobs(e.ctx, store.ChangeJobsRequest{Now: e.now, IDs: []int64{id}})
			changes, errs[1] = res.Changes, err
		})
		e.must(errors.Join(errs...))
		info := e.job(id)
		if len(claimed) == 1 {
			e.want(changes, []store.JobChange{{ID: id, Change: store.Requested}}, "cancelling a job that was claimed at the same moment must leave a request")
			e.ok(info.State == store.StateRunning && info.CancelAsked, "a job claimed before its cancel must run, with a cancel request", info.State)
			e.finishWell(outcome(claimed[0], store.Cancelled))
		} else if info.State == store.StateReady { // the claim skipped a locked row
			e.t.Errorf("a cancel of a ready job must end it: %+v", changes)
		} else {
			e.want(changes, []store.JobChange{{ID: id, Change: store.Changed}}, "cancelling a ready job must end it")
			e.want(info.State, store.StateCancelled, "a cancelled job must not be claimed")
		}
	}
}
