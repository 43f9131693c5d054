package sqlite

import (
	"context"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// RecountPermits is a step of the upkeep of limits; see store.LimitStore. Only the oldest node takes the write lock.
func (b *Backend) RecountPermits(ctx context.Context, req store.RecountRequest) (out store.RecountResult, err error) {
	const doing = "recount permits"
	var oldest int64
	if err := b.read(ctx, doing, func(s *session) (err error) {
		oldest, err = s.OldestNode(ctx)
		return err
	}); err != nil || req.Node != 0 && req.Node != oldest {
		return out, err
	}
	err = b.write(ctx, doing, func(s *session) (err error) {
		out, err = rowwise.RecountPermits(ctx, s, req)
		return err
	})
	if err != nil {
		return store.RecountResult{}, err
	}
	return out, nil
}

// OldestNode implements rowwise.RecountTx.
func (s *session) OldestNode(ctx context.Context) (node int64, err error) {
	err = s.one(ctx, readOldestNode, nil, &node)
	return node, err
}

// FindWrongLanes implements rowwise.RecountTx.
func (s *session) FindWrongLanes(ctx context.Context, among []int64, most int) (map[int64]store.LaneCount, error) {
	wrong := map[int64]store.LaneCount{}
	err := s.each(ctx, findWrongLanes, args{"lanes": jsonList(among), "limit": most}, func(r row) error {
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
	ids, err := s.numbers(ctx, findIdlePermits, args{"limit": most})
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if err := s.leaveLanes(ctx, ids, false); err != nil {
		return 0, err
	}
	return len(ids), s.onIDs(ctx, ids, nil, clearPermits)
}

// DeleteGonePermits implements rowwise.RecountTx.
func (s *session) DeleteGonePermits(ctx context.Context) (int, error) {
	return s.count(ctx, deleteGonePermits, nil)
}
