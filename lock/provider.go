package lock

import (
	"context"
	"time"
)

// Provider grants locks in a store that several processes share.
//
// # Rules for implementers
//
// A store keeps two records for a name. They are separate so that one record
// can be deleted, or shared with a program that does not know the other record:
//
//   - the lock row: name, owner (locked_by), locked_at, lock_until. The lock is
//     held while now < lock_until; it is free if lock_until <= now, and if the
//     name has no row. A row that was written is never deleted, because other
//     programs remember that it exists and only update it. (In a store whose
//     keys expire by themselves, a key that is gone is a free lock.)
//   - the state of the name: the last token, and for [Slot] the mark and the
//     instant of the last grant of a slot. It outlives release, expiry and
//     deletion of the lock row.
//
// Time is the store's own clock, read in the same statement that compares it;
// no instant of the process's clock is compared or stored. A provider for a
// store without a usable clock documents this. Request.Now replaces the store's
// clock, for tests only.
//
// Durations in requests are whole milliseconds, and instants are whole
// milliseconds in UTC. A provider stores both to the millisecond or finer, and
// rounds neither lock_until down nor the clock up.
//
// Names are compared byte by byte: case, accents and Unicode forms make
// different names in every store, whatever its default collation. The Locker
// has checked names and owners (see [check.Name]). A provider over a table that
// accepts less refuses such names with a *[check.FieldError], and never lets
// the store shorten a name.
//
// Each call is atomic and committed when it returns, on a connection of its
// own, independent of any transaction that the caller has open. It ends soon
// after its ctx ends. If it was waiting for a free connection, or for an
// earlier writer, its error wraps [ErrBusy]. Other errors contain the operation
// and wrap their cause. After an error the outcome may be unknown: a lock that
// was taken unnoticed stays taken until its hold ends. Errors never contain the
// password of a store's URL.
//
// Concurrent calls of any number of goroutines and processes are allowed. The
// suite in lock/locktest checks every rule of this contract.
type Provider interface {
	// TryLock takes the lock if it is free now, and never waits for a holder.
	//
	// If the lock is held, also by the owner of the request, the error is a
	// *[HeldError], and nothing is changed. If the lock is free, but the
	// conditions of the request's Slot do not hold, the error is a
	// *[NotDueError], and nothing is changed. Otherwise, in one step that other
	// callers see as atomic: locked_at = now, lock_until = now + Hold,
	// locked_by = Owner, a new token, and with a Slot its mark, with now as the
	// instant of the grant. A request without a Slot does not change the mark.
	//
	// The token is positive and greater than every token given before for the
	// name, also after release, expiry and deletion of the row. If the row and
	// the state cannot be written in one transaction, take the row first, then
	// draw the token, then verify that the row is still the owner's and has not
	// expired, and only then return it; if the Slot's conditions fail in
	// between, set lock_until = now without regard to AtLeast.
	TryLock(ctx context.Context, req Request) (Lease, error)
}

// Request is a request for a lock.
type Request struct {
	// Name is the name of the lock; see [check.Name].
	Name string

	// Owner identifies this acquisition and no other, in at most 200 bytes:
	// host, process and a random part, made by the Locker. Because owners are
	// compared, a former holder cannot change the lock of its successor.
	Owner string

	// Hold is how long the lock is held from the store's present time, unless
	// it is extended or released. At least 1 ms and at least AtLeast.
	Hold time.Duration

	// AtLeast is how long the lock stays held from the grant even if it is
	// released sooner. Not negative.
	AtLeast time.Duration

	// Slot, if not nil, adds conditions to the grant. See [Slot].
	Slot *Slot

	// Now replaces the store's clock, for tests only, in this call and in calls
	// of the lease that it returns. nil means the store's clock, as always
	// outside tests. A provider whose store lets keys expire by itself may be
	// unable to use Now; its tests set RealTime in the suite.
	Now func() time.Time
}

// Slot makes a grant conditional on earlier grants, so that work runs once per
// interval (see Every). The decision needs a time rule that stores cannot
// compute, so the Locker decides and the provider only compares: grant if the
// lock is free, the name's last token is Seen, and From <= now < Until. The
// token serves as the version of the state.
//
// A Slot whose From and Until are both the zero time is never granted (no
// instant lies between them); the Locker uses it to read the state first.
type Slot struct {
	Seen        int64     // the last token on which the decision is based; 0: no token was given yet
	From, Until time.Time // the range in which the decision is valid, without Until itself
	Mark        Mark      // the mark to store
}

