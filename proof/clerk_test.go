package proof

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/store"
)

// Posting is a job whose worker writes a row in the transaction of the job.
type Posting struct {
	// Halt is where the first attempt waits for the file of goAhead: after the "effect", or
	// after the job was "completed" by hand. "exit" ends the process after the effect.
	Halt string `json:"halt,omitempty"`
}

func (Posting) Kind() string { return "posting" }

// Entry is a Posting that completes itself by hand.
type Entry Posting

func (Entry) Kind() string { return "entry" }

// ledger is a store with a table of effects.
type ledger struct {
	backend store.Backend
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
	// register registers the workers. post is the code of both kinds: it calls write to write
	// the effect in the transaction.
	register func(workers *hourbell.Workers, post func(ctx context.Context, job *hourbell.JobRow, halt string, write func() error) error, halt func(ctx context.Context, job *hourbell.JobRow, halt, at string) error)
}

const (
	makeEffects = "CREATE TABLE effect (job bigint NOT NULL, token bigint NOT NULL)"
	postEffect  = "INSERT INTO effect (job, token) VALUES ($1, $2)"
)

// openLedger opens the store at a URL of the harness. workerURL, if not empty, is what workers
// use.
func openLedger(ctx context.Context, at, workerURL string) (*ledger, error) {
	if path, ok := strings.CutPrefix(at, "sqlite:"); ok {
		return openFileLedger(ctx, path)
	}
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

func openFileLedger(ctx context.Context, path string) (*ledger, error) {
	backend, err := sqlite.Open(ctx, path, sqlite.Synchronous("NORMAL"))
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_pragma=synchronous(normal)")
	if err != nil {
		return nil, err
	}
	l := &ledger{backend: backend, close: func() { _ = db.Close(); _ = backend.Close() }}
	l.exec = func(ctx context.Context, text string, args ...any) error {
		_, err := db.ExecContext(ctx, text, args...)
		return err
	}
	l.count = func(ctx context.Context, text string, args ...any) (n int64, err error) {
		err = db.QueryRowContext(ctx, text, args...).Scan(&n)
		return n, err
	}
	l.now = func(ctx context.Context) (int64, error) {
		return l.count(ctx, "SELECT CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000")
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
			store: sqlite.Tx(tx), exec: execIn(tx), commit: func(context.Context) error { return tx.Commit() }, rollback: func() { _ = tx.Rollback() },
		}, nil
	}
	l.errands = func(workers *hourbell.Workers, do func(context.Context, *hourbell.Job[Errand], func(context.Context, string, ...any) error) error) {
		hourbell.RegisterTx(workers, sqlite.Transactions(db), func(ctx context.Context, job *hourbell.Job[Errand], tx *sql.Tx) error {
			return do(ctx, job, execIn(tx))
		})
	}
	l.register = func(workers *hourbell.Workers, post func(context.Context, *hourbell.JobRow, string, func() error) error, halt func(context.Context, *hourbell.JobRow, string, string) error) {
		write := func(ctx context.Context, job *hourbell.JobRow, tx *sql.Tx) func() error {
			return func() error { _, err := tx.ExecContext(ctx, postEffect, job.ID, job.Token); return err }
		}
		hourbell.RegisterTx(workers, sqlite.Transactions(db), func(ctx context.Context, job *hourbell.Job[Posting], tx *sql.Tx) error {
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
			if err := job.Complete(ctx, sqlite.Tx(tx)); err != nil {
				return err
			}
			if err := halt(ctx, &job.JobRow, job.Args.Halt, "completed"); err != nil {
				return err
			}
			return tx.Commit()
		})
	}
	return l, nil
}

// playClerk is a node whose workers write effects in the transactions of their jobs.
func playClerk(a *actor) error {
	halt := func(_ context.Context, job *hourbell.JobRow, halt, at string) error {
		if halt != at || job.Attempt > 1 {
			return nil
		}
		if err := a.say("%d %d halted %d", job.ID, job.Token, os.Getpid()); err != nil {
			return err
		}
		for { // the context is not looked at: the worker is as slow as can be
			if _, err := os.Stat(a.file.Name() + ".go"); err == nil {
				return nil
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	a.register(a.workers, func(ctx context.Context, job *hourbell.JobRow, at string, write func() error) error {
		if err := write(); err != nil {
			return err
		}
		if at == "exit" {
			os.Exit(killed)
		}
		return halt(ctx, job, at, "effect")
	}, halt)
	return a.serve(hourbell.Config{Queues: map[string]int{"default": 8}})
}

// clerks are a site with a table of effects, and the nodes that write into it.
type clerks struct{ *site }

func newClerks(t *testing.T, at string) *clerks {
	t.Helper()
	c := &clerks{newSite(t, at)}
	c.exec(makeEffects)
	return c
}

// node starts a node; workerURL, if not empty, is what its workers use.
func (c *clerks) node(workerURL string) *process {
	c.t.Helper()
	return act(c.t, "clerk", c.at, c.witness, "HOURBELL_PROOF_WORKER_URL="+workerURL)
}

func (c *clerks) enqueue(args hourbell.Args, options ...hourbell.Option) int64 {
	c.t.Helper()
	job, err := c.client.Enqueue(c.t.Context(), args, options...)
	if err != nil {
		c.t.Fatal(err)
	}
	return job.ID
}

// halted returns how many workers wait.
func (c *clerks) halted() (n int) {
	for _, row := range c.witness.lines() {
		if row[2] == "halted" {
			n++
		}
	}
	return n
}

// goAhead lets the workers that wait go on.
func (c *clerks) goAhead() {
	c.t.Helper()
	if err := os.WriteFile(filepath.Clean(c.witness.path+".go"), nil, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// once checks that each job was completed and has one effect, of the claim that completed it.
func (c *clerks) once(ids ...int64) {
	c.t.Helper()
	for _, id := range ids {
		info, err := c.client.Jobs.Get(c.t.Context(), id)
		if err != nil {
			c.t.Fatal(err)
		}
		all, err := c.ledger.count(c.t.Context(), "SELECT count(*) FROM effect WHERE job = $1", id)
		if err != nil {
			c.t.Fatal(err)
		}
		own, err := c.ledger.count(c.t.Context(), "SELECT count(*) FROM effect WHERE job = $1 AND token = $2", id, info.Token)
		if err != nil {
			c.t.Fatal(err)
		}
		if info.State != store.StateCompleted || all != 1 || own != 1 {
			c.t.Errorf("job %d is %v after %d attempts, with %d effects, %s of its last claim", id, info.State, info.Attempt, all, strconv.FormatInt(own, 10))
		}
	}
}
