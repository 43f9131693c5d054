package mysql

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// LockOwner implements rowwise.OwnersTx. An owner that was never synced is inserted, so that syncs of it
// wait for each other.
func (s *session) LockOwner(ctx context.Context, req store.PutSchedulesRequest, now time.Time) (*store.Owner, time.Time, error) {
	if err := s.Exec(ctx, insertOwner, args{"owner": req.Owner, "revision": req.SyncRevision}); err != nil {
		return nil, now, err
	}
	var rows []store.Owner
	err := s.Each(ctx, lockOwner, args{"owner": req.Owner}, func(r row) error {
		o, err := sqlrows.ScanOwner(r)
		rows = store.AddOwner(rows, o)
		return err
	})
	if err != nil {
		return nil, now, err
	}
	return &rows[0], now, nil
}
