package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// Exec implements querier.
func (t sqlTx) Exec(ctx context.Context, text string, args ...any) (pgconn.CommandTag, error) {
	result, err := t.tx.ExecContext(ctx, text, portable(args)...)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	n, err := result.RowsAffected()
	return pgconn.NewCommandTag("ROWS " + strconv.FormatInt(n, 10)), err
}

// Query implements querier.
func (t sqlTx) Query(ctx context.Context, text string, args ...any) (pgx.Rows, error) {
	rows, err := t.tx.QueryContext(ctx, text, portable(args)...) //nolint:rowserrcheck // sqlRows.Err returns it
	if err != nil {
		return nil, err
	}
	return &sqlRows{rows: rows}, nil
}

// QueryRow implements querier. The error for no row is sql.ErrNoRows, which pgx.ErrNoRows is too.
func (t sqlTx) QueryRow(ctx context.Context, text string, args ...any) pgx.Row {
	return t.tx.QueryRowContext(ctx, text, portable(args)...)
}

// SendBatch implements querier. The statements are sent one after the other.
func (t sqlTx) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	return &sqlBatch{ctx: ctx, tx: t, left: batch.QueuedQueries}
}

// sqlRows is an answer of database/sql as an answer of pgx.
type sqlRows struct {
	rows *sql.Rows // nil after an error
	err  error     // why there are no rows, or not all
}

var errNoSuchAnswer = errors.New("database/sql does not have this part of an answer")

// Close implements pgx.Rows.
func (r *sqlRows) Close() {
	if r.rows != nil {
		r.err = cmp.Or(r.err, r.rows.Err(), r.rows.Close())
		r.rows = nil
	}
}

// Err implements pgx.Rows.
func (r *sqlRows) Err() error {
	if r.err != nil || r.rows == nil {
		return r.err
	}
	return r.rows.Err()
}

// Next implements pgx.Rows.
func (r *sqlRows) Next() bool { return r.rows != nil && r.rows.Next() }

// Scan implements pgx.Rows.
func (r *sqlRows) Scan(targets ...any) error {
	if r.err == nil {
		r.err = r.rows.Scan(targets...)
	}
	return r.err
}

// CommandTag implements pgx.Rows: database/sql has none for an answer with rows.
func (r *sqlRows) CommandTag() pgconn.CommandTag { return pgconn.CommandTag{} }

// FieldDescriptions implements pgx.Rows; unused.
func (r *sqlRows) FieldDescriptions() []pgconn.FieldDescription { return nil }

// Values implements pgx.Rows; unused.
func (r *sqlRows) Values() ([]any, error) { return nil, errNoSuchAnswer }

// RawValues implements pgx.Rows; unused.
func (r *sqlRows) RawValues() [][]byte { return nil }

// Conn implements pgx.Rows; unused.
func (r *sqlRows) Conn() *pgx.Conn { return nil }

// TypeMap implements pgx.Rows; unused.
func (r *sqlRows) TypeMap() *pgtype.Map { return nil }

// sqlBatch runs the statements of a batch when their answers are read.
type sqlBatch struct {
	ctx  context.Context // of SendBatch
	tx   sqlTx
	left []*pgx.QueuedQuery
	err  error // the first error
}

// next takes the next statement.
func (b *sqlBatch) next() (*pgx.QueuedQuery, error) {
	if b.err == nil && len(b.left) == 0 {
		b.err = errNoSuchAnswer
	}
	if b.err != nil {
		return nil, b.err
	}
	query := b.left[0]
	b.left = b.left[1:]
	return query, nil
}

// Exec implements pgx.BatchResults.
func (b *sqlBatch) Exec() (tag pgconn.CommandTag, err error) {
	query, err := b.next()
	if err == nil {
		tag, err = b.tx.Exec(b.ctx, query.SQL, query.Arguments...)
		b.err = err
	}
	return tag, err
}

// Query implements pgx.BatchResults. After an error its answer has no rows.
func (b *sqlBatch) Query() (pgx.Rows, error) {
	query, err := b.next()
	if err != nil {
		return &sqlRows{err: err}, err
	}
	rows, err := b.tx.Query(b.ctx, query.SQL, query.Arguments...)
	if err != nil {
		b.err = err
		return &sqlRows{err: err}, err
	}
	return rows, nil
}

// QueryRow implements pgx.BatchResults.
func (b *sqlBatch) QueryRow() pgx.Row {
	query, err := b.next()
	if err != nil {
		return &sqlRows{err: err}
	}
	return b.tx.QueryRow(b.ctx, query.SQL, query.Arguments...)
}

// Tx implements pgx.BatchResults; unused.
func (b *sqlBatch) Tx() pgx.Tx { return nil }

// Close implements pgx.BatchResults: it runs the statements that are left.
func (b *sqlBatch) Close() error {
	for b.err == nil && len(b.left) > 0 {
		if do := b.left[0].Fn; do != nil {
			if err := do(b); err != nil && b.err == nil {
				b.err = err
			}
		} else {
			_, _ = b.Exec() // keeps its error
		}
	}
	return b.err
}

// portable returns arguments as every driver of database/sql takes them: lists as text.
func portable(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		out[i] = arrayText(arg)
	}
	return out
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
	case [][]byte:
		return joinArray(list, func(b []byte) string { return quoteElement(`\x` + hex.EncodeToString(b)) })
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
