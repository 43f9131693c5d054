package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// CountLimit implements sqlrows.Dialect.
func (s *session) CountLimit(ctx context.Context, limit *store.LimitInfo, now time.Time) error {
	return s.One(ctx, countLimit, args{"limit": limit.ID, "most": store.MostCounted, "now": sqlrows.Micros(now)}, &limit.InUse, &limit.Waiting, &limit.Keys)
}

// ListLanes implements sqlrows.Dialect.
func (s *session) ListLanes(ctx context.Context, limit *store.LimitInfo, candidates, most int, now time.Time) (out []store.LaneInfo, err error) {
	a := args{"limit": limit.ID, "lanes": most, "candidates": candidates, "most": store.MostCounted, "now": sqlrows.Micros(now)}
	err = s.Each(ctx, listLanes, a, func(r row) error {
		var lane store.Lane
		var waiting int64
		err := r.Scan(&lane.Key, &lane.Used, &waiting, &lane.Starts, sqlrows.IntoTime(&lane.TAT), sqlrows.IntoTime(&lane.NotBefore))
		out = append(out, limit.LaneInfo(lane, waiting, now))
		return err
	})
	return out, err
}

// FindLimitWaits implements sqlrows.Dialect.
func (s *session) FindLimitWaits(ctx context.Context, jobs []int64) (waits []store.LimitWait, lanes []store.Lane, err error) {
	err = s.Each(ctx, findLimitWaits, args{"most": store.MostCounted, "ids": jobs}, func(r row) error {
		var w store.LimitWait
		var lane store.Lane
		err := r.Scan(&w.Job, &w.Limit.ID, &w.Key, &w.InUse, &lane.Starts, sqlrows.IntoTime(&lane.TAT), sqlrows.IntoTime(&lane.NotBefore), &w.Before)
		waits, lanes = append(waits, w), append(lanes, lane)
		return err
	})
	return waits, lanes, err
}
