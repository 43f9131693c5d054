package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/store"
)

// lockSession runs the statements of a lock table on a connection that no other
// caller uses.
type lockSession struct {
	ctx   context.Context
	conn  *sql.Conn
	texts map[string]string
}

// connected runs do with a connection of its own, within a time limit.
func (l *Locks) connected(ctx context.Context, doing string, do func(s lockSession) error) error {
	if l.invalid != nil {
		return fmt.Errorf("%s: %w", doing, l.invalid)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	conn, err := l.db.Conn(ctx)
	if err != nil {
		return l.explain(ctx, doing, err)
	}
	defer conn.Close()
	restore, err := impatient(ctx, conn)
	if err != nil {
		return l.explain(ctx, doing, err)
	}
	defer restore()
	return l.explain(ctx, doing, do(lockSession{ctx, conn, l.texts}))
}

// impatient makes SQLite itself wait for other writers only for a short time,
// because SQLite ignores contexts while it waits, and returns a function that
// undoes this.
func impatient(ctx context.Context, conn *sql.Conn) (restore func(), err error) {
	var before int64
	if err := conn.QueryRowContext(ctx, "PRAGMA busy_timeout").Scan(&before); err != nil {
		return nil, err
	}
	if before <= writerPatience.Milliseconds() {
		return func() {}, nil
	}
	set := func(ctx context.Context, n int64) error {
		_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", n))
		return err
	}
	return func() {
		if set(context.WithoutCancel(ctx), before) != nil {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // discards the connection
		}
	}, set(ctx, writerPatience.Milliseconds())
}

// write runs work as the writer, for which it waits, and commits the result.
func (s lockSession) write(work func() error) (err error) {
	defer func() {
		if err != nil { // also if BEGIN was interrupted, because it may have succeeded
			_ = s.control(context.WithoutCancel(s.ctx), "ROLLBACK")
		}
	}()
	if err := s.control(s.ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := work(); err != nil {
		return err
	}
	// The statement itself is not interrupted, but waiting for readers of the
	// file ends with the caller's context.
	return patiently(s.ctx, func() error {
		_, err := s.conn.ExecContext(context.WithoutCancel(s.ctx), "COMMIT")
		return err
	})
}

// control begins or ends a transaction; it waits for earlier writers.
func (s lockSession) control(ctx context.Context, text string) error {
	return patiently(ctx, func() error {
		_, err := s.conn.ExecContext(ctx, text)
		return err
	})
}

// each runs a statement and passes its rows to scan.
func (s lockSession) each(name string, a args, scan func(row) error) error {
	rows, err := s.conn.QueryContext(s.ctx, s.texts[name], named(a)...)
	return eachRow(rows, err, scan)
}

// one is each for at most one row. It waits for earlier writers, so scan may be
// called again.
func (s lockSession) one(name string, a args, scan func(row) error) error {
	return patiently(s.ctx, func() error { return s.each(name, a, scan) })
}

// exec runs a statement and returns the number of rows that it wrote.
func (s lockSession) exec(name string, a args) (int, error) {
	result, err := s.conn.ExecContext(s.ctx, s.texts[name], named(a)...)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// explain adds the operation to an error and, if there is one, the remedy.
func (l *Locks) explain(ctx context.Context, doing string, err error) error {
	var field *lock.FieldError
	switch {
	case err == nil, errors.Is(err, lock.ErrHeld), errors.Is(err, lock.ErrNotDue), errors.As(err, &field):
		return err // an answer of a provider, which is complete
	case errors.Is(err, lock.ErrLost), errors.Is(err, lock.ErrNotFound):
		return fmt.Errorf("%s: %w", doing, err)
	case ctx.Err() != nil, isBusy(err):
		return fmt.Errorf("%s: %w: waited for the pool, or for another writer; look for a transaction left open: %w", doing, lock.ErrBusy, err)
	case strings.Contains(err.Error(), "no such table: "+l.table):
		return fmt.Errorf("%s: %w: %w; %s", doing, store.ErrSchema, err, l.missing())
	}
	return explain(doing, err)
}

// missing returns how to create the tables.
func (l *Locks) missing() string {
	if l.table == "hourbell_lock" {
		return "run `hourbell migrate up`, or call CreateTables"
	}
	return "call CreateTables, or run what TablesSQL returns"
}
