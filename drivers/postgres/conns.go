package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/store/rowwise"
)

// connClass is a class of connections. Each call uses connections of one class,
// so that calls of different classes do not wait for each other.
type connClass int

const (
	// programConns is the pool for calls of the program. With New, the program uses
	// it too, so that handlers may hold all of its connections.
	programConns connClass = iota
	// nodeConns is for the calls that a node makes by itself: claims, outcomes,
	// slots, rescues.
	nodeConns
	// leaseConns is for heartbeats and for calls that belong to them. One connection
	// is opened when the node registers and stays open, so that neither a server
	// without free connections nor hanging calls of other classes end a node's lease.
	leaseConns
	// lockConns is for the renewals and releases of locks. It is apart from the
	// classes of the node, because a renewal may wait for a transaction of the
	// program that has checked the lock.
	lockConns
	// wakeConns is for the wake-ups of callers' transactions, which may hold all
	// connections of the program.
	wakeConns
)

const (
	// maxNodeConns is the largest number of connections of class nodeConns in a
	// process. A node with one queue uses up to eight connections, usually one.
	maxNodeConns = 8
	// maxLeaseConns leaves room for hanging connections, because pgx takes up to 15
	// seconds to close a connection. Otherwise one connection is enough.
	maxLeaseConns = 4
	// maxLockConns is the largest number of connections of class lockConns in a
	// process. A renewal usually takes a millisecond.
	maxLockConns = 2
	// maxWakeConns is the largest number of connections of class wakeConns in a
	// process. One is used at a time; another one may be hanging.
	maxWakeConns = 2
	// nodeConnIdle is how long an unused connection of class nodeConns or lockConns
	// stays open.
	nodeConnIdle = time.Minute
)

// nodePools are the pools for nodeConns, leaseConns and lockConns. They exist from the first
// Register until Close, and open connections only when they are used.
type nodePools struct {
	node, lease, lock *pgxpool.Pool
}

// connPools has the pools of nodes. It is safe for concurrent use.
type connPools struct {
	mu     sync.Mutex // held while the pools are opened or closed
	closed bool
	nodes  atomic.Pointer[nodePools] // nil before the first Register
	// wake has the connections of class wakeConns. It exists from the first burst of
	// inserts in callers' transactions until Close.
	wake atomic.Pointer[pgxpool.Pool]
	// calls is how many connections of the program's pool are in use by this
	// package.
	calls atomic.Int32
}

// poolOf returns the pool of a class. Before a node registers it is the program's
// pool for every class, so that programs without a node open no other connections.
func (b *Backend) poolOf(class connClass) *pgxpool.Pool {
	if wake := b.pools.wake.Load(); class == wakeConns && wake != nil {
		return wake
	}
	nodes := b.pools.nodes.Load()
	switch {
	case class == programConns || nodes == nil:
		return b.pool
	case class == leaseConns:
		return nodes.lease
	case class == lockConns:
		return nodes.lock
	}
	return nodes.node
}

var errClosed = errors.New("the Backend is closed")

// openNodePools makes the pools of a node with this lease. They have the settings
// and hooks of the program's pool.
func (b *Backend) openNodePools(lease time.Duration) error {
	b.pools.mu.Lock()
	defer b.pools.mu.Unlock()
	if b.pools.closed {
		return errClosed
	}
	if b.pools.nodes.Load() != nil {
		return nil
	}
	config := b.ownPoolConfig()
	most := config.MaxConns
	config.MaxConns, config.MaxConnIdleTime = min(most, maxNodeConns), nodeConnIdle
	node, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return err
	}
	config = config.Copy()
	config.MaxConns = min(most, maxLockConns)
	locks, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		node.Close()
		return err
	}
	config = config.Copy()
	config.MaxConns, config.MaxConnIdleTime = maxLeaseConns, max(lease, nodeConnIdle)
	config.MaxConnLifetime = 0 // never closed by age, because the server may have no room for another connection
	leases, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		node.Close()
		locks.Close()
		return err
	}
	b.pools.nodes.Store(&nodePools{node: node, lease: leases, lock: locks})
	return nil
}

