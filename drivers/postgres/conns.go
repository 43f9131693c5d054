package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// side is whose connections a call uses.
type side int

const (
	// program: the pool that calls of the program use, and, with New, the program
	// itself. Its connections may all be in the hands of handlers.
	program side = iota
	// motion: what a node does of its own accord: claims, outcomes, slots, rescues.
	motion
	// life: heartbeats and what belongs to them. One connection is opened when the
	// node registers and kept, so that a server without free connections, or calls
	// of the other sides that hang, kill no node.
	life
)

const (
	// motionConns is how many connections the motion of a process's nodes uses at
	// most. A node with one queue uses up to seven, mostly one.
	motionConns = 8
	// lifeConns has room for connections that hang: pgx takes up to 15 seconds to
	// close one. One is enough otherwise.
	lifeConns = 4
	// motionIdle is for how long an unused connection of the motion is kept.
	motionIdle = time.Minute
)

// nodePools are the pools of motion and life. They are there from the first
// Register until Close, and open connections only when these are used.
type nodePools struct {
	motion, life *pgxpool.Pool
}

// sides gives each side its pool. It is safe for concurrent use.
type sides struct {
	mu     sync.Mutex // held by those who open and close
	closed bool
	nodes  atomic.Pointer[nodePools] // nil before the first Register
	// calls is how many connections of the program's pool are in use by this
	// package.
	calls atomic.Int32
}

// poolOf is the pool of a side: the program's before a node registers, so that
// programs without a node open nothing more.
func (b *Backend) poolOf(s side) *pgxpool.Pool {
	nodes := b.sides.nodes.Load()
	switch {
	case s == program || nodes == nil:
		return b.pool
	case s == life:
		return nodes.life
	}
	return nodes.motion
}

var errClosed = errors.New("the Backend is closed")

// openNodePools makes the pools of a node whose lease is so long. They have the
// settings and hooks of the program's pool.
func (b *Backend) openNodePools(lease time.Duration) error {
	b.sides.mu.Lock()
	defer b.sides.mu.Unlock()
	if b.sides.closed {
		return errClosed
	}
	if b.sides.nodes.Load() != nil {
		return nil
	}
	config := b.pool.Config()
	config.MinConns, config.MinIdleConns = 0, 0
	config.ConnConfig.OnNotification = nil // Listen reads them itself
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	if config.ShouldPing == nil {
		config.ShouldPing = restedLong
	}
	most := config.MaxConns
	config.MaxConns, config.MaxConnIdleTime = min(most, motionConns), motionIdle
	motion, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return err
	}
	config = config.Copy()
	config.MaxConns, config.MaxConnIdleTime = lifeConns, max(lease, motionIdle)
	config.MaxConnLifetime = 0 // for ever: the server may have no room for another one
	life, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		motion.Close()
		return err
	}
	b.sides.nodes.Store(&nodePools{motion: motion, life: life})
	return nil
}

// closeNodePools closes what openNodePools made; none are made after it.
func (b *Backend) closeNodePools() {
	b.sides.mu.Lock()
	defer b.sides.mu.Unlock()
	b.sides.closed = true
	if nodes := b.sides.nodes.Load(); nodes != nil {
		nodes.motion.Close()
		nodes.life.Close()
	}
}

// restedLong reports whether a connection has to be tried out before its use.
func restedLong(_ context.Context, p pgxpool.ShouldPingParams) bool {
	return p.IdleDuration > pingAfter
}

// connected does something on a connection of a side.
func (b *Backend) connected(ctx context.Context, s side, do func(conn *pgxpool.Conn) error) error {
	pool := b.poolOf(s)
	began := time.Now()
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return b.noConnection(ctx, pool, time.Since(began), err)
	}
	if pool == b.pool {
		b.sides.calls.Add(1)
		defer b.sides.calls.Add(-1)
	}
	defer conn.Release()
	return do(conn)
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
	handlers := max(inUse-b.sides.calls.Load(), 0)
	return fmt.Errorf("no connection from the pool in %v: %d in use by handlers and other code of the program, %d by Hourbell; "+
		"give the pool more connections (MaxConns, pool_max_conns) than there are workers: %w", waited, handlers, inUse-handlers, err)
}

// PoolSize implements store.Pooled.
func (b *Backend) PoolSize() int {
	switch {
	case b.db != nil:
		return b.db.Stats().MaxOpenConnections
	case b.pool == nil || b.ownsPool:
		return 0
	}
	return int(b.pool.Stat().MaxConns())
}
