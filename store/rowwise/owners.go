package rowwise

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// OwnersTx reads and writes owners of schedules and the copies of hosts.
type OwnersTx interface {
	// LockOwner returns the owner of a request, nil if it was never synced, and the instant
	// of the call: now, or the store's clock if now is zero. The copies are needed
	// only if the request has a host.
	LockOwner(ctx context.Context, req store.PutSchedulesRequest, now time.Time) (*store.Owner, time.Time, error)

	// SaveOwner inserts or replaces an owner, without its copies.
	SaveOwner(ctx context.Context, owner store.Owner) error

	// SaveCopy inserts or replaces the copy of a host.
	SaveCopy(ctx context.Context, owner string, c store.Copy) error

	// DeleteCopy deletes the copy of a host, if there is one.
	DeleteCopy(ctx context.Context, owner, host string) error
}

// SyncOwner decides about the sync of an owner, if the request is one, and stores the
// decision. kept is store.PutSchedulesResult.Kept: if it is not nil, the call has ended. now
// may be zero if LockOwner reads the clock.
func SyncOwner(ctx context.Context, tx OwnersTx, req store.PutSchedulesRequest, now time.Time) (kept *store.Owner, err error) {
	if !req.Ordered() {
		return nil, nil
	}
	owner, now, err := tx.LockOwner(ctx, req, now)
	if err != nil {
		return nil, err
	}
	sync, err := owner.Sync(req, now)
	if err != nil {
		return nil, err
	}
	switch {
	case req.Gone:
		err = tx.DeleteCopy(ctx, req.Owner, req.Host)
	case req.Host != "":
		err = tx.SaveCopy(ctx, req.Owner, sync.Copy)
	}
	if err != nil {
		return nil, err
	}
	if sync.Kept {
		kept = &sync.Owner
	}
	if kept == nil || owner == nil {
		err = tx.SaveOwner(ctx, sync.Owner)
	}
	return kept, err
}
