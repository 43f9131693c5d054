package storetest

import (
	"errors"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// claimPartTests test claims that may leave out due jobs; see store.ClaimRequest.Part.
var claimPartTests = []scenario{
	{"ClaimsAsClaimDoes", partAsWhole},
	{"ReachesEveryJob", partReaches},
	{"ReachesEveryAgedJob", partReachesAged},
	{"ReachesLateCommits", partLateCommits},
	{"ReachesExactJobs", partExact},
	{"ClaimLeavesOutNoJob", partThenWhole},
	{"NodeThatIsGone", partGone},
}

// reachLimit is how long a test repeats partial claims for one more job.
const reachLimit = 30 * time.Second

// reach repeats a partial claim as a node does, until it has got a number of jobs,
// and returns the jobs.
func (e *env) reach(req store.ClaimRequest, jobs int) (got []store.Claimed) {
	e.t.Helper()
	req.Part = true
	for deadline := time.Now().Add(reachLimit); len(got) < jobs; {
		res, err := e.a.Claim(e.ctx, req)
		e.must(err)
		got = append(got, res.Jobs...)
		if time.Now().After(deadline) {
			e.t.Fatalf("partial claims did not reach %d due jobs in %v: got %d", jobs, reachLimit, len(got))
		}
		switch {
		case res.Again > 0:
			time.Sleep(min(res.Again, time.Second))
		case len(res.Jobs) < req.Limit:
			time.Sleep(10 * time.Millisecond) // a node polls less often
		}
	}
	return got
}

func partAsWhole(e *env) {
	node := e.nodeFor("n", time.Hour)
	ids := e.insert(
		with(func(j *store.NewJob) { j.Priority = 9 }), newJob(), with(func(j *store.NewJob) { j.RunAt = e.now.Add(-time.Minute) }),
		with(func(j *store.NewJob) { j.Kind = "other" }), with(func(j *store.NewJob) { j.Queue = "other" }),
		with(func(j *store.NewJob) { j.RunAt = e.now.Add(time.Minute) }))
	claim := func(limit int) store.ClaimResult {
		res, err := e.a.Claim(e.ctx, store.ClaimRequest{Part: true, Now: e.now, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: limit})
		e.must(err)
		return res
	}
	first := claim(2)
	e.want(claimedIDs(first.Jobs), []int64{ids[2], ids[1]}, "a partial claim must take jobs in the order of Claim, up to its limit")
	info := e.job(ids[2])
	e.want([]any{info.State, info.Attempt, info.Token, info.StartedAt}, []any{store.StateRunning, int16(1), first.Jobs[0].Token, e.now},
		"a partial claim must change a job as Claim does")
	rest := claim(9)
	e.want([]any{claimedIDs(rest.Jobs), rest.Now, rest.NextDue}, []any{ids[:1], e.now, e.now.Add(time.Minute)},
		"a partial claim must take the jobs that are left, and return Now and NextDue")
	e.want(len(claim(9).Jobs), 0, "a partial claim must not take a job that runs")
}

// partReaches makes jobs due that lie before jobs which were claimed already.
func partReaches(e *env) {
	now := e.real()
	node := e.nodeFor("n", time.Hour)
	req := store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 10}
	for _, ago := range []time.Duration{0, time.Second, time.Hour, 24 * time.Hour} {
		e.reachesAll(req, now.Add(-ago), "partial claims must reach each due job, once")
	}
	e.want(len(e.claim(node, 10)), 0, "no job is left")
}

// reachesAll inserts jobs of all priorities with a run_at, and requires that partial claims take each of them, once, and no other job.
func (e *env) reachesAll(req store.ClaimRequest, runAt time.Time, what string) {
	e.t.Helper()
	var jobs []store.NewJob
	for range 25 {
		jobs = append(jobs, with(func(j *store.NewJob) {
			j.RunAt, j.Priority = runAt, int16(store.FirstPriority+len(jobs)%store.LastPriority)
		}))
	}
	ids := e.insert(jobs...)
	got := claimedIDs(e.reach(req, len(ids)))
	slices.Sort(got)
	e.want(got, ids, what)
}

// partReachesAged makes jobs aged that lie before jobs which were claimed already, while jobs of a better priority are due all the time.
func partReachesAged(e *env) {
	now := e.real()
	node := e.nodeFor("n", time.Hour)
	req := store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 10, DueFor: 10 * time.Minute}
	first := e.insertN(1)
	for _, ago := range []time.Duration{time.Hour, 20 * time.Minute, 24 * time.Hour} {
		e.reachesAll(req, now.Add(-ago), "partial claims of aged jobs must reach each job that has been due for so long, once, and no other job")
	}
	e.want(claimedIDs(e.claim(node, 10)), first, "a job that is no older than that is left")
}

func partLateCommits(e *env) {
	e.real()
	node := e.nodeFor("n", time.Hour)
	req := store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 10}
	tx := e.begin()
	late := e.insertTx(tx.Tx, newJob())
	for range 10 { // a low-water cursor passes the position of the job
		res, err := e.a.Claim(e.ctx, req)
		e.must(err)
		e.want(len(res.Jobs), 0, "a partial claim must not take a job of a transaction that has not committed")
		time.Sleep(10 * time.Millisecond)
	}
	e.must(tx.Commit())
	e.want(claimedIDs(e.reach(req, 1)), late, "partial claims must reach a job of a transaction that committed late")
}

func partExact(e *env) {
	e.real()
	node := e.nodeFor("n", time.Hour)
	mine := exactly("k", `"mine"`)
	e.insertN(3000)
	ids := e.insert(with(func(j *store.NewJob) { j.Args = mine.Args }))
	req := store.ClaimRequest{Node: node, Queue: "q", Exact: []store.ExactJob{mine}, Limit: 10}
	e.want(claimedIDs(e.reach(req, 1)), ids, "partial claims must reach the only exact job behind other jobs")
}

func partThenWhole(e *env) {
	now := e.real()
	node := e.nodeFor("n", time.Hour)
	for range 5 {
		e.insertN(10)
		e.reach(store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 5}, 10)
		time.Sleep(30 * time.Millisecond)
		id := e.insertOne(with(func(j *store.NewJob) { j.RunAt = now.Add(-time.Hour) }))
		e.want(claimedIDs(e.claim(node, 10)), []int64{id}, "Claim must find each due job at once, whatever partial claims have found before")
	}
}

func partGone(e *env) {
	e.insertN(1)
	node := e.node("n")
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: node})
	e.must(err)
	for _, now := range []time.Time{e.now, {}} {
		res, err := e.a.Claim(e.ctx, store.ClaimRequest{Part: true, Now: now, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 1})
		e.ok(errors.Is(err, store.ErrNodeGone) && len(res.Jobs) == 0, "a partial claim of a node that has left must get ErrNodeGone and no job", err, res)
	}
}

// sendClaim claims in one of the ways that the store has. All of them claim the
// same jobs, because the request has a Now and few jobs have no digest.
func (w *world) sendClaim(req store.ClaimRequest) (store.ClaimResult, error) {
	req.Part = !w.chance(2)
	for {
		res, err := w.client.Claim(w.ctx, req)
		if err != nil || len(res.Jobs) > 0 || res.Again == 0 {
			return res, err
		}
	}
}
