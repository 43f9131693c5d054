package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// LockPredecessors implements rowwise.Edges.
func (s *session) LockPredecessors(ctx context.Context, ids []int64, _ time.Time) ([]store.Ended, error) {
	found, err := s.ReadEnds(ctx, findPredecessors, ids)
	if err != nil {
		return nil, err
	}
	return found, s.OnIDs(ctx, ids, sqlrows.MarkReleases)
}

// KnownJobs implements rowwise.Edges.
func (s *session) KnownJobs(ctx context.Context, ids []int64) ([]int64, error) {
	found, err := s.ReadEnds(ctx, findPredecessors, ids)
	return sqlrows.NumbersOf(found, func(e *store.Ended) int64 { return e.ID }), err
}

// SaveEdges implements rowwise.Edges.
func (s *session) SaveEdges(ctx context.Context, edges []rowwise.JobEdge) error {
	_, err := s.UpdateEdges(ctx, edges)
	return err
}

// LockWaiting implements rowwise.Edges.
func (s *session) LockWaiting(ctx context.Context, ids []int64) (waits []rowwise.JobWait, _ []int64, err error) {
	waits, err = s.ReadWaits(ctx, findWaiting, ids)
	return waits, nil, err
}
