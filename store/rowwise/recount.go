package rowwise

import (
	"context"
	"maps"
	"slices"

	"github.com/hourbell/hourbell/store"
)

// RecountTx compares the counts of lanes with the permits that jobs hold.
type RecountTx interface {
	LanesTx

	// OldestNode returns the number of the oldest living node; 0: no node lives.
	OldestNode(ctx context.Context) (int64, error)

	// FindWrongLanes returns lanes whose count of permits or of starts differs from what jobs hold and what vacancies have, with the
	// latter. All counts are of one instant. It locks nothing. among: only these lanes; empty: all.
	FindWrongLanes(ctx context.Context, among []int64, most int) (map[int64]store.LaneCount, error)

	// ReturnIdlePermits takes permits from jobs that no living node runs, as vacancies, and lets such jobs at the head of lanes leave
	// them. It returns how many jobs it has changed, and leaves out jobs that other transactions have locked.
	ReturnIdlePermits(ctx context.Context, most int) (int, error)

	// DeleteGonePermits deletes the permits of nodes that do not live and hold no jobs, and of limits that have ended, and returns
	// how many rows it has deleted.
	DeleteGonePermits(ctx context.Context) (int, error)
}

// RecountPermits is a step of the upkeep of limits; see store.Permits. Most steps find nothing and lock nothing. Where the number
// of a lane is wrong, it is compared again when the lane is locked: from then on no transaction changes it, transactions
// that end jobs only move permits of the lane from jobs to vacancies, and a claim that uses starts waits for the lane.
func RecountPermits(ctx context.Context, tx RecountTx, req store.RecountRequest) (out store.RecountResult, err error) {
	if req.Node != 0 {
		if oldest, err := tx.OldestNode(ctx); err != nil || oldest != req.Node {
			return store.RecountResult{Left: err == nil}, err
		}
	}
	if out.Lanes, err = repairLanes(ctx, tx, req.Limit); err != nil {
		return out, err
	}
	if out.Nodes, err = tx.DeleteGonePermits(ctx); err != nil {
		return out, err
	}
	idle, err := deleteIdleLanes(ctx, tx)
	if err != nil {
		return out, err
	}
	limits, err := tx.ReadLimits(ctx)
	if err != nil {
		return out, err
	}
	if len(limits.OfJobs()) > 0 { // a job may still hold permits of limits that have ended, which hold up no job
		out.Jobs, err = tx.ReturnIdlePermits(ctx, req.Limit)
	}
	out.More = len(out.Lanes) >= req.Limit || out.Jobs >= req.Limit || idle >= idleLaneRows
	return out, err
}

// idleLaneRows is how many idle lanes a step deletes.
const idleLaneRows = 10_000

// deleteIdleLanes deletes lanes that PassOnPermits has left, and returns how many. Lanes of limits that have ended are left to PassOnPermits:
// whether such a limit still concerns claims and retries must not depend on when permits are counted.
func deleteIdleLanes(ctx context.Context, tx RecountTx) (int, error) {
	ids, err := tx.LockIdleLanes(ctx, idleLaneRows)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return len(ids), tx.DeleteLanes(ctx, ids)
}

// repairLanes repairs the counts of lanes, at most a number.
func repairLanes(ctx context.Context, tx RecountTx, most int) (repairs []store.LaneRepair, err error) {
	wrong, err := tx.FindWrongLanes(ctx, nil, most)
	if err != nil || len(wrong) == 0 {
		return nil, err
	}
	limits, err := tx.ReadLimits(ctx)
	if err != nil {
		return nil, err
	}
	lanes, err := tx.LockLanes(ctx, slices.Sorted(maps.Keys(wrong)))
	if err != nil {
		return nil, err
	}
	if wrong, err = tx.FindWrongLanes(ctx, slices.Sorted(maps.Keys(wrong)), most); err != nil {
		return nil, err
	}
	lanes = slices.DeleteFunc(lanes, func(lane store.Lane) bool { _, is := wrong[lane.ID]; return !is })
	for i := range lanes {
		repair := store.LaneRepair{Key: lanes[i].Key, Counted: lanes[i].Count(), Held: wrong[lanes[i].ID]}
		if limit := limits.ByID(lanes[i].Limit); limit != nil {
			repair.Limit = limit.Name
		}
		repairs = append(repairs, repair)
		lanes[i].Recount(repair.Held)
	}
	if len(lanes) == 0 {
		return nil, nil
	}
	return repairs, tx.SaveLanes(ctx, lanes)
}
