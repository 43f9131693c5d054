package postgres

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/lock/locksql"
)

// poolDB is a pool of pgx.
type poolDB struct{ pool *pgxpool.Pool }

// Acquire implements locksql.DB.
func (p poolDB) Acquire(ctx context.Context, _ locksql.Use) (locksql.Conn, error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return poolConn{conn}, nil
}

// backendDB are the pools of a Backend.
type backendDB struct{ b *Backend }

// Acquire implements locksql.DB.
func (d backendDB) Acquire(ctx context.Context, use locksql.Use) (locksql.Conn, error) {
	class := programConns
	if use == locksql.Upkeep {
		class = lockConns
	}
	return poolDB{d.b.poolOf(class)}.Acquire(ctx, use)
}

// poolConn is a connection of a pool of pgx.
type poolConn struct{ conn *pgxpool.Conn }

// Query implements locksql.Conn.
func (c poolConn) Query(ctx context.Context, command locksql.Command, scan func(locksql.Row) error) error {
	rows, err := c.conn.Query(ctx, command.Text, command.Args...)
	return eachLockRow(rows, err, scan)
}

// Exec implements locksql.Conn.
func (c poolConn) Exec(ctx context.Context, commands []locksql.Command) (rows int, err error) {
	for _, command := range commands {
		tag, err := c.conn.Exec(ctx, command.Text, command.Args...)
		if err != nil {
			return 0, err
		}
		rows = int(tag.RowsAffected())
	}
	return rows, nil
}

// Take implements locksql.Conn.
func (c poolConn) Take(ctx context.Context, commands []locksql.Command) (int64, error) {
	return takeLock(ctx, c, commands)
}

// Release implements locksql.Conn.
func (c poolConn) Release() { c.conn.Release() }

// sqlDB is a pool of database/sql.
type sqlDB struct{ db *sql.DB }

// Acquire implements locksql.DB.
func (d sqlDB) Acquire(ctx context.Context, _ locksql.Use) (locksql.Conn, error) {
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return sqlConn{conn}, nil
}

// sqlConn is a connection of database/sql.
type sqlConn struct{ conn *sql.Conn }

// Query implements locksql.Conn.
func (c sqlConn) Query(ctx context.Context, command locksql.Command, scan func(locksql.Row) error) error {
	return locksql.Query(ctx, c.conn, command, scan)
}

// Exec implements locksql.Conn.
func (c sqlConn) Exec(ctx context.Context, commands []locksql.Command) (int, error) {
	return locksql.Exec(ctx, c.conn, commands)
}

// Take implements locksql.Conn.
func (c sqlConn) Take(ctx context.Context, commands []locksql.Command) (int64, error) {
	return takeLock(ctx, c, commands)
}

// Release implements locksql.Conn.
func (c sqlConn) Release() { c.conn.Close() }

// takeLock runs take.sql or take_slot.sql, which are one statement each.
func takeLock(ctx context.Context, conn locksql.Querier, commands []locksql.Command) (token int64, err error) {
	err = conn.Query(ctx, commands[0], func(r locksql.Row) error { return r.Scan(&token) })
	if codeOf(err) == "23502" { // not_null_violation: the state was written in between
		return 0, nil
	}
	return token, err
}

// nativeQuerier is a transaction of pgx.
type nativeQuerier struct{ tx pgx.Tx }

// Query implements locksql.Querier.
func (q nativeQuerier) Query(ctx context.Context, command locksql.Command, scan func(locksql.Row) error) error {
	rows, err := q.tx.Query(ctx, command.Text, command.Args...)
	return eachLockRow(rows, err, scan)
}

// eachLockRow calls scan with each row of an answer.
func eachLockRow(rows pgx.Rows, err error, scan func(locksql.Row) error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
