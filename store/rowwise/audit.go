package rowwise

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// AuditTx is a transaction that writes entries of the audit.
type AuditTx interface {
	// InsertAudit stores an entry, now, and returns its number.
	InsertAudit(ctx context.Context, e store.AuditEntry, now time.Time) (int64, error)

	// ExtendAudit adds the count of e to the count of the entry with its ID, and its subjects
	// to the subjects of the entry, as long as there are fewer than MostAuditSubjects. It
	// reports whether there is such an entry.
	ExtendAudit(ctx context.Context, e store.AuditEntry) (bool, error)
}

// Record stores an entry; nil: there is none.
func Record(ctx context.Context, tx AuditTx, e *store.AuditEntry, now time.Time) error {
	_, err := RecordMore(ctx, tx, e, 0, now)
	return err
}

// RecordMore is Record for a change in several requests: id is the number of the entry about
// the requests before, or 0. It returns the number of the entry.
func RecordMore(ctx context.Context, tx AuditTx, e *store.AuditEntry, id int64, now time.Time) (int64, error) {
	if e == nil {
		return id, nil
	}
	if id != 0 {
		e.ID = id
		if found, err := tx.ExtendAudit(ctx, *e); err != nil || found {
			return id, err
		}
	}
	return tx.InsertAudit(ctx, *e, now)
}
