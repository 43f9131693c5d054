package lock_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/memory"
)

func locker(t *testing.T, p lock.Provider, config lock.Config) *lock.Locker {
	t.Helper()
	l, err := lock.New(p, config)
	must(t, err)
	return l
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func is(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
}

func TestTryRefusesBadInput(t *testing.T) {
	l := locker(t, memory.New(), lock.Config{})
	for _, test := range []struct {
		name string
		opts lock.Options
		want string
	}{
		{"", lock.Options{}, "name is empty"},
		{strings.Repeat("x", 201), lock.Options{}, "201 bytes"},
		{"a\x00b", lock.Options{}, "U+0000"},
		{"a\nb", lock.Options{}, "U+000A"},
		{" a", lock.Options{}, "white space"},
		{"a ", lock.Options{}, "white space"},
		{"a\u00a0", lock.Options{}, "white space"},
		{"a\xff", lock.Options{}, "UTF-8"},
		{"a", lock.Options{AtMost: time.Millisecond}, "use at least 100ms"},
		{"a", lock.Options{AtMost: -1}, "use at least 100ms"},
		{"a", lock.Options{AtMost: 1 << 62}, "use at most"},
		{"a", lock.Options{AtMost: time.Minute, AtLeast: time.Hour}, "raise at-most to 1h0m0s or more"},
		{"a", lock.Options{AtLeast: -time.Second}, "use at least 0s"},
		{"a", lock.Options{Every: time.Millisecond}, "every \"1ms\" is too short; use at least 100ms"},
		{"a", lock.Options{Every: time.Hour + 1}, "whole milliseconds"},
		{"a", lock.Options{Every: time.Hour, Cron: daily{}}, "give one of both"},
		{"a", lock.Options{Wait: time.Second}, "does not wait"},
	} {
		_, err := l.Try(t.Context(), test.name, test.opts)
		var field *check.FieldError
		if !errors.As(err, &field) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q %+v: got %v, want %q", test.name, test.opts, err, test.want)
		}
	}
	_, err := l.Lock(t.Context(), "a", lock.Options{})
	if err == nil || !strings.Contains(err.Error(), "say for how long") {
		t.Errorf("Lock without Wait: got %v", err)
	}
	for _, config := range []lock.Config{{Lease: time.Millisecond}, {Lease: 2 * time.Hour}, {Timeout: 1}} {
		if _, err := lock.New(memory.New(), config); err == nil {
			t.Errorf("%+v must be refused", config)
		}
	}
}

// daily is a rule for tests.
type daily struct{}

func (daily) Next(after time.Time) time.Time {
	return after.Truncate(24 * time.Hour).Add(24 * time.Hour)
}

func TestNestedLocks(t *testing.T) {
	l := locker(t, memory.New(), lock.Config{})
	err := l.Do(t.Context(), "outer", lock.Options{}, func(ctx context.Context, outer *lock.Lock) error {
		_, err := l.Lock(ctx, "outer", lock.Options{Wait: time.Hour})
		is(t, err, lock.ErrNested)
		return l.Do(ctx, "inner", lock.Options{}, func(ctx context.Context, inner *lock.Lock) error {
			if held, ok := lock.Held(ctx, "outer"); !ok || held != outer {
				t.Error("the outer lock is held inside of the inner one")
			}
			if held, ok := lock.Held(ctx, "inner"); !ok || held != inner {
				t.Error("and so is the inner one")
			}
			if _, ok := lock.Held(ctx, "other"); ok {
				t.Error("no other is")
			}
			_, err := l.Try(ctx, "outer", lock.Options{})
			is(t, err, lock.ErrNested)
			return nil
		})
	})
	must(t, err)
}

func TestReleasedLock(t *testing.T) {
	l := locker(t, memory.New(), lock.Config{})
	held, err := l.Try(t.Context(), "a", lock.Options{AtLeast: time.Hour})
	must(t, err)
	must(t, held.Extend(t.Context(), 2*time.Hour))
	must(t, held.Release(t.Context()))
	is(t, held.Release(t.Context()), lock.ErrReleased)
	is(t, held.Extend(t.Context(), time.Hour), lock.ErrReleased)
	is(t, context.Cause(held.Context()), lock.ErrReleased)
	if _, ok := lock.Held(held.Context(), "a"); ok {
		t.Error("a released lock is not held")
	}
	_, err = l.Try(held.Context(), "a", lock.Options{})
	if err == nil || errors.Is(err, lock.ErrNested) {
		t.Errorf("a context of a released lock is not under it: %v", err)
	}
}

