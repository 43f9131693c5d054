package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// LockFailing implements rowwise.FollowUps.
func (s *session) LockFailing(ctx context.Context, schedules []int64) (map[int64]int64, error) {
	failing := map[int64]int64{}
	err := s.Each(ctx, sqlrows.LockFailing, args{"ids": sqlrows.JSONList(schedules)}, func(r row) error {
		var id, failures int64
		err := r.Scan(&id, &failures)
		failing[id] = failures
		return err
	})
	return failing, err
}

// BeginFailing implements rowwise.FollowUps.
func (s *session) BeginFailing(ctx context.Context, schedules []rowwise.Failing, now time.Time) error {
	return s.Exec(ctx, sqlrows.BeginFailing, args{"failing": sqlrows.JSON(schedules), "now": sqlrows.Micros(now)})
}
