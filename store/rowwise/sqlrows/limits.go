package sqlrows

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// limitList is the list "limit_columns" of statements, and LimitColumns what ScanLimit scans.
const (
	limitList    = "id, name, owner, revision, queue, kind, by_key, concurrency, rate, per, burst, weights, strict, created_at, updated_at"
	LimitColumns = "{limit_columns}"
)

// ScanLimit scans LimitColumns, and then more.
func ScanLimit(r Row, l *store.Limit, more ...any) error {
	var weights string
	targets := []any{
		&l.ID, &l.Name, &l.Owner, &l.Revision, &l.Queue, &l.Kind, &l.ByKey, &l.Concurrency, &l.Rate,
		IntoDuration(&l.Per),
		&l.Burst, &weights,
		&l.Strict, IntoTime(&l.CreatedAt), IntoTime(&l.UpdatedAt),
	}
	if err := r.Scan(append(targets, more...)...); err != nil {
		return err
	}
	return l.DecodeWeights(weights)
}

// NodePermits implements rowwise.PermitsTx.
func (s *Session) NodePermits(ctx context.Context, limits []int64) (rows []store.NodePermits, err error) {
	err = s.Each(ctx, FindPermits, Args{"limits": limits}, func(r Row) error {
		var n store.NodePermits
		err := r.Scan(&n.Limit, &n.Node, &n.Permits, &n.Wants)
		rows = append(rows, n)
		return err
	})
	return rows, err
}

// DropPermits implements rowwise.PermitsTx.
func (s *Session) DropPermits(ctx context.Context, limits []int64) error {
	return s.Exec(ctx, DeletePermits, Args{"limits": limits})
}

// RunningJobs implements rowwise.PermitsTx.
func (s *Session) RunningJobs(ctx context.Context, queue string) (map[int64]int, error) {
	running := map[int64]int{}
	err := s.Each(ctx, CountRunningJobs, Args{"queue": queue}, func(r Row) error {
		var node int64
		var jobs int
		if err := r.Scan(&node, &jobs); err != nil {
			return err
		}
		running[node] = jobs
		return nil
	})
	return running, err
}
