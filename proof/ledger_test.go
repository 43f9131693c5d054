package proof

import (
	"context"
	"database/sql"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/mysql"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/store"
)

// ledger is a store with a table of effects.
type ledger struct {
	backend store.Backend
	prefix  string // of the names of Hourbell's tables
	exec    func(ctx context.Context, text string, args ...any) error
	count   func(ctx context.Context, text string, args ...any) (n int64, err error)
	// now returns the store's time, in microseconds.
	now func(ctx context.Context) (int64, error)
	// each passes the rows of a query.
	each  func(ctx context.Context, text string, row func(name string, a, b int64)) error
	close func()
	begin func(ctx context.Context) (transaction, error)
	// errands registers the worker of errands; its code writes with exec.
	errands func(workers *hourbell.Workers, do func(ctx context.Context, job *hourbell.Job[Errand], exec func(ctx context.Context, text string, args ...any) error) error)
	// voyages registers the worker of voyages; its code takes a step with an effect in one transaction with stepTx.
	voyages func(workers *hourbell.Workers, do func(ctx context.Context, job *hourbell.Job[Voyage], stepTx stepTx) error)
	// register registers the workers. post is the code of both kinds: it calls write to write
	// the effect in the transaction.
	register func(workers *hourbell.Workers, post func(ctx context.Context, job *hourbell.JobRow, halt string, write func() error) error, halt func(ctx context.Context, job *hourbell.JobRow, halt, at string) error)
}

// openLedger opens the store at a URL of the harness. workerURL, if not empty, is what workers
// use.
func openLedger(ctx context.Context, at, workerURL string) (*ledger, error) {
	switch kindOf(at) {
	case inSQLite:
		return openFileLedger(ctx, strings.TrimPrefix(at, "sqlite:"))
	case inMySQL:
		return openMySQLLedger(ctx, at, workerURL)
	}
	return openPostgresLedger(ctx, at, workerURL)
}