func TestReleaseAfterTheContextEnded(t *testing.T) {
	l := locker(t, memory.New(), lock.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	err := l.Do(ctx, "a", lock.Options{}, func(ctx context.Context, _ *lock.Lock) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	is(t, err, context.Canceled)
	must(t, l.Do(t.Context(), "a", lock.Options{}, func(context.Context, *lock.Lock) error { return nil }))
}

func TestReleaseAfterAPanic(t *testing.T) {
	l := locker(t, memory.New(), lock.Config{})
	func() {
		defer func() { recover() }()
		_ = l.Do(t.Context(), "a", lock.Options{}, func(context.Context, *lock.Lock) error { panic("work") })
	}()
	must(t, l.Do(t.Context(), "a", lock.Options{}, func(context.Context, *lock.Lock) error { return nil }))
}

func TestLockWaits(t *testing.T) {
	p := memory.New()
	l := locker(t, p, lock.Config{})
	held, err := l.Try(t.Context(), "a", lock.Options{})
	must(t, err)
	start := time.Now()
	_, err = l.Lock(t.Context(), "a", lock.Options{Wait: 100 * time.Millisecond})
	is(t, err, lock.ErrHeld)
	if waited := time.Since(start); waited < 90*time.Millisecond {
		t.Errorf("waited for %v only", waited)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	time.AfterFunc(20*time.Millisecond, func() { cancel(stop) })
	_, err = l.Lock(ctx, "a", lock.Options{Wait: time.Hour})
	is(t, err, stop)
	time.AfterFunc(50*time.Millisecond, func() { held.Release(context.Background()) })
	next, err := l.Lock(t.Context(), "a", lock.Options{Wait: time.Minute})
	must(t, err)
	must(t, next.Release(t.Context()))
}

func TestDoOrSkip(t *testing.T) {
	p := memory.New()
	a, b := locker(t, p, lock.Config{}), locker(t, p, lock.Config{})
	errWork := errors.New("work")
	runs := 0
	work := func(context.Context, *lock.Lock) error { runs++; return errWork }
	try := func(what string, l *lock.Locker, opts lock.Options, wantRan bool, want error) {
		t.Helper()
		before := runs
		ran, err := l.DoOrSkip(t.Context(), "a", opts, work)
		if ran != wantRan || !errors.Is(err, want) || (want == nil) != (err == nil) || runs-before != map[bool]int{true: 1}[wantRan] {
			t.Errorf("%s: ran %v, %v, after %d runs", what, ran, err, runs-before)
		}
	}
	try("free", a, lock.Options{}, true, errWork)
	held, err := b.Try(t.Context(), "a", lock.Options{})
	must(t, err)
	try("held", a, lock.Options{}, false, nil)
	try("held, after a wait", a, lock.Options{Wait: 30 * time.Millisecond}, false, nil)
	var field *check.FieldError
	if ran, err := a.DoOrSkip(t.Context(), "a", lock.Options{AtMost: 1}, work); ran || !errors.As(err, &field) {
		t.Errorf("bad input: ran %v, %v", ran, err)
	}
	must(t, held.Release(t.Context()))
	try("due", a, lock.Options{Every: time.Hour}, true, errWork)
	try("not due", b, lock.Options{Every: time.Hour}, false, nil)
	ctx, cancel := context.WithCancel(t.Context())
	held, err = b.Try(t.Context(), "a", lock.Options{})
	must(t, err)
	time.AfterFunc(20*time.Millisecond, cancel)
	if ran, err := a.DoOrSkip(ctx, "a", lock.Options{Wait: time.Minute}, work); ran || !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that gave up must be told so: %v, %v", ran, err)
	}
	inner := func(ctx context.Context, _ *lock.Lock) error {
		ran, err := b.DoOrSkip(ctx, "a", lock.Options{}, work)
		if ran || !errors.Is(err, lock.ErrNested) {
			t.Errorf("a nested lock is a mistake, not held by another owner: %v, %v", ran, err)
		}
		return lock.ErrHeld
	}
	must(t, held.Release(t.Context()))
	if ran, err := b.DoOrSkip(t.Context(), "a", lock.Options{}, inner); !ran || !errors.Is(err, lock.ErrHeld) {
		t.Errorf("an error of the work itself must be returned: %v, %v", ran, err)
	}
}

// failing is a provider with faults.
type failing struct {
	lock.Provider
	release, extend error
	extends         *atomic.Int32
	stuck           bool // TryLock does not return
}

type failingLease struct {
	lock.Lease
	p failing
}

func (p failing) TryLock(ctx context.Context, req lock.Request) (lock.Lease, error) {
	if p.stuck {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	l, err := p.Provider.TryLock(ctx, req)
	if err != nil {
		return nil, err
	}
	return failingLease{l, p}, nil
}

func (l failingLease) Extend(ctx context.Context, d time.Duration) error {
	if l.p.extends.Add(1) <= 2 && l.p.extend != nil {
		return l.p.extend
	}
	return l.Lease.Extend(ctx, d)
}

func (l failingLease) Release(ctx context.Context) error {
	if l.p.release != nil {
		return l.p.release
	}
	return l.Lease.Release(ctx)
}

var errNetwork = errors.New("network is away")

func TestStuckStoreIsBusy(t *testing.T) {
	l := locker(t, failing{stuck: true}, lock.Config{Timeout: 20 * time.Millisecond})
	_, err := l.Try(context.Background(), "a", lock.Options{})
	is(t, err, lock.ErrBusy)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = l.Try(ctx, "a", lock.Options{})
	is(t, err, context.DeadlineExceeded)
	if errors.Is(err, lock.ErrBusy) {
		t.Errorf("the caller's own deadline is not the store's fault: %v", err)
	}
}

func TestDoSaysThatTheReleaseFailed(t *testing.T) {
	l := locker(t, failing{Provider: memory.New(), release: errNetwork, extends: new(atomic.Int32)}, lock.Config{})
	err := l.Do(t.Context(), "a", lock.Options{}, func(context.Context, *lock.Lock) error { return nil })
	is(t, err, lock.ErrUnreleased)
	is(t, err, errNetwork)
}

// TestKeepAliveOutlastsFailures checks that a renewal that fails is tried again
// while there is time.
func TestKeepAliveOutlastsFailures(t *testing.T) {
	p := failing{Provider: memory.New(), extend: errNetwork, extends: new(atomic.Int32)}
	l := locker(t, p, lock.Config{Lease: 500 * time.Millisecond})
	err := l.Do(t.Context(), "a", lock.Options{}, func(ctx context.Context, _ *lock.Lock) error {
		for p.extends.Load() < 4 {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(time.Millisecond):
			}
		}
		return nil
	})
	must(t, err)
}

// TestKeptAliveWhileWindingDown checks that the lock is kept alive while work
// finishes after its context has ended.
func TestKeptAliveWhileWindingDown(t *testing.T) {
	p := failing{Provider: memory.New(), extends: new(atomic.Int32)}
	l := locker(t, p, lock.Config{Lease: 300 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	err := l.Do(ctx, "a", lock.Options{}, func(context.Context, *lock.Lock) error {
		cancel()
		for deadline := time.Now().Add(time.Minute); p.extends.Load() < 4; {
			if time.Now().After(deadline) {
				return errors.New("the lock is not renewed any more")
			}
			time.Sleep(time.Millisecond)
		}
		return nil
	})
	must(t, err)
}

func TestExtendGivesMoreTime(t *testing.T) {
	l := locker(t, memory.New(), lock.Config{Lease: 200 * time.Millisecond})
	start := time.Now()
	err := l.Do(t.Context(), "a", lock.Options{AtMost: 300 * time.Millisecond}, func(ctx context.Context, held *lock.Lock) error {
		must(t, held.Extend(ctx, 700*time.Millisecond))
		<-ctx.Done()
		return nil
	})
	is(t, err, lock.ErrAtMost)
	if lasted := time.Since(start); lasted < 500*time.Millisecond {
		t.Errorf("the lock lasted for %v only", lasted)
	}
}

func TestEveryWithARule(t *testing.T) {
	now := time.Date(2035, 3, 4, 0, 0, 2, 0, time.UTC)
	l := locker(t, memory.New(), lock.Config{Now: func() time.Time { return now }})
	opts := lock.Options{Cron: daily{}, NoKeepAlive: true}
	held, err := l.Try(t.Context(), "a", opts)
	must(t, err)
	if want := now.Truncate(time.Hour); !held.Slot().Equal(want) {
		t.Errorf("slot: got %v, want %v", held.Slot(), want)
	}
	must(t, held.Release(t.Context()))
	_, err = l.Try(t.Context(), "a", opts)
	var notDue *lock.NotDueError
	if !errors.As(err, &notDue) || !notDue.Next.Equal(held.Slot().Add(24*time.Hour)) {
		t.Fatalf("got %v", err)
	}
	if want := "next is " + notDue.Next.Format(time.RFC3339); !strings.Contains(err.Error(), want) {
		t.Errorf("got %q, want %q in it", err, want)
	}
	now = notDue.DueAt.Add(-time.Millisecond)
	_, err = l.Try(t.Context(), "a", opts)
	is(t, err, lock.ErrNotDue)
	now = notDue.DueAt
	held, err = l.Try(t.Context(), "a", opts)
	must(t, err)
	if !held.Slot().Equal(notDue.Next) {
		t.Errorf("slot: got %v, want %v", held.Slot(), notDue.Next)
	}
}

// TestNotDueHasTheNextSlot checks that the next instant in a refusal is in
// the future. A slot that has come, too soon after the last grant, is returned
// with the instant from which it can be granted.
func TestNotDueHasTheNextSlot(t *testing.T) {
	start := time.Date(2035, 3, 4, 10, 0, 0, 0, time.UTC)
	now := start
	l := locker(t, memory.New(), lock.Config{Now: func() time.Time { return now }})
	opts := lock.Options{Every: time.Hour, NoKeepAlive: true}
	for _, test := range []struct {
		after time.Duration
		want  string // in the error; empty: granted
	}{
		{0, ""},
		{20 * time.Minute, "next is 2035-03-04T11:00:00Z"},
		{104 * time.Minute, ""}, // the slot of 11:00, late
		{104*time.Minute + time.Second, "next is 2035-03-04T12:00:00Z"},
		{105 * time.Minute, "next is 2035-03-04T12:00:00Z"},
		{3*time.Hour + 40*time.Minute, ""}, // the slot of 13:00
	} {
		now = start.Add(test.after)
		held, err := l.Try(t.Context(), "a", opts)
		if test.want == "" {
			must(t, err)
			must(t, held.Release(t.Context()))
			continue
		}
		var notDue *lock.NotDueError
		if !errors.As(err, &notDue) || !strings.Contains(err.Error(), test.want) || !notDue.DueAt.After(now) {
			t.Errorf("after %v: got %v, due at %v, want %q", test.after, err, notDue.DueAt, test.want)
		}
	}
	// A shorter interval begins a new grid, whose first slot is now.
	opts.Every = 2 * time.Hour
	now = now.Add(time.Minute)
	_, err := l.Try(t.Context(), "a", opts)
	is(t, err, lock.ErrNotDue)
	if want := "the slot of 2035-03-04T13:41:00Z can be had from 2035-03-04T14:10:00Z"; !strings.Contains(err.Error(), want) {
		t.Errorf("got %q, want %q in it", err, want)
	}
	opts.Every = 100 * time.Millisecond
	now = now.Add(time.Hour)
	held, err := l.Try(t.Context(), "a", opts)
	must(t, err)
	must(t, held.Release(t.Context()))
	now = now.Add(30 * time.Millisecond)
	_, err = l.Try(t.Context(), "a", opts)
	if want := "next is 2035-03-04T14:41:00.1Z"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %q, want %q in it", err, want)
	}
}
