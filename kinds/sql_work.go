package kinds

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hourbell/hourbell"
)

// SQLWorker runs statements on connections that the program names. It is safe for
// concurrent use.
//
// A statement runs in a transaction of its connection, prepared, with its
// arguments as parameters. On a connection with Complete the completion of the
// job is part of that transaction, so that the effect and the completion are one
// commit: the effects of all attempts together happen once. On another connection
// the transaction is committed before the job is completed, and an attempt whose
// node dies in between is repeated: the statement should then remember the token
// or the number of the job, as in INSERT … ON CONFLICT DO NOTHING.
//
// The result of the job is rows_affected, or the columns and the first rows that
// the statement returned, at most 100 rows and 32 KiB, with more if there were
// others.
type SQLWorker struct {
	Connections map[string]SQLConnection
}

// SQLConnection is a connection for the statements of jobs.
type SQLConnection struct {
	// DB is used for nothing else. A statement can change settings of its session
	// and leave temporary tables, so connections should not be used twice, as
	// after DB.SetMaxIdleConns(-1). It must have only the rights that every author
	// of a job may have.
	DB *sql.DB
	// Complete records in the transaction that the job is completed, with
	// JobRow.Complete and the driver's function for the transaction:
	//
	//	return job.Complete(ctx, postgres.SQLTx(tx))
	//
	// nil: DB is not on the store's database.
	Complete func(ctx context.Context, job *hourbell.JobRow, tx *sql.Tx) error
	// InStore, if not nil, reports whether Complete can be used: whether DB is on
	// the store's database.
	InStore func(ctx context.Context) (bool, error)
}

// Limits of the rows that are kept.
const (
	maxRows     = 100
	maxRowBytes = 32 << 10
)

// Work runs the job's statement; it is a hourbell.Handler.
func (w SQLWorker) Work(ctx context.Context, job *hourbell.JobRow) error {
	s, err := DecodeSQL(job.RawArgs)
	if err != nil {
		return hourbell.Fail(err)
	}
	connection, found := w.Connections[s.Connection]
	if !found {
		return fmt.Errorf("this node has no connection %q; it has %s", s.Connection, strings.Join(slices.Sorted(maps.Keys(w.Connections)), ", "))
	}
	values, err := s.values(job)
	if err != nil {
		return hourbell.Fail(err)
	}
	if timeout := time.Duration(s.Timeout); timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	complete := connection.Complete
	if complete != nil && connection.InStore != nil {
		inStore, err := connection.InStore(ctx)
		if err != nil {
			return fmt.Errorf("connection %q: %w", s.Connection, err)
		}
		if !inStore {
			complete = nil
		}
	}
	if err := connection.run(ctx, job, s, values, complete); err != nil {
		return fmt.Errorf("statement on connection %q: %w", s.Connection, err)
	}
	return nil
}

// run runs the statement and, if complete is not nil, completes the job in the
// statement's transaction.
func (c SQLConnection) run(ctx context.Context, job *hourbell.JobRow, s SQL, values []any,
	complete func(context.Context, *hourbell.JobRow, *sql.Tx) error,
) error {
	tx, err := c.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	result, err := execute(ctx, tx, trimStatement(s.Statement), values)
	if err != nil {
		return err
	}
	if err := job.SetResult(result); err != nil {
		return err
	}
	if complete != nil {
		if err := complete(ctx, job, tx); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// sqlResult is the result of a statement.
type sqlResult struct {
	RowsAffected *int64            `json:"rows_affected,omitempty"`
	Columns      []string          `json:"columns,omitempty"`
	Rows         []json.RawMessage `json:"rows,omitempty"`
	More         bool              `json:"more,omitempty"` // there were further rows
}

// execute runs the statement. It is prepared first, because databases accept
// several statements in one text only without that.
func execute(ctx context.Context, tx *sql.Tx, text string, values []any) (out sqlResult, err error) {
	statement, err := tx.PrepareContext(ctx, text)
	if err != nil {
		return out, err
	}
	defer statement.Close()
	if !returnsRows(text) {
		result, err := statement.ExecContext(ctx, values...)
		if err != nil {
			return out, err
		}
		if n, err := result.RowsAffected(); err == nil {
			out.RowsAffected = &n
		}
		return out, nil
	}
	rows, err := statement.QueryContext(ctx, values...)
	if err != nil {
		return out, err
	}
	defer rows.Close()
	err = out.read(rows)
	return out, err
}

// read reads the rows of a statement.
func (r *sqlResult) read(rows *sql.Rows) (err error) {
	if r.Columns, err = rows.Columns(); err != nil {
		return err
	}
	size := 0
	for rows.Next() { // also the rows that are not kept, because they may have effects
		if r.More = r.More || len(r.Rows) == maxRows; r.More {
			continue
		}
		row, err := scanRow(rows, len(r.Columns))
		if err != nil {
			return err
		}
		if size += len(row); size > maxRowBytes {
			r.More = true
			continue
		}
		r.Rows = append(r.Rows, row)
	}
	return errors.Join(rows.Err(), rows.Close())
}

// returnsRows reports whether a statement may return rows.
func returnsRows(text string) bool {
	switch firstWord(text) {
	case "SELECT", "VALUES", "WITH", "CALL":
		return true
	}
	return strings.Contains(strings.ToUpper(text), "RETURNING")
}

// scanRow reads a row as a JSON array.
func scanRow(rows *sql.Rows, columns int) (json.RawMessage, error) {
	row, into := make([]any, columns), make([]any, columns)
	for i := range row {
		into[i] = &row[i]
	}
	if err := rows.Scan(into...); err != nil {
		return nil, err
	}
	for i, value := range row {
		switch value := value.(type) {
		case []byte:
			if utf8.Valid(value) {
				row[i] = string(value)
			}
		case time.Time:
			row[i] = value.Format(time.RFC3339Nano)
		case float64:
			if math.IsNaN(value) || math.IsInf(value, 0) {
				row[i] = fmt.Sprint(value)
			}
		}
	}
	return json.Marshal(row)
}
