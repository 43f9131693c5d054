package rowwise

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// LimitsTx reads and writes limits.
type LimitsTx interface {
	AuditTx
	PermitsTx
	LanesTx

	// ReadLimits returns all limits except ended limits, by name, without a lock.
	ReadLimits(ctx context.Context) (store.Limits, error)

	// LockLimits is ReadLimits with a lock: no other transaction changes limits until
	// this transaction ends.
	LockLimits(ctx context.Context) (store.Limits, error)

	// EndLimits ends limits now: they concern no job any more, and their names are free.
	EndLimits(ctx context.Context, ids []int64, now time.Time) error

	// SaveLimits updates limits with an ID and inserts the others, changed now, and returns their new
	// revisions in their places. A limit with CreatedAt keeps it.
	SaveLimits(ctx context.Context, limits []store.Limit, now time.Time) ([]int64, error)
}

// PutLimits creates or changes limits; see store.Definitions.
func PutLimits(ctx context.Context, tx LimitsTx, req store.PutRequest, now time.Time) (out store.PutResult, err error) {
	if len(req.Limits) == 0 {
		return out, nil
	}
	all, err := tx.LockLimits(ctx)
	if err != nil {
		return out, err
	}
	change, err := store.PlanLimits(all, req.Limits, "")
	if err != nil {
		return out, err
	}
	saved, err := changeLimits(ctx, tx, change, req.AtOnce, now)
	if err != nil {
		return out, err
	}
	for _, put := range req.Limits {
		revision, changed := saved[put.Limit.Name]
		if !changed {
			revision = all.Named(put.Limit.Name).Revision
		}
		out.Revisions = append(out.Revisions, revision)
	}
	out.Changed = len(change.Write)
	return out, Record(ctx, tx, req.LimitsEntry(change), now)
}

// SyncLimits makes the limits that a put of schedules brings; see store.PutSchedulesRequest.Limits.
func SyncLimits(ctx context.Context, tx LimitsTx, req store.PutSchedulesRequest, now time.Time) (change store.LimitChange, err error) {
	if !req.HasLimits() {
		return change, nil
	}
	all, err := tx.LockLimits(ctx)
	if err != nil {
		return change, err
	}
	if change, err = store.PlanLimits(all, req.PutLimits(), req.LimitOwner()); err != nil {
		return change, err
	}
	if _, err = changeLimits(ctx, tx, change, 0, now); err != nil {
		return change, err
	}
	return change, Record(ctx, tx, req.LimitsEntry(change), now)
}

// changeLimits writes a change, and returns the new revisions by name.
func changeLimits(ctx context.Context, tx LimitsTx, change store.LimitChange, most int, now time.Time) (map[string]int64, error) {
	if len(change.Write)+len(change.End) == 0 {
		return nil, nil
	}
	if err := tx.AwaitClaims(ctx); err != nil { // before rows of limits are written, because exchanges lock their node first, too
		return nil, err
	}
	if ids := change.EndIDs(); len(ids) > 0 {
		if err := tx.EndLimits(ctx, ids, now); err != nil {
			return nil, err
		}
		if err := tx.DropPermits(ctx, ids); err != nil {
			return nil, err
		}
		if err := deleteQueueLanes(ctx, tx, change.End); err != nil {
			return nil, err
		}
		if err := tx.InsertVacancies(ctx, limitVacancies(change.End)); err != nil {
			return nil, err
		}
	}
	if len(change.Write) == 0 {
		return nil, nil
	}
	revisions, err := tx.SaveLimits(ctx, change.Write, now)
	if err != nil {
		return nil, err
	}
	saved := make(map[string]int64, len(revisions))
	for i, revision := range revisions {
		saved[change.Write[i].Name] = revision
	}
	if err := seedPermits(ctx, tx, change.Write); err != nil {
		return nil, err
	}
	for i := range change.Write {
		if rate, rated := change.Write[i].Pace(); rated && change.Write[i].ID != 0 {
			if err := tx.CapRate(ctx, change.Write[i].ID, rate.Greatest(now)); err != nil {
				return nil, err
			}
		}
	}
	return saved, startLimits(ctx, tx, change.Write, most, now)
}

// deleteQueueLanes deletes the lanes of limits of whole queues that end. No claim is under way.
func deleteQueueLanes(ctx context.Context, tx LimitsTx, ended []store.Limit) error {
	for i := range ended {
		if !ended[i].WholeQueue() {
			continue
		}
		lanes, err := tx.FindLanes(ctx, ended[i].ID, 0, 1) // its key is empty
		if err != nil {
			return err
		}
		if err := deleteLanes(ctx, tx, lanes); err != nil {
			return err
		}
	}
	return nil
}

