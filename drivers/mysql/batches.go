package mysql

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// InsertBatch implements rowwise.Edges.
func (s *session) InsertBatch(ctx context.Context, finally *store.Finally, now time.Time) (id int64, err error) {
	a := args{"now": sqlrows.Micros(now), "on": nil, "any": nil}
	if finally != nil {
		a["on"], a["any"] = int16(finally.On), finally.Any
	}
	result, err := s.Run(ctx, insertBatch, a)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// LockBatchJob implements rowwise.Edges.
func (s *session) LockBatchJob(ctx context.Context, batch int64) (found bool, err error) {
	ids, err := s.Numbers(ctx, sqlrows.LockBatchJob, args{"batch": batch})
	if err != nil {
		return false, err
	}
	return len(ids) > 0, s.touchJobs(ctx, ids)
}
