package mysql

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// FireEarly accounts for slots, some before their instant; see store.EarlyFirer.
func (b *Backend) FireEarly(ctx context.Context, req store.FireEarlyRequest) (out store.FireEarlyResult, err error) {
	return b.fire(ctx, req)
}

// LockMarks implements rowwise.Schedules.
func (s *session) LockMarks(ctx context.Context, ids []int64) (map[int64]time.Time, error) {
	marks := map[int64]time.Time{}
	lock := lockTriggeredSchedules
	if s.callers {
		lock = findTriggeredMarks
	}
	err := s.Each(ctx, lock, args{"ids": ids}, func(r row) error {
		var id int64
		var mark time.Time
		err := r.Scan(&id, sqlrows.IntoTime(&mark))
		marks[id] = mark
		return err
	})
	return marks, err
}
