package postgres

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/locksql"
	"github.com/hourbell/hourbell/store"
)

// Locks is a lock.Provider and a lock.Inspector on PostgreSQL. Concurrent calls
// are allowed.
//
//	locks := postgres.NewLocks(pool)       // the program's pgx pool
//	locks := postgres.NewSQLLocks(db)      // the program's *sql.DB
//	locks := backend.Locks()               // where the jobs are
//	locker, err := lock.New(locks, lock.Config{})
//
// Taking, extending and releasing a lock are one statement each, on a
// connection of the pool and committed at once, independent of any transaction
// that the program has open. The statements need no state of a session, so a
// pooler in transaction mode may be used; then the pool's URL needs
// default_query_exec_mode=exec. The clock is the server's clock.
//
// # Tables
//
// A lock table has the four columns of ShedLock: name, lock_until, locked_at
// and locked_by. The token and the rest of a name's state are in a second
// table, whose name has _state appended, so that tokens grow even if rows of
// the lock table are deleted. Without the option Table the tables are
// hourbell.lock and hourbell.lock_state, which `hourbell migrate up` creates;
// CreateTables creates them too. Nothing else creates tables.
//
// Callers that wait for a lock are woken by its release, also by a release in
// another process. While callers wait, one connection of a pgx pool listens,
// and holds an advisory lock for each name; a release only notifies if there is
// such an advisory lock. Behind a pooler, and with database/sql, callers poll,
// as they do for locks that Java releases.
//
// Writes under a lock in the same database can be made to depend on the lock:
// lock.Check with [Locks.Tx] or [Locks.SQLTx], and with the package's Tx and
// SQLTx for hourbell.lock. With the option Table, where other programs may take
// a lock without drawing a token, such a transaction also holds the row of the
// lock from the check until its end, and renewals and the release wait for it.
// The transaction should end within a third of the lease.
//
// A restored backup contains the tokens of its time, which would be given
// again. Raise the tokens before the first program starts, by more than the
// number of tokens that can have been given since:
//
//	UPDATE hourbell.lock_state SET token = token + 1000000
//
// # Together with ShedLock
//
// With Table("shedlock"), Java programs and Hourbell exclude each other. The
// columns lock_until and locked_at may be of type timestamp or timestamptz. A
// timestamp is in UTC, as usingDbTime writes it (without usingDbTime let Java
// write UTC, by its option forceUtcTimeZone(); in versions before ShedLock 7.10
// the option is withTimeZone). With timestamptz and usingDbTime, let Java's
// sessions be in UTC. Times are stored with the column's precision: holds are
// rounded up. Java's acquisitions draw no token, unless the trigger of
// TriggerSQL exists.
//
// This holds with usingDbTime in Java, which is recommended. Without it a Java
// program compares and writes instants of its own clock. If that clock is ahead
// of the server's clock by more than the rest of a hold, the program takes a
// lock that is held; under keep-alive as little as two thirds of
// [lock.Config].Lease is left (20 s by default). Both programs then work under
// the lock until the next renewal of Hourbell returns lock.ErrLost. A program
// whose clock is behind counts as a dead holder too early. If usingDbTime is
// not possible, keep the clocks of those machines synchronised with the
// server's clock, make Lease several times longer than the clocks may differ or
// hold for the whole at-most time (NoKeepAlive), and check the token where it
// matters (lock.Check).
type Locks struct {
	provider *locksql.Provider
	pool     *pgxpool.Pool // for Watch; nil with database/sql
	watch    lockWatch
}

var (
	_ lock.Provider  = (*Locks)(nil)
	_ lock.Inspector = (*Locks)(nil)
	_ lock.Checker   = nativeTx{}
	_ lock.Checker   = sqlTx{}
)

// LockOption is an option of NewLocks, NewSQLLocks and Backend.Locks.
type LockOption func(*locksql.Config)

// Table names the lock table: "shedlock", found on the search path, or
// "app.shedlock" in a schema. Upper and lower case are significant. Its state
// is in a second table, "shedlock_state".
func Table(name string) LockOption {
	return func(c *locksql.Config) { c.Table, c.Named = name, true }
}

// NewLocks keeps locks with a pool of the program. Invalid options are reported
// by the first call.
func NewLocks(pool *pgxpool.Pool, opts ...LockOption) *Locks {
	return newLocks(poolDB{pool}, DefaultSchema, opts)
}

