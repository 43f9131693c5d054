package mysql

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// CountLimit implements sqlrows.Dialect.
func (s *session) CountLimit(ctx context.Context, limit *store.LimitInfo, now time.Time) error {
	if limit.WholeQueue() {
		a := args{"limit": limit.ID, "queue": limit.Queue, "now": sqlrows.Micros(now), "most": store.MostCounted}
		return s.One(ctx, countQueueLimit, a, &limit.InUse, &limit.Waiting, &limit.Keys)
	}
	return s.One(ctx, countLimit, args{"limit": limit.ID, "most": store.MostCounted}, &limit.InUse, &limit.Waiting, &limit.Keys)
}

// ListLanes implements sqlrows.Dialect.
func (s *session) ListLanes(ctx context.Context, limit *store.LimitInfo, candidates, most int, now time.Time) ([]store.LaneInfo, error) {
	var lanes []store.Lane
	var infos []store.LaneInfo
	var counts []args
	place := map[int64]int{}
	err := s.Each(ctx, listLanes, args{"limit": limit.ID, "candidates": candidates}, func(r row) error {
		var lane store.Lane
		err := r.Scan(&lane.ID, &lane.Key, &lane.Used, &lane.Starts, sqlrows.IntoTime(&lane.TAT), sqlrows.IntoTime(&lane.NotBefore))
		place[lane.ID] = len(lanes)
		lanes, counts = append(lanes, lane), append(counts, args{"lane": lane.ID, "most": store.MostCounted})
		return err
	})
	if err != nil {
		return nil, err
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
		return nil, err
	}
	slices.SortFunc(infos, func(a, b store.LaneInfo) int {
		return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(b.InUse, a.InUse), cmp.Compare(a.Key, b.Key))
	})
	return infos[:min(len(infos), most)], nil
}

// FindLimitWaits implements sqlrows.Dialect. The jobs before others are counted by a second statement.
func (s *session) FindLimitWaits(ctx context.Context, jobs []int64) (waits []store.LimitWait, lanes []store.Lane, err error) {
	var counts []args
	err = s.Each(ctx, findLimitWaits, args{"ids": jobs}, func(r row) error {
		var w store.LimitWait
		var lane store.Lane
		var priority, state int
		var runAt time.Time
		err := r.Scan(&w.Job, &w.Limit.ID, &w.Key, &w.InUse, &lane.Starts, sqlrows.IntoTime(&lane.TAT),
			sqlrows.IntoTime(&lane.NotBefore), &lane.ID, &priority, &state, sqlrows.IntoTime(&runAt))
		waits, lanes = append(waits, w), append(lanes, lane)
		if lane.ID != 0 {
			counts = append(counts, args{"id": w.Job, "lane": lane.ID, "priority": priority, "state": state, "run_at": sqlrows.Micros(runAt), "most": store.MostCounted})
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	before := map[int64]int64{}
	err = s.unite(ctx, countJobsBefore, counts, func(r row) error {
		var id, jobs int64
		err := r.Scan(&id, &jobs)
		before[id] = jobs
		return err
	})
	for i := range waits {
		waits[i].Before = before[waits[i].Job]
	}
	return waits, lanes, err
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
