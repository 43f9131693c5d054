package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// PruneJobs implements sqlrows.PruneTx.
func (s *session) PruneJobs(ctx context.Context, failed bool, keep time.Duration, limit int, now time.Time) (int, error) {
	name := pruneCompletedJobs
	if failed {
		name = pruneFailedJobs
	}
	return s.pruneJobsBefore(ctx, name, now.Add(-keep), limit, now)
}

// PruneKept implements sqlrows.PruneTx.
func (s *session) PruneKept(ctx context.Context, limit int, now time.Time) (int, error) {
	return s.pruneJobsBefore(ctx, pruneKeptJobs, now, limit, now)
}

// pruneJobsBefore deletes finished jobs with their attempts.
func (s *session) pruneJobsBefore(ctx context.Context, name statement, before time.Time, limit int, now time.Time) (int, error) {
	ids, err := s.Numbers(ctx, name, args{"before": sqlrows.Micros(before), "now": sqlrows.Micros(now), "limit": limit})
	if err != nil {
		return 0, err
	}
	return s.DeleteOfJobs(ctx, ids)
}
