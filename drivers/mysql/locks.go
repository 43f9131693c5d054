package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"github.com/hourbell/hourbell/lock"
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
// token, such a transaction also holds the row of the lock from the check until
// its end, and renewals and the release wait for it. The transaction should end
// within a third of the lease.
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
	db       *sql.DB
	owned    bool   // closed by Close
	schema   string // empty: the connection's database
	table    string
	shared   bool   // the table was named: other programs may take its locks without drawing a token
	timeZone string // an expression
	invalid  error  // the mistake in the options; every call returns it

	mu       sync.Mutex
	shape    *lockShape // the properties of the tables; nil until they are read
	prepared map[string]*sql.Stmt
}

var (
	_ lock.Provider  = (*Locks)(nil)
	_ lock.Inspector = (*Locks)(nil)
)

// LockOption is an option of NewLocks and OpenLocks.
type LockOption func(*Locks) error

// Table names the lock table: "shedlock" in the connection's database, or
// "app.shedlock". Its state is in a second table, "shedlock_state".
func Table(name string) LockOption {
	return func(l *Locks) (err error) {
		l.schema, l.table, err = readTableName(name)
		l.shared = true
		return err
	}
}

// TimeZone is the time zone of other programs' sessions, "SYSTEM", "+02:00" or
// "Europe/Berlin", for lock tables with columns of type timestamp. ShedLock's
// usingDbTime writes UTC there, and a session in another zone treats it as a
// time of its own zone; TimeZone names this zone, so that the value is read
// correctly. Without TimeZone it is the server's default zone. The zone of this
// program's sessions does not matter.
func TimeZone(zone string) LockOption {
	return func(l *Locks) (err error) {
		l.timeZone, err = readTimeZone(zone)
		return err
	}
}

// NewLocks keeps locks with a pool of the program, opened with
// github.com/go-sql-driver/mysql. Invalid options are reported by the first
// call.
func NewLocks(db *sql.DB, opts ...LockOption) *Locks {
	l := &Locks{db: db, table: "hourbell_lock", timeZone: "@@global.time_zone", prepared: map[string]*sql.Stmt{}}
	for _, opt := range opts {
		if err := opt(l); err != nil && l.invalid == nil {
			l.invalid = err
		}
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
		found, err := s.look(req.Name, req.Now)
		if err != nil {
			return nil, err
		}
		if err := found.refusal(req); err != nil {
			return nil, err
		}
		if err := s.seed(found, req.Name); err != nil {
			return nil, err
		}
	}
	return nil, &lock.HeldError{Name: req.Name}
}

// take returns the token of the grant, or 0 if the lock was not granted.
func (s lockSession) take(req lock.Request) (token int64, err error) {
	if req.Slot != nil && !req.Slot.From.Before(req.Slot.Until) {
		return 0, nil // no instant lies in between
	}
	a := args{"name": req.Name, "owner": req.Owner, "hold": req.Hold.Milliseconds(), "now": clock(req.Now), "patience": s.patience()}
	if slot := req.Slot; slot != nil {
		a["seen"], a["from"], a["until"] = slot.Seen, instant(slot.From), instant(slot.Until)
		a["slot"], a["anchor"] = instant(slot.Mark.Slot), instant(slot.Mark.Anchor)
		if slot.Mark.Interval != 0 {
			a["step"] = slot.Mark.Interval.Milliseconds()
		}
	}
	result, err := s.exec("take", a)
	if err != nil {
		return 0, err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return 0, err
	}
	return result.LastInsertId()
}

// patience returns how many microseconds the server may wait for other callers:
// a little less than this caller waits, so that no lock is taken after the caller
// has left.
func (s lockSession) patience() int64 {
	deadline, _ := s.ctx.Deadline() // bounded has set a deadline
	return max(0, time.Until(deadline).Microseconds()*9/10)
}

// seed makes the rows of a name if they are missing.
func (s lockSession) seed(found lockRow, name string) error {
	if !found.name.Valid {
		if _, err := s.exec("seed_lock", args{"name": name}); err != nil {
			return err
		}
	}
	if !found.token.Valid {
		if _, err := s.exec("seed_state", args{"name": name}); err != nil {
			return err
		}
	}
	return nil
}

// look reads the row and the state of a name.
func (s lockSession) look(name string, now func() time.Time) (lockRow, error) {
	var found lockRow
	err := s.query("look", args{"name": name, "now": clock(now)}, found.scan)
	return found, err
}

// clock returns the instant that replaces the store's clock in a test.
func clock(now func() time.Time) any {
	if now == nil {
		return nil
	}
	return instant(now())
}

// instant returns a time as a parameter: null for the zero time, otherwise
// text, which does not depend on settings of the connection.
func instant(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02 15:04:05.000000")
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
	return g.change(ctx, "extend", args{"duration": hold.Milliseconds()})
}

// Release implements lock.Lease.
func (g *lockLease) Release(ctx context.Context) error {
	return g.change(ctx, "release", args{"duration": g.req.AtLeast.Milliseconds(), "rest": g.rest.Left().Milliseconds()})
}

// change runs a statement on a lock that the lease must still hold.
func (g *lockLease) change(ctx context.Context, verb string, a args) error {
	return g.locks.call(ctx, fmt.Sprintf("%s lock %q", verb, g.req.Name), func(s lockSession) error {
		a["name"], a["owner"], a["now"] = g.req.Name, g.req.Owner, clock(g.req.Now)
		result, err := s.exec(verb, a)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n > 0 {
			return err
		}
		var owned bool
		if err := s.query("owned", a, func(r row) error { return r.Scan(&owned) }); err != nil {
			return err
		}
		if !owned {
			return lock.ErrLost
		}
		return nil
	})
}
