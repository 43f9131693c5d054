package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// ExchangePermits replaces the permits of a node; see store.Permits.
func (b *Backend) ExchangePermits(ctx context.Context, req store.ExchangePermitsRequest) (store.QueuePermits, error) {
	return rowwise.InTx(b.work(ctx, nodeConns, "exchange permits"), func(tx pgx.Tx) (out store.QueuePermits, err error) {
		var now time.Time
		if err := tx.QueryRow(ctx, b.q(readClock), when(req.Now)).Scan(into(&now)); err != nil {
			return out, err
		}
		out, err = rowwise.ExchangePermits(ctx, newLimitsTx(b, tx), req, now)
		return out, err
	})
}

// AwaitClaims implements rowwise.PermitsTx.
func (t limitsTx) AwaitClaims(ctx context.Context) error {
	_, err := t.tx.Exec(ctx, t.b.q(lockClaimingNodes))
	return err
}

// HoldNode implements rowwise.NodeHolder.
func (t limitsTx) HoldNode(ctx context.Context, node int64) (found rowwise.Around, err error) {
	err = nodeAlive(node, t.tx.QueryRow(ctx, t.b.q(holdNode), nil, node).Scan(into(&found.Now)))
	found.Alive = err == nil
	return found, err
}

// LockQueueLimits implements rowwise.PermitsTx.
func (t limitsTx) LockQueueLimits(ctx context.Context, queue string) (store.QueueLimits, error) {
	return collect(ctx, t.tx, func(r pgx.CollectableRow) (l store.Limit, err error) {
		err = scanLimit(r, &l)
		return l, err
	}, t.b.q(lockQueueLimits), queue)
}

// NodePermits implements rowwise.PermitsTx.
func (t limitsTx) NodePermits(ctx context.Context, limits []int64) ([]store.NodePermits, error) {
	return collect(ctx, t.tx, pgx.RowToStructByPos[store.NodePermits], t.b.q(findPermits), limits)
}

// SavePermits implements rowwise.PermitsTx.
func (t limitsTx) SavePermits(ctx context.Context, rows []store.NodePermits) error {
	limits, nodes := make([]int64, len(rows)), make([]int64, len(rows))
	permits, wants := make([]int, len(rows)), make([]int, len(rows))
	for i, row := range rows {
		limits[i], nodes[i], permits[i], wants[i] = row.Limit, row.Node, row.Permits, row.Wants
	}
	_, err := t.tx.Exec(ctx, t.b.q(upsertPermits), limits, nodes, permits, wants)
	return err
}

// DropPermits implements rowwise.PermitsTx.
func (t limitsTx) DropPermits(ctx context.Context, limits []int64) error {
	_, err := t.tx.Exec(ctx, t.b.q(deletePermits), limits)
	return err
}

// RunningJobs implements rowwise.PermitsTx.
func (t limitsTx) RunningJobs(ctx context.Context, queue string) (map[int64]int, error) {
	running := map[int64]int{}
	var node int64
	var jobs int
	err := each(ctx, t.tx, []any{&node, &jobs}, func() { running[node] = jobs }, t.b.q(countRunningJobs), queue)
	return running, err
}
