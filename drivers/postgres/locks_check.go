package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/store"
)

var (
	_ lock.Checker = nativeTx{}
	_ lock.Checker = sqlTx{}
)

// Tx is the package's Tx, for lock.Check with these lock tables.
func (l *Locks) Tx(tx pgx.Tx) store.Tx { return nativeTx{tx, l} }

// SQLTx is the package's SQLTx, for lock.Check with these lock tables.
func (l *Locks) SQLTx(tx *sql.Tx) store.Tx { return sqlTx{tx, l} }

// CheckLock implements lock.Checker.
func (t nativeTx) CheckLock(ctx context.Context, name string, token int64) error {
	return checkLock(ctx, t, t.locks, name, token)
}

// CheckLock implements lock.Checker.
func (t sqlTx) CheckLock(ctx context.Context, name string, token int64) error {
	return checkLock(ctx, t, t.locks, name, token)
}

// checkLock checks a lock in a caller's transaction. If l is nil the lock is in
// the default tables.
func checkLock(ctx context.Context, tx querier, l *Locks, name string, token int64) error {
	if l == nil {
		l = newLocks(nil, DefaultSchema, nil)
	}
	what := fmt.Sprintf("check lock %q", name)
	if l.invalid != nil {
		return fmt.Errorf("%s: %w", what, l.invalid)
	}
	file := "check"
	if l.shared {
		file = "check_shared"
	}
	text := strings.NewReplacer("{table}", qualified(l.schema, l.table), "{state}", qualified(l.schema, l.table+"_state")).Replace(lockText(file))
	var stands bool
	err := tx.queryRow(ctx, text, name, token).Scan(&stands)
	switch {
	case errors.Is(err, pgx.ErrNoRows), errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%s: %w", what, lock.ErrLost)
	case codeOf(err) == "42P01":
		return fmt.Errorf("%s: %w: %w; %s; for tables of another name use Tx or SQLTx of the Locks", what, store.ErrSchema, err, l.missing(true))
	}
	return l.explain(ctx, what, "waited for one who takes the lock; look for a transaction that holds a row of the lock tables", err)
}
