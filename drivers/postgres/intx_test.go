package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// TestChangesInTransactionsOfEveryDriver cancels a job and puts a schedule by each driver:
// a commit makes both visible, a rollback neither. A refusal in between does no harm, and
// the settings of the transaction are as they were.
func TestChangesInTransactionsOfEveryDriver(t *testing.T) {
	for name, begin := range programTxs(t) {
		t.Run(name, func(t *testing.T) {
			b := fresh(t)
			for _, commit := range []bool{false, true} {
				inserted, err := b.Insert(t.Context(), store.InsertRequest{Jobs: noop(1)})
				must(t, err)
				id, schedule := inserted.Jobs[0].ID, fmt.Sprint("s", commit)
				program := begin(t)
				cancelled, err := b.ChangeJobs(t.Context(), store.ChangeJobsRequest{Tx: program.tx, Action: store.CancelJobs, IDs: []int64{id}, Reason: "no"})
				must(t, err)
				if cancelled.Changes[0].Change != store.Changed {
					t.Errorf("cancelled: %+v", cancelled)
				}
				unknown := store.ChangeSchedulesRequest{Tx: program.tx, Action: store.PauseSchedules, Names: []string{"unknown"}}
				if err := b.ChangeSchedules(t.Context(), unknown); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("an unknown schedule: %v", err)
				}
				for range 2 { // the second edit meets the first
					_, err = b.PutSchedules(t.Context(), store.PutSchedulesRequest{Tx: program.tx, Schedules: []store.PutSchedule{{Name: schedule, Definition: []byte("{}")}}})
					must(t, err)
					must(t, b.ChangeSchedules(t.Context(), store.ChangeSchedulesRequest{Tx: program.tx, Action: store.PauseSchedules, Names: []string{schedule}}))
					must(t, b.ChangeSchedules(t.Context(), store.ChangeSchedulesRequest{Tx: program.tx, Action: store.ResumeSchedules, Names: []string{schedule}}))
				}
				must(t, program.exec("do $$ begin assert current_setting('enable_seqscan') = 'on' and current_setting('enable_hashjoin') = 'on' and current_setting('jit') = 'on'; end $$"))
				if state := stateOf(t, b, id); state != store.StateReady {
					t.Errorf("before the end of the transaction the job is %v", state)
				}
				if commit {
					must(t, program.commit())
				} else {
					must(t, program.rollback())
				}
				if state := stateOf(t, b, id); (state == store.StateCancelled) != commit {
					t.Errorf("commit %v: the job is %v", commit, state)
				}
				rows, err := store.List[store.Schedule](t.Context(), b, store.ListRequest{Names: []string{schedule}, Limit: 1})
				must(t, err)
				if (len(rows) == 1) != commit {
					t.Errorf("commit %v: %d schedules", commit, len(rows))
				}
				_, err = b.ChangeJobs(t.Context(), store.ChangeJobsRequest{Tx: program.tx, Action: store.CancelJobs, IDs: []int64{id}})
				if !errors.Is(err, store.ErrTxEnded) {
					t.Errorf("after the end of the transaction: %v", err)
				}
			}
		})
	}
}

// TestStatementsInTransactionsAreNotCompiled: the compilation of a completion takes half a second in each new
// session, and the transaction of a worker may have no more than a second.
func TestStatementsInTransactionsAreNotCompiled(t *testing.T) {
	b := fresh(t)
	tx, own := openTx(t)
	for _, setting := range []string{"on", "off"} {
		if _, err := tx.Exec(t.Context(), "select set_config('jit', $1, true)", setting); err != nil {
			t.Fatal(err)
		}
		read := func(q querier) (jit string) {
			must(t, q.QueryRow(t.Context(), "select current_setting('jit')").Scan(&jit))
			return jit
		}
		must(t, b.within(t.Context(), "read a setting", own, time.Time{})(func(q querier, _ time.Time) error {
			if jit := read(q); jit != "off" {
				t.Errorf("jit is %s while a change is made", jit)
			}
			return nil
		}))
		if jit := read(tx); jit != setting {
			t.Errorf("jit is %s after the change, but was %s", jit, setting)
		}
	}
}

