package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/store"
)

// lockPatience bounds a call whose context has no earlier end.
const lockPatience = 10 * time.Second

// OpenLocks keeps locks with connections of its own, which Close closes. The
// URL is mysql://user:password@host:port/database, with special characters of
// user and password percent-encoded and, after a question mark, parameters of
// github.com/go-sql-driver/mysql such as tls=true. OpenLocks does not connect
// yet. Messages of that driver are logged to slog.Default() at level DEBUG.
func OpenLocks(storeURL string, opts ...LockOption) (*Locks, error) {
	config, err := readURL(storeURL)
	if err != nil {
		return nil, fmt.Errorf("open MySQL: %w", err)
	}
	config.Logger = driverLog{}
	connector, err := driver.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("open MySQL: %w", err)
	}
	l := NewLocks(sql.OpenDB(connector), opts...)
	l.owned = true
	if l.invalid != nil {
		return nil, errors.Join(fmt.Errorf("open MySQL: %w", l.invalid), l.Close())
	}
	return l, nil
}

// driverLog logs the driver's messages about its connections, such as "closing
// bad idle connection", at level DEBUG. They are only useful when looking for
// faults, because afterwards the driver either takes another connection, or the
// call fails with an error that has the reason.
type driverLog struct{}

// Print implements driver.Logger.
func (driverLog) Print(values ...any) {
	slog.Debug("MySQL driver", "detail", strings.TrimSpace(fmt.Sprintln(values...)))
}

// readURL reads a store URL. Its error repeats no part of the URL, because a
// password that was not percent-encoded may be anywhere in it.
func readURL(storeURL string) (*driver.Config, error) {
	u, err := url.Parse(storeURL)
	if err != nil || (u.Scheme != "mysql" && u.Scheme != "mariadb") || u.Hostname() == "" || len(u.Path) < 2 {
		return nil, errors.New("the store URL is not valid; write mysql://user:password@host:port/database, with special characters of user and password percent-encoded")
	}
	config, err := driver.ParseDSN("/?" + u.RawQuery)
	if err != nil {
		return nil, errors.New("the store URL has a parameter that is not valid; see the parameters of github.com/go-sql-driver/mysql")
	}
	port := u.Port()
	if port == "" {
		port = "3306"
	}
	config.Net, config.Addr, config.DBName = "tcp", u.Hostname()+":"+port, u.Path[1:]
	if strings.Contains(u.Hostname(), ":") {
		config.Addr = "[" + u.Hostname() + "]:" + port
	}
	config.User = u.User.Username()
	config.Passwd, _ = u.User.Password()
	if config.Timeout == 0 {
		config.Timeout = lockPatience
	}
	return config, nil
}

// Close closes the connections that OpenLocks made. A *sql.DB of the program
// stays open.
func (l *Locks) Close() error {
	if !l.owned {
		return nil
	}
	return l.db.Close()
}

// row is a row of a result.
type row interface{ Scan(targets ...any) error }

// lockSession runs the statements that fit the tables.
type lockSession struct {
	ctx   context.Context
	locks *Locks
	shape *lockShape
}

// call runs do with the lock tables. If the server cancelled a statement
// because of other transactions, call runs do again.
func (l *Locks) call(ctx context.Context, what string, do func(s lockSession) error) error {
	return l.bounded(ctx, what, func(ctx context.Context) error {
		shape, err := l.shapeOf(ctx)
		if err != nil {
			return err
		}
		for try := 1; ; try++ {
			err := do(lockSession{ctx, l, shape})
			if err == nil || try == lockTries || !passing(err) || !pause(ctx, try) {
				return err
			}
		}
	})
}

