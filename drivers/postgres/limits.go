package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// laneCandidates is how many lanes of a limit are compared by their waiting jobs.
const laneCandidates = 1000

// putLimits creates or changes limits, and wakes nodes.
func (b *Backend) putLimits(ctx context.Context, req store.PutRequest) (store.PutResult, error) {
	return rowwise.InTxAt(b.changeLimits(ctx, req.String(), req.Now), func(tx limitsTx, now time.Time) (store.PutResult, error) {
		return rowwise.PutLimits(ctx, tx, req, now)
	})
}

// deleteLimits deletes limits, and wakes nodes.
func (b *Backend) deleteLimits(ctx context.Context, req store.DeleteRequest) error {
	return b.changeLimits(ctx, req.String(), req.Now)(func(tx limitsTx, now time.Time) error {
		return rowwise.DeleteLimits(ctx, tx, req, now)
	})
}

// changeLimits is a change of limits that wakes nodes.
func (b *Backend) changeLimits(ctx context.Context, what string, asked time.Time) rowwise.TransactionAt[limitsTx] {
	return func(change func(tx limitsTx, now time.Time) error) error {
		return b.work(ctx, programConns, what)(func(tx pgx.Tx) error {
			var now time.Time
			if err := tx.QueryRow(ctx, b.q(readClock), when(asked)).Scan(into(&now)); err != nil {
				return err
			}
			if err := change(newLimitsTx(b, tx), now); err != nil {
				return err
			}
			return b.wake(ctx, tx, store.Wake{Kind: store.WakeJobs})
		})
	}
}

func (b *Backend) listLimits(ctx context.Context, tx querier, req store.ListRequest) (out []store.LimitInfo, err error) {
	if out, err = collect(ctx, tx, scanLimitInfo, b.q(listLimits), listOrNull(req.Names), when(req.Now), store.MostCounted); err != nil || req.Lanes == 0 {
		return out, err
	}
	places, ids := map[int64]int{}, []int64{}
	for i, limit := range out {
		if !limit.WholeQueue() {
			places[limit.ID], ids = i, append(ids, limit.ID)
		}
	}
	if len(ids) == 0 {
		return out, nil
	}
	var lane store.Lane
	var waiting int64
	var now time.Time
	err = each(ctx, tx, []any{&lane.Limit, &lane.Key, &lane.Used, &waiting, &lane.Starts, into(&lane.TAT), into(&lane.NotBefore), into(&now)}, func() {
		limit := &out[places[lane.Limit]]
		limit.Lanes = append(limit.Lanes, limit.LaneInfo(lane, waiting, now))
	}, b.q(listLanes), ids, req.Lanes, laneCandidates, store.MostCounted, when(req.Now))
	return out, err
}

// CloseLanes lets nothing start in lanes for a while; see store.Permits.
func (b *Backend) CloseLanes(ctx context.Context, req store.CloseLanesRequest) error {
	return b.work(ctx, nodeConns, "close lanes")(func(tx pgx.Tx) error {
		now, err := b.instantOf(ctx, tx, req.Now)
		if err != nil {
			return err
		}
		return rowwise.CloseLanes(ctx, lanesTx{auditTx{b, tx}}, req, now)
	})
}

// listLimitWaits finds why limits let jobs wait.
func (b *Backend) listLimitWaits(ctx context.Context, tx querier, req store.ListRequest) (out []store.LimitWait, err error) {
	if len(req.IDs) == 0 {
		return nil, nil
	}
	var w store.LimitWait
	var lane store.Lane
	var lanes []store.Lane
	var now time.Time
	err = each(ctx, tx, []any{&w.Job, &w.Limit.ID, &w.Key, &w.InUse, &lane.Starts, into(&lane.TAT), into(&lane.NotBefore), into(&now), &w.Before}, func() {
		out, lanes = append(out, w), append(lanes, lane)
	}, b.q(findLimitWaits), when(req.Now), store.MostCounted, req.IDs)
	if err != nil || len(out) == 0 {
		return out, err
	}
	limits, err := newLimitsTx(b, tx).ReadLimits(ctx)
	out = limits.AddTo(out, lanes, now)
	return out, err
}

// limitList is the list "limit_columns" in statements, and limitColumns what limitTargets scan.
const (
	limitList    = "id, name, owner, revision, queue, kind, by_key, concurrency, rate, per_us, burst, weights, strict, created_at, updated_at"
	limitColumns = "{limit_columns}"
)

