package rowwise

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// CloseLanes lets nothing start in lanes for a while; see store.Permits.
func CloseLanes(ctx context.Context, tx LanesTx, req store.CloseLanesRequest, now time.Time) error {
	limits, err := tx.ReadLimits(ctx)
	if err != nil {
		return err
	}
	until := map[store.LaneKey]time.Time{}
	for i := range req.Jobs {
		at := now.Add(req.Jobs[i].For)
		for _, key := range limits.Lanes(&req.Jobs[i].JobSpec) {
			if at.After(until[key]) {
				until[key] = at
			}
		}
	}
	if len(until) == 0 {
		return nil
	}
	ids, err := tx.MakeLanes(ctx, slices.SortedFunc(maps.Keys(until), func(a, b store.LaneKey) int {
		return cmp.Or(cmp.Compare(a.Limit, b.Limit), cmp.Compare(a.Key, b.Key))
	}))
	if err != nil {
		return err
	}
	var whole, closing []int64
	for key, id := range ids {
		if limits.ByID(key.Limit).WholeQueue() {
			whole = append(whole, id)
		} else {
			closing = append(closing, id)
		}
	}
	if err := closeQueues(ctx, tx, whole, until); err != nil || len(closing) == 0 {
		return err
	}
	slices.Sort(closing)
	return closeLanes(ctx, tx, limits, closing, until, req.AtOnce, now)
}

// closeQueues closes the lanes of limits of whole queues. Claims lock these before other lanes, too.
func closeQueues(ctx context.Context, tx LanesTx, ids []int64, until map[store.LaneKey]time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	lanes, err := tx.LockLanes(ctx, ids)
	if err != nil {
		return err
	}
	for i := range lanes {
		if at := until[lanes[i].LaneKey]; at.After(lanes[i].NotBefore) {
			lanes[i].NotBefore = at
		}
	}
	return tx.SaveLanes(ctx, lanes)
}

// closeLanes closes the lanes of limits of kinds and keys, and takes back the permits of jobs that no node has claimed, as
// returnPermits does.
func closeLanes(ctx context.Context, tx LanesTx, limits store.Limits, closing []int64, until map[store.LaneKey]time.Time, most int, now time.Time) error {
	jobs, to, err := tx.LockHolders(ctx, closing, cmp.Or(most, returnedRows))
	if err != nil {
		return err
	}
	ids := slices.Clone(closing)
	for i := range jobs {
		for _, held := range jobs[i].Lanes {
			lane, _ := store.PermitOf(held)
			ids = append(ids, lane)
		}
	}
	slices.Sort(ids)
	lanes, err := tx.LockLanes(ctx, slices.Compact(ids))
	if err != nil {
		return err
	}
	rooms := map[int64]*store.Room{}
	for _, lane := range lanes {
		rooms[lane.ID] = store.NewRoom(lane, limits.ByID(lane.Limit), now)
	}
	if len(jobs) > 0 {
		if err := tx.SaveAllotments(ctx, waitAgain(rooms, jobs, func(lane int64) bool { return slices.Contains(closing, lane) }), now); err != nil {
			return err
		}
		for i := range jobs {
			for _, held := range jobs[i].Lanes {
				lane, _ := store.PermitOf(held)
				if room := rooms[lane]; room != nil && room.Waiting {
					room.LookAt = store.LookNow()
				}
			}
		}
	}
	var rest []Vacancy
	for i := range lanes {
		room := rooms[lanes[i].ID]
		if at, closes := until[room.LaneKey]; closes {
			room.Close(at)
			if to > 0 && !slices.ContainsFunc(rest, func(v Vacancy) bool { return v.Limit == room.Limit }) {
				rest = append(rest, Vacancy{Limit: room.Limit, DoneTo: -to})
			}
		}
		lanes[i] = room.Lane
	}
	if len(rest) > 0 {
		if err := tx.InsertVacancies(ctx, rest); err != nil {
			return err
		}
	}
	return tx.SaveLanes(ctx, lanes)
}
