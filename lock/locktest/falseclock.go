package locktest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// RunFalseClock checks that the clock of a database server decides, however wrong
// it is, even if it is set while a lock is held: no work runs twice and no owner
// takes over too early, if the lock is held for longer than the step. The two
// providers are on one server; set makes the server's clock differ from this
// machine's clock by an offset.
func RunFalseClock(t *testing.T, providers [2]lock.Provider, set func(offset time.Duration)) {
	lockers := make([]*lock.Locker, len(providers))
	for i, provider := range providers {
		locker, err := lock.New(provider, lock.Config{Lease: 2 * time.Second})
		must(t, err)
		lockers[i] = locker
	}
	const step = 5 * time.Minute
	for _, offset := range []time.Duration{step, -step} {
		set(offset)
		t.Run(fmt.Sprint("off by ", offset), func(t *testing.T) { keptToItsEnd(t, lockers) })
	}
	for _, steps := range [][2]time.Duration{{0, step}, {0, -step}, {step, -step}} {
		t.Run(fmt.Sprintf("from %v to %v while held", steps[0], steps[1]), func(t *testing.T) {
			held := heldThroughAStep(t, lockers, set, steps[0], steps[1])
			must(t, held.Release(t.Context())) // free at once, also after the clock was set back
			next, err := lockers[1].Try(t.Context(), held.Name(), lock.Options{})
			must(t, err)
			if next.Token() <= held.Token() {
				t.Errorf("token %d came after %d", next.Token(), held.Token())
			}
			must(t, next.Release(t.Context()))
		})
		t.Run(fmt.Sprintf("from %v to %v between slots", steps[0], steps[1]), func(t *testing.T) { oncePerInterval(t, lockers, set, steps[0], steps[1]) })
	}
	t.Run("back after the grant", func(t *testing.T) { releasedAfterAStepBack(t, lockers, set, step) })
	t.Run("ahead beyond a lease", func(t *testing.T) { set(0); lostByAStep(t, lockers, set, step) })
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// keptToItsEnd checks that a lock that is not renewed is free when its time is
// over by any correct clock, not earlier and only slightly later.
func keptToItsEnd(t *testing.T, lockers []*lock.Locker) {
	const atMost = 6 * time.Second // a grant takes two seconds on a busy machine
	name := t.Name()
	start := time.Now()
	first, err := lockers[0].Try(t.Context(), name, lock.Options{AtMost: atMost, NoKeepAlive: true})
	must(t, err)
	second, err := lockers[1].Lock(t.Context(), name, lock.Options{Wait: time.Minute})
	must(t, err)
	if took := time.Since(start); took < atMost-20*time.Millisecond || took > 10*time.Second {
		t.Errorf("a lock of %v was taken over after %v", atMost, took)
	}
	if first.Context().Err() == nil || second.Token() <= first.Token() {
		t.Error("the former holder was not told, or has the greater token")
	}
	must(t, second.Release(t.Context()))
}

// heldThroughAStep sets the clock to the offset before, takes a lock for longer
// than the step, sets the clock to the offset after, and checks that no other
// owner gets the lock. It returns the lock, which is still held.
func heldThroughAStep(t *testing.T, lockers []*lock.Locker, set func(offset time.Duration), before, after time.Duration) *lock.Lock {
	set(before)
	held, err := lockers[0].Try(t.Context(), t.Name(), lock.Options{AtMost: time.Hour, NoKeepAlive: true})
	must(t, err)
	set(after)
	var refused *lock.HeldError
	if _, err := lockers[1].Try(t.Context(), t.Name(), lock.Options{}); !errors.As(err, &refused) {
		t.Errorf("a lock that is held was taken over: %v", err)
	} else if off := time.Until(refused.Now) - after; off.Abs() > 10*time.Second {
		t.Errorf("the server's clock is off by another %v: it is not the one that was set", off)
	}
	must(t, held.Extend(t.Context(), time.Hour))
	if held.Context().Err() != nil {
		t.Error("the holder was told that its lock is lost")
	}
	return held
}

// releasedAfterAStepBack releases a lock after the clock was set back since the
// grant: the lock is free when its at-least time is over on the holder's own
// clock, not before, and not later by the size of the step.
func releasedAfterAStepBack(t *testing.T, lockers []*lock.Locker, set func(offset time.Duration), step time.Duration) {
	const atLeast = 2 * time.Second
	set(0)
	start := time.Now()
	held, err := lockers[0].Try(t.Context(), t.Name(), lock.Options{AtLeast: atLeast, AtMost: time.Hour})
	must(t, err)
	set(-step)
	must(t, held.Release(t.Context()))
	next, err := lockers[1].Lock(t.Context(), t.Name(), lock.Options{Wait: time.Minute})
	must(t, err)
	if took := time.Since(start); took < atLeast-20*time.Millisecond {
		t.Errorf("a lock with an at-least time of %v was free after %v", atLeast, took)
	}
	if next.Token() <= held.Token() {
		t.Errorf("token %d came after %d", next.Token(), held.Token())
	}
	must(t, next.Release(t.Context()))
}

// oncePerInterval checks that no slot is granted a second time, neither after a
// step of the clock nor when the clock is correct again.
func oncePerInterval(t *testing.T, lockers []*lock.Locker, set func(offset time.Duration), before, after time.Duration) {
	set(before)
	opts := lock.Options{Every: time.Hour}
	held, err := lockers[0].Try(t.Context(), t.Name(), opts)
	must(t, err)
	must(t, held.Release(t.Context()))
	for _, offset := range []time.Duration{after, before} {
		set(offset)
		_, err := lockers[1].Try(t.Context(), t.Name(), opts)
		heldAgain := offset < before && errors.Is(err, lock.ErrHeld) // the release came before the step
		if !errors.Is(err, lock.ErrNotDue) && !heldAgain {
			t.Errorf("the slot was given twice, at %v: %v", offset, err)
		}
	}
}

// lostByAStep sets the clock ahead by more than the lease of a lock that is
// kept alive. For the server the lock has expired then. Its holder learns of it
// before the lease is over, and the token of the next grant is greater.
func lostByAStep(t *testing.T, lockers []*lock.Locker, set func(offset time.Duration), step time.Duration) {
	held, err := lockers[0].Try(t.Context(), t.Name(), lock.Options{})
	must(t, err)
	set(step)
	next, err := lockers[1].Try(t.Context(), t.Name(), lock.Options{})
	must(t, err)
	select {
	case <-held.Context().Done():
	case <-time.After(5 * time.Second):
		t.Fatal("the former holder was not told")
	}
	if cause := context.Cause(held.Context()); !errors.Is(cause, lock.ErrLost) {
		t.Errorf("the former holder's context ended with %v", cause)
	}
	if next.Token() <= held.Token() {
		t.Errorf("token %d came after %d", next.Token(), held.Token())
	}
	must(t, next.Release(t.Context()))
}
