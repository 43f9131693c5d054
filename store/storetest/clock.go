package storetest

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

var clockTests = []scenario{
	{"RequestsWithoutNowUseTheStoresClock", clockStores},
	{"DelaysCountByTheStoresClock", clockDelays},
	{"SchedulesByTheStoresClock", clockSchedules},
	{"LeasesByTheStoresClock", clockLeases},
	{"PruneByTheStoresClock", clockPrune},
}

// between checks that a time was read from the store's clock since before.
func (e *env) between(what string, before, at time.Time) {
	e.t.Helper()
	after, err := e.b.Now(e.ctx)
	e.must(err)
	e.ok(!at.Before(before) && !at.After(after), what+" must be the store's now where a request has none", before, at, after)
}

// real makes requests use the store's clock, and reads it.
func (e *env) real() time.Time {
	e.t.Helper()
	e.now = time.Time{}
	now, err := e.a.Now(e.ctx)
	e.must(err)
	return now
}

func clockStores(e *env) {
	before := e.real()
	n := e.node("n")
	e.between("started_at of a node", before, e.nodes()[n].StartedAt)
	id := e.insertOne(newJob())
	e.between("created_at", before, e.job(id).CreatedAt)
	e.between("run_at", before, e.job(id).RunAt)
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Node: n, Queue: "q", Kinds: []string{"k"}, Limit: 1})
	e.must(err)
	if len(res.Jobs) != 1 {
		e.t.Fatal("a job without run_at and delay must be due at once by the store's clock")
	}
	e.between("the now of a claim", before, res.Now)
	e.between("started_at", before, e.job(id).StartedAt)
	o := outcome(res.Jobs[0], store.Failed)
	o.Error = "why"
	e.finishWell(o)
	e.between("finished_at", before, e.job(id).FinishedAt)
	e.between("finished_at of an attempt", before, e.job(id).Attempts[0].FinishedAt)
	e.changeOne(store.RetryJobs, id)
	e.between("run_at of a retried job", before, e.job(id).RunAt)
	e.cancel(id)
	e.between("finished_at of a cancelled job", before, e.job(id).FinishedAt)
	e.between("the now of a heartbeat", before, e.heartbeat(n).Now)
	e.between("the last heartbeat", before, e.nodes()[n].SeenAt)
	_, err = e.a.Leave(e.ctx, store.LeaveRequest{Node: n})
	e.must(err)
	e.between("ended_at of a node", before, e.nodes()[n].EndedAt)
}

func clockDelays(e *env) {
	before := e.real()
	n := e.node("n")
	id := e.insertOne(with(func(j *store.NewJob) { j.Delay = time.Hour }))
	e.between("run_at - Delay", before, e.job(id).RunAt.Add(-time.Hour))
	e.want(len(e.claim(n, 1)), 0, "a delayed job must not be due")
	past := e.insertOne(with(func(j *store.NewJob) { j.RunAt = before.Add(-time.Hour) }))
	c := e.claimOne(n)
	e.want(c.ID, past, "a job with run_at in the past is due")
	o := outcome(c, store.Retry)
	o.Delay = time.Minute
	e.finishWell(o)
	e.between("run_at - Delay of a retry", before, e.job(past).RunAt.Add(-time.Minute))
	tx := e.begin()
	ids := e.insertTx(tx.Tx, newJob())
	e.must(tx.Commit())
	e.between("run_at in a transaction", before, e.job(ids[0]).RunAt)
	e.claimOne(n)
}

func clockSchedules(e *env) {
	before := e.real()
	row := e.put("s", "1")
	e.between("anchor", before, row.Anchor)
	e.between("mark", before, row.Mark)
	e.between("next_at", before, row.NextAt)
	due, err := e.a.DueSchedules(e.ctx, store.DueSchedulesRequest{Limit: 1})
	e.must(err)
	e.between("the now of due schedules", before, due.Now)
	e.want(len(due.Schedules), 1, "a new schedule must be due for planning at once")
	f := firing(row, row.NextAt, row.NextAt.Add(time.Hour))
	f.Jobs = []store.NewJob{slotJob(row, row.NextAt)}
	res := e.fire(f)
	if len(res.Fired) != 1 {
		e.t.Fatalf("a slot that is due by the store's clock must fire: %+v", res)
	}
	e.between("the time of recording", before, e.slots(store.ListRequest{})[0].RecordedAt)
	e.want(e.fire(ringing(e.schedule("s"))).Lost, []int64{row.ID}, "a slot that is not due by the store's clock must not fire")
	e.changeSchedules(store.PauseSchedules, "s")
	e.between("paused_at", before, e.schedule("s").PausedAt)
	e.changeSchedules(store.ResetSchedules, "s")
	e.between("a mark that was reset", before, e.schedule("s").Mark)
	row = e.schedule("s")
	e.fire(firing(row, row.NextAt, row.NextAt.Add(time.Hour)))
	e.changeSchedules(store.DeleteSchedules, "s")
	e.between("deleted_at", before, e.schedule("s").DeletedAt)
}

// clockLease is longer than three calls take on a busy machine.
const clockLease = 4 * time.Second

func clockLeases(e *env) {
	e.real()
	n := e.nodeFor("n", time.Hour)
	short := e.nodeFor("short", clockLease)
	e.want(len(e.rescue(n).Nodes)+len(e.rescue(short).Nodes), 0, "a node must live until its lease passes by the store's clock")
	time.Sleep(clockLease + 50*time.Millisecond)
	res := e.rescue(n)
	e.ok(len(res.Nodes) == 1 && res.Nodes[0].ID == short, "a node must be declared dead once its lease has passed by the store's clock", res)
}

func clockPrune(e *env) {
	e.real()
	n := e.node("n")
	e.insertN(1)
	e.finishWell(outcome(e.claimOne(n), store.Completed))
	e.want(e.prune(store.PruneRequest{Completed: time.Hour}), store.PruneResult{}, "what is young by the store's clock must stay")
	time.Sleep(20 * time.Millisecond)
	e.want(e.prune(store.PruneRequest{Completed: 10 * time.Millisecond}), store.PruneResult{Jobs: 1}, "what is old by the store's clock must go")
}