// bounded runs do within a time limit, and explains its error.
func (l *Locks) bounded(ctx context.Context, what string, do func(ctx context.Context) error) error {
	if l.invalid != nil {
		return fmt.Errorf("%s: %w", what, l.invalid)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	return l.explain(ctx, what, do(ctx))
}

// pause waits longer after each attempt. It returns false if ctx ended.
func pause(ctx context.Context, try int) bool {
	timer := time.NewTimer(time.Duration(1+rand.IntN(5<<try)) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// exec runs a statement that writes.
func (s lockSession) exec(name string, a args) (sql.Result, error) {
	text := s.shape.texts[name]
	statement, err := s.locks.prepare(s.ctx, text.text)
	if err != nil {
		return nil, err
	}
	return statement.ExecContext(s.ctx, text.values(a)...)
}

// query runs a statement that reads, and passes the rows to scan.
func (s lockSession) query(name string, a args, scan func(row) error) error {
	text := s.shape.texts[name]
	statement, err := s.locks.prepare(s.ctx, text.text)
	if err != nil {
		return err
	}
	rows, err := statement.QueryContext(s.ctx, text.values(a)...)
	return eachRow(rows, err, scan)
}

// list runs the listing, with as many names as the request has.
func (s lockSession) list(req lock.LocksRequest, scan func(row) error) error {
	text := s.shape.texts["list"]
	a := args{"after": req.After, "limit": req.Limit, "now": clock(req.Now)}
	all, names := "TRUE", []string{"NULL"}
	values := text.values(a)
	if len(req.Names) > 0 {
		all, names = "FALSE", nil
		var given []any
		for _, name := range req.Names {
			names = append(names, "?")
			given = append(given, name)
		}
		last := len(values) - 1 // the limit is the last parameter, after the names
		values = append(append(values[:last:last], given...), values[last])
	}
	filled := strings.NewReplacer("{all}", all, "{names}", strings.Join(names, ", ")).Replace(text.text)
	rows, err := s.locks.db.QueryContext(s.ctx, filled, values...)
	return eachRow(rows, err, scan)
}

func eachRow(rows *sql.Rows, err error, scan func(row) error) error {
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

// prepare prepares a statement once; then each connection runs it in one round
// trip.
func (l *Locks) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	l.mu.Lock()
	ready := l.prepared[text]
	l.mu.Unlock()
	if ready != nil {
		return ready, nil
	}
	statement, err := l.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if ready := l.prepared[text]; ready != nil { // prepared concurrently by another caller
		statement.Close()
		return ready, nil
	}
	l.prepared[text] = statement
	return statement, nil
}

// shapeOf reads the properties of the tables, once.
func (l *Locks) shapeOf(ctx context.Context) (*lockShape, error) {
	l.mu.Lock()
	known := l.shape
	l.mu.Unlock()
	if known != nil {
		return known, nil
	}
	columns, hasState, err := l.columns(ctx)
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 || !hasState {
		return nil, l.missing(len(columns) == 0)
	}
	shape, err := l.newShape(columns)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", l.qualified(l.table), err)
	}
	if err := l.checkSession(ctx); err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.shape = shape
	l.mu.Unlock()
	return shape, nil
}

// missing returns which table is missing and how to create it.
func (l *Locks) missing(all bool) error {
	name := l.table
	if !all {
		name += "_state"
	}
	return fmt.Errorf("%w: there is no table %s; call CreateTables, or run what TablesSQL returns", store.ErrSchema, l.qualified(name))
}

// columns reads the columns of the lock table, and whether its state table
// exists.
func (l *Locks) columns(ctx context.Context) (columns []column, hasState bool, err error) {
	text := compile(lockText("columns"))
	a := args{"table": l.table}
	if l.schema != "" {
		a["schema"] = l.schema
	}
	rows, err := l.db.QueryContext(ctx, text.text, text.values(a)...)
	err = eachRow(rows, err, func(r row) error {
		var c column
		err := r.Scan(&c.name, &c.kind, &c.precision, &c.most, &c.charset, &c.unique, &hasState)
		columns = append(columns, c)
		return err
	})
	return columns, hasState, err
}

// checkSession refuses connections whose settings do not allow locks.
func (l *Locks) checkSession(ctx context.Context) error {
	var autocommit bool
	var zone sql.NullString
	err := l.db.QueryRowContext(ctx, "SELECT @@autocommit, CONVERT_TZ(UTC_TIMESTAMP(), "+l.timeZone+", @@session.time_zone)").Scan(&autocommit, &zone)
	switch {
	case err != nil:
		return err
	case !autocommit:
		return errors.New("the connections have autocommit=0, so that nothing would be kept; leave that out of the DSN")
	case !zone.Valid:
		return fmt.Errorf("the server does not know the time zone %s, or that of the session; load its zones with mysql_tzinfo_to_sql, or give TimeZone as +02:00", l.timeZone)
	}
	return nil
}

// The server's error numbers that this package handles.
const (
	errTooManyConnections = 1040
	errAccessDenied       = 1045
	errTableAccessDenied  = 1142
	errNoTable            = 1146
	errNoColumn           = 1054
	errRecordChanged      = 1020
	errLockWaitTimeout    = 1205
	errDeadlock           = 1213
	errReadOnly           = 1290
	errQueryInterrupted   = 1317
	errStatementTimeout   = 1969 // of MariaDB
	errExecutionTimeout   = 3024 // of MySQL
)

// numberOf returns the server's number of an error, or 0.
func numberOf(err error) uint16 {
	var server *driver.MySQLError
	if errors.As(err, &server) {
		return server.Number
	}
	return 0
}

// passing reports whether a statement that failed with this error may succeed
// when it is run again.
func passing(err error) bool {
	number := numberOf(err)
	return number == errDeadlock || number == errRecordChanged
}

// explain adds the operation to an error and, if there is one, the remedy.
func (l *Locks) explain(ctx context.Context, what string, err error) error {
	const waited = "waited for a connection of the pool, or for a transaction that holds a row of the lock table; look for one left open"
	var field *lock.FieldError
	switch {
	case err == nil, errors.Is(err, lock.ErrHeld), errors.Is(err, lock.ErrNotDue), errors.As(err, &field):
		return err // an answer of a provider, which is complete
	case errors.Is(err, lock.ErrLost), errors.Is(err, lock.ErrNotFound):
		return fmt.Errorf("%s: %w", what, err)
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w: %s: %w", what, lock.ErrBusy, waited, errors.Join(ctx.Err(), err))
	}
	switch numberOf(err) {
	case errLockWaitTimeout, errQueryInterrupted, errStatementTimeout, errExecutionTimeout, errTooManyConnections:
		return fmt.Errorf("%s: %w: %s: %w", what, lock.ErrBusy, waited, err)
	case errNoTable, errNoColumn:
		l.mu.Lock()
		l.shape = nil // the next call reads the tables again
		l.mu.Unlock()
		return fmt.Errorf("%s: %w: the lock tables have changed; try again, which looks at them anew: %w", what, store.ErrSchema, err)
	case errTableAccessDenied:
		return fmt.Errorf("%s: the database user may not do this; grant it SELECT, INSERT and UPDATE on %s and %s: %w",
			what, l.qualified(l.table), l.qualified(l.table+"_state"), err)
	case errAccessDenied:
		return fmt.Errorf("%s: the database server refuses this user or password; see that they are right: %w", what, err)
	case errReadOnly:
		return fmt.Errorf("%s: the server is a read-only replica; connect to the one that takes writes: %w", what, err)
	}
	var dial *net.OpError
	if errors.As(err, &dial) {
		return fmt.Errorf("%s: cannot reach the database; see that it runs and that host and port are right: %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
