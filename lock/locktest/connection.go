package locktest

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/lock"
)

var connectionTests = []scenario{
	{"NoPartOfTheCallersTransaction", connectionTransaction},
	{"ExhaustedSaysSoInTime", connectionExhausted},
}

func connectionTransaction(e *env) {
	if e.s.Begin == nil {
		e.t.Skip("the store has no transactions of the caller's")
	}
	kept, released := e.name(), e.name()
	old := e.take(e.a, released, 5)
	rollback, err := e.s.Begin(e.ctx)
	e.must(err)
	e.take(e.a, kept, 5)
	e.refused(e.b, kept, "a lock is committed at once, whatever transaction is open")
	e.must(old.Release(e.ctx))
	e.must(rollback())
	e.refused(e.b, kept, "a lock stays when the caller's transaction is rolled back")
	e.free(released, "so does a release")
}

func connectionExhausted(e *env) {
	if e.s.Exhausted == nil {
		e.t.Skip("no way to exhaust the store is given")
	}
	const bound = 300 * time.Millisecond
	p := e.s.Exhausted(e.t)
	ctx, cancel := context.WithTimeout(e.ctx, bound)
	defer cancel()
	start := time.Now()
	_, err := p.TryLock(ctx, e.request(e.name(), 1))
	e.is(err, lock.ErrBusy, "a store that gives no connection is said to be busy")
	e.ok(time.Since(start) < bound+5*time.Second, "within the bound, not after", time.Since(start))
}
