package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// Tx makes a transaction of the program's own usable for Hourbell. What is done
// with it happens, or not, with its commit. It must be on the database of the
// Backend it is used with. For lock.Check it means the locks in hourbell.lock; see
// [Locks.Tx] for others.
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

// noTx runs each statement in a transaction of its own.
type noTx struct {
	conn interface {
		QueryRow(ctx context.Context, text string, args ...any) pgx.Row
	}
}

func (n noTx) queryRow(ctx context.Context, text string, args ...any) row {
	return n.conn.QueryRow(ctx, text, args...)
}

type sqlTx struct {
	tx    *sql.Tx
	locks *Locks // as in nativeTx
}

func (sqlTx) HourbellTx() {}

// row is the one row of a statement's answer.
type row interface{ Scan(targets ...any) error }

// querier runs a statement that answers with one row.
type querier interface {
	queryRow(ctx context.Context, text string, args ...any) row
}

func (t nativeTx) queryRow(ctx context.Context, text string, args ...any) row {
	return t.tx.QueryRow(ctx, text, args...)
}

// queryRow sends lists as text, since database/sql knows none.
func (t sqlTx) queryRow(ctx context.Context, text string, args ...any) row {
	for i, arg := range args {
		args[i] = arrayText(arg)
	}
	return t.tx.QueryRowContext(ctx, text, args...)
}

// querierOf is a caller's transaction as something to run statements in.
func querierOf(tx store.Tx) (querier, error) {
	switch tx := tx.(type) {
	case nativeTx:
		return tx, nil
	case sqlTx:
		return tx, nil
	}
	return nil, fmt.Errorf("%w: make it with postgres.Tx or postgres.SQLTx", store.ErrForeignTx)
}

// arrayText writes a list as PostgreSQL reads it, {…}; other values stay.
func arrayText(v any) any {
	switch list := v.(type) {
	case []int64:
		return joinArray(list, func(n int64) string { return strconv.FormatInt(n, 10) })
	case []int16:
		return joinArray(list, func(n int16) string { return strconv.Itoa(int(n)) })
	case []bool:
		return joinArray(list, strconv.FormatBool)
	case []string:
		return joinArray(list, quoteElement)
	case []*int64:
		return joinArray(list, orNullElement(func(n int64) string { return strconv.FormatInt(n, 10) }))
	case []*string:
		return joinArray(list, orNullElement(quoteElement))
	case []*time.Time:
		return joinArray(list, orNullElement(func(t time.Time) string { return quoteElement(t.Format("2006-01-02 15:04:05.999999Z07:00")) }))
	}
	return v
}

func joinArray[T any](list []T, write func(T) string) string {
	var out strings.Builder
	out.WriteByte('{')
	for i, v := range list {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(write(v))
	}
	out.WriteByte('}')
	return out.String()
}

func orNullElement[T any](write func(T) string) func(*T) string {
	return func(v *T) string {
		if v == nil {
			return "NULL"
		}
		return write(*v)
	}
}

var elementEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func quoteElement(s string) string { return `"` + elementEscapes.Replace(s) + `"` }
