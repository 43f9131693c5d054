package locktest

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/lock"
)

var notifyTests = []scenario{
	{"ReleaseIsPushed", notifyRelease},
	{"ReleaseByForceIsPushed", notifyForce},
	{"WaitersAreWoken", notifyWaiters},
	{"WaitersOfThisProcessAreWoken", notifyWithin},
}

// notifyPatience bounds how long a push may take on a busy machine.
const notifyPatience = 30 * time.Second

// watch watches a lock that another provider holds, and returns when watching
// has begun.
func (e *env) watch(name string) (heard func(what string)) {
	e.t.Helper()
	notifier, ok := e.b.(lock.Notifier)
	if !ok || e.s.NoPush {
		e.t.Skip("the store pushes nothing")
	}
	ctx, cancel := context.WithCancel(e.ctx)
	e.t.Cleanup(cancel)
	turn := notifier.Watch(ctx, name)
	heard = func(what string) {
		e.t.Helper()
		select {
		case <-turn:
		case <-time.After(notifyPatience):
			e.t.Fatalf("%s must be pushed", what)
		}
	}
	return heard
}

func notifyRelease(e *env) {
	name := e.name()
	lease := e.take(e.a, name, 3)
	heard := e.watch(name)
	if !e.s.InProcess {
		heard("the beginning of the watch")
	}
	for range 3 {
		e.must(lease.Release(e.ctx))
		heard("a release in another process")
		lease = e.take(e.a, name, 3)
	}
	e.must(lease.Release(e.ctx))
}

func notifyForce(e *env) {
	inspector, ok := e.a.(lock.Inspector)
	if !ok {
		e.t.Skip("the provider cannot release by force")
	}
	name := e.name()
	e.take(e.a, name, 3)
	heard := e.watch(name)
	if !e.s.InProcess {
		heard("the beginning of the watch")
	}
	e.must(inspector.ForceRelease(e.ctx, lock.ForceReleaseRequest{Name: name, Now: e.clock()}))
	heard("a release by force")
}

// notifyWaiters has callers that wait for a long time and poll once a second.
// Pushes shorten most of their waits.
func notifyWaiters(e *env) {
	if _, ok := e.b.(lock.Notifier); !ok || e.s.NoPush {
		e.t.Skip("the store pushes nothing")
	}
	e.wakes(e.locker(e.a, lock.Config{}), e.locker(e.b, lock.Config{}), "a release wakes callers that wait in another process:")
}

// notifyWithin checks that releases within a Locker need no push of the store.
func notifyWithin(e *env) {
	locker := e.locker(struct{ lock.Provider }{e.a}, lock.Config{})
	e.wakes(locker, locker, "a release wakes callers that wait in its own process:")
}

// wakes checks that callers of one Locker wait for a short time after the releases of another. On a busy machine a wake-up may take
// as long as a poll, so a measurement that is too slow is repeated.
func (e *env) wakes(holding, waiting *lock.Locker, rule string) {
	e.t.Helper()
	const tries = 5
	for try := 1; ; try++ {
		waits := e.waitsAfterReleases(holding, waiting)
		median := waits[len(waits)/2]
		e.t.Logf("from release to grant: median %v, of %v", median, waits)
		if median < 400*time.Millisecond || try == tries {
			e.ok(median < 400*time.Millisecond, rule, waits)
			return
		}
	}
}

// waitsAfterReleases returns how long callers of one Locker wait after the releases of another, the shortest wait first.
func (e *env) waitsAfterReleases(holding, waiting *lock.Locker) []time.Duration {
	e.t.Helper()
	const waiters, held = 9, 2 * time.Second
	waits := make([]time.Duration, waiters)
	var all sync.WaitGroup
	for i := range waiters {
		name := e.name()
		holder, err := holding.Try(e.ctx, name, lock.Options{})
		e.must(err)
		var released atomic.Int64
		all.Go(func() {
			next, err := waiting.Lock(e.ctx, name, lock.Options{Wait: time.Minute})
			if err != nil {
				e.t.Error(err)
				return
			}
			waits[i] = time.Since(time.Unix(0, released.Load()))
			_ = next.Release(e.ctx) // the wait has been measured already
		})
		all.Go(func() {
			time.Sleep(held)
			released.Store(time.Now().UnixNano())
			if err := holder.Release(e.ctx); err != nil {
				e.t.Error(err)
			}
		})
	}
	all.Wait()
	slices.Sort(waits)
	return waits
}
