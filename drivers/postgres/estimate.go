package postgres

import (
	"context"
	"errors"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// The samples of an estimate: how many there are, and of how many numbers at most.
const (
	sampleShares  = 128
	sampleNumbers = 64
)

// estimate counts for as long as the request allows, and then reads samples.
func (b *Backend) estimate(ctx context.Context, req store.ListRequest) (out store.Listing, err error) {
	if req.Within > 0 {
		out, err = rowwise.InTx(b.listWithin(ctx, req.Within, req.String()), func(tx pgx.Tx) (store.Listing, error) { return b.rows(ctx, tx, req) })
		if !errors.Is(err, store.ErrSlow) {
			return out, err
		}
	}
	return rowwise.InTx(b.list(ctx, req.String()), func(tx pgx.Tx) (store.Listing, error) { return b.samples(ctx, tx, req) })
}

// samples estimates the counts that a listing asks for.
func (b *Backend) samples(ctx context.Context, tx querier, req store.ListRequest) (out store.Listing, err error) {
	switch req.Of {
	case store.OfGroups:
		out.Groups, err = collect(ctx, tx, scanGroupEstimate, b.q(estimateGroups), sampleShares, sampleNumbers)
	case store.OfKinds:
		out.Kinds, err = collect(ctx, tx, scanKindEstimate, b.q(estimateKinds), sampleShares, sampleNumbers)
	case store.OfQueues:
		out.Queues, err = collect(ctx, tx, scanQueueEstimate, b.q(estimateQueues), sampleShares, sampleNumbers)
	}
	return out, err
}

// scanQueueEstimate scans a row of estimate_queues.sql.
func scanQueueEstimate(r pgx.CollectableRow) (q store.QueueInfo, err error) {
	var part float64
	if err := r.Scan(&q.Name, &q.Ready, &q.Scheduled, &q.Running, &q.Waiting, into(&q.Oldest), &part); err != nil {
		return q, err
	}
	q.Estimated = part < 1
	extrapolate(part, &q.Ready, &q.Scheduled, &q.Running, &q.Waiting)
	if !q.Oldest.IsZero() {
		q.Ready = max(q.Ready, 1)
	}
	return q, nil
}

// scanKindEstimate scans a row of estimate_kinds.sql.
func scanKindEstimate(r pgx.CollectableRow) (store.KindInfo, error) {
	q, err := scanQueueEstimate(r)
	return store.KindInfo(q), err
}

// scanGroupEstimate scans a row of estimate_groups.sql.
func scanGroupEstimate(r pgx.CollectableRow) (g store.GroupInfo, err error) {
	var jobs, schedules float64
	if err := r.Scan(&g.Name, &g.Schedules, &g.Ready, &g.Scheduled, &g.Running, &g.Waiting, &jobs, &schedules); err != nil {
		return g, err
	}
	g.Estimated = jobs < 1 || schedules < 1
	extrapolate(jobs, &g.Ready, &g.Scheduled, &g.Running, &g.Waiting)
	extrapolate(schedules, &g.Schedules)
	return g, nil
}

// extrapolate makes counts in a part of all numbers counts of the whole.
func extrapolate(part float64, counts ...*int64) {
	for _, n := range counts {
		*n = int64(math.Round(float64(*n) / part))
	}
}