// NewSQLLocks is NewLocks for database/sql, with any PostgreSQL driver whose
// placeholders are $1, $2 as in PostgreSQL: pgx's stdlib, lib/pq, or a wrapper
// of one of them. Settings that such a driver needs behind a pooler are up to
// the program.
func NewSQLLocks(db *sql.DB, opts ...LockOption) *Locks {
	return newLocks(sqlDB{db}, DefaultSchema, opts)
}

// Locks keeps locks in the database of the Backend, by default in its schema,
// with its pool. While the Backend has a node, locks are extended and released on
// connections of their own, at most two, so that handlers that hold all
// connections of the pool do not cost a lock. They must not be used after Close.
func (b *Backend) Locks(opts ...LockOption) *Locks {
	l := newLocks(backendDB{b}, b.schema, opts)
	l.pool = b.pool
	if err := errors.Join(b.invalid, l.provider.Invalid()); err != nil {
		l.provider.Refuse(err)
	}
	return l
}

func newLocks(db locksql.DB, schema string, opts []LockOption) *Locks {
	config := locksql.Config{Schema: schema}
	for _, opt := range opts {
		opt(&config)
	}
	l := &Locks{provider: locksql.New(db, lockDialect(), config)}
	if pool, ok := db.(poolDB); ok {
		l.pool = pool.pool
	}
	return l
}

// TryLock implements lock.Provider. It is one statement if the lock can be
// taken; otherwise a second statement finds the reason.
func (l *Locks) TryLock(ctx context.Context, req lock.Request) (lock.Lease, error) {
	return l.provider.TryLock(ctx, req)
}

// Locks implements lock.Inspector.
func (l *Locks) Locks(ctx context.Context, req lock.LocksRequest) ([]lock.Info, error) {
	return l.provider.Locks(ctx, req)
}

// ForceRelease implements lock.Inspector.
func (l *Locks) ForceRelease(ctx context.Context, req lock.ForceReleaseRequest) error {
	return l.provider.ForceRelease(ctx, req)
}

// Tx is the package's Tx, for lock.Check with these lock tables.
func (l *Locks) Tx(tx pgx.Tx) store.Tx { return nativeTx{tx, l} }

// SQLTx is the package's SQLTx, for lock.Check with these lock tables.
func (l *Locks) SQLTx(tx *sql.Tx) store.Tx { return sqlTx{tx, l} }

// CheckLock implements lock.Checker.
func (t nativeTx) CheckLock(ctx context.Context, name string, token int64) error {
	return checker(t.locks).Check(ctx, nativeQuerier{t.tx}, name, token)
}

// CheckLock implements lock.Checker.
func (t sqlTx) CheckLock(ctx context.Context, name string, token int64) error {
	return checker(t.locks).Check(ctx, locksql.InTx(t.tx), name, token)
}

// checker returns the provider of locks, or of the default tables if l is nil.
func checker(l *Locks) *locksql.Provider {
	if l == nil {
		l = newLocks(nil, DefaultSchema, nil)
	}
	return l.provider
}

// TablesSQL returns the SQL that CreateTables runs. A program can run it with
// its own tools instead.
func (l *Locks) TablesSQL() string {
	text := l.provider.TablesSQL()
	if schema := l.provider.ConfiguredSchema(); schema != "" {
		text = "CREATE SCHEMA IF NOT EXISTS " + pgx.Identifier{schema}.Sanitize() + ";\n\n" + text
	}
	return text
}

// CreateTables creates the lock table and its state table if they are missing.
// If both exist, it only reads, and needs no right to create tables. Several
// processes may call it concurrently.
func (l *Locks) CreateTables(ctx context.Context) error { return l.provider.CreateTables(ctx) }

// TriggerSQL returns a trigger for the program's own tools to create. The
// trigger draws a token for each acquisition by a program other than Hourbell,
// such as ShedLock in Java. Then tokens show the order of all grants, and Java
// reads its token with
//
//	SELECT token FROM shedlock_state WHERE name = ?
//
// after it has taken the lock. TriggerSQL reads the tables first, which must
// exist.
func (l *Locks) TriggerSQL(ctx context.Context) (text string, err error) {
	schema, err := l.provider.Schema(ctx, "write the trigger of the lock table")
	if err != nil {
		return "", err
	}
	return l.provider.TriggerSQL(schema), nil
}
