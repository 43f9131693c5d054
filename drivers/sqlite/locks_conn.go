package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	"github.com/hourbell/hourbell/lock/locksql"
)

// lockDB is a pool of connections to a file.
type lockDB struct{ db *sql.DB }

// Acquire implements locksql.DB.
func (d lockDB) Acquire(ctx context.Context, _ locksql.Use) (locksql.Conn, error) {
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	restore, err := impatient(ctx, conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return lockConn{conn, restore}, nil
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

// lockConn is a connection that waits for other writers until the context of a
// call ends.
type lockConn struct {
	conn    *sql.Conn
	restore func()
}

// Release implements locksql.Conn.
func (c lockConn) Release() {
	c.restore()
	c.conn.Close()
}

// Query implements locksql.Conn. SQLite refuses a command because of a writer
// before it returns the first row, so scan gets each row once.
func (c lockConn) Query(ctx context.Context, command locksql.Command, scan func(locksql.Row) error) error {
	return patiently(ctx, func() error { return locksql.Query(ctx, c.conn, command, scan) })
}

// Exec implements locksql.Conn. A single command is a transaction by itself,
// because a short transaction is best: a process that is stopped in the middle of
// a transaction prevents all other processes from writing.
func (c lockConn) Exec(ctx context.Context, commands []locksql.Command) (rows int, err error) {
	run := func() (err error) {
		rows, err = locksql.Exec(ctx, c.conn, commands)
		return err
	}
	if len(commands) == 1 {
		err = patiently(ctx, run)
	} else {
		err = c.write(ctx, run)
	}
	return rows, err
}

// Take implements locksql.Conn. The last command draws the token.
func (c lockConn) Take(ctx context.Context, commands []locksql.Command) (token int64, err error) {
	err = c.write(ctx, func() error {
		last := len(commands) - 1
		if _, err := locksql.Exec(ctx, c.conn, commands[:last]); err != nil {
			return err
		}
		return locksql.Query(ctx, c.conn, commands[last], func(r locksql.Row) error { return r.Scan(&token) })
	})
	return token, err
}

// write runs work as the writer, for which it waits, and commits the result.
func (c lockConn) write(ctx context.Context, work func() error) (err error) {
	defer func() {
		if err != nil { // also if BEGIN was interrupted, because it may have succeeded
			_ = c.control(context.WithoutCancel(ctx), "ROLLBACK")
		}
	}()
	if err := c.control(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := work(); err != nil {
		return err
	}
	// The statement itself is not interrupted, but waiting for readers of the
	// file ends with the caller's context.
	return patiently(ctx, func() error {
		_, err := c.conn.ExecContext(context.WithoutCancel(ctx), "COMMIT")
		return err
	})
}

// control begins or ends a transaction; it waits for earlier writers.
func (c lockConn) control(ctx context.Context, text string) error {
	return patiently(ctx, func() error {
		_, err := c.conn.ExecContext(ctx, text)
		return err
	})
}
