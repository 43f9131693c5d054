package mysql

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// TestAfterInASnapshot inserts dependents in a transaction at REPEATABLE READ, as programs have it by default. A job that was
// stored after the first statement is unknown to it; an older job ends while the transaction is open.
func TestAfterInASnapshot(t *testing.T) {
	b, db := fresh(t)
	node := register(t, b, time.Hour)
	plain := store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: 1, MaxAttempts: 1}}
	insert := func(tx store.Tx, job store.NewJob, after ...int64) (int64, error) {
		for _, id := range after {
			job.After = append(job.After, store.Edge{Job: id})
		}
		res, err := b.Insert(t.Context(), store.InsertRequest{Tx: tx, Jobs: []store.NewJob{job}})
		if err != nil {
			return 0, err
		}
		return res.Jobs[0].ID, nil
	}
	older, err := insert(nil, plain)
	must(t, err)
	claimed := claimPlain(t, b, node, 1)
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	must(t, err)
	defer tx.Rollback()
	var n int
	must(t, tx.QueryRow("SELECT COUNT(*) FROM hourbell_job").Scan(&n))
	later, err := insert(nil, plain)
	must(t, err)
	if _, err := insert(Tx(tx), plain, later); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a job that the snapshot does not have: %v", err)
	}
	dependent, err := insert(Tx(tx), plain, older)
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	res, err := b.Finish(ctx, store.FinishRequest{Outcomes: []store.Outcome{{ID: older, Token: claimed[0].Token, Result: store.Completed}}})
	if err != nil || len(res.Refused) > 0 {
		t.Errorf("the end of a predecessor waits for the transaction: %v, %v", res, err)
	}
	must(t, tx.Commit())
	must(t, b.CarryOut(t.Context(), store.CarryOutRequest{}))
	jobs, err := b.ListJobs(t.Context(), store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{dependent}}, Limit: 1})
	must(t, err)
	if len(jobs) != 1 || jobs[0].State != store.StateReady {
		t.Errorf("after the commit the dependent is %+v", jobs)
	}
}
