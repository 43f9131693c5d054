package mysql

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// laneCandidates is how many lanes of a limit are compared by their waiting jobs.
const laneCandidates = 1000

// ListLimits implements sqlrows.Tx.
func (s *session) ListLimits(ctx context.Context, req store.ListRequest) (out []store.LimitInfo, err error) {
	now, err := s.Now(ctx, req.Now)
	if err != nil {
		return out, err
	}
	var given []string
	a := args{}
	if len(req.Names) > 0 {
		given, a["names"] = append(given, "names"), req.Names
	}
	if err := s.List(ctx, listLimits, given, a, func(r row) error {
		var info store.LimitInfo
		err := sqlrows.ScanLimit(r, &info.Limit)
		out = append(out, info)
		return err
	}); err != nil {
		return out, err
	}
	for i := range out {
		if err := s.countLimit(ctx, &out[i], now); err != nil {
			return out, err
		}
		if err := s.listLanes(ctx, &out[i], req.Lanes, now); err != nil {
			return out, err
		}
	}
	return out, nil
}

// countLimit counts what a limit holds.
func (s *session) countLimit(ctx context.Context, limit *store.LimitInfo, now time.Time) error {
	if limit.WholeQueue() {
		a := args{"limit": limit.ID, "queue": limit.Queue, "now": sqlrows.Micros(now), "most": store.MostCounted}
		return s.One(ctx, countQueueLimit, a, &limit.InUse, &limit.Waiting, &limit.Keys)
	}
	return s.One(ctx, countLimit, args{"limit": limit.ID, "most": store.MostCounted}, &limit.InUse, &limit.Waiting, &limit.Keys)
}

// listLanes adds the lanes of a limit in which most jobs wait, at most a number, among the lanes with the most permits in use.
func (s *session) listLanes(ctx context.Context, limit *store.LimitInfo, most int, now time.Time) error {
	if most == 0 || limit.WholeQueue() {
		return nil
	}
	var lanes []store.Lane
	var infos []store.LaneInfo
	var counts []args
	place := map[int64]int{}
	err := s.Each(ctx, listLanes, args{"limit": limit.ID, "candidates": laneCandidates}, func(r row) error {
		var lane store.Lane
		err := r.Scan(&lane.ID, &lane.Key, &lane.Used, &lane.Starts, sqlrows.IntoTime(&lane.TAT), sqlrows.IntoTime(&lane.NotBefore))
		place[lane.ID] = len(lanes)
		lanes, counts = append(lanes, lane), append(counts, args{"lane": lane.ID, "most": store.MostCounted})
		return err
	})
	if err != nil {
		return err
	}
	err = s.unite(ctx, countLaneJobs, counts, func(r row) error {
		var id int64
		var waiting int64
		err := r.Scan(&id, &waiting)
		if lane := lanes[place[id]]; lane.Used > 0 || waiting > 0 || lane.NotBefore.After(now) {
			infos = append(infos, limit.LaneInfo(lane, waiting, now))
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.SortFunc(infos, func(a, b store.LaneInfo) int {
		return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(b.InUse, a.InUse), cmp.Compare(a.Key, b.Key))
	})
	limit.Lanes = append(limit.Lanes, infos[:min(len(infos), most)]...)
	return nil
}

// ListLimitWaits implements sqlrows.Tx.
func (s *session) ListLimitWaits(ctx context.Context, req store.ListRequest) (out []store.LimitWait, err error) {
	now, err := s.Now(ctx, req.Now)
	if err != nil {
		return out, err
	}
	var counts []args
	before := map[int64]int64{}
	var lanes []store.Lane
	if err := s.Each(ctx, findLimitWaits, args{"ids": req.IDs}, func(r row) error {
		var w store.LimitWait
		var lane store.Lane
		var priority, state int
		var runAt time.Time
		err := r.Scan(&w.Job, &w.Limit.ID, &w.Key, &w.InUse, &lane.Starts, sqlrows.IntoTime(&lane.TAT),
			sqlrows.IntoTime(&lane.NotBefore), &lane.ID, &priority, &state, sqlrows.IntoTime(&runAt))
		out, lanes = append(out, w), append(lanes, lane)
		if lane.ID != 0 {
			counts = append(counts, args{"id": w.Job, "lane": lane.ID, "priority": priority, "state": state, "run_at": sqlrows.Micros(runAt), "most": store.MostCounted})
		}
		return err
	}); err != nil || len(out) == 0 {
		return out, err
	}
	if err := s.unite(ctx, countJobsBefore, counts, func(r row) error {
		var id, jobs int64
		err := r.Scan(&id, &jobs)
		before[id] = jobs
		return err
	}); err != nil {
		return out, err
	}
	for i := range out {
		out[i].Before = before[out[i].Job]
	}
	limits, err := s.ReadLimits(ctx)
	out = limits.AddTo(out, lanes, now)
	return out, err
}

// limitSelect is what {limit_columns} stands for in statements.
const limitSelect = "id, name, owner, revision, queue, kind, by_key, concurrency, rate, per, burst, weights, strict, " +
	"{micros(created_at)} AS created_at, {micros(updated_at)} AS updated_at"

// LockLimits implements rowwise.LimitsTx.
func (s *session) LockLimits(ctx context.Context) (store.Limits, error) {
	if err := s.Exec(ctx, lockLimitTable, nil); err != nil {
		return nil, err
	}
	return s.ReadLimits(ctx)
}
