package locktest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// env is a test with two connections to a store, and a clock of its own.
type env struct {
	t    testing.TB
	ctx  context.Context
	s    Store
	a, b lock.Provider
	now  time.Time     // the time in requests, unless the store is in real time
	unit time.Duration // holds and waits are multiples of this time
}

// epoch is far from any real time.
var epoch = time.Date(2035, 3, 4, 5, 6, 7, 891_000_000, time.UTC)

func newEnv(t testing.TB, s Store) *env {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	e := &env{t: t, ctx: ctx, s: s, now: epoch, unit: time.Minute}
	if s.RealTime {
		e.unit = 300 * time.Millisecond
	}
	e.a, e.b = e.open(), e.open()
	return e
}

// open opens another connection to the store, until the test ends.
func (e *env) open() lock.Provider {
	e.t.Helper()
	p, closeIt, err := e.s.Open(e.ctx, e.s.Target)
	e.must(err)
	e.t.Cleanup(closeIt)
	return p
}

// name returns a name that no other test uses, short enough for every table.
func (e *env) name() string { return "locktest " + rand.Text()[:20] }

// tick lets some units of time pass.
func (e *env) tick(units float64) {
	d := time.Duration(units * float64(e.unit))
	if e.s.RealTime {
		time.Sleep(d)
	}
	e.now = e.now.Add(d)
}

// clock returns the Now of requests.
func (e *env) clock() func() time.Time {
	if e.s.RealTime {
		return nil
	}
	return func() time.Time { return e.now }
}

// exact skips the test if it needs a clock that stands still, and the store has
// none.
func (e *env) exact() {
	e.t.Helper()
	if e.s.RealTime {
		e.t.Skip("the provider cannot replace the store's clock")
	}
}

// request returns a plain request of a new owner, for a hold of some units.
func (e *env) request(name string, hold float64) lock.Request {
	return lock.Request{Name: name, Owner: "owner " + rand.Text(), Hold: time.Duration(hold * float64(e.unit)), Now: e.clock()}
}

// take takes a lock that is free.
func (e *env) take(p lock.Provider, name string, hold float64) lock.Lease {
	e.t.Helper()
	return e.grant(p, e.request(name, hold))
}

// grant sends a request that must be granted.
func (e *env) grant(p lock.Provider, req lock.Request) lock.Lease {
	e.t.Helper()
	lease, err := p.TryLock(e.ctx, req)
	if err != nil {
		e.t.Fatalf("a lock that is free must be granted: %v", err)
	}
	if lease == nil || lease.Token() <= 0 {
		e.t.Fatalf("a grant must have a lease with a positive token: %v", lease)
	}
	return lease
}

// refused sends a request that must find the lock held.
func (e *env) refused(p lock.Provider, name, rule string) {
	e.t.Helper()
	_ = e.holder(p, name, rule)
}

// holder returns the refusal of a request that must find the lock held.
func (e *env) holder(p lock.Provider, name, rule string) *lock.HeldError {
	e.t.Helper()
	lease, err := p.TryLock(e.ctx, e.request(name, 1))
	var held *lock.HeldError
	if !errors.As(err, &held) || !errors.Is(err, lock.ErrHeld) {
		e.t.Fatalf("%s: a *lock.HeldError was expected, got %v", rule, err)
	}
	if lease != nil {
		e.t.Errorf("%s: a refusal must come without a lease", rule)
	}
	return held
}

// free checks that a lock can be taken, and releases it.
func (e *env) free(name, rule string) {
	e.t.Helper()
	lease, err := e.b.TryLock(e.ctx, e.request(name, 1))
	if err != nil {
		e.t.Fatalf("%s: the lock must be free: %v", rule, err)
	}
	e.must(lease.Release(e.ctx))
}

// state reads the state of a free name, with a slot that is never granted.
func (e *env) state(name string) lock.State {
	e.t.Helper()
	req := e.request(name, 1)
	req.Slot = &lock.Slot{}
	return e.notDue(req, "a slot without a time is never granted").State
}

// refusedSlot sends a request whose slot must be refused.
func (e *env) refusedSlot(req lock.Request, rule string) {
	e.t.Helper()
	_ = e.notDue(req, rule)
}

// notDue returns the refusal of a request whose slot must be refused.
func (e *env) notDue(req lock.Request, rule string) *lock.NotDueError {
	e.t.Helper()
	_, err := e.a.TryLock(e.ctx, req)
	var notDue *lock.NotDueError
	if !errors.As(err, &notDue) || !errors.Is(err, lock.ErrNotDue) {
		e.t.Fatalf("%s: a *lock.NotDueError was expected, got %v", rule, err)
	}
	notDue.State = utc(notDue.State)
	return notDue
}

// utc normalises the times in a state, so that states can be compared.
func utc(s lock.State) lock.State {
	s.Now, s.GrantedAt = s.Now.UTC(), s.GrantedAt.UTC()
	s.Mark.Slot, s.Mark.Anchor = s.Mark.Slot.UTC(), s.Mark.Anchor.UTC()
	return s
}

// want reports a broken rule if got and want differ.
func (e *env) want(got, want any, rule string) {
	e.t.Helper()
	if !reflect.DeepEqual(got, want) {
		e.t.Errorf("%s\n got: %+v\nwant: %+v", rule, got, want)
	}
}

// same reports a broken rule if two instants differ.
func (e *env) same(got, want time.Time, rule string) {
	e.t.Helper()
	if !got.Equal(want) {
		e.t.Errorf("%s\n got: %v\nwant: %v", rule, got, want)
	}
}

// ok reports a broken rule if it does not hold.
func (e *env) ok(holds bool, rule string, more ...any) {
	e.t.Helper()
	if !holds {
		e.t.Errorf("%s", strings.TrimSpace(fmt.Sprintln(append([]any{rule}, more...)...)))
	}
}

// is reports a broken rule if err is not the sentinel.
func (e *env) is(err, sentinel error, rule string) {
	e.t.Helper()
	if !errors.Is(err, sentinel) {
		e.t.Errorf("%s\n got error: %v\nwant error: %v", rule, err, sentinel)
	}
}

// isAny reports whether err is one of the sentinels.
func isAny(err error, sentinels ...error) bool {
	return slices.ContainsFunc(sentinels, func(s error) bool { return errors.Is(err, s) })
}

// must ends the test on an unexpected error.
func (e *env) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatalf("unexpected error: %v", err)
	}
}

// locker makes a Locker over a provider.
func (e *env) locker(p lock.Provider, config lock.Config) *lock.Locker {
	e.t.Helper()
	locker, err := lock.New(p, config)
	e.must(err)
	return locker
}

// number reads a number from the environment.
func (e *env) number(variable string, otherwise int64) int64 {
	e.t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		e.t.Fatalf("%s=%q: give a number from 1", variable, text)
	}
	return n
}