// Mark is the part of a name's state that describes its last slot. Providers
// store it and do not read it. The zero value: no slot yet.
type Mark struct {
	Slot     time.Time     // the slot that was granted, an instant of the grid
	Anchor   time.Time     // the instant from which the grid counts; zero under a cron rule
	Interval time.Duration // the step of the grid; zero under a cron rule
}

// State is the state of a name in the store.
type State struct {
	Now       time.Time // the store's clock when the state was read
	Token     int64     // the last token given; 0: none
	Mark      Mark      // the mark of the last grant with a Slot
	GrantedAt time.Time // the store's clock at that grant; zero: none
}

// Lease is a lock that was granted. It refers to the grant by name and owner;
// after a loss its methods only return ErrLost. Users get a [Lock] from a
// [Locker], which wraps the provider's Lease.
type Lease interface {
	// Token returns a number greater than the token of every lease granted
	// before for the name. Pass it to the resource that the lock protects, and
	// let the resource refuse smaller tokens.
	Token() int64

	// Extend moves lock_until to now + hold if that is later than lock_until.
	// It never shortens the hold. If the lock has expired (lock_until <= now),
	// has another owner or no row, the error wraps [ErrLost] and nothing is
	// changed. Repeated calls do no harm.
	Extend(ctx context.Context, hold time.Duration) error

	// Release ends the hold at the end of the at-least time, or at once if the
	// at-least time is over, and changes neither locked_at nor locked_by. The
	// at-least time is over at locked_at + AtLeast on the store's clock, or at
	// now + [Rest.Left] on the holder's clock, whichever comes first. So
	// lock_until becomes the later of now and the earlier of these two
	// instants, which lies before locked_at if the store's clock was set back.
	// If the lock has expired, has another owner or no row, the error wraps
	// [ErrLost] and nothing is changed.
	Release(ctx context.Context) error
}

// Inspector is implemented by providers whose locks can be listed, and freed by
// an operator. Callers find it by assertion.
type Inspector interface {
	// Locks returns the locks that have a row or a state, held or not, by name
	// in byte order, in pages.
	Locks(ctx context.Context, req LocksRequest) ([]Info, error)

	// ForceRelease frees a lock, whatever its holder, at once and without
	// regard to AtLeast: lock_until = now if it is later. The holder learns of
	// it at its next Extend. The token stays. A mark whose GrantedAt is later
	// than now (the store's clock was wrong and has been corrected) is deleted,
	// because otherwise no slot would be due until then; any other mark stays,
	// so that no slot is granted twice. An unknown name gives [ErrNotFound].
	ForceRelease(ctx context.Context, req ForceReleaseRequest) error
}

// Notifier is implemented by providers whose store can push that a lock was
// released. Callers find it by assertion, and also poll: a push is a hint, and
// a lost push costs one interval of polling.
type Notifier interface {
	// Watch returns a channel that receives when the lock with the given name
	// may be free: soon after a release by any process, and once when watching
	// has begun, because an earlier release is not seen. If several callers in
	// one process watch a name, one caller is woken at a time. Watch does not
	// wait for the store. It ends with ctx. The channel stays silent if the
	// store cannot be reached or cannot push; a nil channel is silent too.
	Watch(ctx context.Context, name string) <-chan struct{}
}

// LocksRequest is a request for a page of locks.
type LocksRequest struct {
	Names []string         // only locks with these names; empty means all locks
	After string           // only names after this name, in byte order
	Limit int              // the most locks to return; at least 1
	Now   func() time.Time // as in Request
}

// ForceReleaseRequest names the lock to free.
type ForceReleaseRequest struct {
	Name string
	Now  func() time.Time // as in Request
}

// Info is a lock as an [Inspector] returns it. It is held if Until is later
// than Now.
type Info struct {
	Name     string
	Owner    string // the last holder; empty if the name has no row
	LockedAt time.Time
	Until    time.Time
	State    State
}

// Held reports whether the lock was held when it was read.
func (i Info) Held() bool { return i.Until.After(i.State.Now) }
