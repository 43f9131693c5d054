package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// InsertBatch implements rowwise.Edges.
func (s *Session) InsertBatch(ctx context.Context, finally *store.Finally, now time.Time) (int64, error) {
	a := Args{"now": Micros(now), "on": nil, "any": nil}
	if finally != nil {
		a["on"], a["any"] = int16(finally.On), finally.Any
	}
	return s.Insert(ctx, insertBatch, a)
}

// LockBatchJob implements rowwise.Edges.
func (s *Session) LockBatchJob(ctx context.Context, batch int64) (bool, error) {
	ids, err := s.Numbers(ctx, LockBatchJob, Args{"batch": batch})
	if err != nil {
		return false, err
	}
	return len(ids) > 0, s.Dialect.TouchJobs(ctx, ids)
}
