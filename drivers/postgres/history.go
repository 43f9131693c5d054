package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// listPosition lists how far the store has come.
func (b *Backend) listPosition(ctx context.Context, tx querier) ([]store.Position, error) {
	p, err := b.position(ctx, tx)
	if err != nil {
		return nil, err
	}
	return []store.Position{p}, nil
}

func (b *Backend) position(ctx context.Context, tx querier) (p store.Position, err error) {
	err = tx.QueryRow(ctx, b.q(readPosition)).Scan(positionTargets(&p)...)
	if err == nil {
		err = p.Check()
	}
	if err == nil {
		b.identity.Store(&p.Store)
	}
	return p, err
}

// positionColumns are the columns of a position, in the order of positionTargets.
const positionColumns = "store token node accepted lost_at"

// positionTargets are the targets of a position, for Scan.
func positionTargets(p *store.Position) []any {
	return []any{&p.Store, &p.Token, &p.Node, &p.Accepted, into(&p.LostAt)}
}

// ReportLoss remembers that the store went back in time; see store.History.
func (b *Backend) ReportLoss(ctx context.Context, req store.ReportLossRequest) (store.Position, error) {
	return rowwise.InTx(b.work(ctx, leaseConns, "report a loss of history"), func(tx pgx.Tx) (out store.Position, err error) {
		_, err = tx.Exec(ctx, b.q(reportLoss), when(req.Now), req.Accepted, req.Seen.Token, req.Seen.Node, req.Seen.Accepted)
		if err != nil {
			return out, err
		}
		return b.position(ctx, tx)
	})
}

// AcceptLoss ends the suspension; see store.History. Sequences keep what they were
// set to if the transaction fails: they are raised for nothing then.
func (b *Backend) AcceptLoss(ctx context.Context, req store.AcceptLossRequest) (store.Position, error) {
	return rowwise.InTx(b.work(ctx, programConns, "accept a loss of history"), func(tx pgx.Tx) (out store.Position, err error) {
		var token, node int64
		if err := tx.QueryRow(ctx, b.q(acceptLoss)).Scan(&token, &node); err != nil {
			return out, err
		}
		if _, err := tx.Exec(ctx, b.q(raiseLocks), store.LossMargin); err != nil {
			return out, err
		}
		if _, err := tx.Exec(ctx, b.q(raiseSequences), token, node, store.LossMargin, store.LossNodes); err != nil {
			return out, err
		}
		if err := b.record(ctx, tx, req.Entry(), req.Now); err != nil {
			return out, err
		}
		return b.position(ctx, tx)
	})
}
