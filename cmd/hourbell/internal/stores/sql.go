package stores

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	driver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/drivers/mysql"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/store"
)

// sqlRemedy describes how a connection for statements is written.
const sqlRemedy = "write NAME=postgres://…, NAME=mysql://… or NAME=sqlite:path, or NAME=env:VARIABLE or NAME=@FILE for " +
	"a text with a password, and apart: after the = if the job need not be completed in the same transaction"

// SQLConnection is a connection for the statements of jobs of kind sql, as
// parsed. Nothing is open yet.
type SQLConnection struct {
	Name  string
	at    Location
	apart bool
}

// ParseSQL reads a connection from NAME=VALUE. The value is a URL, env:VARIABLE or
// @FILE, after apart: or not. getenv reads a variable; the error never repeats a
// value.
func ParseSQL(text string, getenv func(string) string) (SQLConnection, error) {
	name, value, given := strings.Cut(text, "=")
	bad := func(problem string) error {
		return &check.FieldError{Field: "sql", Value: check.Shorten(name), Problem: problem, Remedy: sqlRemedy}
	}
	if !given || strings.ContainsAny(name, ":/@") {
		name = ""
		return SQLConnection{}, bad("is no name and value")
	}
	if err := check.Name("sql", name); err != nil {
		return SQLConnection{}, err
	}
	c := SQLConnection{Name: name}
	value, c.apart = strings.CutPrefix(value, "apart:")
	if variable, is := strings.CutPrefix(value, "env:"); is {
		if value = getenv(variable); value == "" {
			return c, bad("names an environment variable that is not set")
		}
	} else if path, is := strings.CutPrefix(value, "@"); is {
		content, err := os.ReadFile(path)
		if err != nil {
			return c, bad("names a file that cannot be read: " + errors.Unwrap(err).Error())
		}
		value = strings.TrimSpace(string(content))
	}
	var err error
	if c.at, err = Parse(value, ""); err != nil {
		return c, bad("is not the URL of a database")
	}
	return c, nil
}

// SQLVariable returns the environment variable that a text for ParseSQL names;
// empty: none.
func SQLVariable(text string) string {
	_, value, _ := strings.Cut(text, "=")
	variable, is := strings.CutPrefix(strings.TrimPrefix(value, "apart:"), "env:")
	if !is {
		return ""
	}
	return variable
}

// openSQL is how many connections of one name a node has at most.
const openSQL = 10

// Open returns the connection for the worker, without connecting. The caller
// closes its DB. of is the store of the node, and backend returns it once it is
// open; lease is the node's lease.
func (c SQLConnection) Open(of Location, backend func() store.Backend, lease time.Duration) (kinds.SQLConnection, error) {
	var out kinds.SQLConnection
	if c.at.path != "" {
		path, err := filepath.Abs(c.at.path)
		if err != nil {
			return out, err
		}
		dsn := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: "mode=rw&_txlock=immediate&_pragma=synchronous(full)&_pragma=busy_timeout(10000)"}
		if out.DB, err = sql.Open("sqlite", dsn.String()); err != nil {
			return out, err
		}
		out.Complete = func(ctx context.Context, job *hourbell.JobRow, tx *sql.Tx) error {
			return job.Complete(ctx, sqlite.Tx(tx))
		}
	} else if c.at.mysql != "" {
		db, err := mysql.OpenDB(endingIdle(c.at.mysql, lease))
		if err != nil { // its text contains no password
			return out, fmt.Errorf("sql connection %q: %w", c.Name, err)
		}
		out.DB = db
		out.Complete = func(ctx context.Context, job *hourbell.JobRow, tx *sql.Tx) error {
			return job.Complete(ctx, mysql.Tx(tx))
		}
	} else {
		config, err := pgx.ParseConfig(c.at.url)
		if err != nil { // its text contains no password
			return out, fmt.Errorf("sql connection %q: %w", c.Name, err)
		}
		// A process that is stopped within a transaction must not hold its locks for
		// longer than its lease.
		config.RuntimeParams["idle_in_transaction_session_timeout"] = strconv.FormatInt(lease.Milliseconds(), 10)
		out.DB = stdlib.OpenDB(*config)
		out.Complete = func(ctx context.Context, job *hourbell.JobRow, tx *sql.Tx) error {
			return withGrants(job.Complete(ctx, postgres.SQLTx(tx)))
		}
	}
	out.DB.SetMaxOpenConns(openSQL)
	out.DB.SetMaxIdleConns(-1) // what a statement did to its session must not reach another job
	if c.apart {
		out.Complete = nil
		return out, nil
	}
	var known atomic.Pointer[bool]
	out.InStore = func(ctx context.Context) (bool, error) {
		if in := known.Load(); in != nil {
			return *in, nil
		}
		in, err := c.inStore(ctx, out.DB, of, backend())
		if err == nil {
			known.Store(&in)
		}
		return in, err
	}
	return out, nil
}

// endingIdle adds to a URL of MySQL that the server ends a connection that waits for its next statement for longer than the
// lease, in whole seconds: a process that is stopped within a transaction must not hold its locks for longer.
func endingIdle(text string, lease time.Duration) string {
	const parameter = "wait_timeout"
	at, err := url.Parse(text)
	if err != nil || at.Query().Has(parameter) {
		return text // OpenDB has the error
	}
	if at.RawQuery != "" {
		at.RawQuery += "&"
	}
	at.RawQuery += parameter + "=" + strconv.Itoa(max(int(lease.Seconds()), 1))
	return at.String()
}

// inStore reports whether the connection is on the store's database, and on
// PostgreSQL in the same schema.
func (c SQLConnection) inStore(ctx context.Context, db *sql.DB, of Location, backend store.Backend) (bool, error) {
	if c.at.path != "" || of.path != "" {
		ours, err := os.Stat(of.path)
		theirs, theirErr := os.Stat(c.at.path)
		return err == nil && theirErr == nil && os.SameFile(ours, theirs), nil
	}
	if c.at.mysql != "" || of.mysql != "" {
		if c.at.mysql == "" || of.mysql == "" {
			return false, nil
		}
		var theirs string
		err := db.QueryRowContext(ctx, "SELECT store FROM hourbell_timeline").Scan(&theirs)
		if missing := new(driver.MySQLError); errors.As(err, &missing) && missing.Number == 1146 {
			return false, nil // the database has no such table
		}
		return sameStore(ctx, theirs, backend, err)
	}
	schema := of.schema
	if schema == "" {
		schema = DefaultSchema
	}
	var exists bool
	const find = `SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relname = 'timeline' AND c.relkind = 'r')`
	if err := db.QueryRowContext(ctx, find, schema).Scan(&exists); err != nil || !exists {
		return false, err
	}
	var theirs string
	if err := db.QueryRowContext(ctx, "SELECT store FROM "+pgx.Identifier{schema, "timeline"}.Sanitize()).Scan(&theirs); err != nil {
		return false, withGrants(err)
	}
	return sameStore(ctx, theirs, backend, nil)
}

// sameStore reports whether a backend is on the store that was read, unless that failed.
func sameStore(ctx context.Context, theirs string, backend store.Backend, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	position, err := store.ReadPosition(ctx, backend)
	return err == nil && position.Store == theirs, err
}

// withGrants adds the remedy to an error for a right that the role of a
// connection lacks.
func withGrants(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "42501" { // insufficient_privilege
		return fmt.Errorf("%w; grant the connection's role what docs/kinds.md lists, so that it may complete the job, or "+
			"write apart: before its URL, if the job need not be completed in the same transaction", err)
	}
	return err
}
