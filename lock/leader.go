package lock

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hourbell/hourbell/check"
)

// Leader lets one process of several do what only one may do at a time: the
// process that holds the lock of its name leads. Each process makes a Leader of
// the same name, and calls Run. Concurrent calls are allowed.
type Leader struct {
	locks *Locker
	name  string

	mu   sync.Mutex
	held *Lock // the lock with which Run leads; nil: Run does not lead
}

// NewLeader returns the leader of a name. The error is a *[check.FieldError]
// about the name.
func NewLeader(locks *Locker, name string) (*Leader, error) {
	if err := check.Name("name", name); err != nil {
		return nil, err
	}
	return &Leader{locks: locks, name: name}, nil
}

// retryLead is the pause after a store did not answer.
const retryLead = time.Second

// Run waits until this process leads, and runs work then. The context of work
// ends with ctx, and on loss of the lead: before another process can lead, with
// the cause [ErrLost]. After a loss, when work has returned, Run waits for the
// lead again. While the store does not answer, no process becomes leader, and Run
// tries again.
//
// Run returns when work returns without a loss, with work's error, and gives
// the lead up; and when ctx ends, with nil. work may be nil: then Run leads until
// ctx ends, for callers of Leading.
func (l *Leader) Run(ctx context.Context, work func(ctx context.Context, held *Lock) error) error {
	if work == nil {
		work = func(ctx context.Context, _ *Lock) error { <-ctx.Done(); return nil }
	}
	for ctx.Err() == nil {
		held, err := l.locks.Lock(ctx, l.name, Options{AtMost: MaxAtMost, Wait: MaxAtMost})
		switch {
		case err == nil:
			if ended, err := l.lead(ctx, held, work); ended {
				return err
			}
		case errors.Is(err, ErrNested):
			return err
		case ctx.Err() == nil:
			select {
			case <-ctx.Done():
			case <-time.After(retryLead):
			}
		}
	}
	return nil
}

// lead runs work under the lock. ended is false if the lead was lost.
func (l *Leader) lead(ctx context.Context, held *Lock, work func(ctx context.Context, held *Lock) error) (ended bool, err error) {
	l.set(held)
	defer l.set(nil)
	lost := false
	err = held.do(func(workCtx context.Context, held *Lock) error {
		err := work(workCtx, held)
		lost = held.relied() != nil && ctx.Err() == nil
		return err
	})
	switch {
	case lost:
		return false, nil
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return true, nil
	case errors.Is(err, ErrUnreleased):
		return true, nil // it frees itself within a lease
	}
	return true, err
}

func (l *Leader) set(held *Lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = held
}

// Leading returns the lock with which Run of this Leader leads, and whether it
// leads at this instant.
func (l *Leader) Leading() (*Lock, bool) {
	l.mu.Lock()
	held := l.held
	l.mu.Unlock()
	if held == nil || held.relied() != nil {
		return nil, false
	}
	return held, true
}
