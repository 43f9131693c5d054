package sqlite

import (
	"context"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// RecountPermits is a step of the upkeep of limits; see store.Permits. Only the oldest node takes the write lock.
func (b *Backend) RecountPermits(ctx context.Context, req store.RecountRequest) (out store.RecountResult, err error) {
	const doing = "recount permits"
	if oldest, err := rowwise.InTx(b.read(ctx, doing), func(s *session) (int64, error) {
		return s.OldestNode(ctx)
	}); err != nil || req.Node != 0 && req.Node != oldest {
		return out, err
	}
	return rowwise.InTx(b.write(ctx, doing), func(s *session) (store.RecountResult, error) {
		return rowwise.RecountPermits(ctx, s, req)
	})
}

// FindWrongLanes implements rowwise.RecountTx.
func (s *session) FindWrongLanes(ctx context.Context, among []int64, most int) (map[int64]store.LaneCount, error) {
	wrong := map[int64]store.LaneCount{}
	err := s.Each(ctx, sqlrows.FindWrongLanes, args{"lanes": sqlrows.JSONList(among), "limit": most}, func(r row) error {
		var id int64
		var held store.LaneCount
		err := r.Scan(&id, &held.Permits, &held.Starts)
		wrong[id] = held
		return err
	})
	return wrong, err
}

// ReturnIdlePermits implements rowwise.RecountTx.
func (s *session) ReturnIdlePermits(ctx context.Context, most int) (int, error) {
	ids, err := s.Numbers(ctx, findIdlePermits, args{"limit": most})
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if err := s.leaveLanes(ctx, ids, false); err != nil {
		return 0, err
	}
	return len(ids), s.OnIDs(ctx, ids, sqlrows.ClearPermits)
}

// DeleteGonePermits implements rowwise.RecountTx.
func (s *session) DeleteGonePermits(ctx context.Context) (int, error) {
	return s.Count(ctx, sqlrows.DeleteGonePermits, nil)
}
