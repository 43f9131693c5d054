package locksql

import (
	"context"
	"database/sql"
)

// Queryable is what *sql.DB, *sql.Conn and *sql.Tx have in common.
type Queryable interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
}

// InTx returns a transaction of database/sql as a Querier.
func InTx(tx *sql.Tx) Querier { return sqlQuerier{tx} }

type sqlQuerier struct{ db Queryable }

func (q sqlQuerier) Query(ctx context.Context, c Command, scan func(Row) error) error {
	return Query(ctx, q.db, c, scan)
}

// Query runs a command by database/sql and calls scan with each row of its
// answer.
func Query(ctx context.Context, db Queryable, c Command, scan func(Row) error) error {
	rows, err := db.QueryContext(ctx, c.Text, c.Args...)
	return EachRow(rows, err, scan)
}

// Exec runs commands by database/sql in order, and returns how many rows the
// last command wrote.
func Exec(ctx context.Context, db Queryable, commands []Command) (rows int, err error) {
	for _, c := range commands {
		result, err := db.ExecContext(ctx, c.Text, c.Args...)
		if err != nil {
			return 0, err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return 0, err
		}
		rows = int(n)
	}
	return rows, nil
}

// EachRow calls scan with each row of an answer, and closes the answer. err is
// the error with which the answer came.
func EachRow(rows *sql.Rows, err error, scan func(Row) error) error {
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
