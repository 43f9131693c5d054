package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// Position reads how far the store has come.
func (s *Session) Position(ctx context.Context) (p store.Position, err error) {
	err = s.One(ctx, readPosition, nil, &p.Store, &p.Token, &p.Node, &p.Accepted, IntoTime(&p.LostAt))
	if err == nil {
		err = p.Check()
	}
	return p, err
}

func (s *Session) listPosition(ctx context.Context) ([]store.Position, error) {
	p, err := s.Position(ctx)
	if err != nil {
		return nil, err
	}
	return []store.Position{p}, nil
}

// OldestNode implements rowwise.RecountTx.
func (s *Session) OldestNode(ctx context.Context) (node int64, err error) {
	err = s.One(ctx, readOldestNode, nil, &node)
	return node, err
}

// AcceptLoss ends the suspension; see store.History.
func (c Calls[S]) AcceptLoss(ctx context.Context, req store.AcceptLossRequest) (store.Position, error) {
	return c.ChangeHistory(ctx, "accept a loss of history", req.Now, func(s S, now time.Time) error { return AcceptLoss(ctx, s, req, now) })
}

// AcceptLoss is the change of Calls.AcceptLoss.
func AcceptLoss(ctx context.Context, tx Tx, req store.AcceptLossRequest, now time.Time) error {
	for name, margin := range map[Statement]int64{raiseTokens: store.LossMargin, raiseLocks: store.LossMargin, raiseNodes: store.LossNodes} {
		if err := tx.Base().Exec(ctx, name, Args{"margin": margin}); err != nil {
			return err
		}
	}
	if err := tx.Base().Exec(ctx, endLoss, nil); err != nil {
		return err
	}
	return rowwise.Record(ctx, tx, req.Entry(), now)
}
