package postgres

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// InsertBatch implements rowwise.Edges.
func (t edgesTx) InsertBatch(ctx context.Context, finally *store.Finally, now time.Time) (id int64, err error) {
	var on *int16
	var anyOf *bool
	if finally != nil {
		number := int16(finally.On)
		on, anyOf = &number, &finally.Any
	}
	err = t.tx.QueryRow(ctx, t.b.q(insertBatch), when(now), on, anyOf).Scan(&id)
	return id, err
}

// SetFinally implements rowwise.Edges.
func (t edgesTx) SetFinally(ctx context.Context, batch, job int64) error {
	_, err := t.tx.Exec(ctx, t.b.q(updateBatch), batch, job)
	return err
}

// FindBatch implements rowwise.Edges.
func (t edgesTx) FindBatch(ctx context.Context, id int64) (b rowwise.Batch, found bool, err error) {
	err = each(ctx, t.tx, []any{&b.Last, (*int16)(&b.Finally.On), &b.Finally.Any}, func() { found = true }, t.b.q(findBatch), id)
	return b, found, err
}

// LockBatchJob implements rowwise.Edges.
func (t edgesTx) LockBatchJob(ctx context.Context, batch int64) (found bool, err error) {
	var id int64
	err = each(ctx, t.tx, []any{&id}, func() { found = true }, t.b.q(lockBatchJob), batch)
	return found, err
}

func (b *Backend) listBatches(ctx context.Context, tx querier, req store.ListRequest) (out []store.Batch, err error) {
	var row store.Batch
	var state *int16
	var jobs int64
	err = each(ctx, tx, []any{&row.ID, into(&row.CreatedAt), &row.Finally, (*int16)(&row.FinallyState), &state, &jobs}, func() {
		if n := len(out); n == 0 || out[n-1].ID != row.ID {
			out = append(out, row)
		}
		if state != nil {
			out[len(out)-1].Counts[*state] = jobs
		}
	}, b.q(listBatches), listOrNull(req.IDs), orNull(req.Before.ID), req.Limit)
	return out, err
}

func (b *Backend) listLinks(ctx context.Context, tx querier, req store.ListRequest) (out []store.Link, err error) {
	var row store.Link
	var delay int64
	err = each(ctx, tx, []any{&row.Dependent, &row.Job, &delay, (*int16)(&row.On), (*int16)(&row.State)}, func() {
		row.Delay = time.Duration(delay) * time.Microsecond
		out = append(out, row)
	}, b.q(listLinks), req.IDs, req.Limit)
	return out, err
}
