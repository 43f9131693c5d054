package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store/rowwise"
)

// LockFailing implements rowwise.FollowUps.
func (s *session) LockFailing(ctx context.Context, schedules []int64) (map[int64]int64, error) {
	failing := map[int64]int64{}
	err := s.each(ctx, lockFailing, args{"ids": jsonList(schedules)}, func(r row) error {
		var id, failures int64
		err := r.Scan(&id, &failures)
		failing[id] = failures
		return err
	})
	return failing, err
}

// BeginFailing implements rowwise.FollowUps.
func (s *session) BeginFailing(ctx context.Context, schedules []rowwise.Failing, now time.Time) error {
	return s.exec(ctx, beginFailing, args{"failing": jsonOf(schedules), "now": micros(now)})
}

// CountFailing implements rowwise.FollowUps.
func (s *session) CountFailing(ctx context.Context, schedules []rowwise.Failing) error {
	return s.exec(ctx, countFailing, args{"failing": jsonOf(schedules)})
}

// EndFailing implements rowwise.FollowUps.
func (s *session) EndFailing(ctx context.Context, schedules []int64) error {
	return s.onIDs(ctx, schedules, nil, endFailing)
}
