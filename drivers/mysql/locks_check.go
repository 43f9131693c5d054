package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/hourbell/hourbell/lock"
)

// Tx makes a transaction of the program usable for lock.Check, with the lock
// tables hourbell_lock and hourbell_lock_state in the connection's database.
// For other tables see [Locks.Tx].
func Tx(tx *sql.Tx) lock.Tx { return NewLocks(nil).Tx(tx) }

// Tx is the package's Tx, with these lock tables.
func (l *Locks) Tx(tx *sql.Tx) lock.Tx { return callersTx{tx, l} }

type callersTx struct {
	tx    *sql.Tx
	locks *Locks
}

var _ lock.Checker = callersTx{}

// HourbellTx marks the type as a lock.Tx.
func (callersTx) HourbellTx() {}

// CheckLock implements lock.Checker.
func (t callersTx) CheckLock(ctx context.Context, name string, token int64) error {
	what := fmt.Sprintf("check lock %q", name)
	if t.locks.invalid != nil {
		return fmt.Errorf("%s: %w", what, t.locks.invalid)
	}
	file := "check"
	if t.locks.shared {
		file = "check_shared"
	}
	statement := compile(t.locks.named(lockText(file)))
	var stands int
	err := t.tx.QueryRowContext(ctx, statement.text, statement.values(args{"name": name, "token": token})...).Scan(&stands)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		err = lock.ErrLost
	case numberOf(err) == errNoTable:
		return fmt.Errorf("%s: %w: %w; for tables of another name use Tx of the Locks", what, t.locks.missing(true), err)
	}
	return t.locks.explain(ctx, what, err)
}
