package locktest

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/lock"
)

var leaseTests = []scenario{
	{"ReleaseFrees", leaseReleaseFrees},
	{"ReleaseKeepsTheRow", leaseReleaseKeepsRow},
	{"ReleaseWaitsForAtLeast", leaseAtLeast},
	{"ReleaseFreesAfterTheClockWasSetBack", leaseClockSetBack},
	{"ExtendHoldsFromNow", leaseExtend},
	{"ExtendNeverShortens", leaseExtendNeverShortens},
	{"ExpiredCannotExtend", leaseExpiredCannotExtend},
	{"ExpiredCannotRelease", leaseExpiredCannotRelease},
	{"FormerHolderLeavesItsSuccessorAlone", leaseFormerHolder},
	{"ReleaseOfALockNeverGotFreesNothing", leaseNeverGot},
	{"RowDeletedIsLost", leaseRowDeleted},
}

func leaseReleaseFrees(e *env) {
	name := e.name()
	lease := e.take(e.a, name, 3)
	e.must(lease.Release(e.ctx))
	e.free(name, "a released lock is free at once")
}

func leaseReleaseKeepsRow(e *env) {
	if e.s.DeleteRow == nil || e.s.RowsExpire {
		e.t.Skip("rows cannot be looked at, or end by themselves")
	}
	name := e.name()
	e.must(e.take(e.a, name, 3).Release(e.ctx))
	existed, err := e.s.DeleteRow(e.ctx, name)
	e.must(err)
	e.ok(existed, "a release keeps the row: others remember that it is there, and only update it")
}

func leaseAtLeast(e *env) {
	name := e.name()
	req := e.request(name, 5)
	req.AtLeast = 2 * e.unit
	lease := e.grant(e.a, req)
	e.tick(1)
	e.must(lease.Release(e.ctx))
	held := e.holder(e.b, name, "a lock released before its at-least time is held until then")
	if !e.s.RealTime {
		e.same(held.Until, epoch.Add(req.AtLeast), "at-least counts from the grant")
	}
	e.tick(1.2)
	e.free(name, "and free after it")

	req = e.request(name, 5)
	req.AtLeast = e.unit
	lease = e.grant(e.a, req)
	e.tick(2)
	e.must(lease.Release(e.ctx))
	e.free(name, "released after its at-least time, a lock is free at once")
}

// leaseClockSetBack sets the clock back after the grant, so that locked_at lies
// ahead. A lock whose at-least time has passed on the holder's own clock must
// be free nevertheless.
func leaseClockSetBack(e *env) {
	e.exact()
	const step = 5 * time.Minute
	name, last := e.name(), int64(0)
	for _, atLeast := range []time.Duration{0, 20 * time.Millisecond} {
		req := e.request(name, 10)
		req.AtLeast = atLeast
		lease := e.grant(e.a, req)
		e.now = e.now.Add(-step)
		time.Sleep(atLeast + 5*time.Millisecond) // on the clock that cannot be set
		e.must(lease.Release(e.ctx))
		e.is(lease.Extend(e.ctx, e.unit), lock.ErrLost, "a lock that was released under a clock set back is not its holder's any more")
		next := e.take(e.b, name, 1)
		e.ok(lease.Token() > last && next.Token() > lease.Token(), "tokens grow whatever the clock does", last, lease.Token(), next.Token())
		e.must(next.Release(e.ctx))
		last = next.Token()
		e.now = e.now.Add(step)
	}
	req := e.request(name, 10)
	req.AtLeast = 2 * e.unit
	lease := e.grant(e.a, req)
	e.now = e.now.Add(-step)
	e.must(lease.Release(e.ctx))
	e.refused(e.b, name, "an at-least time that has not passed on any clock holds the lock, also under a clock set back")
}

func leaseExtend(e *env) {
	name := e.name()
	lease := e.take(e.a, name, 3)
	e.tick(2)
	e.must(lease.Extend(e.ctx, 3*e.unit))
	e.tick(2)
	e.refused(e.b, name, "an extended lock is held for longer")
	e.must(lease.Extend(e.ctx, 3*e.unit))
	e.tick(2)
	held := e.holder(e.b, name, "and longer still")
	if !e.s.RealTime {
		e.same(held.Until, epoch.Add(7*e.unit), "an extension counts from now")
	}
	e.tick(1.2)
	e.free(name, "and is free after that")
}

func leaseExtendNeverShortens(e *env) {
	e.exact()
	name := e.name()
	lease := e.take(e.a, name, 5)
	e.must(lease.Extend(e.ctx, e.unit))
	e.same(e.holder(e.b, name, "still held").Until, epoch.Add(5*e.unit), "Extend never shortens a hold")
}

func leaseExpiredCannotExtend(e *env) {
	name := e.name()
	lease := e.take(e.a, name, 1)
	if e.s.RealTime {
		e.tick(1.1)
	} else {
		e.tick(1) // lock_until == now
	}
	e.is(lease.Extend(e.ctx, 3*e.unit), lock.ErrLost, "an expired lock cannot be extended")
	e.free(name, "and the attempt changes nothing")
}

func leaseExpiredCannotRelease(e *env) {
	name := e.name()
	lease := e.take(e.a, name, 1)
	e.tick(1.1)
	e.is(lease.Release(e.ctx), lock.ErrLost, "an expired lock is not there to be released")
	e.free(name, "and is free")
}

func leaseFormerHolder(e *env) {
	name := e.name()
	former := e.take(e.a, name, 1)
	e.tick(1.1)
	req := e.request(name, 4)
	e.grant(e.b, req)
	before := e.holder(e.a, name, "taken over")
	e.is(former.Extend(e.ctx, 9*e.unit), lock.ErrLost, "a former holder cannot extend its successor's lock")
	e.is(former.Release(e.ctx), lock.ErrLost, "a former holder cannot release its successor's lock")
	after := e.holder(e.a, name, "a former holder's release frees nothing")
	e.want(after.Owner, req.Owner, "the owner is still the successor")
	e.same(after.Until, before.Until, "until the same instant")
}

// leaseNeverGot has a common mistake with locks in a table: a release in a
// finally block that also runs if the lock was not taken.
func leaseNeverGot(e *env) {
	name := e.name()
	req := e.request(name, 4)
	e.grant(e.a, req)
	rival := e.locker(e.b, lock.Config{Now: e.clock()})
	err := rival.Do(e.ctx, name, lock.Options{}, func(context.Context, *lock.Lock) error {
		e.t.Error("work must not run without its lock")
		return nil
	})
	e.is(err, lock.ErrHeld, "a caller that does not get the lock learns so")
	held := e.holder(e.b, name, "who never got a lock frees nothing")
	e.want(held.Owner, req.Owner, "the holder is the same")
}

func leaseRowDeleted(e *env) {
	if e.s.DeleteRow == nil {
		e.t.Skip("rows cannot be deleted")
	}
	name := e.name()
	lease := e.take(e.a, name, 3)
	_, err := e.s.DeleteRow(e.ctx, name)
	e.must(err)
	e.is(lease.Extend(e.ctx, 3*e.unit), lock.ErrLost, "a lock whose row was deleted is lost")
	e.is(lease.Release(e.ctx), lock.ErrLost, "and there is nothing to release")
	ctx, cancel := context.WithTimeout(e.ctx, 10*time.Second)
	defer cancel()
	_, err = e.b.TryLock(ctx, e.request(name, 1))
	e.must(err)
}
