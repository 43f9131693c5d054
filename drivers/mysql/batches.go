package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// InsertBatch implements rowwise.Edges.
func (s *session) InsertBatch(ctx context.Context, finally *store.Finally, now time.Time) (id int64, err error) {
	a := args{"now": micros(now), "on": nil, "any": nil}
	if finally != nil {
		a["on"], a["any"] = int16(finally.On), finally.Any
	}
	result, err := s.run(ctx, insertBatch, a)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// SetFinally implements rowwise.Edges.
func (s *session) SetFinally(ctx context.Context, batch, job int64) error {
	return s.exec(ctx, updateBatch, args{"id": batch, "finally": job})
}

// FindBatch implements rowwise.Edges.
func (s *session) FindBatch(ctx context.Context, id int64) (b rowwise.Batch, found bool, err error) {
	err = s.each(ctx, findBatch, args{"id": id}, func(r row) error {
		found = true
		return r.Scan(&b.Last, &b.Finally.On, &b.Finally.Any)
	})
	return b, found, err
}

// LockBatchJob implements rowwise.Edges.
func (s *session) LockBatchJob(ctx context.Context, batch int64) (found bool, err error) {
	ids, err := s.numbers(ctx, lockBatchJob, args{"batch": batch})
	if err != nil {
		return false, err
	}
	return len(ids) > 0, s.touchJobs(ctx, ids)
}

// ListBatches returns batches; see store.Batches.
func (b *Backend) ListBatches(ctx context.Context, req store.ListBatchesRequest) (out []store.Batch, err error) {
	a := args{"before": cmp.Or(req.Before, math.MaxInt64), "limit": req.Limit}
	var given []string
	if len(req.IDs) > 0 {
		given, a["ids"] = []string{"ids"}, req.IDs
	}
	err = b.read(ctx, "list batches", func(s *session) error {
		out = nil
		return s.list(ctx, listBatches, given, a, func(r row) error {
			var one store.Batch
			var state sql.NullInt64
			var jobs int64
			if err := r.Scan(&one.ID, into(&one.CreatedAt), &one.Finally, &one.FinallyState, &state, &jobs); err != nil {
				return err
			}
			if n := len(out); n == 0 || out[n-1].ID != one.ID {
				out = append(out, one)
			}
			if state.Valid {
				out[len(out)-1].Counts[state.Int64] = jobs
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListLinks returns edges; see store.Batches.
func (b *Backend) ListLinks(ctx context.Context, req store.ListLinksRequest) (out []store.Link, err error) {
	err = b.read(ctx, "list edges", func(s *session) error {
		out = nil
		return s.each(ctx, listLinks, args{"ids": req.IDs, "limit": req.Limit}, func(r row) error {
			var row store.Link
			err := r.Scan(&row.Dependent, &row.Job, durationScanner{&row.Delay}, &row.On, &row.State)
			out = append(out, row)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
