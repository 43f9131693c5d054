package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// RecountPermits is a step of the upkeep of limits; see store.Permits.
func (b *Backend) RecountPermits(ctx context.Context, req store.RecountRequest) (store.RecountResult, error) {
	return rowwise.InTx(b.work(ctx, nodeConns, "recount permits"), func(tx pgx.Tx) (out store.RecountResult, err error) {
		out, err = rowwise.RecountPermits(ctx, lanesTx{auditTx: auditTx{b, tx}}, req)
		if err != nil || len(out.Lanes)+out.Jobs == 0 {
			return out, err
		}
		return out, b.wake(ctx, tx, store.Wake{Kind: store.WakeJobs})
	})
}

// OldestNode implements rowwise.RecountTx.
func (t lanesTx) OldestNode(ctx context.Context) (node int64, err error) {
	err = t.tx.QueryRow(ctx, t.b.q(readOldestNode)).Scan(&node)
	return node, err
}

// FindWrongLanes implements rowwise.RecountTx.
func (t lanesTx) FindWrongLanes(ctx context.Context, among []int64, most int) (map[int64]store.LaneCount, error) {
	wrong := map[int64]store.LaneCount{}
	var id int64
	var held store.LaneCount
	err := each(ctx, t.tx, []any{&id, &held.Permits, &held.Starts}, func() { wrong[id] = held }, t.b.q(findWrongLanes), append([]int64{}, among...), most)
	return wrong, err
}

// ReturnIdlePermits implements rowwise.RecountTx.
func (t lanesTx) ReturnIdlePermits(ctx context.Context, most int) (int, error) {
	tag, err := t.tx.Exec(ctx, t.b.q(returnIdlePermits), most)
	return int(tag.RowsAffected()), err
}

// DeleteGonePermits implements rowwise.RecountTx.
func (t lanesTx) DeleteGonePermits(ctx context.Context) (int, error) {
	tag, err := t.tx.Exec(ctx, t.b.q(deleteGonePermits))
	return int(tag.RowsAffected()), err
}
