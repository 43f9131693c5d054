package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Position reads how far the store has come; see store.History.
func (s *Session) Position(ctx context.Context) (p store.Position, err error) {
	err = s.One(ctx, ReadPosition, nil, &p.Store, &p.Token, &p.Node, &p.Accepted, IntoTime(&p.LostAt))
	if err == nil {
		err = p.Check()
	}
	return p, err
}

// PruneRows deletes what is older than keep, which 0 switches off.
func (s *Session) PruneRows(ctx context.Context, name Statement, keep time.Duration, limit int, now time.Time) (int, error) {
	if keep == 0 {
		return 0, nil
	}
	return s.Count(ctx, name, Args{"before": Micros(now.Add(-keep)), "limit": limit})
}

// OldestNode implements rowwise.RecountTx.
func (s *Session) OldestNode(ctx context.Context) (node int64, err error) {
	err = s.One(ctx, ReadOldestNode, nil, &node)
	return node, err
}
