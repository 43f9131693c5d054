package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// AddStats stores rows of statistics; see store.Maintenance.
func (b *Backend) AddStats(ctx context.Context, req store.AddStatsRequest) (bool, error) {
	return rowwise.InTx(b.work(ctx, nodeConns, "store statistics"), func(tx pgx.Tx) (oldest bool, err error) {
		if _, err := tx.Exec(ctx, "set local synchronous_commit = off"); err != nil {
			return false, err
		}
		if err := b.upsertStats(ctx, tx, req.Rows); err != nil {
			return false, err
		}
		node, err := lanesTx{auditTx: auditTx{b, tx}}.OldestNode(ctx)
		if err != nil || req.Node != 0 && req.Node != node {
			return false, err
		}
		for _, span := range store.StatsSpans() {
			if _, err := tx.Exec(ctx, b.q(pruneStats), when(req.Now), statsSpan(span.Span), span.Keep.Microseconds()); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

func (b *Backend) upsertStats(ctx context.Context, tx pgx.Tx, rows []store.StatsRow) error {
	if len(rows) == 0 {
		return nil
	}
	spans, instants := make([]int32, len(rows)), make([]*time.Time, len(rows))
	writers, data := make([]int64, len(rows)), make([][]byte, len(rows))
	for i, row := range rows {
		spans[i], instants[i], writers[i], data[i] = statsSpan(row.Span), when(row.At), row.Writer, row.Data
	}
	_, err := tx.Exec(ctx, b.q(upsertStats), spans, instants, writers, data)
	return err
}

func (b *Backend) listStats(ctx context.Context, tx querier, req store.ListRequest) ([]store.StatsRow, error) {
	return collect(ctx, tx, func(r pgx.CollectableRow) (store.StatsRow, error) {
		row := store.StatsRow{Span: req.Span}
		err := r.Scan(into(&row.At), &row.Writer, &row.Data)
		return row, err
	}, b.q(listStats), statsSpan(req.Span), when(req.From), when(req.To))
}

// statsSpan returns the value of the column span.
func statsSpan(d time.Duration) int32 { return int32(d / time.Second) }
