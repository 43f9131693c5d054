package lock

import (
	"context"
	"time"
)

// Provider grants locks that live in a store which several processes share.
//
// # Rules for implementers
//
// A store keeps two records for a name, and they are separate so that one can
// be deleted, or be shared with a program that knows nothing of the other:
//
//   - the lock row: name, owner (locked_by), locked_at, lock_until. The lock is
//     held while now < lock_until; lock_until <= now is free, and so is a name
//     without a row. A row that was written is never deleted, because other
//     programs remember that it is there and only update it. (In a store whose
//     keys end by themselves, a key that is gone is a free lock.)
//   - the state of the name: the last token, and for [Slot] the mark and the
//     instant of the last grant of a slot. It outlives release, expiry and
//     deletion of the lock row.
//
// Time is the store's own clock, read in the very statement that compares with
// it; no instant of the process's clock reaches a comparison or the store. A
// provider of a store without a usable clock says so in its documentation.
// Request.Now replaces that clock, for tests alone.
//
// Durations in requests are whole milliseconds, instants whole milliseconds in
// UTC; a provider keeps both to the millisecond or finer, and rounds neither
// lock_until down nor the clock up.
//
// Names are compared byte by byte: case, accents and Unicode forms make
// different names in every store, whatever its default collation. Names and
// owners were checked by the Locker (see [CheckName]); a provider over a table
// that takes less refuses with a *[FieldError], and never lets the store cut a
// name short.
//
// Each call is atomic and committed when it returns, on a connection of its
// own, whatever transaction the caller has open elsewhere. It ends soon after
// its ctx does. If what it waited for was a free connection, or a writer before
// it, its error wraps [ErrBusy]. Other failures say what was being done and wrap
// their cause. After an error the outcome may be unknown: a lock that was taken
// unnoticed stays taken until its hold ends. Errors never show the password of a
// store's URL.
//
// Any number of goroutines and processes may call at once. The suite in
// lock/locktest holds every line of this.
type Provider interface {
	// TryLock takes the lock if it can be had now, and never waits for a holder.
	//
	// Held by anyone, the owner of the request too: a *[HeldError], nothing
	// changed. Free, but the request has a Slot whose conditions do not hold: a
	// *[NotDueError], nothing changed. Otherwise, in one atomic step as others
	// see it: locked_at = now, lock_until = now + Hold, locked_by = Owner, a new
	// token, and with a Slot its mark, with now as the instant of the grant. A
	// request without a Slot leaves the mark alone.
	//
	// The token is positive and greater than every token given before for the
	// name, also after release, expiry and deletion of the row. Where the row
	// and the state cannot be written in one transaction, take the row first,
	// then draw the token, then make sure that the row is still the owner's and
	// not expired before returning it; if the Slot's conditions fail in
	// between, set lock_until = now without regard to AtLeast.
	TryLock(ctx context.Context, req Request) (Lease, error)
}

// Request asks for a lock.
type Request struct {
	// Name of the lock; see [CheckName].
	Name string

	// Owner identifies this acquisition and no other, at most 200 bytes: host,
	// process and a random part, made by the Locker. Comparing it is what keeps
	// a former holder from touching its successor's lock.
	Owner string

	// Hold is how long the lock is held from the store's now, unless it is
	// extended or released. At least 1 ms and at least AtLeast.
	Hold time.Duration

	// AtLeast is how long the lock stays held from the grant even if it is
	// released sooner. Not negative.
	AtLeast time.Duration

	// Slot, if not nil, puts conditions on the grant. See [Slot].
	Slot *Slot

	// Now replaces the store's clock, for tests only, in this call and those of
	// the lease it returns. nil means the store's clock, as everywhere outside
	// of tests. A provider whose store ends keys by itself may be unable to
	// obey it; it tells the suite so (RealTime).
	Now func() time.Time
}

// Slot makes a grant conditional on what was granted before, which is how work
// is run once per interval (see Every). Deciding needs a rule of time that no
// store can compute, so the Locker decides and the provider only compares:
// grant if the lock is free, the name's last token is Seen, and
// From <= now < Until. The token serves as the version of the state.
//
// A Slot whose From and Until are both the zero time is never granted (no
// instant lies between them); that is how the Locker reads the state first.
type Slot struct {
	Seen        int64     // the last token that the decision rests on; 0: none was given yet
	From, Until time.Time // the instants at which the decision holds, without Until
	Mark        Mark      // what to keep of it
}

