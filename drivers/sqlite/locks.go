package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// Locks is a lock.Provider and a lock.Inspector on a SQLite file, for the
// processes of one host. It is safe for concurrent use.
//
//	locks := sqlite.NewLocks(db)  // the program's *sql.DB
//	locks := backend.Locks()      // where the jobs are
//	locker, err := lock.New(locks, lock.Config{})
//
// Taking, extending and releasing are short transactions of their own on a
// connection of the pool. SQLite has one writer at a time: while somebody has a
// writing transaction open, or was stopped in the middle of one, they wait, and
// end with lock.ErrBusy when their context does. A lock that is held is refused
// without waiting. The clock is SQLite's, which is that of the host, in
// milliseconds.
//
// # Tables
//
// A lock table has the four columns of ShedLock: name, lock_until, locked_at and
// locked_by, with instants as milliseconds since 1970. The token and all else
// that Hourbell knows of a name is in a table beside it with _state appended to
// its name, so that tokens grow also when rows of the lock table are deleted.
// Without the option Table they are hourbell_lock and hourbell_lock_state, which
// `hourbell migrate up` creates; CreateTables creates them too. Nothing is
// created otherwise.
//
// What is written under a lock in the same file can be made to depend on it:
// lock.Check with [Locks.Tx], and with the package's Tx for hourbell_lock. As every
// transaction that writes it keeps all others from writing until it ends, renewals
// of locks too.
//
// With synchronous=NORMAL the last grants before a loss of power may be gone, and
// a backup that is restored brings back the tokens of its time; they would be
// given again. Raise them before the first program starts, by more than can have
// been given since:
//
//	UPDATE hourbell_lock_state SET token = token + 1000000
type Locks struct {
	db      *sql.DB
	table   string
	shared  bool              // the table was named: others may take locks in it that draw no token
	texts   map[string]string // the statements, by the names of their files
	invalid error             // what is wrong with the options; every call answers it
}

var (
	_ lock.Provider  = (*Locks)(nil)
	_ lock.Inspector = (*Locks)(nil)
)

// LockOption changes what NewLocks and Backend.Locks make.
type LockOption func(*Locks)

// Table names the lock table, "shedlock" for one. Its state is in a table beside
// it, "shedlock_state".
func Table(name string) LockOption {
	return func(l *Locks) { l.table, l.shared = name, true }
}

// NewLocks keeps locks by the program's own connections to a SQLite file, opened
// with the driver "sqlite" of modernc.org/sqlite. A pool with one connection
// must not be asked for a lock by somebody who holds that connection. Options
// that are not valid are reported by the first call.
func NewLocks(db *sql.DB, opts ...LockOption) *Locks {
	l := &Locks{db: db, table: "hourbell_lock"}
	for _, opt := range opts {
		opt(l)
	}
	l.texts, l.invalid = readLockTexts(l.table)
	return l
}

// Locks keeps locks in the file of the Backend. They are of no use after Close.
func (b *Backend) Locks(opts ...LockOption) *Locks { return NewLocks(b.writer, opts...) }

// lockTries bounds how often a lock is found free and then not had, because
// others come and go.
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

// tryLock reads before it asks to be the writer: a lock that is held is refused
// at once, whoever writes.
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

// look reads what there is of a name.
func (s lockSession) look(req lock.Request) (lockRow, error) {
	var found lockRow
	err := s.one("look", args{"name": req.Name, "now": clock(req.Now)}, found.scan)
	return found, err
}

// take returns the token of the grant, 0 if there was none.
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

// clock is the instant that takes the place of the store's in a test.
func clock(now func() time.Time) *int64 {
	if now == nil {
		return nil
	}
	return millis(now())
}

// millis is a time as a parameter: milliseconds since 1970, or nil for none.
func millis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	n := t.UnixMilli()
	return &n
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

// change runs a statement on a lock that must still be the lease's own. The
// statement is a transaction by itself: the shorter the better, for a process
// that is stopped in the middle of one keeps all others from writing.
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