func stateOf(t *testing.T, b *Backend, id int64) store.State {
	t.Helper()
	jobs, err := b.ListJobs(t.Context(), store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{id}}, Limit: 1})
	must(t, err)
	return jobs[0].State
}

// openTx is an open transaction of a program, which is rolled back at the end.
func openTx(t *testing.T) (pgx.Tx, store.Tx) {
	t.Helper()
	tx, err := newPool(t).Begin(t.Context())
	must(t, err)
	t.Cleanup(func() { tx.Rollback(context.Background()) })
	return tx, Tx(tx)
}

// soon fails a test in which something waits for an open transaction.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// TestAnOpenTransactionHoldsUpNoOutcome cancels running, waiting and ready jobs in a
// transaction that stays open: outcomes of a batch with these jobs are recorded.
func TestAnOpenTransactionHoldsUpNoOutcome(t *testing.T) {
	b := fresh(t)
	node, ctx := register(t, b), soon(t)
	schedule := plannedNow(t, b, "s")
	jobs := noop(4)
	jobs[0].Schedule, jobs[1].Schedule, jobs[1].Waiting = schedule.ID, schedule.ID, true
	inserted, err := b.Insert(ctx, store.InsertRequest{Jobs: jobs})
	must(t, err)
	ids := inserted.IDs()
	claimed := claimN(t, b, node, 2) // of the schedule, and the first of the others
	free := ids[3]
	tx, own := openTx(t)
	res, err := b.ChangeJobs(ctx, store.ChangeJobsRequest{Tx: own, Action: store.CancelJobs, IDs: ids, Reason: "no"})
	must(t, err)
	for i, change := range []store.Change{store.Requested, store.Requested, store.Requested, store.Changed} {
		if res.Changes[i].Change != change {
			t.Errorf("job %d: %+v, want %v", i, res.Changes[i], change)
		}
	}
	for _, action := range []store.JobAction{store.RetryJobs, store.DeleteJobs} {
		if _, err := b.ChangeJobs(ctx, store.ChangeJobsRequest{Tx: own, Action: action, IDs: ids[1:2]}); !errors.Is(err, store.ErrNotInTx) {
			t.Errorf("action %v of a waiting job: %v", action, err)
		}
	}
	var outcomes []store.Outcome
	for _, c := range claimed {
		outcomes = append(outcomes, store.Outcome{ID: c.ID, Token: c.Token, Result: store.Completed})
	}
	finished, err := b.Finish(ctx, store.FinishRequest{Outcomes: outcomes})
	must(t, err)
	if len(finished.Refused) > 0 || stateOf(t, b, claimed[0].ID) != store.StateCompleted {
		t.Errorf("while a transaction is open: %+v", finished)
	}
	if state := stateOf(t, b, ids[1]); state != store.StateReady {
		t.Errorf("the waiting job is %v after the job before it has ended", state)
	}
	left, err := b.Claim(ctx, store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 5})
	must(t, err)
	if len(left.Jobs) != 1 || left.Jobs[0].ID != ids[1] {
		t.Errorf("claimed %+v; the job that the transaction cancels must be left out", left)
	}
	must(t, tx.Commit(ctx))
	must(t, b.CarryOut(ctx, store.CarryOutRequest{}))
	claims, err := b.Claims(ctx, store.ClaimsRequest{Node: node, Cancelled: true})
	must(t, err)
	if len(claims) != 1 || claims[0].ID != ids[1] || stateOf(t, b, free) != store.StateCancelled {
		t.Errorf("after the commit: claims to be cancelled %+v", claims)
	}
	var requests int
	must(t, b.pool.QueryRow(ctx, "select count(*) from "+pgx.Identifier{b.schema, "cancel_request"}.Sanitize()).Scan(&requests))
	if requests != 1 {
		t.Errorf("%d cancel requests are left", requests)
	}
}