// scanLimit scans limitColumns, and then more.
func scanLimit(r pgx.CollectableRow, l *store.Limit, more ...any) error {
	var per int64
	var weights string
	targets := []any{
		&l.ID, &l.Name, &l.Owner, &l.Revision, &l.Queue, &l.Kind, &l.ByKey, &l.Concurrency, &l.Rate, &per, &l.Burst, &weights, &l.Strict,
		into(&l.CreatedAt), into(&l.UpdatedAt),
	}
	if err := r.Scan(append(targets, more...)...); err != nil {
		return err
	}
	l.Per = time.Duration(per) * time.Microsecond
	return l.DecodeWeights(weights)
}

func scanLimitInfo(r pgx.CollectableRow) (info store.LimitInfo, err error) {
	err = scanLimit(r, &info.Limit, &info.InUse, &info.Waiting, &info.Keys)
	return info, err
}

// limitsTx implements rowwise.LimitsTx.
type limitsTx struct{ lanesTx }

func newLimitsTx(b *Backend, tx querier) limitsTx { return limitsTx{lanesTx{auditTx{b, tx}}} }

// LockLimits implements rowwise.LimitsTx.
func (t limitsTx) LockLimits(ctx context.Context) (store.Limits, error) {
	if _, err := t.tx.Exec(ctx, t.b.q(lockLimitTable)); err != nil {
		return nil, err
	}
	return t.ReadLimits(ctx)
}

// EndLimits implements rowwise.LimitsTx.
func (t limitsTx) EndLimits(ctx context.Context, ids []int64, now time.Time) error {
	_, err := t.tx.Exec(ctx, t.b.q(endLimits), when(now), ids)
	return err
}

// SaveLimits implements rowwise.LimitsTx.
func (t limitsTx) SaveLimits(ctx context.Context, limits []store.Limit, now time.Time) ([]int64, error) {
	var created, changed limitArrays
	for i := range limits {
		if limits[i].ID == 0 {
			created.add(&limits[i])
		} else {
			changed.add(&limits[i])
		}
	}
	revisions := map[string]int64{}
	var name string
	var revision int64
	save := func(s statement, args ...any) error {
		return each(ctx, t.tx, []any{&name, &revision}, func() { revisions[name] = revision }, t.b.q(s), args...)
	}
	if a := created; len(a.ids) > 0 {
		if err := save(insertLimits, when(now), a.names, a.owners, a.queues, a.kinds, a.byKeys, a.concurrencies, a.rates,
			a.pers, a.bursts, a.weights, a.stricts, a.createdAts); err != nil {
			return nil, err
		}
	}
	if a := changed; len(a.ids) > 0 {
		if err := save(updateLimits, when(now), a.ids, a.owners, a.concurrencies, a.rates, a.pers, a.bursts, a.weights, a.stricts); err != nil {
			return nil, err
		}
	}
	out := make([]int64, len(limits))
	for i, limit := range limits {
		out[i] = revisions[limit.Name]
	}
	return out, nil
}

// limitArrays are limits as arrays, on their way to statements.
type limitArrays struct {
	ids                          []int64
	names, owners, queues, kinds []string
	byKeys, stricts              []bool
	concurrencies, rates, bursts []int32
	pers                         []int64
	weights                      []string
	createdAts                   []*time.Time
}

func (a *limitArrays) add(l *store.Limit) {
	a.ids, a.names, a.owners = append(a.ids, l.ID), append(a.names, l.Name), append(a.owners, l.Owner)
	a.queues, a.kinds, a.byKeys, a.stricts = append(a.queues, l.Queue), append(a.kinds, l.Kind), append(a.byKeys, l.ByKey), append(a.stricts, l.Strict)
	a.concurrencies, a.rates, a.bursts = append(a.concurrencies, int32(l.Concurrency)), append(a.rates, int32(l.Rate)), append(a.bursts, int32(l.Burst))
	a.pers, a.weights, a.createdAts = append(a.pers, l.Per.Microseconds()), append(a.weights, l.EncodeWeights()), append(a.createdAts, when(l.CreatedAt))
}

// syncLimits makes the limits that a put of schedules brings, and wakes nodes.
func (b *Backend) syncLimits(ctx context.Context, tx querier, req store.PutSchedulesRequest) (store.LimitChange, error) {
	change, err := rowwise.SyncLimits(ctx, newLimitsTx(b, tx), req, req.Now)
	if err != nil || len(change.Write)+len(change.End) == 0 {
		return change, err
	}
	return change, b.wake(ctx, tx, store.Wake{Kind: store.WakeJobs})
}