// limitVacancies returns that all lanes of limits have to be looked at.
func limitVacancies(limits []store.Limit) (vacancies []Vacancy) {
	for i := range limits {
		if !limits[i].WholeQueue() {
			vacancies = append(vacancies, Vacancy{Limit: limits[i].ID})
		}
	}
	return vacancies
}

// startLimits lets limits be in force that were written, those without an ID as new rows. No claim is under way: jobs that run
// get permits of new limits, also more than these allow, and jobs that hold permits and were not claimed wait again, first of all.
func startLimits(ctx context.Context, tx LimitsTx, written []store.Limit, most int, now time.Time) error {
	if !slices.ContainsFunc(written, func(l store.Limit) bool { return !l.WholeQueue() }) {
		return nil
	}
	all, err := tx.ReadLimits(ctx)
	if err != nil {
		return err
	}
	var changed []store.Limit
	for i := range written {
		row := all.Named(written[i].Name)
		if row.WholeQueue() {
			continue
		}
		if written[i].ID != 0 {
			changed = append(changed, *row)
		} else if err := countRunning(ctx, tx, row); err != nil {
			return err
		}
		if err := returnPermits(ctx, tx, row, most, now); err != nil {
			return err
		}
	}
	return tx.InsertVacancies(ctx, limitVacancies(changed))
}

// returnPermits lets jobs that a limit concerns, that hold permits and that no node has claimed wait in one of their lanes, where
// they go first: at most a number, and further jobs in later steps. 0: returnedRows.
func returnPermits(ctx context.Context, tx LimitsTx, limit *store.Limit, most int, now time.Time) error {
	jobs, to, err := tx.LockUnclaimed(ctx, limit, 0, cmp.Or(most, returnedRows))
	if err != nil || len(jobs) == 0 {
		return err
	}
	if to > 0 {
		if err := tx.InsertVacancies(ctx, []Vacancy{{Limit: limit.ID, DoneTo: -to}}); err != nil {
			return err
		}
	}
	ids := map[int64]bool{}
	for i := range jobs {
		for _, held := range jobs[i].Lanes {
			lane, _ := store.PermitOf(held)
			ids[lane] = true
		}
	}
	lanes, err := tx.LockLanes(ctx, slices.Sorted(maps.Keys(ids)))
	if err != nil {
		return err
	}
	rooms := map[int64]*store.Room{}
	for i := range lanes {
		lanes[i].LookAt = store.LookNow()
		rooms[lanes[i].ID] = &store.Room{Lane: lanes[i]}
	}
	if err := tx.SaveAllotments(ctx, waitAgain(rooms, jobs, anyLane), now); err != nil {
		return err
	}
	for i := range lanes {
		lanes[i] = rooms[lanes[i].ID].Lane
	}
	return tx.SaveLanes(ctx, lanes)
}

// countRunning gives the running jobs that a new limit concerns its permits.
func countRunning(ctx context.Context, tx LimitsTx, limit *store.Limit) error {
	jobs, err := tx.LockRunning(ctx, limit)
	if err != nil || len(jobs) == 0 {
		return err
	}
	var keys []store.LaneKey
	counts := map[store.LaneKey]int{}
	for i := range jobs {
		key := store.LaneKey{Limit: limit.ID, Key: limit.Lane(&jobs[i].JobSpec)}
		if counts[key]++; counts[key] == 1 {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b store.LaneKey) int { return cmp.Compare(a.Key, b.Key) })
	ids, err := tx.MakeLanes(ctx, keys)
	if err != nil {
		return err
	}
	lanes, err := tx.LockLanes(ctx, slices.Sorted(maps.Values(ids)))
	if err != nil {
		return err
	}
	for i := range lanes {
		lanes[i].Used += counts[lanes[i].LaneKey]
	}
	for i := range jobs {
		jobs[i].Lane = ids[store.LaneKey{Limit: limit.ID, Key: limit.Lane(&jobs[i].JobSpec)}]
	}
	if err := tx.AddPermits(ctx, jobs); err != nil {
		return err
	}
	return tx.SaveLanes(ctx, lanes)
}

// DeleteLimits deletes limits; see store.Definitions.
func DeleteLimits(ctx context.Context, tx LimitsTx, req store.DeleteRequest, now time.Time) error {
	if len(req.Names) == 0 {
		return nil
	}
	all, err := tx.LockLimits(ctx)
	if err != nil {
		return err
	}
	var change store.LimitChange
	for _, name := range req.Names {
		row := all.Named(name)
		if row == nil {
			return fmt.Errorf("limit %q: %w", name, store.ErrNotFound)
		}
		if err := store.CheckRevision(req.IfRevision, row.Revision); err != nil {
			return fmt.Errorf("limit %q: %w", name, err)
		}
		change.End = append(change.End, *row)
	}
	if _, err := changeLimits(ctx, tx, change, 0, now); err != nil {
		return err
	}
	return Record(ctx, tx, req.Entry(), now)
}