// plannedNow puts a schedule that is due in the past, as one that nodes left alone.
func plannedNow(t *testing.T, b *Backend, name string) store.Schedule {
	t.Helper()
	_, err := b.PutSchedules(t.Context(), store.PutSchedulesRequest{Schedules: []store.PutSchedule{{Name: name, Definition: []byte("{}")}}})
	must(t, err)
	rows, err := store.List[store.Schedule](t.Context(), b, store.ListRequest{Names: []string{name}, Limit: 1})
	must(t, err)
	return rows[0]
}

func fires(s store.Schedule) store.Firing {
	job := noop(1)[0]
	job.Schedule, job.Slot = s.ID, s.NextAt
	return store.Firing{Schedule: s.ID, Revision: s.Revision, Mark: s.Mark, NextAt: s.NextAt, NewMark: s.NextAt.Add(time.Microsecond), NewNextAt: s.NextAt.Add(time.Hour), Jobs: []store.NewJob{job}}
}

// TestAnOpenTransactionHoldsUpNoOtherSchedule edits a schedule, or locks a job of one, in a
// transaction that stays open: other schedules of the same batch fire, and this one fires
// after the transaction has ended.
func TestAnOpenTransactionHoldsUpNoOtherSchedule(t *testing.T) {
	b := fresh(t)
	ctx := soon(t)
	held, other := plannedNow(t, b, "held"), plannedNow(t, b, "other")
	tx, own := openTx(t)
	must(t, b.ChangeSchedules(ctx, store.ChangeSchedulesRequest{Now: held.NextAt, Tx: own, Action: store.PauseSchedules, Names: []string{"held"}}))
	res, err := b.Fire(ctx, store.FireRequest{Firings: []store.Firing{fires(held), fires(other)}})
	must(t, err)
	if len(res.Fired) != 1 || res.Fired[0].Schedule != other.ID || len(res.Lost) != 1 || res.Lost[0] != held.ID {
		t.Errorf("while a transaction edits a schedule: %+v", res)
	}
	must(t, tx.Rollback(ctx))
	res, err = b.Fire(ctx, store.FireRequest{Firings: []store.Firing{fires(held)}})
	must(t, err)
	if len(res.Fired) != 1 {
		t.Errorf("after the transaction: %+v", res)
	}

	tx, _ = openTx(t)
	_, err = tx.Exec(ctx, "select from "+pgx.Identifier{b.schema, "job"}.Sanitize()+" where id = $1 for update", res.Fired[0].Job)
	must(t, err)
	rows, err := store.List[store.Schedule](ctx, b, store.ListRequest{Limit: 2})
	must(t, err)
	far := rows[0].NextAt.Add(time.Minute)
	res, err = b.Fire(ctx, store.FireRequest{Now: far, Firings: []store.Firing{fires(rows[0]), fires(rows[1])}})
	must(t, err)
	if len(res.Fired)+len(res.Slots) == 0 || len(res.Lost) != 1 || res.Lost[0] != held.ID {
		t.Errorf("while a transaction locks a job: %+v", res)
	}
}

// TestATransactionOnAnotherStore refuses a transaction on a database without the schema,
// and on a schema of another store.
func TestATransactionOnAnotherStore(t *testing.T) {
	b := fresh(t)
	_, err := store.ReadPosition(t.Context(), b)
	must(t, err)
	other := "another store"
	b.identity.Store(&other)
	tx, own := openTx(t)
	change := store.ChangeJobsRequest{Tx: own, Action: store.CancelJobs, IDs: []int64{1}}
	if _, err := b.ChangeJobs(t.Context(), change); !errors.Is(err, store.ErrForeignTx) {
		t.Errorf("a transaction on another store: %v", err)
	}
	without := New(newPool(t), Schema("no such schema"))
	if _, err := without.ChangeJobs(t.Context(), change); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "the transaction's database") {
		t.Errorf("a transaction on a database without the schema: %v", err)
	}
	_, err = tx.Exec(t.Context(), "select 1")
	must(t, err)
	_, err = tx.Exec(t.Context(), "no SQL")
	if err == nil {
		t.Fatal("the server knows no SQL")
	}
	if _, err := fresh(t).ChangeJobs(t.Context(), change); err == nil || !strings.Contains(err.Error(), "can only be rolled back") {
		t.Errorf("a transaction that has failed: %v", err)
	}
}
