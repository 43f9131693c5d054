package mysql

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// LockOwner implements rowwise.OwnersTx. An owner that was never synced is inserted, so that syncs of it
// wait for each other.
func (s *session) LockOwner(ctx context.Context, req store.PutSchedulesRequest, now time.Time) (*store.Owner, time.Time, error) {
	if err := s.exec(ctx, insertOwner, args{"owner": req.Owner, "revision": req.SyncRevision}); err != nil {
		return nil, now, err
	}
	var rows []store.Owner
	err := s.each(ctx, lockOwner, args{"owner": req.Owner}, func(r row) error {
		o, err := scanOwner(r)
		rows = store.AddOwner(rows, o)
		return err
	})
	if err != nil {
		return nil, now, err
	}
	return &rows[0], now, nil
}

// SaveOwner implements rowwise.OwnersTx.
func (s *session) SaveOwner(ctx context.Context, o store.Owner) error {
	return s.exec(ctx, upsertOwner, args{
		"owner": o.Name, "revision": o.Revision, "digest": o.Version.Digest, "host": o.Version.Host, "synced_at": micros(o.Version.At),
	})
}

// SaveCopy implements rowwise.OwnersTx.
func (s *session) SaveCopy(ctx context.Context, owner string, c store.Copy) error {
	return s.exec(ctx, upsertCopy, args{
		"owner": owner, "host": c.Host, "path": c.Path, "digest": c.Digest, "revision": c.Revision, "changed_at": micros(c.ChangedAt),
	})
}

// DeleteCopy implements rowwise.OwnersTx.
func (s *session) DeleteCopy(ctx context.Context, owner, host string) error {
	return s.exec(ctx, deleteCopy, args{"owner": owner, "host": host})
}

// ListOwners lists owners; see store.Schedules.
func (b *Backend) ListOwners(ctx context.Context, req store.ListOwnersRequest) (out []store.Owner, err error) {
	err = b.read(ctx, "list owners", func(s *session) (err error) {
		out, err = s.readOwners(ctx, req)
		return err
	})
	return out, err
}

func (s *session) readOwners(ctx context.Context, req store.ListOwnersRequest) (list []store.Owner, err error) {
	var given []string
	a := args{"after": req.After, "limit": req.Limit}
	if len(req.Names) > 0 {
		given, a["names"] = append(given, "names"), req.Names
	}
	err = s.list(ctx, listOwners, given, a, func(r row) error {
		o, err := scanOwner(r)
		list = store.AddOwner(list, o)
		return err
	})
	return list, err
}

// scanOwner scans an owner with at most one of its copies.
func scanOwner(r row) (o store.Owner, err error) {
	var c store.Copy
	err = r.Scan(
		&o.Name, &o.Revision, &o.Version.Digest, &o.Version.Host, into(&o.Version.At),
		textScanner{&c.Host}, textScanner{&c.Path}, textScanner{&c.Digest}, numberScanner{&c.Revision}, into(&c.ChangedAt),
	)
	if c.Host != "" {
		o.Copies = []store.Copy{c}
	}
	return o, err
}
