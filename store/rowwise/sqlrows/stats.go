package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// AddStats stores rows of statistics; see store.Maintenance.
func (c Calls[S]) AddStats(ctx context.Context, req store.AddStatsRequest) (bool, error) {
	return rowwise.InTxAt(c.WriteAt(ctx, "store statistics", nil, req.Now), func(s S, now time.Time) (bool, error) {
		return s.Base().addStats(ctx, req, now)
	})
}

func (s *Session) addStats(ctx context.Context, req store.AddStatsRequest, now time.Time) (bool, error) {
	for _, row := range req.Rows {
		a := Args{"span": seconds(row.Span), "at": Instant(row.At).UnixMicro(), "writer": row.Writer, "bytes": row.Data}
		if err := s.Exec(ctx, upsertStats, a); err != nil {
			return false, err
		}
	}
	node, err := s.OldestNode(ctx)
	if err != nil || req.Node != 0 && req.Node != node {
		return false, err
	}
	for _, span := range store.StatsSpans() {
		if err := s.Exec(ctx, PruneStats, Args{"span": seconds(span.Span), "before": Micros(now.Add(-span.Keep))}); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (s *Session) listStats(ctx context.Context, req store.ListRequest) ([]store.StatsRow, error) {
	a := Args{"span": seconds(req.Span), "since": Instant(req.From).UnixMicro(), "before": Instant(req.To).UnixMicro()}
	return collect(ctx, s, ListStats, nil, a, func(r Row) (store.StatsRow, error) {
		row := store.StatsRow{Span: req.Span}
		err := r.Scan(IntoTime(&row.At), &row.Writer, &row.Data)
		return row, err
	})
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }
