package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/store"
)

// lockPatience bounds a call whose context has no earlier end.
const lockPatience = 10 * time.Second

// lockDB is a source of connections.
type lockDB interface {
	// acquire waits for a connection until ctx ends.
	acquire(ctx context.Context) (lockConn, error)
}

// lockConn is a connection that no other caller uses. Each statement is
// committed when it has run.
type lockConn interface {
	// query passes the rows to scan and returns the number of rows.
	query(ctx context.Context, text string, args []any, scan func(row) error) (int, error)
	// exec returns the number of rows that it wrote.
	exec(ctx context.Context, text string, args []any) (int, error)
	release()
}

// lockSession is a connection with the statements that fit the tables.
type lockSession struct {
	ctx   context.Context
	conn  lockConn
	shape *lockShape
}

func (s lockSession) query(name string, args []any, scan func(row) error) (int, error) {
	return s.conn.query(s.ctx, s.shape.texts[name], args, scan)
}

func (s lockSession) exec(name string, args ...any) (int, error) {
	return s.conn.exec(s.ctx, s.shape.texts[name], args)
}

// call runs do with the lock tables. If the server cancelled a statement
// because of other transactions, call runs do again.
func (l *Locks) call(ctx context.Context, what string, do func(s lockSession) error) error {
	return l.connected(ctx, what, func(ctx context.Context, c lockConn) error {
		shape, err := l.shapeOf(ctx, c)
		if err != nil {
			return err
		}
		for try := 1; ; try++ {
			err := do(lockSession{ctx, c, shape})
			if err == nil || try == tries || !passing(err) || !pause(ctx, try) {
				return err
			}
		}
	})
}

// connected runs do with a connection of its own, within a time limit.
func (l *Locks) connected(ctx context.Context, what string, do func(ctx context.Context, c lockConn) error) error {
	if l.invalid != nil {
		return fmt.Errorf("%s: %w", what, l.invalid)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	conn, err := l.db.acquire(ctx)
	if err != nil {
		return l.explain(ctx, what, "waited for a connection; allow the pool more, or give some back", err)
	}
	defer conn.release()
	return l.explain(ctx, what, "waited for the server; look for a transaction that holds a row of the lock table", do(ctx, conn))
}

// explain adds the operation to an error and, if there is one, the remedy.
func (l *Locks) explain(ctx context.Context, what, waited string, err error) error {
	var field *lock.FieldError
	switch {
	case err == nil, errors.Is(err, lock.ErrHeld), errors.Is(err, lock.ErrNotDue), errors.As(err, &field):
		return err // an answer of a provider, which is complete
	case errors.Is(err, lock.ErrLost), errors.Is(err, lock.ErrNotFound):
		return fmt.Errorf("%s: %w", what, err)
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w: %s: %w", what, lock.ErrBusy, waited, err)
	}
	switch codeOf(err) {
	case "55P03", "57014": // lock_timeout or statement_timeout of the server
		return fmt.Errorf("%s: %w: %s: %w", what, lock.ErrBusy, waited, err)
	case "42P01", "42703", "42804", "42883", "3F000", "42P10": // the tables have changed
		l.forget()
		return fmt.Errorf("%s: %w: the lock tables have changed; try again, which looks at them anew: %w", what, store.ErrSchema, err)
	case "42501":
		return fmt.Errorf("%s: the database role may not do this; grant it SELECT, INSERT and UPDATE on %s and %s: %w",
			what, qualified(l.schema, l.table), qualified(l.schema, l.table+"_state"), err)
	}
	return new(Backend).explain(what, err) // other errors are explained as everywhere in this package
}

// poolDB is a pool of pgx.
type poolDB struct{ pool *pgxpool.Pool }

func (p poolDB) acquire(ctx context.Context) (lockConn, error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return poolConn{conn}, nil
}

type poolConn struct{ conn *pgxpool.Conn }

func (c poolConn) release() { c.conn.Release() }

func (c poolConn) query(ctx context.Context, text string, args []any, scan func(row) error) (n int, err error) {
	rows, err := c.conn.Query(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		n++
		if err := scan(rows); err != nil {
			return n, err
		}
	}
	return n, rows.Err()
}

func (c poolConn) exec(ctx context.Context, text string, args []any) (int, error) {
	tag, err := c.conn.Exec(ctx, text, args...)
	return int(tag.RowsAffected()), err
}

// sqlDB is a pool of database/sql.
type sqlDB struct{ db *sql.DB }

func (d sqlDB) acquire(ctx context.Context) (lockConn, error) {
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return sqlConn{conn}, nil
}

type sqlConn struct{ conn *sql.Conn }

func (c sqlConn) release() { c.conn.Close() }

func (c sqlConn) query(ctx context.Context, text string, args []any, scan func(row) error) (n int, err error) {
	rows, err := c.conn.QueryContext(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		n++
		if err := scan(rows); err != nil {
			return n, err
		}
	}
	return n, rows.Err()
}

func (c sqlConn) exec(ctx context.Context, text string, args []any) (int, error) {
	result, err := c.conn.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}
