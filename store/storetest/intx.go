package storetest

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

var inTxTests = []scenario{
	{"ChangeJobs", inTxChangeJobs},
	{"CancelRunning", inTxCancelRunning},
	{"CancelJobsOfASchedule", inTxCancelOfSchedule},
	{"Schedules", inTxSchedules},
	{"PutWithAJob", inTxPutWithJob},
	{"SeveralEdits", inTxSeveralEdits},
	{"SettleInside", inTxSettle},
	{"RefusalsLeaveTheTransaction", inTxRefusals},
	{"EndedOrForeign", inTxEnded},
}

// changeTx changes jobs in a transaction and returns the answers.
func (e *env) changeTx(tx Transaction, action store.JobAction, ids ...int64) []store.Change {
	e.t.Helper()
	res, err := e.a.ChangeJobs(e.ctx, store.ChangeJobsRequest{Now: e.now, Tx: tx.Tx, Action: action, IDs: ids, Reason: "asked in a transaction"})
	e.must(err)
	var out []store.Change
	for _, one := range res.Changes {
		out = append(out, one.Change)
	}
	return out
}

// putTx puts a schedule in a transaction.
func (e *env) putTx(tx Transaction, name, definition string) store.PutSchedulesResult {
	e.t.Helper()
	res, err := e.a.PutSchedules(e.ctx, store.PutSchedulesRequest{
		Now: e.now, Tx: tx.Tx,
		Schedules: []store.PutSchedule{{Name: name, Definition: []byte(definition)}},
	})
	e.must(err)
	return res
}

func (e *env) changeSchedulesTx(tx Transaction, action store.ScheduleAction, names ...string) error {
	return e.a.ChangeSchedules(e.ctx, store.ChangeSchedulesRequest{Now: e.now, Tx: tx.Tx, Action: action, Names: names})
}

// completed makes a job that has completed.
func (e *env) completed(node int64) int64 {
	e.t.Helper()
	c := e.running(node)
	e.finishWell(outcome(c, store.Completed))
	return c.ID
}

func inTxChangeJobs(e *env) {
	n := e.nodeFor("n", time.Hour)
	done, gone := e.completed(n), e.completed(n)
	running := e.running(n).ID
	ready, later := e.insertOne(newJob()), e.insertOne(with(func(j *store.NewJob) { j.Delay = time.Hour }))
	all := []int64{done, gone, running, ready, later}
	states := func() (out []store.State) {
		for _, id := range all {
			jobs := e.list(store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{id}}})
			if len(jobs) == 0 {
				out = append(out, -1)
				continue
			}
			out = append(out, jobs[0].State)
		}
		return out
	}
	before := states()
	for _, commit := range []bool{false, true} {
		tx := e.begin()
		e.want(e.changeTx(tx, store.CancelJobs, ready, done, 1<<40),
			[]store.Change{store.Changed, store.Unchanged, store.Missing}, "answers in a transaction must be as without")
		e.want(e.changeTx(tx, store.RetryJobs, done, running, later),
			[]store.Change{store.Changed, store.Unchanged, store.Changed}, "answers in a transaction must be as without")
		e.want(e.changeTx(tx, store.DeleteJobs, gone, running), []store.Change{store.Changed, store.Unchanged}, "answers in a transaction must be as without")
		e.want(e.changeTx(tx, store.DeleteJobs, gone), []store.Change{store.Missing}, "a transaction must see its own changes")
		e.want(states(), before, "before its commit a transaction's changes must not be seen by others")
		if !commit {
			e.must(tx.Rollback())
			e.want(states(), before, "rolled-back changes must never have been")
			continue
		}
		e.must(tx.Commit())
		e.want(states(), []store.State{store.StateReady, -1, store.StateRunning, store.StateCancelled, store.StateReady},
			"after the commit all changes must be there")
		e.want(e.job(ready).Reason, "asked in a transaction", "a cancelled job must keep the reason")
		e.want(claimedIDs(e.claim(n, 10)), []int64{done, later}, "jobs that were retried must be claimable")
	}
}

func inTxCancelRunning(e *env) {
	n := e.nodeFor("n", time.Hour)
	c, late := e.running(n), e.running(n)
	tx := e.begin()
	e.want(e.changeTx(tx, store.CancelJobs, c.ID), []store.Change{store.Requested}, "a running job must be asked to end")
	e.want(len(e.claims(n, true)), 0, "a request must not be seen before the commit")
	e.must(tx.Rollback())
	e.want(len(e.claims(n, true)), 0, "a request that was rolled back must never have been")
	tx = e.begin()
	e.changeTx(tx, store.CancelJobs, c.ID, late.ID)
	e.must(tx.Commit())
	e.settle()
	e.want(len(e.claims(n, true)), 2, "a request must be seen after the commit")
	e.finishWell(outcome(late, store.Completed))
	e.settle()
	e.want(e.state(late.ID), store.StateCompleted, "a job that completes is completed, although it was asked to end")
	e.finishWell(outcome(c, store.Retry))
	e.want(e.state(c.ID), store.StateCancelled, "a job that fails after the request must be cancelled")
	e.changeOne(store.RetryJobs, late.ID)
	e.settle()
	e.want(e.state(late.ID), store.StateReady, "a request must not be for the next run of a job that was retried")
}

