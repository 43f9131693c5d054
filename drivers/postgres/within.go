package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// within is a change in the caller's transaction, or in a transaction of its own if tx
// is nil. asked is the instant of the change; zero: the database's clock.
//
// In the caller's transaction the change is inside a savepoint. After an error the
// transaction is as before, and can go on.
func (b *Backend) within(ctx context.Context, what string, tx store.Tx, asked time.Time) rowwise.TransactionAt[querier] {
	return func(do func(tx querier, at time.Time) error) error {
		if tx == nil {
			return b.work(ctx, programConns, what)(func(own pgx.Tx) error { return do(own, asked) })
		}
		if b.invalid != nil {
			return fmt.Errorf("%s: %w", what, b.invalid)
		}
		q, err := querierOf(tx)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		for try := 1; ; try++ {
			err := b.inSavepoint(ctx, q, asked, do)
			if err == nil {
				return nil
			}
			mayPass := errors.Is(err, errMoved) || codeOf(err) == "40P01"
			if try == tries || !mayPass || !pause(ctx, try) {
				return b.explainIn(what, err)
			}
		}
	}
}

// listIn is list in the caller's transaction, or in a transaction of its own if tx is nil.
func (b *Backend) listIn(ctx context.Context, what string, tx store.Tx) rowwise.Transaction[querier] {
	return func(do func(tx querier) error) error {
		if tx == nil {
			return b.list(ctx, what)(func(own pgx.Tx) error { return do(own) })
		}
		return b.within(ctx, what, tx, time.Time{})(func(tx querier, _ time.Time) error { return do(tx) })
	}
}

// undoTime bounds the return to a savepoint after ctx has ended.
const undoTime = 5 * time.Second

// inSavepoint makes a change in the caller's transaction.
func (b *Backend) inSavepoint(ctx context.Context, tx querier, asked time.Time, do func(tx querier, at time.Time) error) error {
	if _, err := tx.Exec(ctx, "savepoint hourbell"); err != nil {
		return err
	}
	err := b.withPlans(ctx, tx, asked, do)
	if err == nil {
		_, err = tx.Exec(ctx, "release savepoint hourbell")
		return err
	}
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	// If this fails, the connection is gone, and the transaction with it.
	_, _ = tx.Exec(undo, "rollback to savepoint hourbell")
	_, _ = tx.Exec(undo, "release savepoint hourbell")
	return err
}

// withPlans makes a change with settings under which plans do not depend on statistics and
// are not compiled, and restores the transaction's settings. An error needs no restoring: the
// caller returns to the savepoint.
func (b *Backend) withPlans(ctx context.Context, tx querier, asked time.Time, do func(tx querier, at time.Time) error) error {
	var identity word
	var instant int64
	var settings [5]string
	err := tx.QueryRow(ctx, b.q(enterTransaction)).Scan(&identity, &instant, &settings[0], &settings[1], &settings[2], &settings[3], &settings[4])
	if err != nil {
		return err
	}
	if known := b.identity.Load(); known != nil && *known != string(identity) {
		return fmt.Errorf("%w: it is on another database than the client", store.ErrForeignTx)
	}
	if asked.IsZero() {
		asked = time.UnixMicro(instant).UTC()
	}
	if err := do(tx, asked); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, b.q(leaveTransaction), settings[0], settings[1], settings[2], settings[3], settings[4])
	return err
}

// explainIn is explain for an error in a caller's transaction.
func (b *Backend) explainIn(what string, err error) error {
	switch {
	case errors.Is(err, pgx.ErrTxClosed), errors.Is(err, sql.ErrTxDone):
		return fmt.Errorf("%s: %w: %w", what, store.ErrTxEnded, err)
	case codeOf(err) == "25P02":
		return fmt.Errorf("%s: a statement of the transaction has failed before, so that it can only be rolled back: %w", what, err)
	case codeOf(err) == "25006":
		return fmt.Errorf("%s: the transaction is read-only, or the server is a standby: %w", what, err)
	case codeOf(err) == "42P01", codeOf(err) == "3F000":
		return fmt.Errorf("%s: %w: the transaction's database has no schema %q of Hourbell; see that it is the database of "+
			"the client, and run `hourbell migrate up`: %w",
			what, store.ErrSchema, b.schema, err)
	}
	return b.explain(what, err)
}