// Mark is what a name remembers of its last slot. Providers store it and do not
// look at it. The zero value: none yet.
type Mark struct {
	Slot     time.Time     // the instant that was granted, on the grid
	Anchor   time.Time     // from which the grid counts; zero under a cron rule
	Interval time.Duration // the step of the grid; zero under a cron rule
}

// State is what a store knows of a name.
type State struct {
	Now       time.Time // the store's clock as it was read
	Token     int64     // the last token given; 0: none
	Mark      Mark      // of the last grant with a Slot
	GrantedAt time.Time // the store's clock at that grant; zero: none
}

// Lease is a lock that was granted. It refers to the grant by name and owner;
// it stays the same value when the lock is lost, and then only answers ErrLost.
// Users get theirs from a [Locker], which wraps the provider's.
type Lease interface {
	// Token is greater than that of every lease granted before for the name:
	// hand it to whatever the lock protects, and let that refuse lower ones.
	Token() int64

	// Extend moves lock_until to now + hold if that is later than it is. It
	// never shortens. If the lock has expired (lock_until <= now), has another
	// owner or no row, the error wraps [ErrLost] and nothing is changed.
	// A repetition is harmless.
	Extend(ctx context.Context, hold time.Duration) error

	// Release ends the hold when the at-least time is over, at once if it is, and
	// touches neither locked_at nor locked_by. That time is over by the store's
	// clock at locked_at + AtLeast, or by the holder's at now + [Rest.Left],
	// whichever comes first; so lock_until becomes the later of now and the
	// earlier of these two, which lies before locked_at if the store's clock was
	// set back. If the lock has expired, has another owner or no row, the error
	// wraps [ErrLost] and nothing is changed.
	Release(ctx context.Context) error
}

// Inspector is implemented by providers that can show what they hold, and be
// overruled by an operator. Callers find it by assertion.
type Inspector interface {
	// Locks returns the locks that a row or a state is kept of, held or not, by
	// name in byte order, in pages.
	Locks(ctx context.Context, req LocksRequest) ([]Info, error)

	// ForceRelease frees a lock whoever holds it, at once and without regard to
	// AtLeast: lock_until = now if it is later. Its holder finds out at the next
	// Extend. The token stays. A mark whose GrantedAt is later than now (the
	// store's clock was wrong, then mended) is forgotten, for nothing would be
	// due until then; any other stays, so that nothing runs twice. An unknown
	// name gives [ErrNotFound].
	ForceRelease(ctx context.Context, req ForceReleaseRequest) error
}

// Notifier is implemented by providers whose store can push that a lock was
// released. Callers find it by assertion, and poll all the same: a push is a hint,
// and a lost one costs one interval of polling.
type Notifier interface {
	// Watch returns a channel that receives when it is worth trying for the lock
	// of that name: soon after a release by any process, and once when watching
	// has begun, because a release before that is not seen. Of several callers in
	// one process one is woken at a time. Watch does not wait for the store. It
	// ends with ctx. A store that cannot be reached, or that cannot push, leaves
	// the channel silent; nil is silent too.
	Watch(ctx context.Context, name string) <-chan struct{}
}

// LocksRequest asks for a page of locks.
type LocksRequest struct {
	Names []string         // only these; empty means all
	After string           // begin after this name, in byte order
	Limit int              // at most so many; at least 1
	Now   func() time.Time // as in Request
}

// ForceReleaseRequest names the lock to free.
type ForceReleaseRequest struct {
	Name string
	Now  func() time.Time // as in Request
}

// Info is a lock as an [Inspector] shows it. It is held if Until is later than
// Now.
type Info struct {
	Name     string
	Owner    string // who held it last; empty where no row is
	LockedAt time.Time
	Until    time.Time
	State    State
}

// Held says whether somebody held the lock when it was read.
func (i Info) Held() bool { return i.Until.After(i.State.Now) }
