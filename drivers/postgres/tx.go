package postgres

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hourbell/hourbell/store"
)

// Tx makes a transaction of the program usable for Hourbell. Changes that are made
// with it take effect with its commit, and not at all after its rollback. It must be
// on the database of the Backend. lock.Check looks with it at the locks in
// hourbell.lock; see [Locks.Tx] for other tables.
func Tx(tx pgx.Tx) store.Tx { return nativeTx{tx, nil} }

// SQLTx is Tx for a transaction of database/sql, by any PostgreSQL driver (pgx's
// stdlib, lib/pq, or a wrapper of one). The driver's placeholders must be $1,
// $2, as PostgreSQL's are.
func SQLTx(tx *sql.Tx) store.Tx { return sqlTx{tx, nil} }

type nativeTx struct {
	tx    pgx.Tx
	locks *Locks // whose tables lock.Check looks at; nil: the default ones
}

func (nativeTx) HourbellTx() {}

type sqlTx struct {
	tx    *sql.Tx
	locks *Locks // as in nativeTx
}

func (sqlTx) HourbellTx() {}

// querier runs statements in one transaction: pgx.Tx and *pgxpool.Conn as they are, and
// transactions of database/sql by sqlTx. The functions of this package that take a querier
// do the same in a transaction of the Backend and in a transaction of the program.
//
// Values are scanned into types that both pgx and database/sql can fill.
type querier interface {
	sender
	Exec(ctx context.Context, text string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, text string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, text string, args ...any) pgx.Row
}

// querierOf returns what runs statements in a caller's transaction.
func querierOf(tx store.Tx) (querier, error) {
	switch tx := tx.(type) {
	case nativeTx:
		if tx.tx != nil {
			return tx.tx, nil
		}
	case sqlTx:
		if tx.tx != nil {
			return tx, nil
		}
	}
	return nil, fmt.Errorf("%w: make it with postgres.Tx or postgres.SQLTx", store.ErrForeignTx)
}
