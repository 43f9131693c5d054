package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"

	driver "github.com/go-sql-driver/mysql"

	"github.com/hourbell/hourbell/lock/locksql"
)

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
	if err := l.provider.Invalid(); err != nil {
		return nil, errors.Join(fmt.Errorf("open MySQL: %w", err), l.Close())
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
		return nil, errors.New("the store URL is not valid; write mysql://user:password@host:port/database, with special " +
			"characters of user and password percent-encoded")
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
		config.Timeout = locksql.Patience
	}
	return config, nil
}

// Close closes the connections that OpenLocks made. A *sql.DB of the program
// stays open.
func (l *Locks) Close() error {
	if !l.owned {
		return nil
	}
	return l.pool.db.Close()
}

// pool is a pool of database/sql, with the statements that were prepared on it.
// Each command takes a connection of the pool for itself.
type pool struct {
	db *sql.DB

	mu       sync.Mutex
	prepared map[string]*sql.Stmt // by their texts
}

// Acquire implements locksql.DB. The commands wait for a connection.
func (p *pool) Acquire(context.Context, locksql.Use) (locksql.Conn, error) { return p, nil }

// Release implements locksql.Conn.
func (p *pool) Release() {}

// Query implements locksql.Conn.
func (p *pool) Query(ctx context.Context, c locksql.Command, scan func(locksql.Row) error) error {
	statement, err := p.prepare(ctx, c.Text)
	if err != nil {
		return err
	}
	rows, err := statement.QueryContext(ctx, c.Args...) //nolint:rowserrcheck // EachRow returns rows.Err
	return locksql.EachRow(rows, err, scan)
}

// Exec implements locksql.Conn.
func (p *pool) Exec(ctx context.Context, commands []locksql.Command) (rows int, err error) {
	var n int64
	for _, c := range commands {
		result, err := p.run(ctx, c)
		if err != nil {
			return 0, err
		}
		if n, err = result.RowsAffected(); err != nil {
			return 0, err
		}
	}
	return int(n), nil
}

// Take implements locksql.Conn. take.sql and take_slot.sql are one statement
// each, whose token is the last insert id.
func (p *pool) Take(ctx context.Context, commands []locksql.Command) (token int64, err error) {
	result, err := p.run(ctx, commands[0])
	if err != nil {
		return 0, err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return 0, err
	}
	return result.LastInsertId()
}

// run runs a command that writes.
func (p *pool) run(ctx context.Context, c locksql.Command) (sql.Result, error) {
	if len(c.Args) == 0 { // it creates a table, once
		return p.db.ExecContext(ctx, c.Text)
	}
	statement, err := p.prepare(ctx, c.Text)
	if err != nil {
		return nil, err
	}
	return statement.ExecContext(ctx, c.Args...)
}

// prepare prepares a statement once; then each connection runs it in one round
// trip.
func (p *pool) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	p.mu.Lock()
	ready := p.prepared[text]
	p.mu.Unlock()
	if ready != nil {
		return ready, nil
	}
	statement, err := p.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if ready := p.prepared[text]; ready != nil { // prepared concurrently by another caller
		statement.Close()
		return ready, nil
	}
	p.prepared[text] = statement
	return statement, nil
}
