package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// insertStep is InsertStep of sqlrows.Calls.
func (b *Backend) insertStep(ctx context.Context, doing string, req store.SaveStepRequest) (at time.Time, err error) {
	err = b.writeReturning(ctx, doing, sqlrows.InsertStep, sqlrows.NewStep(req), func(r row) error { return r.Scan(sqlrows.IntoTime(&at)) })
	return at, err
}
