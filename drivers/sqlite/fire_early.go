package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// FireEarly accounts for slots, some before their instant; see store.EarlyFirer.
func (b *Backend) FireEarly(ctx context.Context, req store.FireEarlyRequest) (out store.FireEarlyResult, err error) {
	if len(req.Firings) == 0 {
		return out, nil
	}
	return rowwise.InTxAt(b.withinAt(ctx, "fire schedules", nil, req.Now), func(s *session, now time.Time) (store.FireEarlyResult, error) {
		return rowwise.FireEarly(ctx, s, req, now)
	})
}

// LockMarks implements rowwise.Schedules.
func (s *session) LockMarks(ctx context.Context, ids []int64) (map[int64]time.Time, error) {
	marks := map[int64]time.Time{}
	err := s.Each(ctx, lockTriggeredSchedules, args{"ids": sqlrows.JSONList(ids)}, func(r row) error {
		var id int64
		var mark time.Time
		err := r.Scan(&id, sqlrows.IntoTime(&mark))
		marks[id] = mark
		return err
	})
	return marks, err
}
