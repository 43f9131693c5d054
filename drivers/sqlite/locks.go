package sqlite

import (
	"context"
	"database/sql"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/locksql"
	"github.com/hourbell/hourbell/store"
)

// Locks is a lock.Provider and a lock.Inspector on a SQLite file. It serves the
// processes of one host. Concurrent calls are allowed.
//
//	locks := sqlite.NewLocks(db)  // the program's *sql.DB
//	locks := backend.Locks()      // where the jobs are
//	locker, err := lock.New(locks, lock.Config{})
//
// Taking, extending and releasing a lock are short transactions of their own on
// a connection of the pool. SQLite has one writer at a time: while another
// process has a writing transaction open, or was stopped in the middle of one,
// the calls wait, and return lock.ErrBusy when their context ends. A request
// for a lock that is held is refused without waiting. The clock is SQLite's,
// which is the host's clock, in milliseconds.
//
// # Tables
//
// A lock table has the four columns of ShedLock: name, lock_until, locked_at
// and locked_by, with instants as milliseconds since 1970. The token and the
// rest of a name's state are in a second table, whose name has _state appended,
// so that tokens grow even if rows of the lock table are deleted. Without the
// option Table the tables are hourbell_lock and hourbell_lock_state, which
// `hourbell migrate up` creates; CreateTables creates them too. Nothing else
// creates tables.
//
// Writes under a lock in the same file can be made to depend on the lock:
// lock.Check with [Locks.Tx], and with the package's Tx for hourbell_lock. Like
// every transaction that writes, it prevents all other transactions from
// writing until it ends, also renewals of locks.
//
// With synchronous=NORMAL the last grants before a loss of power may be lost,
// and a restored backup contains the tokens of its time; the lost tokens would
// be given again. Raise the tokens before the first program starts, by more
// than the number of tokens that can have been given since:
//
//	UPDATE hourbell_lock_state SET token = token + 1000000
type Locks struct{ provider *locksql.Provider }

var (
	_ lock.Provider  = (*Locks)(nil)
	_ lock.Inspector = (*Locks)(nil)
	_ lock.Checker   = callersTx{}
)

// LockOption is an option of NewLocks and Backend.Locks.
type LockOption func(*locksql.Config)

// Table names the lock table, such as "shedlock". Its state is in a second
// table, "shedlock_state".
func Table(name string) LockOption {
	return func(c *locksql.Config) { c.Table, c.Named = name, true }
}

// NewLocks keeps locks with the program's own connections to a SQLite file,
// opened with the driver "sqlite" of modernc.org/sqlite. With a pool of one
// connection, do not take a lock while the connection is in use. Invalid
// options are reported by the first call.
func NewLocks(db *sql.DB, opts ...LockOption) *Locks {
	var config locksql.Config
	for _, opt := range opts {
		opt(&config)
	}
	return &Locks{locksql.New(lockDB{db}, lockDialect(), config)}
}

// Locks keeps locks in the file of the Backend. They must not be used after
// Close.
func (b *Backend) Locks(opts ...LockOption) *Locks { return NewLocks(b.writer, opts...) }

// TryLock implements lock.Provider. It reads before it writes, so that a lock
// that is held is refused at once, even while another transaction writes.
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
func (l *Locks) Tx(tx *sql.Tx) store.Tx { return callersTx{tx, l} }

// CheckLock implements lock.Checker.
func (t callersTx) CheckLock(ctx context.Context, name string, token int64) error {
	l := t.locks
	if l == nil {
		l = NewLocks(nil)
	}
	return l.provider.Check(ctx, locksql.InTx(t.tx), name, token)
}

// TablesSQL returns the SQL that CreateTables runs. A program can run it with
// its own tools instead.
func (l *Locks) TablesSQL() string { return l.provider.TablesSQL() }

// CreateTables creates the lock table and its state table if they are missing.
// Several processes may call it concurrently.
func (l *Locks) CreateTables(ctx context.Context) error { return l.provider.CreateTables(ctx) }

// TriggerSQL returns triggers for the program's own tools to create. The
// triggers draw a token for each acquisition by a program other than Hourbell;
// Hourbell's owners end in /process/random. Then tokens show the order of all
// grants.
func (l *Locks) TriggerSQL() string { return l.provider.TriggerSQL("") }
