package locktest

import (
	"context"
	"errors"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// These tests check the Locker together with the provider: whatever fails
// between them, a holder's context has ended when another owner gets the lock.
var trustTests = []scenario{
	{"CountsFromTheRequest", trustFromTheRequest},
	{"AnswerThatComesTooLate", trustTooLate},
	{"EndsBeforeTheLeaseDoes", trustRenewalsHang},
	{"KeptAliveUntilAtMost", trustAtMost},
	{"EndsWhenTheLockIsGone", trustGone},
}

// impaired is a provider behind a bad network.
type impaired struct {
	lock.Provider
	answer time.Duration // the delay of the answer to TryLock
	hang   bool          // Extend does not reach the provider
}

type impairedLease struct{ lock.Lease }

func (p impaired) TryLock(ctx context.Context, req lock.Request) (lock.Lease, error) {
	l, err := p.Provider.TryLock(ctx, req)
	time.Sleep(p.answer)
	if err == nil && p.hang {
		l = impairedLease{l}
	}
	return l, err
}

// Extend blocks until its time is up.
func (impairedLease) Extend(ctx context.Context, _ time.Duration) error {
	<-ctx.Done()
	return ctx.Err()
}

// trustLease is short, so that it ends soon, and longer than a grant takes on a busy machine.
const trustLease = 2 * time.Second

// succeed takes the lock as soon as it is free by the store's clock.
func (e *env) succeed(name string) {
	e.t.Helper()
	for {
		_, err := e.b.TryLock(e.ctx, e.realRequest(name, time.Minute))
		if err == nil {
			return
		}
		e.mustBeHeld(err)
		time.Sleep(time.Millisecond)
	}
}

// unreliable checks that a holder that asks learns that the lock is over,
// independent of how busy the machine is.
func (e *env) unreliable(held *lock.Lock, rule string) {
	e.t.Helper()
	_, relied := lock.Held(held.Context(), held.Name())
	e.ok(!relied, rule)
}

// over waits for the end of a lock's context, and returns its cause.
func (e *env) over(held *lock.Lock) error {
	e.t.Helper()
	select {
	case <-held.Context().Done():
	case <-time.After(clockSlack):
		e.t.Fatalf("the context of the lock must end")
	}
	return context.Cause(held.Context())
}

func trustFromTheRequest(e *env) {
	slow := impaired{Provider: e.a, answer: trustLease / 2}
	var name string
	var held *lock.Lock
	var err error
	for range 5 { // on a machine that is slow again, the Locker rightly refuses answers that come too late
		name = e.name()
		held, err = e.locker(slow, lock.Config{}).Try(e.ctx, name, lock.Options{AtMost: trustLease, NoKeepAlive: true})
		if !errors.Is(err, lock.ErrBusy) {
			break
		}
	}
	e.must(err)
	e.succeed(name)
	e.unreliable(held, "a hold counts from its request, not from the answer: it must be over when another gets the lock")
	e.is(e.over(held), lock.ErrAtMost, "the cause is the at-most time")
	e.ok(held.Release(e.ctx) != nil, "and there is nothing to release")
}

func trustTooLate(e *env) {
	name := e.name()
	slow := impaired{Provider: e.a, answer: trustLease / 2}
	held, err := e.locker(slow, lock.Config{}).Try(e.ctx, name, lock.Options{AtMost: trustLease / 4, NoKeepAlive: true})
	e.is(err, lock.ErrBusy, "an answer that comes after the hold is of no use")
	e.ok(held == nil, "and gives no lock")
}

func trustRenewalsHang(e *env) {
	name := e.name()
	deaf := impaired{Provider: e.a, hang: true}
	held, err := e.locker(deaf, lock.Config{Lease: trustLease}).Try(e.ctx, name, lock.Options{})
	e.must(err)
	e.succeed(name)
	e.unreliable(held, "where no renewal comes through, a hold must be over when another gets the lock")
	e.is(e.over(held), lock.ErrLost, "the cause is the loss")
	e.is(held.Extend(e.ctx, time.Hour), lock.ErrLost, "which is final")
	e.is(held.Release(e.ctx), lock.ErrLost, "there is nothing to release")
}

func trustAtMost(e *env) {
	name := e.name()
	start := time.Now()
	held, err := e.locker(e.a, lock.Config{Lease: trustLease}).Try(e.ctx, name, lock.Options{AtMost: 5 * trustLease / 2})
	e.must(err)
	e.succeed(name)
	e.ok(time.Since(start) > 2*trustLease, "a lock is kept alive for longer than a lease, not only", time.Since(start))
	e.unreliable(held, "at the at-most time a hold must be over")
	e.is(e.over(held), lock.ErrAtMost, "the cause is the at-most time")
	_ = held.Release(e.ctx)
}

func trustGone(e *env) {
	if e.s.DeleteRow == nil {
		e.t.Skip("rows cannot be deleted")
	}
	name := e.name()
	err := e.locker(e.a, lock.Config{Lease: trustLease}).Do(e.ctx, name, lock.Options{}, func(ctx context.Context, held *lock.Lock) error {
		_, err := e.s.DeleteRow(e.ctx, name)
		e.must(err)
		e.is(e.over(held), lock.ErrLost, "a holder whose lock is gone learns of it at the next renewal")
		return errors.New("the work's own error")
	})
	e.is(err, lock.ErrLost, "Do says that the lock was lost")
}
