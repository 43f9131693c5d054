package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// LockOwner implements rowwise.OwnersTx.
func (s *session) LockOwner(ctx context.Context, req store.PutSchedulesRequest, now time.Time) (*store.Owner, time.Time, error) {
	rows, err := s.ReadOwners(ctx, store.ListRequest{Names: []string{req.Owner}, Limit: 1})
	if err != nil || len(rows) == 0 {
		return nil, now, err
	}
	return &rows[0], now, nil
}
