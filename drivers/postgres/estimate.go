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

// EstimateQueues counts live jobs by queue, or estimates how many there are; see store.Estimator.
func (b *Backend) EstimateQueues(ctx context.Context, req store.EstimateRequest) ([]store.QueueInfo, error) {
	return estimate(ctx, b, req, "queues",
		func(tx pgx.Tx) ([]store.QueueInfo, error) { return collect(ctx, tx, scanQueue, b.q(listQueues), nil) },
		func(tx pgx.Tx) ([]store.QueueInfo, error) {
			return collect(ctx, tx, scanQueueEstimate, b.q(estimateQueues), sampleShares, sampleNumbers)
		})
}

// EstimateKinds counts live jobs by kind, or estimates how many there are; see store.Estimator.
func (b *Backend) EstimateKinds(ctx context.Context, req store.EstimateRequest) ([]store.KindInfo, error) {
	return estimate(ctx, b, req, "kinds",
		func(tx pgx.Tx) ([]store.KindInfo, error) { return collect(ctx, tx, scanKind, b.q(listKinds), nil) },
		func(tx pgx.Tx) ([]store.KindInfo, error) {
			return collect(ctx, tx, scanKindEstimate, b.q(estimateKinds), sampleShares, sampleNumbers)
		})
}

// EstimateGroups counts schedules and live jobs by group, or estimates how many there are; see
// store.Estimator.
func (b *Backend) EstimateGroups(ctx context.Context, req store.EstimateRequest) ([]store.GroupInfo, error) {
	return estimate(ctx, b, req, "groups",
		func(tx pgx.Tx) ([]store.GroupInfo, error) {
			return collect(ctx, tx, scanGroup, b.q(listGroups), nil, nil)
		},
		func(tx pgx.Tx) ([]store.GroupInfo, error) {
			return collect(ctx, tx, scanGroupEstimate, b.q(estimateGroups), sampleShares, sampleNumbers)
		})
}

// estimate counts for as long as the request allows, and then reads samples.
func estimate[Row any](ctx context.Context, b *Backend, req store.EstimateRequest, what string, count, sample func(pgx.Tx) ([]Row, error)) (out []Row, err error) {
	if req.Within > 0 {
		out, err = rowwise.InTx(b.listWithin(ctx, req.Within, "count "+what), func(tx pgx.Tx) ([]Row, error) {
			return count(tx)
		})
		if !errors.Is(err, store.ErrSlow) {
			return out, err
		}
	}
	return rowwise.InTx(b.list(ctx, "estimate "+what), func(tx pgx.Tx) ([]Row, error) {
		return sample(tx)
	})
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
