package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// ownersTx implements rowwise.OwnersTx.
type ownersTx struct {
	b  *Backend
	tx querier
}

// LockOwner implements rowwise.OwnersTx.
func (t ownersTx) LockOwner(ctx context.Context, req store.PutSchedulesRequest, now time.Time) (*store.Owner, time.Time, error) {
	owner := store.Owner{Name: req.Owner}
	err := t.tx.QueryRow(ctx, t.b.q(lockOwner), req.Owner, req.SyncRevision, when(now)).Scan(append(ownerTargets(&owner), into(&now))...)
	if err != nil || req.Host == "" {
		return &owner, now, err
	}
	rows, err := t.b.listOwners(ctx, t.tx, store.ListRequest{Names: []string{req.Owner}, Limit: 1})
	if err == nil && len(rows) == 1 {
		owner = rows[0]
	}
	return &owner, now, err
}

// SaveOwner implements rowwise.OwnersTx.
func (t ownersTx) SaveOwner(ctx context.Context, o store.Owner) error {
	_, err := t.tx.Exec(ctx, t.b.q(updateOwner), o.Name, o.Revision, o.Version.Digest, o.Version.Host, when(o.Version.At))
	return err
}

// SaveCopy implements rowwise.OwnersTx.
func (t ownersTx) SaveCopy(ctx context.Context, owner string, c store.Copy) error {
	_, err := t.tx.Exec(ctx, t.b.q(upsertCopy), owner, c.Host, c.Path, c.Digest, c.Revision, when(c.ChangedAt))
	return err
}

// DeleteCopy implements rowwise.OwnersTx.
func (t ownersTx) DeleteCopy(ctx context.Context, owner, host string) error {
	_, err := t.tx.Exec(ctx, t.b.q(deleteCopy), owner, host)
	return err
}

func (b *Backend) listOwners(ctx context.Context, tx querier, req store.ListRequest) (list []store.Owner, err error) {
	rows, err := collect(ctx, tx, scanOwner, b.q(listOwners), listOrNull(req.Names), req.After, req.Limit)
	for _, row := range rows {
		list = store.AddOwner(list, row)
	}
	return list, err
}

// ownerColumns are the columns that ownerTargets scan, and ownerRowColumns are the columns that
// scanOwner scans.
const (
	ownerColumns    = "revision digest host synced_at"
	ownerRowColumns = "name " + ownerColumns + " copy_host copy_path copy_digest copy_revision changed_at"
)

func ownerTargets(o *store.Owner) []any {
	return []any{&o.Revision, &o.Version.Digest, &o.Version.Host, into(&o.Version.At)}
}

// scanOwner scans an owner with at most one of its copies.
func scanOwner(r pgx.CollectableRow) (o store.Owner, err error) {
	var c store.Copy
	targets := append([]any{&o.Name}, ownerTargets(&o)...)
	targets = append(targets, (*word)(&c.Host), (*word)(&c.Path), (*word)(&c.Digest), (*number)(&c.Revision), into(&c.ChangedAt))
	if err = r.Scan(targets...); err == nil && c.Host != "" {
		o.Copies = []store.Copy{c}
	}
	return o, err
}
