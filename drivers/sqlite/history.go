package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// AcceptLoss ends the suspension; see store.History.
func (b *Backend) AcceptLoss(ctx context.Context, req store.AcceptLossRequest) (store.Position, error) {
	return b.ChangeHistory(ctx, "accept a loss of history", req.Now, func(s *session, now time.Time) error {
		if err := s.Exec(ctx, insertNodeSequence, nil); err != nil {
			return err
		}
		return sqlrows.AcceptLoss(ctx, s, req, now)
	})
}