func inTxCancelOfSchedule(e *env) {
	n := e.nodeFor("n", 24*time.Hour)
	row := e.planned("s")
	e.ring("s")
	runs := e.claimOne(n)
	waits := e.insertOne(with(func(j *store.NewJob) { j.Schedule, j.Waiting = row.ID, true }))
	ready := e.insertOne(with(func(j *store.NewJob) { j.Schedule, j.Origin, j.Delay = row.ID, store.OriginTrigger, time.Hour }))
	for _, commit := range []bool{false, true} {
		tx := e.begin()
		for _, change := range e.changeTx(tx, store.CancelJobs, waits, ready) {
			e.ok(change == store.Changed || change == store.Requested, "a job of a schedule must be cancelled, at once or after the commit", change)
		}
		end := tx.Rollback
		if commit {
			end = tx.Commit
		}
		e.must(end())
		e.settle()
		want := map[bool]store.State{false: store.StateWaiting, true: store.StateCancelled}[commit]
		if has[store.Deferring](e.b) || !commit || e.state(waits) == want {
			e.want(e.state(waits), want, "a waiting job is cancelled if, and only if, the transaction commits")
			e.want(e.state(ready) == store.StateCancelled, commit, "a ready job is cancelled if, and only if, the transaction commits")
		}
	}
	e.want(e.state(runs.ID), store.StateRunning, "other jobs of the schedule must not change")
}

func inTxSchedules(e *env) {
	e.planned("old")
	e.planned("gone")
	names := func(tx store.Tx) (out []string) {
		rows, err := store.List[store.Schedule](e.ctx, e.a, store.ListRequest{Tx: tx, Limit: 10})
		e.must(err)
		for _, row := range rows {
			if !row.PausedAt.IsZero() {
				row.Name += " paused"
			}
			out = append(out, row.Name)
		}
		return out
	}
	for _, commit := range []bool{false, true} {
		tx := e.begin()
		e.want(e.putTx(tx, "new", "{}").Changed, 1, "a schedule must be put in a transaction")
		e.must(e.changeSchedulesTx(tx, store.PauseSchedules, "old"))
		e.must(e.changeSchedulesTx(tx, store.DeleteSchedules, "gone"))
		e.want(len(e.schedules(store.ListRequest{})), 2, "before its commit a transaction's edits must not be seen by others")
		e.want(names(tx.Tx), []string{"new", "old paused"}, "a transaction must see its own edits")
		if !commit {
			e.must(tx.Rollback())
			e.want(names(nil), []string{"gone", "old"}, "rolled-back edits must never have been")
			continue
		}
		e.must(tx.Commit())
		e.want(names(nil), []string{"new", "old paused"}, "after the commit all edits must be there")
	}
	e.want(e.schedule("new").NextAt, e.now, "a schedule that was put in a transaction must be due, so that a node plans it")
}

func inTxPutWithJob(e *env) {
	for _, commit := range []bool{false, true} {
		tx := e.begin()
		e.insertTx(tx.Tx, newJob())
		e.putTx(tx, "s", "{}")
		rows, err := store.List[store.Schedule](e.ctx, e.a, store.ListRequest{Tx: tx.Tx, Names: []string{"s"}, Limit: 1})
		e.must(err)
		e.insertTx(tx.Tx, with(func(j *store.NewJob) { j.Schedule, j.Origin = rows[0].ID, store.OriginTrigger }))
		end := tx.Rollback
		if commit {
			end = tx.Commit
		}
		e.must(end())
		want := map[bool]int{false: 0, true: 1}[commit]
		e.want(len(e.list(store.ListJobsRequest{})), 2*want, "jobs and schedules of a transaction must be there together, or not at all")
		e.want(len(e.schedules(store.ListRequest{})), want, "jobs and schedules of a transaction must be there together, or not at all")
	}
}

func inTxSeveralEdits(e *env) {
	tx := e.begin()
	first := e.putTx(tx, "s", "1")
	second := e.putTx(tx, "s", "2")
	e.ok(second.Revisions[0] > first.Revisions[0], "each put of a transaction must give a greater revision", first, second)
	e.must(e.changeSchedulesTx(tx, store.PauseSchedules, "s"))
	e.must(e.changeSchedulesTx(tx, store.ResumeSchedules, "s"))
	e.must(e.changeSchedulesTx(tx, store.DeleteSchedules, "s"))
	e.is(e.changeSchedulesTx(tx, store.PauseSchedules, "s"), store.ErrNotFound, "a schedule that the transaction has deleted is not found")
	e.putTx(tx, "s", "3")
	e.must(tx.Commit())
	e.want(string(e.schedule("s").Definition), "3", "the last edit of a transaction counts")
}

