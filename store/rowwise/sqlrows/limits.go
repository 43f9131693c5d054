package sqlrows

import (
	"context"
	"time"

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

// ReadLimits implements rowwise.LimitsTx.
func (s *Session) ReadLimits(ctx context.Context) (store.Limits, error) {
	return s.LimitsOf(ctx, readLimits, nil)
}

// listLimits lists limits, with what they hold.
func (s *Session) listLimits(ctx context.Context, req store.ListRequest) (out []store.LimitInfo, err error) {
	now, err := s.Now(ctx, req.Now)
	if err != nil {
		return nil, err
	}
	var given []string
	a := Args{}
	if len(req.Names) > 0 {
		given, a["names"] = append(given, "names"), req.Names
	}
	if err := s.List(ctx, listLimits, given, a, func(r Row) error {
		var info store.LimitInfo
		err := ScanLimit(r, &info.Limit)
		out = append(out, info)
		return err
	}); err != nil {
		return nil, err
	}
	for i := range out {
		if err := s.Dialect.CountLimit(ctx, &out[i], now); err != nil {
			return nil, err
		}
		if req.Lanes == 0 || out[i].WholeQueue() {
			continue
		}
		if out[i].Lanes, err = s.Dialect.ListLanes(ctx, &out[i], laneCandidates, req.Lanes, now); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// laneCandidates is how many lanes of a limit are compared by their waiting jobs.
const laneCandidates = 1000

// listLimitWaits returns why limits let jobs wait.
func (s *Session) listLimitWaits(ctx context.Context, req store.ListRequest) ([]store.LimitWait, error) {
	now, err := s.Now(ctx, req.Now)
	if err != nil {
		return nil, err
	}
	waits, lanes, err := s.Dialect.FindLimitWaits(ctx, req.IDs)
	if err != nil || len(waits) == 0 {
		return nil, err
	}
	limits, err := s.ReadLimits(ctx)
	return limits.AddTo(waits, lanes, now), err
}

// LimitsOf runs a statement that returns limits.
func (s *Session) LimitsOf(ctx context.Context, name Statement, a Args) (all store.Limits, err error) {
	err = s.Each(ctx, name, a, func(r Row) error {
		var l store.Limit
		err := ScanLimit(r, &l)
		all = append(all, l)
		return err
	})
	return all, err
}

// EndLimits implements rowwise.LimitsTx.
func (s *Session) EndLimits(ctx context.Context, ids []int64, now time.Time) error {
	return s.Exec(ctx, EndLimits, Args{"ids": ids, "now": Micros(now)})
}

// SaveLimits implements rowwise.LimitsTx.
func (s *Session) SaveLimits(ctx context.Context, limits []store.Limit, now time.Time) ([]int64, error) {
	last, err := s.Dialect.LockRevision(ctx)
	if err != nil {
		return nil, err
	}
	rows, revisions := make([]Args, len(limits)), make([]int64, len(limits))
	for i, l := range limits {
		last++
		revisions[i] = last
		rows[i] = Args{
			"id": OrNull(l.ID), "name": l.Name, "owner": l.Owner, "revision": last, "queue": l.Queue, "kind": l.Kind, "by_key": l.ByKey,
			"concurrency": l.Concurrency, "rate": l.Rate, "per": l.Per.Microseconds(), "burst": l.Burst, "weights": l.EncodeWeights(),
			"strict": l.Strict, "created_at": Micros(l.CreatedAt), "now": Micros(now),
		}
	}
	if err := s.InsertRows(ctx, UpsertLimits, rows); err != nil {
		return nil, err
	}
	return revisions, s.RaiseRevision(ctx, last)
}

// SavePermits implements rowwise.PermitsTx.
func (s *Session) SavePermits(ctx context.Context, permits []store.NodePermits) error {
	rows := make([]Args, len(permits))
	for i, row := range permits {
		rows[i] = Args{"limit": row.Limit, "node": row.Node, "permits": row.Permits, "wants": row.Wants}
	}
	return s.InsertRows(ctx, upsertPermits, rows)
}

// NodePermits implements rowwise.PermitsTx.
func (s *Session) NodePermits(ctx context.Context, limits []int64) (rows []store.NodePermits, err error) {
	err = s.Each(ctx, findPermits, Args{"limits": limits}, func(r Row) error {
		var n store.NodePermits
		err := r.Scan(&n.Limit, &n.Node, &n.Permits, &n.Wants)
		rows = append(rows, n)
		return err
	})
	return rows, err
}

// DropPermits implements rowwise.PermitsTx.
func (s *Session) DropPermits(ctx context.Context, limits []int64) error {
	return s.Exec(ctx, deletePermits, Args{"limits": limits})
}

// RunningJobs implements rowwise.PermitsTx.
func (s *Session) RunningJobs(ctx context.Context, queue string) (map[int64]int, error) {
	running := map[int64]int{}
	err := s.Each(ctx, countRunningJobs, Args{"queue": queue}, func(r Row) error {
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

// LockLimits implements rowwise.LimitsTx.
func (s *Session) LockLimits(ctx context.Context) (store.Limits, error) { return s.ReadLimits(ctx) }

// AwaitClaims implements rowwise.PermitsTx, where a transaction that writes has waited for all others.
func (s *Session) AwaitClaims(context.Context) error { return nil }

// LockQueueLimits implements rowwise.PermitsTx.
func (s *Session) LockQueueLimits(ctx context.Context, queue string) (store.QueueLimits, error) {
	all, err := s.ReadLimits(ctx)
	return all.Of(queue), err
}