func openPostgresLedger(ctx context.Context, at, workerURL string) (*ledger, error) {
	config, schema, err := schemaOf(at)
	if err != nil {
		return nil, err
	}
	backend, err := postgres.Open(ctx, config.ConnString(), postgres.Schema(schema))
	if err != nil {
		return nil, err
	}
	if workerURL != "" {
		if config, _, err = schemaOf(workerURL); err != nil {
			return nil, err
		}
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec // the text of each statement is in its message
	}
	config.ConnConfig.RuntimeParams["search_path"] = schema
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	l := &ledger{backend: backend, close: func() { pool.Close(); _ = backend.Close() }}
	l.exec = func(ctx context.Context, text string, args ...any) error {
		_, err := pool.Exec(ctx, text, args...)
		return err
	}
	l.count = func(ctx context.Context, text string, args ...any) (n int64, err error) {
		err = pool.QueryRow(ctx, text, args...).Scan(&n)
		return n, err
	}
	l.now = func(ctx context.Context) (int64, error) {
		return l.count(ctx, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
	}
	l.each = func(ctx context.Context, text string, row func(string, int64, int64)) error {
		rows, err := pool.Query(ctx, text)
		if err != nil {
			return err
		}
		var name string
		var a, b int64
		_, err = pgx.ForEachRow(rows, []any{&name, &a, &b}, func() error { row(name, a, b); return nil })
		return err
	}
	execIn := func(tx pgx.Tx) func(context.Context, string, ...any) error {
		return func(ctx context.Context, text string, args ...any) error {
			_, err := tx.Exec(ctx, text, args...)
			return err
		}
	}
	l.begin = func(ctx context.Context) (transaction, error) {
		tx, err := pool.Begin(ctx)
		if err != nil {
			return transaction{}, err
		}
		return transaction{store: postgres.Tx(tx), exec: execIn(tx), commit: tx.Commit, rollback: func() { _ = tx.Rollback(ctx) }}, nil
	}
	l.errands = func(workers *hourbell.Workers, do func(context.Context, *hourbell.Job[Errand], func(context.Context, string, ...any) error) error) {
		hourbell.RegisterTx(workers, postgres.Transactions(pool), func(ctx context.Context, job *hourbell.Job[Errand], tx pgx.Tx) error {
			return do(ctx, job, execIn(tx))
		})
	}
	l.voyages = func(workers *hourbell.Workers, do func(context.Context, *hourbell.Job[Voyage], stepTx) error) {
		hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[Voyage]) error {
			return do(ctx, job, func(ctx context.Context, name string, write func(exec func(context.Context, string, ...any) error) error) error {
				_, err := hourbell.StepTx(ctx, job, name, postgres.Transactions(pool), func(_ context.Context, tx pgx.Tx) (bool, error) {
					return true, write(execIn(tx))
				})
				return err
			})
		})
	}
	l.register = func(workers *hourbell.Workers, post func(context.Context, *hourbell.JobRow, string, func() error) error, halt func(context.Context, *hourbell.JobRow, string, string) error) {
		write := func(ctx context.Context, job *hourbell.JobRow, tx pgx.Tx) func() error {
			return func() error { _, err := tx.Exec(ctx, postEffect, job.ID, job.Token); return err }
		}
		hourbell.RegisterTx(workers, postgres.Transactions(pool), func(ctx context.Context, job *hourbell.Job[Posting], tx pgx.Tx) error {
			return post(ctx, &job.JobRow, job.Args.Halt, write(ctx, &job.JobRow, tx))
		})
		hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[Entry]) error {
			tx, err := pool.Begin(ctx)
			if err != nil {
				return err
			}
			defer tx.Rollback(context.WithoutCancel(ctx))
			if err := post(ctx, &job.JobRow, job.Args.Halt, write(ctx, &job.JobRow, tx)); err != nil {
				return err
			}
			if err := job.Complete(ctx, postgres.Tx(tx)); err != nil {
				return err
			}
			if err := halt(ctx, &job.JobRow, job.Args.Halt, "completed"); err != nil {
				return err
			}
			return tx.Commit(ctx)
		})
	}
	return l, nil
}

// schemaOf splits a URL of the harness.
func schemaOf(at string) (*pgxpool.Config, string, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, "", err
	}
	query := u.Query()
	schema := query.Get("schema")
	query.Del("schema")
	u.RawQuery = query.Encode()
	config, err := pgxpool.ParseConfig(u.String())
	return config, schema, err
}

// closingBackend is the store of a driver.
type closingBackend interface {
	store.Backend
	Close() error
}

// native is what differs between databases that a ledger uses through database/sql.
type native struct {
	prefix string // of the names of tables
	micros string // the instant now, in microseconds
	bind   func(text string, args []any) (string, []any)
	tx     func(*sql.Tx) store.Tx
	// transactions begins the transactions of workers.
	transactions store.Transactions[*sql.Tx]
}

func openFileLedger(ctx context.Context, path string) (*ledger, error) {
	backend, err := sqlite.Open(ctx, path, sqlite.Synchronous("NORMAL"))
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_pragma=synchronous(normal)")
	if err != nil {
		return nil, err
	}
	return nativeLedger(backend, db, native{
		prefix: "hourbell_", micros: "CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000",
		bind: func(text string, args []any) (string, []any) { return text, args },
		tx:   sqlite.Tx, transactions: sqlite.Transactions(db),
	}), nil
}

func openMySQLLedger(ctx context.Context, at, workerURL string) (*ledger, error) {
	backend, err := mysql.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	if workerURL == "" {
		workerURL = at
	}
	db, err := openMySQL(workerURL)
	if err != nil {
		return nil, err
	}
	return nativeLedger(backend, db, native{
		prefix: "hourbell_", micros: "CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)",
		bind: inOrder, tx: mysql.Tx, transactions: mysql.Transactions(db),
	}), nil
}