// inTxSettle edits a schedule that is due, as a Settler does.
func inTxSettle(e *env) {
	e.due("s")
	tx := e.begin()
	put := store.PutSchedulesRequest{Now: e.now, Tx: tx.Tx, Schedules: []store.PutSchedule{{Name: "s", Definition: []byte("2")}}}
	_, err := e.a.PutSchedules(e.ctx, put)
	e.is(err, store.ErrUnsettled, "a schedule with due slots must be settled first, in a transaction too")
	due, err := e.a.DueSchedules(e.ctx, store.DueSchedulesRequest{Now: e.now, Tx: tx.Tx, Names: []string{"s"}, Limit: 1})
	e.must(err)
	e.want(len(due.Schedules), 1, "the schedule must be due")
	res, err := e.a.Fire(e.ctx, store.FireRequest{Now: e.now, Tx: tx.Tx, Firings: []store.Firing{ringing(due.Schedules[0])}})
	e.must(err)
	e.want(len(res.Fired), 1, "a due slot must fire before the edit")
	_, err = e.a.PutSchedules(e.ctx, put)
	e.must(err)
	e.must(tx.Commit())
	e.want(len(e.list(store.ListJobsRequest{})), 1, "the slot's job must be there after the commit")
	e.want(string(e.schedule("s").Definition), "2", "the edit must be there after the commit")
}

func inTxRefusals(e *env) {
	e.planned("s")
	tx := e.begin()
	refused := func(err, sentinel error) {
		e.t.Helper()
		e.is(err, sentinel, "a refusal must be as without a transaction")
	}
	puts := []store.PutSchedule{{Name: "fresh", Definition: []byte("{}")}, {Name: "s", Definition: []byte("2"), IfRevision: 1 << 40}}
	_, err := e.a.PutSchedules(e.ctx, store.PutSchedulesRequest{Now: e.now, Tx: tx.Tx, SyncRevision: 9, Schedules: puts})
	refused(err, store.ErrConflict)
	_, err = e.a.PutSchedules(e.ctx, store.PutSchedulesRequest{
		Now: e.now, Tx: tx.Tx,
		Schedules: []store.PutSchedule{{Name: "c", Definition: []byte("{}"), Calendars: []string{"none"}}},
	})
	refused(err, store.ErrNotFound)
	refused(e.changeSchedulesTx(tx, store.DeleteSchedules, "s", "unknown"), store.ErrNotFound)
	id := e.insertTx(tx.Tx, newJob())
	_, err = e.a.PutSchedules(e.ctx, store.PutSchedulesRequest{Now: e.now, Tx: tx.Tx, Owner: "o", SyncRevision: 5})
	e.must(err)
	_, err = e.a.PutSchedules(e.ctx, store.PutSchedulesRequest{Now: e.now, Tx: tx.Tx, Owner: "o", SyncRevision: 4, Schedules: puts[:1]})
	refused(err, store.ErrStale)
	e.must(tx.Commit())
	e.want(e.listIDs(store.ListJobsRequest{}), id, "a transaction must go on after refusals")
	e.want(len(e.schedules(store.ListRequest{Deleted: true})), 1, "a refused call must leave nothing in the transaction")
	_, err = e.a.PutSchedules(e.ctx, store.PutSchedulesRequest{Now: e.now, SyncRevision: 1})
	e.must(err)
}

func inTxEnded(e *env) {
	id := e.insertOne(newJob())
	e.planned("s")
	calls := func(tx store.Tx) []error {
		_, change := e.a.ChangeJobs(e.ctx, store.ChangeJobsRequest{Now: e.now, Tx: tx, Action: store.CancelJobs, IDs: []int64{id}})
		_, put := e.a.PutSchedules(e.ctx, store.PutSchedulesRequest{Now: e.now, Tx: tx, Schedules: []store.PutSchedule{{Name: "new", Definition: []byte("{}")}}})
		return []error{change, put, e.a.ChangeSchedules(e.ctx, store.ChangeSchedulesRequest{Now: e.now, Tx: tx, Action: store.PauseSchedules, Names: []string{"s"}})}
	}
	for _, err := range calls(foreignTx{}) {
		e.is(err, store.ErrForeignTx, "another driver's transaction must give ErrForeignTx")
	}
	for _, end := range []func(Transaction) error{
		func(tx Transaction) error { return tx.Commit() },
		func(tx Transaction) error { return tx.Rollback() },
	} {
		tx := e.begin()
		e.must(end(tx))
		for _, err := range calls(tx.Tx) {
			e.is(err, store.ErrTxEnded, "a change in a transaction that has ended must give ErrTxEnded")
		}
	}
	e.want(e.state(id), store.StateReady, "a refused transaction must change nothing")
	e.want(len(e.schedules(store.ListRequest{})), 1, "a refused transaction must change nothing")
}
