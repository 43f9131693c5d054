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

// Locks is a lock.Provider and a lock.Inspector on PostgreSQL. It is safe for
// concurrent use.
//
//	locks := postgres.NewLocks(pool)       // the program's pgx pool
//	locks := postgres.NewSQLLocks(db)      // the program's *sql.DB
//	locks := backend.Locks()               // where the jobs are
//	locker, err := lock.New(locks, lock.Config{})
//
// Taking, extending and releasing are a statement each, on a connection of the
// pool and committed at once, whatever transaction the program has open. They
// need nothing of a session, so a pooler in transaction mode may stand between;
// then the pool's URL has default_query_exec_mode=exec. The clock is the
// server's.
//
// # Tables
//
// A lock table has the four columns of ShedLock: name, lock_until, locked_at and
// locked_by. The token and all else that Hourbell knows of a name is in a table
// beside it with _state appended to its name, so that tokens grow also when rows
// of the lock table are deleted. Without the option Table they are hourbell.lock
// and hourbell.lock_state, which `hourbell migrate up` creates; CreateTables
// creates them too. Nothing is created otherwise.
//
// Callers that wait for a lock are woken by its release, also by another process:
// while callers wait, a pgx pool gives one connection away that listens, and that
// holds an advisory lock for each name; only then does a release notify. Behind a
// pooler, and by database/sql, callers poll, as they do for locks that Java releases.
//
// What is written under a lock in the same database can be made to depend on it:
// lock.Check with [Locks.Tx] or [Locks.SQLTx], and with the package's Tx and SQLTx
// for hourbell.lock. With the option Table, where others may take a lock without
// drawing a token, such a transaction also holds the row of the lock from the check
// until its end, and renewals and the release wait for it: let it end within a third
// of the lease.
//
// A backup that is restored brings back the tokens of its time, and they would be
// given again. Raise them before the first program starts, by more than can have
// been given since:
//
//	UPDATE hourbell.lock_state SET token = token + 1000000
//
// # Beside ShedLock
//
// With Table("shedlock") programs in Java and this one exclude each other. The
// columns lock_until and locked_at may be timestamp, which then is in UTC as
// usingDbTime writes it (without usingDbTime let Java write UTC, by its option
// forceUtcTimeZone(); in versions before ShedLock 7.10 that was withTimeZone), or
// timestamptz (with usingDbTime let Java's sessions be in UTC). Times are kept to
// the column's precision: holds are rounded up. Java's acquisitions draw no token,
// unless the trigger of TriggerSQL is there.
//
// That holds with usingDbTime in Java, which is the way to have it. Without it a
// Java program compares and writes instants of its own clock: one whose clock is
// ahead of the server's by more than is left of a hold takes a lock that is held,
// and under keep-alive as little as two thirds of [lock.Config].Lease is left (20 s
// by default). Both then work under the lock until the next renewal here answers
// lock.ErrLost, and one whose clock is behind is taken for a dead holder early. Where
// usingDbTime cannot be had, keep those machines' clocks in step with the server's,
// make Lease several times longer than they may differ or hold for the whole
// at-most time (NoKeepAlive), and check the token where it matters (lock.Check).
type Locks struct {
	db      lockDB
	schema  string // empty: found by the search path
	table   string
	shared  bool  // the table was named: others may take locks in it that draw no token
	invalid error // what is wrong with the options; every call answers it

	mu    sync.Mutex
	shape *lockShape // what was found of the tables; nil before

	watch lockWatch
}

var (
	_ lock.Provider  = (*Locks)(nil)
	_ lock.Inspector = (*Locks)(nil)
)

// LockOption changes what NewLocks, NewSQLLocks and Backend.Locks make.
type LockOption func(*Locks)

// Table names the lock table: "shedlock", looked for on the search path, or
// "app.shedlock" in a schema. Upper and lower case count. Its state is in a
// table beside it, "shedlock_state".
func Table(name string) LockOption {
	return func(l *Locks) {
		l.schema, l.table, l.invalid = readTableName(name)
		l.shared = true
	}
}

// NewLocks keeps locks by a pool of the program's own. Options that are not
// valid are reported by the first call.
func NewLocks(pool *pgxpool.Pool, opts ...LockOption) *Locks {
	return newLocks(poolDB{pool}, DefaultSchema, opts)
}

// NewSQLLocks is NewLocks for database/sql, by any PostgreSQL driver whose
// placeholders are $1, $2 as PostgreSQL's are: pgx's stdlib, lib/pq, or a
// wrapper of one. What such a driver needs behind a pooler is its own affair.
func NewSQLLocks(db *sql.DB, opts ...LockOption) *Locks {
	return newLocks(sqlDB{db}, DefaultSchema, opts)
}

// Locks keeps locks in the database of the Backend, by default in its schema, by
// its pool. They are of no use after Close.
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

// lockTries bounds how often a lock is found free and then not had, because
// others come and go.
const lockTries = 8

// TryLock implements lock.Provider. It is one statement where the lock can be
// had; else another says why not.
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

// take returns the token of the grant, 0 if there was none.
func (s lockSession) take(req lock.Request) (token int64, err error) {
	if req.Slot != nil && !req.Slot.From.Before(req.Slot.Until) {
		return 0, nil // no clock can be in between
	}
	args := [11]any{req.Name, req.Owner, req.Hold.Milliseconds(), clock(req.Now), 10: s.patience()}
	if slot := req.Slot; slot != nil {
		copy(args[4:], []any{slot.Seen, slot.From, slot.Until, when(slot.Mark.Slot), when(slot.Mark.Anchor), orNull(slot.Mark.Interval.Milliseconds())})
	}
	_, err = s.query("take", args[:], func(r row) error { return r.Scan(&token) })
	if codeOf(err) == "23502" { // not_null_violation: the state was written in between
		return 0, nil
	}
	return token, err
}

// patience is how many milliseconds the server may wait for others: a little
// less than the caller, who then gets its answer.
func (s lockSession) patience() string {
	deadline, _ := s.ctx.Deadline() // connected has set one
	return strconv.FormatInt(max(1, time.Until(deadline).Milliseconds()*9/10), 10)
}

// seed makes the rows of a name where they are missing.
func (s lockSession) seed(name string) error {
	_, err := s.exec("seed", name)
	return err
}

// look reads what there is of a name.
func (s lockSession) look(req lock.Request) (lockRow, error) {
	var found lockRow
	_, err := s.query("look", []any{req.Name, clock(req.Now)}, found.scan)
	return found, err
}

// clock is the instant that takes the place of the store's in a test.
func clock(now func() time.Time) *time.Time {
	if now == nil {
		return nil
	}
	return when(now())
}

// lockLease is a grant, by its name and owner.
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

// change runs a statement on a lock that must still be the lease's own.
func (g *lockLease) change(ctx context.Context, verb string, times ...any) error {
	return g.locks.call(ctx, fmt.Sprintf("%s lock %q", verb, g.req.Name), func(s lockSession) error {
		n, err := s.exec(verb, append([]any{g.req.Name, g.req.Owner, clock(g.req.Now)}, times...)...)
		if err == nil && n == 0 {
			err = lock.ErrLost
		}
		return err
	})
}