// inOrder writes ? for the parameters $1, $2 and so on of a statement, and returns their values in the order of the text.
func inOrder(text string, args []any) (string, []any) {
	var values []any
	text = numbered.ReplaceAllStringFunc(text, func(parameter string) string {
		n, _ := strconv.Atoi(parameter[1:])
		values = append(values, args[n-1])
		return "?"
	})
	return text, values
}

var numbered = regexp.MustCompile(`\$[0-9]`)

// nativeLedger is a ledger on a pool of database/sql.
func nativeLedger(backend closingBackend, db *sql.DB, n native) *ledger {
	l := &ledger{backend: backend, prefix: n.prefix, close: func() { _ = db.Close(); _ = backend.Close() }}
	l.exec = func(ctx context.Context, text string, args ...any) error {
		text, args = n.bind(text, args)
		_, err := db.ExecContext(ctx, text, args...)
		return err
	}
	l.count = func(ctx context.Context, text string, args ...any) (found int64, err error) {
		text, args = n.bind(text, args)
		err = db.QueryRowContext(ctx, text, args...).Scan(&found)
		return found, err
	}
	l.now = func(ctx context.Context) (int64, error) {
		return l.count(ctx, "SELECT "+n.micros)
	}
	l.each = func(ctx context.Context, text string, row func(string, int64, int64)) error {
		rows, err := db.QueryContext(ctx, text)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			var a, b int64
			if err := rows.Scan(&name, &a, &b); err != nil {
				return err
			}
			row(name, a, b)
		}
		return rows.Err()
	}
	execIn := func(tx *sql.Tx) func(context.Context, string, ...any) error {
		return func(ctx context.Context, text string, args ...any) error {
			text, args = n.bind(text, args)
			_, err := tx.ExecContext(ctx, text, args...)
			return err
		}
	}
	l.begin = func(ctx context.Context) (transaction, error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return transaction{}, err
		}
		return transaction{
			store: n.tx(tx), exec: execIn(tx), commit: func(context.Context) error { return tx.Commit() }, rollback: func() { _ = tx.Rollback() },
		}, nil
	}
	l.errands = func(workers *hourbell.Workers, do func(context.Context, *hourbell.Job[Errand], func(context.Context, string, ...any) error) error) {
		hourbell.RegisterTx(workers, n.transactions, func(ctx context.Context, job *hourbell.Job[Errand], tx *sql.Tx) error {
			return do(ctx, job, execIn(tx))
		})
	}
	l.voyages = func(workers *hourbell.Workers, do func(context.Context, *hourbell.Job[Voyage], stepTx) error) {
		hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[Voyage]) error {
			return do(ctx, job, func(ctx context.Context, name string, write func(exec func(context.Context, string, ...any) error) error) error {
				_, err := hourbell.StepTx(ctx, job, name, n.transactions, func(_ context.Context, tx *sql.Tx) (bool, error) {
					return true, write(execIn(tx))
				})
				return err
			})
		})
	}
	l.register = func(workers *hourbell.Workers, post func(context.Context, *hourbell.JobRow, string, func() error) error, halt func(context.Context, *hourbell.JobRow, string, string) error) {
		write := func(ctx context.Context, job *hourbell.JobRow, tx *sql.Tx) func() error {
			return func() error { return execIn(tx)(ctx, postEffect, job.ID, job.Token) }
		}
		hourbell.RegisterTx(workers, n.transactions, func(ctx context.Context, job *hourbell.Job[Posting], tx *sql.Tx) error {
			return post(ctx, &job.JobRow, job.Args.Halt, write(ctx, &job.JobRow, tx))
		})
		hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[Entry]) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer tx.Rollback()
			if err := post(ctx, &job.JobRow, job.Args.Halt, write(ctx, &job.JobRow, tx)); err != nil {
				return err
			}
			if err := job.Complete(ctx, n.tx(tx)); err != nil {
				return err
			}
			if err := halt(ctx, &job.JobRow, job.Args.Halt, "completed"); err != nil {
				return err
			}
			return tx.Commit()
		})
	}
	return l
}
