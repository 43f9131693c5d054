package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/lock"
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
	db      lockDB
	schema  string // empty: the search path decides
	table   string
	shared  bool  // the table was named: other programs may take its locks without drawing a token
	invalid error // the mistake in the options; every call returns it

	mu    sync.Mutex
	shape *lockShape // the properties of the tables; nil until they are read

	watch lockWatch
}

var (
	_ lock.Provider  = (*Locks)(nil)
	_ lock.Inspector = (*Locks)(nil)
)

// LockOption is an option of NewLocks, NewSQLLocks and Backend.Locks.
type LockOption func(*Locks)

// Table names the lock table: "shedlock", found on the search path, or
// "app.shedlock" in a schema. Upper and lower case are significant. Its state
// is in a second table, "shedlock_state".
func Table(name string) LockOption {
	return func(l *Locks) {
		l.schema, l.table, l.invalid = readTableName(name)
		l.shared = true
	}
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
// with its pool. They must not be used after Close.
func (b *Backend) Locks(opts ...LockOption) *Locks {
	l := newLocks(poolDB{b.pool}, b.schema, opts)
	l.invalid = errors.Join(b.invalid, l.invalid)
	return l
}

func newLocks(db lockDB, schema string, opts []LockOption) *Locks {
	l := &Locks{db: db, schema: schema, table: "lock"}
	for _, opt := range opts {
		opt(l)
	}
	return l
}

// lockTries bounds how often a lock is found free but cannot be taken, because
// other callers take and release it concurrently.
const lockTries = 8

// TryLock implements lock.Provider. It is one statement if the lock can be
// taken; otherwise a second statement finds the reason.
func (l *Locks) TryLock(ctx context.Context, req lock.Request) (lock.Lease, error) {
	var lease lock.Lease
	err := l.call(ctx, fmt.Sprintf("take lock %q", req.Name), func(s lockSession) (err error) {
		if err := s.shape.check(req.Name, req.Owner); err != nil {
			return err
		}
		lease, err = l.tryLock(s, req)
		return err
	})
	return lease, err
}

func (l *Locks) tryLock(s lockSession, req lock.Request) (lock.Lease, error) {
	for range lockTries {
		token, err := s.take(req)
		if err != nil {
			return nil, err
		}
		if token > 0 {
			return &lockLease{locks: l, req: req, token: token, rest: lock.NewRest(req)}, nil
		}
		found, err := s.look(req)
		if err != nil {
			return nil, err
		}
		if err := found.refusal(req); err != nil {
			return nil, err
		}
		if !found.complete() {
			if err := s.seed(req.Name); err != nil {
				return nil, err
			}
		}
	}
	return nil, &lock.HeldError{Name: req.Name}
}

// take returns the token of the grant, or 0 if the lock was not granted.
func (s lockSession) take(req lock.Request) (token int64, err error) {
	if req.Slot != nil && !req.Slot.From.Before(req.Slot.Until) {
		return 0, nil // no instant lies in between
	}
	verb, args := "take", []any{req.Name, req.Owner, req.Hold.Milliseconds(), clock(req.Now)}
	if slot := req.Slot; slot != nil {
		verb = "take_slot"
		args = append(args, slot.Seen, slot.From, slot.Until, when(slot.Mark.Slot), when(slot.Mark.Anchor), orNull(slot.Mark.Interval.Milliseconds()))
	}
	_, err = s.query(verb, append(args, s.patience()), func(r row) error { return r.Scan(&token) })
	if codeOf(err) == "23502" { // not_null_violation: the state was written in between
		return 0, nil
	}
	return token, err
}

// patience returns how many milliseconds the server may wait for other callers:
// a little less than this caller waits, so that the caller gets an answer.
func (s lockSession) patience() string {
	deadline, _ := s.ctx.Deadline() // connected has set a deadline
	return strconv.FormatInt(max(1, time.Until(deadline).Milliseconds()*9/10), 10)
}

// seed makes the rows of a name if they are missing.
func (s lockSession) seed(name string) error {
	_, err := s.exec("seed", name)
	return err
}

// look reads the row and the state of a name.
func (s lockSession) look(req lock.Request) (lockRow, error) {
	var found lockRow
	_, err := s.query("look", []any{req.Name, clock(req.Now)}, found.scan)
	return found, err
}

// clock returns the instant that replaces the store's clock in a test.
func clock(now func() time.Time) *time.Time {
	if now == nil {
		return nil
	}
	return when(now())
}

// lockLease is a grant, identified by name and owner.
type lockLease struct {
	locks *Locks
	req   lock.Request
	token int64
	rest  lock.Rest
}

// Token implements lock.Lease.
func (g *lockLease) Token() int64 { return g.token }

// Extend implements lock.Lease.
func (g *lockLease) Extend(ctx context.Context, hold time.Duration) error {
	return g.change(ctx, "extend", hold.Milliseconds())
}

// Release implements lock.Lease.
func (g *lockLease) Release(ctx context.Context) error {
	return g.change(ctx, "release", g.req.AtLeast.Milliseconds(), g.rest.Left().Milliseconds())
}

// change runs a statement on a lock that the lease must still hold.
func (g *lockLease) change(ctx context.Context, verb string, times ...any) error {
	return g.locks.call(ctx, fmt.Sprintf("%s lock %q", verb, g.req.Name), func(s lockSession) error {
		n, err := s.exec(verb, append([]any{g.req.Name, g.req.Owner, clock(g.req.Now)}, times...)...)
		if err == nil && n == 0 {
			err = lock.ErrLost
		}
		return err
	})
}
