package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// Locks is a lock.Provider and a lock.Inspector on MySQL or MariaDB. It is safe
// for concurrent use.
//
// Taking, extending and releasing are a statement each, on a connection of the
// pool and committed at once, whatever transaction the program has open. The
// clock is the server's.
//
// # Tables
//
// A lock table has the four columns of ShedLock: name, lock_until, locked_at and
// locked_by. The token and all else that Hourbell knows of a name is in a table
// beside it with _state appended to its name, so that tokens grow also when rows
// of the lock table are deleted. Without the option Table they are hourbell_lock
// and hourbell_lock_state in the connection's database. CreateTables creates
// them, and nothing else does.
//
// What is written under a lock in the same database can be made to depend on it:
// lock.Check with [Locks.Tx], and with the package's [Tx] for hourbell_lock. With the
// option Table, where others may take a lock without drawing a token, such a
// transaction also holds the row of the lock from the check until its end, and
// renewals and the release wait for it: let it end within a third of the lease.
//
// A backup that is restored brings back the tokens of its time, and they would be
// given again. Raise them before the first program starts, by more than can have
// been given since:
//
//	UPDATE hourbell_lock_state SET token = token + 1000000
//
// # Beside ShedLock
//
// With Table("shedlock") programs in Java and this one exclude each other. The
// columns lock_until and locked_at may be datetime, which then is in UTC (without
// usingDbTime let Java write UTC, by its option forceUtcTimeZone()), or timestamp;
// see TimeZone for the latter. Times are kept to the column's
// precision: holds are rounded up. Where the collation of the column name
// takes two names for one, as most do that tell "a" from "b" but not from "A",
// the second of them is refused. Java's acquisitions draw no token, unless the
// triggers of TriggerSQL are there.
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
	db       *sql.DB
	owned    bool   // to be closed by Close
	schema   string // empty: the connection's database
	table    string
	shared   bool   // the table was named: others may take locks in it that draw no token
	timeZone string // an expression
	invalid  error  // what is wrong with the options; every call answers it

	mu       sync.Mutex
	shape    *lockShape // what was found of the tables; nil before
	prepared map[string]*sql.Stmt
}

var (
	_ lock.Provider  = (*Locks)(nil)
	_ lock.Inspector = (*Locks)(nil)
)

// LockOption changes what NewLocks and OpenLocks make.
type LockOption func(*Locks) error

// Table names the lock table: "shedlock" in the connection's database, or
// "app.shedlock". Its state is in a table beside it, "shedlock_state".
func Table(name string) LockOption {
	return func(l *Locks) (err error) {
		l.schema, l.table, err = readTableName(name)
		l.shared = true
		return err
	}
}

// TimeZone says in which time zone other programs' sessions are, "SYSTEM",
// "+02:00" or "Europe/Berlin", for lock tables with columns of type timestamp.
// ShedLock's usingDbTime writes UTC there, and a session in another zone takes
// it for its own time; this says which, so that it is read back rightly. Without
// it, it is the server's default zone. The zone of this program's sessions does
// not matter.
func TimeZone(zone string) LockOption {
	return func(l *Locks) (err error) {
		l.timeZone, err = readTimeZone(zone)
		return err
	}
}

// NewLocks keeps locks by a pool of the program's own, opened with
// github.com/go-sql-driver/mysql. Options that are not valid are reported by the
// first call.
func NewLocks(db *sql.DB, opts ...LockOption) *Locks {
	l := &Locks{db: db, table: "hourbell_lock", timeZone: "@@global.time_zone", prepared: map[string]*sql.Stmt{}}
	for _, opt := range opts {
		if err := opt(l); err != nil && l.invalid == nil {
			l.invalid = err
		}
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

// take returns the token of the grant, 0 if there was none.
func (s lockSession) take(req lock.Request) (token int64, err error) {
	if req.Slot != nil && !req.Slot.From.Before(req.Slot.Until) {
		return 0, nil // no clock can be in between
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

// patience is how many microseconds a caller waits.
func (s lockSession) patience() int64 {
	deadline, _ := s.ctx.Deadline() // bounded has set one
	return max(0, time.Until(deadline).Microseconds())
}

// seed makes the rows of a name where they are missing.
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

// look reads what there is of a name.
func (s lockSession) look(name string, now func() time.Time) (lockRow, error) {
	var found lockRow
	err := s.query("look", args{"name": name, "now": clock(now)}, found.scan)
	return found, err
}

// clock is the instant that takes the place of the store's in a test.
func clock(now func() time.Time) any {
	if now == nil {
		return nil
	}
	return instant(now())
}

// instant is a time as a parameter: null for the zero time, else text, which no
// setting of the connection changes.
func instant(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02 15:04:05.000000")
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
	return g.change(ctx, "extend", args{"duration": hold.Milliseconds()})
}

// Release implements lock.Lease.
func (g *lockLease) Release(ctx context.Context) error {
	return g.change(ctx, "release", args{"duration": g.req.AtLeast.Milliseconds(), "rest": g.rest.Left().Milliseconds()})
}

// change runs a statement on a lock that must still be the lease's own.
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
