package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/lock"
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
type Locks struct {
	db      *sql.DB
	table   string
	shared  bool              // the table was named: other programs may take its locks without drawing a token
	texts   map[string]string // the statements, by the names of their files
	invalid error             // the mistake in the options; every call returns it
}

var (
	_ lock.Provider  = (*Locks)(nil)
	_ lock.Inspector = (*Locks)(nil)
)

// LockOption is an option of NewLocks and Backend.Locks.
type LockOption func(*Locks)

// Table names the lock table, such as "shedlock". Its state is in a second
// table, "shedlock_state".
func Table(name string) LockOption {
	return func(l *Locks) { l.table, l.shared = name, true }
}

// NewLocks keeps locks with the program's own connections to a SQLite file,
// opened with the driver "sqlite" of modernc.org/sqlite. With a pool of one
// connection, do not take a lock while the connection is in use. Invalid
// options are reported by the first call.
func NewLocks(db *sql.DB, opts ...LockOption) *Locks {
	l := &Locks{db: db, table: "hourbell_lock"}
	for _, opt := range opts {
		opt(l)
	}
	l.texts, l.invalid = readLockTexts(l.table)
	return l
}

// Locks keeps locks in the file of the Backend. They must not be used after
// Close.
func (b *Backend) Locks(opts ...LockOption) *Locks { return NewLocks(b.writer, opts...) }

// lockTries bounds how often a lock is found free but cannot be taken, because
// other callers take and release it concurrently.
const lockTries = 8

// TryLock implements lock.Provider.
func (l *Locks) TryLock(ctx context.Context, req lock.Request) (lock.Lease, error) {
	var lease lock.Lease
	err := l.connected(ctx, fmt.Sprintf("take lock %q", req.Name), func(s lockSession) (err error) {
		lease, err = l.tryLock(s, req)
		return err
	})
	return lease, err
}

// tryLock reads before it becomes the writer: a lock that is held is refused at
// once, even while another transaction writes.
func (l *Locks) tryLock(s lockSession, req lock.Request) (lock.Lease, error) {
	for range lockTries {
		found, err := s.look(req)
		if err != nil {
			return nil, err
		}
		if err := found.refusal(req); err != nil {
			return nil, err
		}
		var token int64
		err = s.write(func() (err error) {
			token, err = s.take(req)
			return err
		})
		if err != nil {
			return nil, err
		}
		if token > 0 {
			return &lockLease{locks: l, req: req, token: token, rest: lock.NewRest(req)}, nil
		}
	}
	return nil, &lock.HeldError{Name: req.Name}
}

// look reads the row and the state of a name.
func (s lockSession) look(req lock.Request) (lockRow, error) {
	var found lockRow
	err := s.one("look", args{"name": req.Name, "now": clock(req.Now)}, found.scan)
	return found, err
}

// take returns the token of the grant, or 0 if the lock was not granted.
func (s lockSession) take(req lock.Request) (token int64, err error) {
	a := args{"name": req.Name, "owner": req.Owner, "hold": req.Hold.Milliseconds(), "now": clock(req.Now), "seen": nil, "from": nil, "until": nil}
	if slot := req.Slot; slot != nil {
		a["seen"], a["from"], a["until"] = slot.Seen, slot.From.UnixMilli(), slot.Until.UnixMilli()
	}
	var granted sql.NullInt64
	err = s.one("take", a, func(r row) error { return r.Scan(&granted) })
	if err != nil || !granted.Valid {
		return 0, err
	}
	a = args{"name": req.Name, "slot": nil, "anchor": nil, "step": nil, "granted": nil}
	if slot := req.Slot; slot != nil {
		a["slot"], a["anchor"], a["granted"] = millis(slot.Mark.Slot), millis(slot.Mark.Anchor), granted.Int64
		if slot.Mark.Interval != 0 {
			a["step"] = slot.Mark.Interval.Milliseconds()
		}
	}
	err = s.one("draw", a, func(r row) error { return r.Scan(&token) })
	return token, err
}

// clock returns the instant that replaces the store's clock in a test.
func clock(now func() time.Time) *int64 {
	if now == nil {
		return nil
	}
	return millis(now())
}

// millis returns a time as a parameter: milliseconds since 1970, or nil for the
// zero time.
func millis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	n := t.UnixMilli()
	return &n
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

// change runs a statement on a lock that the lease must still hold. The
// statement is a transaction by itself, because a short transaction is best: a
// process that is stopped in the middle of a transaction prevents all other
// processes from writing.
func (g *lockLease) change(ctx context.Context, verb string, a args) error {
	return g.locks.connected(ctx, fmt.Sprintf("%s lock %q", verb, g.req.Name), func(s lockSession) error {
		a["name"], a["owner"], a["now"] = g.req.Name, g.req.Owner, clock(g.req.Now)
		var changed int
		err := patiently(s.ctx, func() (err error) {
			changed, err = s.exec(verb, a)
			return err
		})
		if err == nil && changed == 0 {
			err = lock.ErrLost
		}
		return err
	})
}
