package locktest

import (
	"crypto/rand"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/lock"
)

var checkTests = []scenario{
	{"PassesWhileTheLockStands", checkPasses},
	{"PassesWhereNobodyHasTakenTheLockSince", checkExpired},
	{"RefusesAFormerHolder", checkFormerHolder},
	{"RefusesWhatDoesNotStand", checkNothing},
	{"HoldsOffATakeoverUntilTheEnd", checkHoldsOff},
	{"RacesTakeovers", checkRaces},
}

// begin opens a transaction of the caller.
func (e *env) begin() (tx lock.Tx, end func(commit bool)) {
	e.t.Helper()
	if e.s.Tx == nil {
		e.t.Skip("the store has no transactions that can check locks")
	}
	tx, finish, err := e.s.Tx(e.ctx)
	e.must(err)
	ended := false
	end = func(commit bool) {
		if !ended {
			ended = true
			e.must(finish(commit))
		}
	}
	e.t.Cleanup(func() {
		if !ended {
			_ = finish(false) // an earlier failure is more useful
		}
	})
	return tx, end
}

// check calls lock.Check in a transaction of its own.
func (e *env) check(name string, token int64) error {
	e.t.Helper()
	tx, end := e.begin()
	err := lock.Check(e.ctx, tx, name, token)
	end(err == nil)
	return err
}

// takeAsLocker takes a free lock, with an owner in the format of the Locker:
// this format distinguishes grants of this program from grants of other
// programs.
func (e *env) takeAsLocker(p lock.Provider, name string, hold float64) lock.Lease {
	e.t.Helper()
	req := e.request(name, hold)
	req.Owner = "locktest/1/" + rand.Text()
	return e.grant(p, req)
}

func checkPasses(e *env) {
	name := e.name()
	lease := e.takeAsLocker(e.a, name, 3)
	e.must(e.check(name, lease.Token()))
	tx, end := e.begin()
	for range 3 {
		e.must(lock.Check(e.ctx, tx, name, lease.Token()))
	}
	end(true)
	e.must(lease.Extend(e.ctx, 4*e.unit))
	e.must(e.check(name, lease.Token()))
	e.must(lease.Release(e.ctx))
}

func checkExpired(e *env) {
	name := e.name()
	lease := e.takeAsLocker(e.a, name, 1)
	e.tick(5)
	e.must(e.check(name, lease.Token()))
	next := e.takeAsLocker(e.b, name, 1)
	e.must(next.Release(e.ctx))
	e.must(e.check(name, next.Token()))
	e.is(e.check(name, lease.Token()), lock.ErrLost, "a lock that was taken since does not stand, also if it is free again")
}

func checkFormerHolder(e *env) {
	name := e.name()
	former := e.takeAsLocker(e.a, name, 1)
	e.tick(1.1)
	next := e.takeAsLocker(e.b, name, 3)
	e.is(e.check(name, former.Token()), lock.ErrLost, "the lock of a former holder does not stand")
	e.must(e.check(name, next.Token()))
}

func checkNothing(e *env) {
	name := e.name()
	e.is(e.check(name, 1), lock.ErrLost, "a lock that was never taken does not stand")
	lease := e.takeAsLocker(e.a, name, 3)
	for _, token := range []int64{lease.Token() - 1, lease.Token() + 1} {
		if token > 0 {
			e.is(e.check(name, token), lock.ErrLost, "a lock stands with its token alone")
		}
	}
	e.is(e.check(e.name(), lease.Token()), lock.ErrLost, "and under its name alone")
	if e.s.DeleteRow != nil {
		_, err := e.s.DeleteRow(e.ctx, name)
		e.must(err)
		e.is(e.check(name, lease.Token()), lock.ErrLost, "a lock whose row was deleted does not stand")
	}
}

// takeover is a lock that was taken, and what had happened before.
type takeover struct {
	lease lock.Lease
	err   error
	after bool // the transaction had been ended before
}

// takeOver takes a lock in the background. told is set when the transaction
// that holds the lock is being ended.
func (e *env) takeOver(name string, told *atomic.Bool) <-chan takeover {
	req := e.request(name, 3)
	done := make(chan takeover, 1)
	go func() {
		for {
			lease, err := e.b.TryLock(e.ctx, req)
			if err == nil || e.ctx.Err() != nil || told.Load() && !passes(err) {
				done <- takeover{lease, err, told.Load()}
				return
			}
		}
	}()
	return done
}

// passes reports whether a refusal can be caused by a transaction that is
// ending.
func passes(err error) bool { return isAny(err, lock.ErrHeld, lock.ErrBusy) }

func checkHoldsOff(e *env) {
	for _, commit := range []bool{true, false} {
		name := e.name()
		lease := e.takeAsLocker(e.a, name, 1)
		e.tick(2) // expired: any caller can take it
		tx, end := e.begin()
		e.must(lock.Check(e.ctx, tx, name, lease.Token()))
		var told atomic.Bool
		taken := e.takeOver(name, &told)
		select {
		case got := <-taken:
			e.t.Fatalf("a lock that was checked in an open transaction was taken: %v", got.err)
		case <-time.After(300 * time.Millisecond): // long enough for a grant that does not wait
		}
		e.must(lock.Check(e.ctx, tx, name, lease.Token()))
		told.Store(true)
		end(commit)
		got := <-taken
		e.must(got.err)
		e.ok(got.after && got.lease.Token() > lease.Token(), "a takeover comes after the transaction, with a greater token")
		e.is(e.check(name, lease.Token()), lock.ErrLost, "after it the former holder is refused")
	}
}

// checkRaces checks at random moments that either the check is refused, or the
// takeover comes after the end of the transaction.
func checkRaces(e *env) {
	const rounds = 40
	refused := 0
	for round := range rounds {
		name := e.name()
		lease := e.takeAsLocker(e.a, name, 1)
		e.tick(2)
		tx, end := e.begin()
		var told atomic.Bool
		taken := e.takeOver(name, &told)
		time.Sleep(time.Duration(round%10) * 50 * time.Microsecond)
		err := lock.Check(e.ctx, tx, name, lease.Token())
		told.Store(true)
		end(err == nil)
		got := <-taken
		e.must(got.err)
		if err != nil {
			refused++
			e.ok(isAny(err, lock.ErrLost, lock.ErrBusy), "a check that comes second is refused as lost:", err)
			continue
		}
		e.ok(got.after, "a takeover that is concurrent with a check that passed comes after the end of the transaction")
	}
	e.t.Logf("%d checks of %d were refused", refused, rounds)
}
