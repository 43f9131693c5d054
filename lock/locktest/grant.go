package locktest

import (
	"context"
	"sync"

	"github.com/hourbell/hourbell/lock"
)

var grantTests = []scenario{
	{"HeldUntilItsEnd", grantHeldUntilItsEnd},
	{"FreeAtItsVeryEnd", grantFreeAtItsVeryEnd},
	{"SaysWhoHoldsItUntilWhen", grantSaysWho},
	{"NotReentrant", grantNotReentrant},
	{"OneWinnerAmongMany", grantOneWinner},
	{"EndedContextTakesNothing", grantEndedContext},
}

func grantHeldUntilItsEnd(e *env) {
	name := e.name()
	e.take(e.a, name, 3)
	e.tick(2)
	e.refused(e.b, name, "a lock is held until its hold ends")
	e.refused(e.a, name, "and for those on the same provider too")
	e.free(e.name(), "another name is another lock")
	e.tick(1.5)
	e.free(name, "after its hold a lock is free")
}

func grantFreeAtItsVeryEnd(e *env) {
	e.exact()
	name := e.name()
	e.take(e.a, name, 3)
	e.now = epoch.Add(3*e.unit - 1e6)
	e.refused(e.b, name, "a millisecond before lock_until the lock is held")
	e.tick(0)
	e.now = epoch.Add(3 * e.unit)
	e.free(name, "lock_until <= now is free")
}

func grantSaysWho(e *env) {
	name := e.name()
	req := e.request(name, 3)
	e.grant(e.a, req)
	held := e.holder(e.b, name, "a held lock is refused")
	e.want(held.Name, name, "the refusal names the lock")
	e.want(held.Owner, req.Owner, "the refusal names the holder")
	e.ok(!held.Now.IsZero(), "the refusal says what the store's clock shows")
	if !e.s.RealTime {
		e.same(held.Now, e.now, "in a test the clock is the clock of the request")
		e.same(held.Until, e.now.Add(req.Hold), "lock_until is now + Hold")
	}
}

func grantNotReentrant(e *env) {
	name := e.name()
	req := e.request(name, 3)
	e.grant(e.a, req)
	_, err := e.a.TryLock(e.ctx, req)
	e.is(err, lock.ErrHeld, "a lock is held for its own owner too")
}

func grantOneWinner(e *env) {
	const rounds, rivals = 10, 12
	for range rounds {
		name := e.name()
		var wins, refusals int
		var mu sync.Mutex
		var all sync.WaitGroup
		for i := range rivals {
			p, req := []lock.Provider{e.a, e.b}[i%2], e.request(name, 3)
			all.Go(func() {
				_, err := p.TryLock(e.ctx, req)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					wins++
				} else {
					refusals++
					e.is(err, lock.ErrHeld, "the second caller learns that the lock is held, and nothing else")
				}
			})
		}
		all.Wait()
		e.want(wins, 1, "of concurrent callers, one gets the lock")
		e.want(refusals, rivals-1, "and the others are refused")
	}
}

func grantEndedContext(e *env) {
	name := e.name()
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	_, err := e.a.TryLock(ctx, e.request(name, 3))
	e.ok(err != nil, "a request whose context has ended fails")
	e.free(name, "and takes nothing")
}
