package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"

	mysql "github.com/go-sql-driver/mysql"
)

// leaseConns are connections for heartbeats alone, so that a heartbeat waits neither for a claim nor for a worker that has the last
// connection of the pool. The first heartbeat opens a connection, which stays open, so that a server without free connections does not
// end the lease of a node. It is safe for concurrent use.
type leaseConns struct {
	pool  *sql.DB // of Open: a pool of its own; of New: the program's pool; one connection of it is kept
	owned bool    // the pool is closed by close

	mu     sync.Mutex
	closed bool
	kept   *sql.Conn // nil: none, or a heartbeat uses it
}

// maxLeaseConns leaves room for a connection that hangs.
const maxLeaseConns = 2

// openLeaseConns makes the pool of Open for heartbeats; it does not connect yet. The server does not end these connections while they
// are idle, because they hold no locks: each statement is a transaction of its own.
func openLeaseConns(config *mysql.Config) (*leaseConns, error) {
	config = config.Clone()
	config.Params["wait_timeout"] = "86400"
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(readCommitted{connector})
	pool.SetMaxOpenConns(maxLeaseConns)
	pool.SetMaxIdleConns(maxLeaseConns)
	return &leaseConns{pool: pool, owned: true}, nil
}

// on calls do with a connection. do has to be a thing that may be done twice: if a kept connection was broken, do is called again with
// another connection.
func (l *leaseConns) on(ctx context.Context, do func(*sql.Conn) error) error {
	if conn := l.take(); conn != nil {
		err := do(conn)
		if !broken(err) || ctx.Err() != nil {
			l.put(conn, err)
			return err
		}
		_ = conn.Close()
	}
	conn, err := l.pool.Conn(ctx)
	if err != nil {
		return err
	}
	err = do(conn)
	l.put(conn, err)
	return err
}

// take returns the kept connection; nil: there is none.
func (l *leaseConns) take() *sql.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	conn := l.kept
	l.kept = nil
	return conn
}

// put keeps a connection of a program's pool, unless it is the only one of the pool, or gives it back to the pool. err is how its last
// use ended.
func (l *leaseConns) put(conn *sql.Conn, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	only := l.pool.Stats().MaxOpenConnections == 1
	if !l.owned && !only && !l.closed && l.kept == nil && (err == nil || numberOf(err) != 0) {
		l.kept = conn
		return
	}
	_ = conn.Close()
}

// close gives the kept connection back. A pool of Open is closed.
func (l *leaseConns) close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	if conn := l.take(); conn != nil {
		_ = conn.Close()
	}
	if l.owned {
		return l.pool.Close()
	}
	return nil
}

// broken reports whether an error means that a connection cannot be used any more.
func broken(err error) bool {
	return errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, driver.ErrBadConn)
}