// ownPoolConfig is the configuration of another pool with the settings and hooks of the
// program's pool.
func (b *Backend) ownPoolConfig() *pgxpool.Config {
	config := b.pool.Config()
	config.MinConns, config.MinIdleConns = 0, 0
	config.ConnConfig.OnNotification = nil // Listen reads them itself
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	if config.ShouldPing == nil {
		config.ShouldPing = restedLong
	}
	if !b.ownsPool { // else the pool's hooks do it
		b.logins.apply(config)
	}
	return config
}

// openWakePool makes the pool of class wakeConns, if there is none.
func (b *Backend) openWakePool() error {
	if b.pools.wake.Load() != nil {
		return nil
	}
	b.pools.mu.Lock()
	defer b.pools.mu.Unlock()
	if b.pools.closed {
		return errClosed
	}
	config := b.ownPoolConfig()
	config.MaxConns, config.MaxConnIdleTime = maxWakeConns, nodeConnIdle
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err == nil {
		b.pools.wake.Store(pool)
	}
	return err
}

// closeNodePools closes the pools of openNodePools and openWakePool; no pools are made after it.
func (b *Backend) closeNodePools() {
	b.pools.mu.Lock()
	defer b.pools.mu.Unlock()
	b.pools.closed = true
	if nodes := b.pools.nodes.Load(); nodes != nil {
		nodes.node.Close()
		nodes.lease.Close()
		nodes.lock.Close()
	}
	if wake := b.pools.wake.Load(); wake != nil {
		wake.Close()
	}
}

// restedLong reports whether a connection is tested before its use.
func restedLong(_ context.Context, p pgxpool.ShouldPingParams) bool {
	return p.IdleDuration > pingAfter
}

// connected is a connection of a class, on which each statement is a transaction of its own.
func (b *Backend) connected(ctx context.Context, class connClass) rowwise.Transaction[*pgxpool.Conn] {
	return func(do func(conn *pgxpool.Conn) error) error {
		pool := b.poolOf(class)
		began := time.Now()
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return b.noConnection(ctx, pool, time.Since(began), err)
		}
		if pool == b.pool {
			b.pools.calls.Add(1)
			defer b.pools.calls.Add(-1)
		}
		defer conn.Release()
		return do(conn)
	}
}

// noConnection explains why a pool gave no connection before ctx ended.
func (b *Backend) noConnection(ctx context.Context, pool *pgxpool.Pool, waited time.Duration, err error) error {
	if ctx.Err() == nil {
		return err
	}
	waited = waited.Round(time.Millisecond)
	stat := pool.Stat()
	inUse := stat.AcquiredConns()
	switch {
	case inUse < stat.MaxConns():
		return fmt.Errorf("no connection to the database in %v: the server does not answer; see that it runs and can be reached: %w", waited, err)
	case pool != b.pool || b.ownsPool:
		return fmt.Errorf("no connection from the pool in %v: %d in use by other calls; see whether the server answers them, "+
			"and whether a transaction holds rows of Hourbell's tables: %w", waited, inUse, err)
	}
	handlers := max(inUse-b.pools.calls.Load(), 0)
	return fmt.Errorf("no connection from the pool in %v: %d in use by handlers and other code of the program, %d by Hourbell; "+
		"give the pool more connections (MaxConns, pool_max_conns) than there are workers: %w", waited, handlers, inUse-handlers, err)
}

// poolSize returns the size of the program's own pool; see store.Connection.
func (b *Backend) poolSize() int {
	switch {
	case b.db != nil:
		return b.db.Stats().MaxOpenConnections
	case b.pool == nil || b.ownsPool:
		return 0
	}
	return int(b.pool.Stat().MaxConns())
}
