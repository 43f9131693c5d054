package mysql

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// FireEarly accounts for slots, some before their instant; see store.EarlyFirer.
func (b *Backend) FireEarly(ctx context.Context, req store.FireEarlyRequest) (out store.FireEarlyResult, err error) {
	return b.fire(ctx, req)
}

// FiredTo returns up to when schedules have fired early; see store.EarlyFirer.
func (b *Backend) FiredTo(ctx context.Context, req store.FiredToRequest) (to time.Time, err error) {
	err = b.read(ctx, "read early firings", func(s *session) error {
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		var marks []time.Time
		err = s.each(ctx, findMarks, args{"names": req.Names}, func(r row) error {
			var mark time.Time
			err := r.Scan(into(&mark))
			marks = append(marks, mark)
			return err
		})
		to = store.LatestFiredTo(marks, now)
		return err
	})
	if err != nil {
		return time.Time{}, err
	}
	return to, nil
}

// LockMarks implements rowwise.Schedules.
func (s *session) LockMarks(ctx context.Context, ids []int64) (map[int64]time.Time, error) {
	marks := map[int64]time.Time{}
	lock := lockTriggeredSchedules
	if s.callers {
		lock = findTriggeredMarks
	}
	err := s.each(ctx, lock, args{"ids": ids}, func(r row) error {
		var id int64
		var mark time.Time
		err := r.Scan(&id, into(&mark))
		marks[id] = mark
		return err
	})
	return marks, err
}
