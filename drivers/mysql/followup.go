package mysql

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// BeginFailing implements rowwise.FollowUps. If another transaction has recorded one of the
// schedules since LockFailing, and there are failures to be counted, the transaction begins again.
func (s *session) BeginFailing(ctx context.Context, schedules []rowwise.Failing, now time.Time) error {
	var again, begun []rowwise.Failing
	for _, one := range schedules {
		if _, locked := s.failing[one.ID]; locked {
			again = append(again, one)
		} else {
			begun = append(begun, one)
		}
	}
	if len(again) > 0 {
		if err := s.Exec(ctx, renewFailing, args{"failing": sqlrows.JSON(again), "now": sqlrows.Micros(now)}); err != nil {
			return err
		}
	}
	if len(begun) == 0 {
		return nil
	}
	inserted, err := s.InsertFailing(ctx, begun, now)
	if err == nil && inserted < len(begun) && slices.ContainsFunc(begun, func(one rowwise.Failing) bool { return one.Failures > 0 }) {
		err = errMoved
	}
	return err
}

// LockFailing implements rowwise.FollowUps.
func (s *session) LockFailing(ctx context.Context, schedules []int64) (_ map[int64]int64, err error) {
	s.failing, err = s.Session.LockFailing(ctx, schedules)
	return s.failing, err
}
