package sqlite

import (
	"context"
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
	a := args{"now": sqlrows.Micros(now), "most": store.MostCounted}
	if len(req.Names) > 0 {
		given, a["names"] = append(given, "names"), sqlrows.JSONList(req.Names)
	}
	if err := s.List(ctx, listLimits, given, a, func(r row) error {
		var info store.LimitInfo
		err := sqlrows.ScanLimit(r, &info.Limit, &info.InUse, &info.Waiting, &info.Keys)
		out = append(out, info)
		return err
	}); err != nil {
		return out, err
	}
	for i := range out {
		if err := s.listLanes(ctx, &out[i], req.Lanes, now); err != nil {
			return out, err
		}
	}
	return out, nil
}

// listLanes adds the lanes of a limit in which most jobs wait, at most a number.
func (s *session) listLanes(ctx context.Context, limit *store.LimitInfo, most int, now time.Time) error {
	if most == 0 || limit.WholeQueue() {
		return nil
	}
	a := args{"limit": limit.ID, "lanes": most, "candidates": laneCandidates, "most": store.MostCounted, "now": sqlrows.Micros(now)}
	return s.Each(ctx, listLanes, a, func(r row) error {
		var lane store.Lane
		var waiting int64
		err := r.Scan(&lane.Key, &lane.Used, &waiting, &lane.Starts, sqlrows.IntoTime(&lane.TAT), sqlrows.IntoTime(&lane.NotBefore))
		limit.Lanes = append(limit.Lanes, limit.LaneInfo(lane, waiting, now))
		return err
	})
}

// ListLimitWaits implements sqlrows.Tx.
func (s *session) ListLimitWaits(ctx context.Context, req store.ListRequest) (out []store.LimitWait, err error) {
	now, err := s.Now(ctx, req.Now)
	if err != nil {
		return out, err
	}
	var lanes []store.Lane
	if err := s.Each(ctx, findLimitWaits, args{"most": store.MostCounted, "ids": sqlrows.JSONList(req.IDs)}, func(r row) error {
		var w store.LimitWait
		var lane store.Lane
		err := r.Scan(&w.Job, &w.Limit.ID, &w.Key, &w.InUse, &lane.Starts, sqlrows.IntoTime(&lane.TAT), sqlrows.IntoTime(&lane.NotBefore), &w.Before)
		out, lanes = append(out, w), append(lanes, lane)
		return err
	}); err != nil || len(out) == 0 {
		return out, err
	}
	limits, err := s.ReadLimits(ctx)
	out = limits.AddTo(out, lanes, now)
	return out, err
}
