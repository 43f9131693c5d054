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
	return rowwise.InTx(b.Write(ctx, doing, nil), func(s *session) (store.RecountResult, error) {
		return rowwise.RecountPermits(ctx, s, req)
	})
}

// ReturnIdlePermits implements rowwise.RecountTx.
func (s *session) ReturnIdlePermits(ctx context.Context, most int) (int, error) {
	ids, err := s.Numbers(ctx, findIdlePermits, args{"limit": most})
	if err != nil {
		return 0, err
	}
	if err := s.LeaveLanes(ctx, ids, false); err != nil {
		return 0, err
	}
	return len(ids), s.OnIDs(ctx, ids, sqlrows.ClearPermits)
}

// DeleteGonePermits implements rowwise.RecountTx.
func (s *session) DeleteGonePermits(ctx context.Context) (int, error) {
	return s.Count(ctx, sqlrows.DeleteGonePermits, nil)
}
