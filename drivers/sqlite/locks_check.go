package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/store"
)

var _ lock.Checker = callersTx{}

// Tx is the package's Tx, for lock.Check with these lock tables.
func (l *Locks) Tx(tx *sql.Tx) store.Tx { return callersTx{tx, l} }

// CheckLock implements lock.Checker.
func (t callersTx) CheckLock(ctx context.Context, name string, token int64) error {
	l := t.locks
	if l == nil {
		l = NewLocks(nil)
	}
	doing := fmt.Sprintf("check lock %q", name)
	if l.invalid != nil {
		return fmt.Errorf("%s: %w", doing, l.invalid)
	}
	result, err := t.tx.ExecContext(ctx, l.texts["check"], named(args{"name": name, "token": token, "shared": l.shared})...)
	if err != nil {
		return l.explain(ctx, doing, err)
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		err = lock.ErrLost
	}
	return l.explain(ctx, doing, err)
}
