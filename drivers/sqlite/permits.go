package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// QueueRates implements rowwise.ClaimTx.
func (s *session) QueueRates(ctx context.Context, queue string, _ bool) (q store.QueueRates, err error) {
	err = s.Each(ctx, findQueueRates, args{"queue": queue}, func(r row) error {
		var limit store.Limit
		var tat, notBefore time.Time
		if err := r.Scan(&limit.ID, &limit.Revision, &limit.Rate, sqlrows.IntoDuration(&limit.Per), &limit.Burst,
			sqlrows.IntoTime(&tat), sqlrows.IntoTime(&notBefore)); err != nil {
			return err
		}
		q.Add(&limit, tat, notBefore)
		return nil
	})
	return q, err
}

// SaveRate implements rowwise.ClaimTx.
func (s *session) SaveRate(ctx context.Context, limit int64, tat time.Time) error {
	return s.Exec(ctx, upsertRateLane, args{"limit": limit, "tat": sqlrows.Micros(tat)})
}
