package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"sync/atomic"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/locksql"
	"github.com/hourbell/hourbell/store"
)

// Locks is a lock.Provider and a lock.Inspector on MySQL or MariaDB. Concurrent
// calls are allowed.
//
// Taking, extending and releasing a lock are one statement each, on a
// connection of the pool and committed at once, independent of any transaction
// that the program has open. The clock is the server's clock.
//
// # Tables
//
// A lock table has the four columns of ShedLock: name, lock_until, locked_at
// and locked_by. The token and the rest of a name's state are in a second
// table, whose name has _state appended, so that tokens grow even if rows of
// the lock table are deleted. Without the option Table the tables are
// hourbell_lock and hourbell_lock_state in the connection's database. Only
// CreateTables creates them.
//
// Writes under a lock in the same database can be made to depend on the lock:
// lock.Check with [Locks.Tx], and with the package's [Tx] for hourbell_lock.
// With the option Table, where other programs may take a lock without drawing a
// token, and under the isolation level SERIALIZABLE, such a transaction also
// holds the row of the lock from the check until its end, and renewals and the
// release wait for it. The transaction should end within a third of the lease.
//
// In a Galera cluster with more than one writer every such transaction also
// writes the row of the lock: its commit fails, with error 1213, if another
// server has granted, renewed or released the lock since the check. A renewal
// waits for the transaction if both are on one server. In tables with the option
// Table, lock.Check makes the hold a second longer there. [Locks.Tx] asks the
// server once whether it is in a cluster, and the package's Tx asks with each
// check.
//
// A restored backup contains the tokens of its time, which would be given
// again. Raise the tokens before the first program starts, by more than the
// number of tokens that can have been given since:
//
//	UPDATE hourbell_lock_state SET token = token + 1000000
//
// # Together with ShedLock
//
// With Table("shedlock"), Java programs and Hourbell exclude each other. The
// columns lock_until and locked_at may be of type datetime, which is in UTC
// (without usingDbTime let Java write UTC, by its option forceUtcTimeZone()),
// or of type timestamp; see TimeZone. Times are stored with the column's
// precision: holds are rounded up. If two names are equal under the collation
// of the column name, as "a" and "A" are under most collations, the second name
// is refused. Java's acquisitions draw no token, unless the triggers of
// TriggerSQL exist.
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
	pool     *pool
	owned    bool                 // closed by Close
	cluster  atomic.Pointer[bool] // whether the server is a node of a cluster; nil: not known yet
}

var (
	_ lock.Provider  = (*Locks)(nil)
	_ lock.Inspector = (*Locks)(nil)
)

// settings are what options change.
type settings struct {
	tables   locksql.Config
	timeZone string // an expression
}

// LockOption is an option of NewLocks and OpenLocks.
type LockOption func(*settings) error

// Table names the lock table: "shedlock" in the connection's database, or
// "app.shedlock". Its state is in a second table, "shedlock_state".
func Table(name string) LockOption {
	return func(s *settings) error {
		s.tables.Table, s.tables.Named = name, true
		return nil
	}
}

// TimeZone is the time zone of other programs' sessions, "SYSTEM", "+02:00" or
// "Europe/Berlin", for lock tables with columns of type timestamp. ShedLock's
// usingDbTime writes UTC there, and a session in another zone treats it as a
// time of its own zone; TimeZone names this zone, so that the value is read
// correctly. Without TimeZone it is the server's default zone. The zone of this
// program's sessions does not matter.
func TimeZone(zone string) LockOption {
	return func(s *settings) error {
		if !regexp.MustCompile(`^[A-Za-z0-9_+:/-]{1,64}$`).MatchString(zone) {
			return fmt.Errorf("time zone %q: write it as SYSTEM, +02:00 or Europe/Berlin", zone)
		}
		s.timeZone = "'" + zone + "'"
		return nil
	}
}

// NewLocks keeps locks with a pool of the program, opened with
// github.com/go-sql-driver/mysql. Invalid options are reported by the first
// call.
func NewLocks(db *sql.DB, opts ...LockOption) *Locks {
	with := settings{timeZone: "@@global.time_zone"}
	var invalid error
	for _, opt := range opts {
		if err := opt(&with); err != nil && invalid == nil {
			invalid = err
		}
	}
	l := &Locks{pool: &pool{db: db, prepared: map[string]*sql.Stmt{}}}
	l.provider = locksql.New(l.pool, lockDialect(with.timeZone), with.tables)
	if invalid != nil {
		l.provider.Refuse(invalid)
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

// Tx makes a transaction of the program usable for Hourbell: what is enqueued with it
// becomes real with its commit, and never was after its rollback. The transaction must be
// on the database of the Backend. Its isolation may be any level; with READ COMMITTED it
// locks the fewest rows. For lock.Check it means the lock tables hourbell_lock and
// hourbell_lock_state in the connection's database; for other tables see [Locks.Tx].
func Tx(tx *sql.Tx) store.Tx { return callersTx{tx, nil} }

// Tx is the package's Tx, with these lock tables.
func (l *Locks) Tx(tx *sql.Tx) lock.Tx { return callersTx{tx, l} }

type callersTx struct {
	tx    *sql.Tx
	locks *Locks // whose tables lock.Check looks at; nil: the default tables
}

var _ lock.Checker = callersTx{}

// HourbellTx marks the type as a lock.Tx.
func (callersTx) HourbellTx() {}

// CheckLock implements lock.Checker.
func (t callersTx) CheckLock(ctx context.Context, name string, token int64) error {
	locks := t.locks
	if locks == nil {
		locks = NewLocks(nil)
	}
	cluster, err := locks.inCluster(ctx, t.tx)
	switch {
	case err != nil:
		return explain(fmt.Sprintf("check lock %q", name), err)
	case cluster:
		return locks.provider.CheckInCluster(ctx, locksql.InTx(t.tx), name, token)
	}
	return locks.provider.Check(ctx, locksql.InTx(t.tx), name, token)
}

// inCluster reports whether the server of a transaction is a node of a Galera
// cluster. It asks once.
func (l *Locks) inCluster(ctx context.Context, tx *sql.Tx) (bool, error) {
	if known := l.cluster.Load(); known != nil {
		return *known, nil
	}
	on, err := inGalera(ctx, tx)
	if err == nil {
		l.cluster.Store(&on)
	}
	return on, err
}

// TablesSQL returns the SQL that CreateTables runs. A program can run it with
// its own tools instead.
func (l *Locks) TablesSQL() string { return l.provider.TablesSQL() }

// CreateTables creates the lock table and its state table if they are missing.
// Several processes may call it concurrently. If both exist, it only reads, and
// needs no right to create tables.
func (l *Locks) CreateTables(ctx context.Context) error { return l.provider.CreateTables(ctx) }

// TriggerSQL returns triggers for the program's own tools to create. The
// triggers draw a token for each acquisition by a program other than Hourbell,
// such as ShedLock in Java. Then tokens show the order of all grants, and Java
// reads its token with
//
//	SELECT token FROM shedlock_state WHERE name = ?
//
// after it has taken the lock. Each statement ends in ";" and an empty line,
// and contains semicolons, so the mysql program needs another DELIMITER.
func (l *Locks) TriggerSQL() string { return l.provider.TriggerSQL(l.provider.ConfiguredSchema()) }
