package mysql

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// insertStep is InsertStep of sqlrows.Calls. MariaDB returns the instant from the statement that inserts, and MySQL from another statement.
func (b *Backend) insertStep(ctx context.Context, doing string, req store.SaveStepRequest) (time.Time, error) {
	return rowwise.InTx(b.writeOnce(ctx, doing), func(s *session) (time.Time, error) { return s.insertStep(ctx, req) })
}

func (s *session) insertStep(ctx context.Context, req store.SaveStepRequest) (at time.Time, err error) {
	if s.backend.server.mariaDB {
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
