package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// AcceptLoss ends the suspension; see store.History.
func (b *Backend) AcceptLoss(ctx context.Context, req store.AcceptLossRequest) (store.Position, error) {
	return b.ChangeHistory(ctx, "accept a loss of history", req.Now, func(s *session, now time.Time) error {
		for _, step := range []struct {
			name statement
			args args
		}{
			{sqlrows.RaiseTokens, args{"margin": store.LossMargin}},
			{sqlrows.RaiseLocks, args{"margin": store.LossMargin}},
			{insertNodeSequence, nil},
			{sqlrows.RaiseNodes, args{"margin": store.LossNodes}},
			{sqlrows.AcceptLoss, nil},
		} {
			if err := s.Exec(ctx, step.name, step.args); err != nil {
				return err
			}
		}
		return rowwise.Record(ctx, s, req.Entry(), now)
	})
}
