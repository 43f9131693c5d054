package sqlrows

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// SaveOwner implements rowwise.OwnersTx.
func (s *Session) SaveOwner(ctx context.Context, o store.Owner) error {
	return s.Exec(ctx, upsertOwner, Args{
		"owner": o.Name, "revision": o.Revision, "digest": o.Version.Digest, "host": o.Version.Host, "synced_at": Micros(o.Version.At),
	})
}

// SaveCopy implements rowwise.OwnersTx.
func (s *Session) SaveCopy(ctx context.Context, owner string, c store.Copy) error {
	return s.Exec(ctx, upsertCopy, Args{
		"owner": owner, "host": c.Host, "path": c.Path, "digest": c.Digest, "revision": c.Revision, "changed_at": Micros(c.ChangedAt),
	})
}

// DeleteCopy implements rowwise.OwnersTx.
func (s *Session) DeleteCopy(ctx context.Context, owner, host string) error {
	return s.Exec(ctx, deleteCopy, Args{"owner": owner, "host": host})
}

// ReadOwners reads owners in pages.
func (s *Session) ReadOwners(ctx context.Context, req store.ListRequest) (list []store.Owner, err error) {
	var given []string
	a := Args{"after": req.After, "limit": req.Limit}
	if len(req.Names) > 0 {
		given, a["names"] = append(given, "names"), req.Names
	}
	err = s.List(ctx, listOwners, given, a, func(r Row) error {
		o, err := ScanOwner(r)
		list = store.AddOwner(list, o)
		return err
	})
	return list, err
}

// ScanOwner scans an owner with at most one of its copies.
func ScanOwner(r Row) (o store.Owner, err error) {
	var c store.Copy
	err = r.Scan(
		&o.Name, &o.Revision, &o.Version.Digest, &o.Version.Host, IntoTime(&o.Version.At),
		IntoText(&c.Host), IntoText(&c.Path), IntoText(&c.Digest), IntoNumber(&c.Revision), IntoTime(&c.ChangedAt),
	)
	if c.Host != "" {
		o.Copies = []store.Copy{c}
	}
	return o, err
}
