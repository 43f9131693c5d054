package locktest

import (
	"errors"
	"time"

	"github.com/hourbell/hourbell/lock"
)

var clockTests = []scenario{
	{"TheStoresOwn", clockStoresOwn},
	{"CountsOnItsOwn", clockCounts},
	{"ServesSlots", clockServesSlots},
}

// clockSlack is how much a store's clock may differ from the expected time, on
// busy machines.
const clockSlack = 10 * time.Second

// realRequest returns a request by the store's clock.
func (e *env) realRequest(name string, hold time.Duration) lock.Request {
	req := e.request(name, 1)
	req.Now, req.Hold = nil, hold
	return req
}

// asHeld returns the refusal of a lock that is held.
func (e *env) asHeld(err error) *lock.HeldError {
	e.t.Helper()
	var held *lock.HeldError
	if !errors.As(err, &held) {
		e.t.Fatalf("a *lock.HeldError was expected, got %v", err)
	}
	return held
}

// mustBeHeld ends the test on any other error.
func (e *env) mustBeHeld(err error) {
	e.t.Helper()
	_ = e.asHeld(err)
}

func (e *env) isStoreTime(t time.Time, rule string) {
	e.t.Helper()
	off := time.Until(t) - e.s.Skew
	e.ok(off.Abs() <= clockSlack, rule+": it is off by", off)
}

func clockStoresOwn(e *env) {
	name := e.name()
	const hold = 7 * time.Minute
	lease := e.grant(e.a, e.realRequest(name, hold))
	_, err := e.b.TryLock(e.ctx, e.realRequest(name, hold))
	held := e.asHeld(err)
	e.isStoreTime(held.Now, "the clock is the store's clock")
	e.isStoreTime(held.Until.Add(-hold), "a hold counts from the store's clock")
	e.must(lease.Extend(e.ctx, 2*hold))
	_, err = e.b.TryLock(e.ctx, e.realRequest(name, hold))
	e.isStoreTime(e.asHeld(err).Until.Add(-2*hold), "an extension counts from the store's clock")
	e.must(lease.Release(e.ctx))
	again := e.grant(e.b, e.realRequest(name, hold))
	e.must(again.Release(e.ctx))
}

func clockCounts(e *env) {
	name := e.name()
	const hold = 700 * time.Millisecond
	start := time.Now()
	first := e.grant(e.a, e.realRequest(name, hold))
	granted := time.Now()
	for {
		second, err := e.b.TryLock(e.ctx, e.realRequest(name, hold))
		if err != nil {
			e.mustBeHeld(err)
			e.ok(time.Since(granted) < hold+clockSlack, "a lock is free after its hold")
			time.Sleep(10 * time.Millisecond)
			continue
		}
		// The 20 ms allow for clocks that do not tick at the same instants.
		e.ok(time.Since(start) >= hold-20*time.Millisecond, "a lock is held for all of its hold, not only", time.Since(start))
		e.ok(second.Token() > first.Token(), "the successor's token is greater")
		e.is(first.Extend(e.ctx, hold), lock.ErrLost, "an expired lock cannot be extended")
		e.is(first.Release(e.ctx), lock.ErrLost, "nor released")
		return
	}
}

func clockServesSlots(e *env) {
	name := e.name()
	read := e.realRequest(name, time.Second)
	read.Slot = &lock.Slot{}
	state := e.notDue(read, "a slot without a time is never granted").State
	e.isStoreTime(state.Now, "a state is read by the store's clock")
	req := e.realRequest(name, time.Second)
	from := state.Now.Truncate(time.Millisecond)
	req.Slot = &lock.Slot{From: from, Until: from.Add(time.Minute), Mark: lock.Mark{Slot: from}}
	e.must(e.grant(e.b, req).Release(e.ctx))
	state = e.notDue(read, "a slot without a time is never granted").State
	e.isStoreTime(state.GrantedAt, "a slot is granted by the store's clock")
	e.same(state.Mark.Slot, from, "the slot is kept to the millisecond")
	req.Slot = &lock.Slot{Seen: state.Token, From: from.Add(time.Hour), Until: from.Add(2 * time.Hour)}
	e.refusedSlot(req, "a slot is refused before its time by the store's clock")
	req.Slot = &lock.Slot{Seen: state.Token, From: from.Add(-2 * time.Hour), Until: from.Add(-time.Hour)}
	e.refusedSlot(req, "and after it")
}
