package sqlite

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
	out, err := rowwise.SaveNewStep(req, func() (at time.Time, err error) {
		err = b.writeReturning(ctx, doing, sqlrows.InsertStep, sqlrows.NewStep(req), func(r row) error { return r.Scan(sqlrows.IntoTime(&at)) })
		return at, err
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
	return out, b.explain(ctx, doing, tx.Commit())
}
