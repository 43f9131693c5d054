package mysql

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// SaveStep stores a step of a job; see store.Steps.
func (b *Backend) SaveStep(ctx context.Context, req store.SaveStepRequest) (store.SaveStepResult, error) {
	const doing = "save a step"
	out, err := rowwise.SaveNewStep(req, func() (time.Time, error) {
		return rowwise.InTx(b.writeOnce(ctx, doing), func(s *session) (time.Time, error) { return s.insertStep(ctx, req, b.server.mariaDB) })
	}, func() (store.SaveStepResult, error) {
		return rowwise.InTxAt(b.withinAt(ctx, doing, req.Tx, req.Now), func(s *session, now time.Time) (store.SaveStepResult, error) {
			return rowwise.SaveStepOf(ctx, s, req, now)
		})
	})
	if err != nil || !req.Commit {
		return out, err
	}
	tx := req.Tx.(callersTx).tx // within accepts no other type
	if !out.Changed {
		_ = tx.Rollback()
		return out, nil
	}
	return out, b.explain(ctx, doing, perhaps(tx.Commit()))
}

// insertStep stores a result if the job runs with the token and has no step of the name, and returns the instant; the zero time: it has
// stored nothing. MariaDB returns the instant from the statement that inserts, and MySQL from another statement.
func (s *session) insertStep(ctx context.Context, req store.SaveStepRequest, returns bool) (at time.Time, err error) {
	if returns {
		err = s.Each(ctx, sqlrows.InsertStep, sqlrows.NewStep(req), func(r row) error { return r.Scan(sqlrows.IntoTime(&at)) })
	} else {
		var inserted int
		if inserted, err = s.Count(ctx, sqlrows.InsertStep, sqlrows.NewStep(req)); inserted > 0 {
			var step *store.Step
			if step, err = s.FindStep(ctx, req.Step.Job, req.Step.Name); step != nil {
				at = step.At
			}
		}
	}
	if numberOf(err) == errDuplicate {
		return time.Time{}, nil
	}
	return at, err
}
