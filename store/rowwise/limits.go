package rowwise

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

// LimitsTx reads and writes limits.
type LimitsTx interface {
	AuditTx
	PermitsTx

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

// PutLimits creates or changes limits; see store.LimitStore.
func PutLimits(ctx context.Context, tx LimitsTx, req store.PutLimitsRequest, now time.Time) (out store.PutLimitsResult, err error) {
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
	saved, err := changeLimits(ctx, tx, change, now)
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
	return out, Record(ctx, tx, req.Entry(change), now)
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
	if _, err = changeLimits(ctx, tx, change, now); err != nil {
		return change, err
	}
	return change, Record(ctx, tx, req.LimitsEntry(change), now)
}

// changeLimits writes a change, and returns the new revisions by name.
func changeLimits(ctx context.Context, tx LimitsTx, change store.LimitChange, now time.Time) (map[string]int64, error) {
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
	return saved, seedPermits(ctx, tx, change.Write)
}

// DeleteLimits deletes limits; see store.LimitStore.
func DeleteLimits(ctx context.Context, tx LimitsTx, req store.DeleteLimitsRequest, now time.Time) error {
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
		change.End = append(change.End, *row)
	}
	if _, err := changeLimits(ctx, tx, change, now); err != nil {
		return err
	}
	return Record(ctx, tx, req.Entry(), now)
}
