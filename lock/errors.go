package lock

import (
	"errors"
	"fmt"
	"time"
)

// What callers compare with errors.Is.
var (
	// ErrHeld: somebody holds the lock. The error is a *HeldError.
	ErrHeld = errors.New("lock is held")
	// ErrNotDue: nothing is due by Every. The error is a *NotDueError.
	ErrNotDue = errors.New("not due")
	// ErrLost: the lock has expired or was taken by someone else. It is also the
	// cause of a context that ended because the lock could not be kept.
	ErrLost = errors.New("lock was lost")
	// ErrAtMost: the work took longer than the lock may be held. It is the cause
	// of the context that ended for it.
	ErrAtMost = errors.New("the lock's at-most time has passed")
	// ErrReleased: the lease was released; take the lock anew.
	ErrReleased = errors.New("lease was released already")
	// ErrUnreleased: the store failed to release the lock. It frees itself when
	// its hold ends.
	ErrUnreleased = errors.New("lock was not released")
	// ErrNested: the lock is held by the very context that asks for it.
	ErrNested = errors.New("lock is held by this context already")
	// ErrBusy: the store gave no connection, or an earlier writer did not
	// finish, before the time was up.
	ErrBusy = errors.New("the store was too busy to answer in time")
	// ErrNotFound: there is no lock of that name.
	ErrNotFound = errors.New("no such lock")
)

// HeldError says who holds a lock until when. errors.Is finds ErrHeld.
type HeldError struct {
	Name  string
	Owner string    // empty if the holder was gone when the store was asked for it
	Until time.Time // by the store's clock; extended while the holder lives
	Now   time.Time // the store's clock when it said so
}

// Error says all of it in one line.
func (e *HeldError) Error() string {
	if e.Owner == "" {
		return fmt.Sprintf("lock %q is held by someone else", e.Name)
	}
	return fmt.Sprintf("lock %q is held by %s until %s (unless it is prolonged)", e.Name, e.Owner, e.Until.UTC().Format(time.RFC3339))
}

// Unwrap is ErrHeld.
func (e *HeldError) Unwrap() error { return ErrHeld }

// NotDueError says what was granted last. errors.Is finds ErrNotDue.
type NotDueError struct {
	Name  string
	State State
	// Next is the next instant of the grid, and DueAt from when it would be
	// granted (that is a little before). Providers leave them zero, the Locker
	// fills them in; zero also if the rule has no further instant.
	Next, DueAt time.Time
}

// Error says all of it in one line, with a remedy if the clock was wrong.
func (e *NotDueError) Error() string {
	text := fmt.Sprintf("lock %q: not due", e.Name)
	if s := e.State; !s.Mark.Slot.IsZero() {
		text += fmt.Sprintf("; %s was granted last, at %s", stamp(s.Mark.Slot), stamp(s.GrantedAt))
		if s.GrantedAt.After(s.Now) {
			return text + fmt.Sprintf(", which is ahead of the store's clock (%s): if that clock is right now, release the lock by force", stamp(s.Now))
		}
	}
	switch {
	case e.Next.IsZero():
	case e.Next.After(e.State.Now):
		text += ", next is " + fineStamp(e.Next)
	default: // too soon after the last grant
		text += fmt.Sprintf(", the slot of %s can be had from %s", fineStamp(e.Next), fineStamp(e.DueAt))
	}
	return text
}

// Unwrap is ErrNotDue.
func (e *NotDueError) Unwrap() error { return ErrNotDue }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// fineStamp is for instants that are compared with now: whole seconds would put
// one that is to come into the past.
func fineStamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999Z07:00") }

// FieldError is bad input. It names the field as people write it, what is
// wrong with it and what to do instead.
type FieldError struct {
	Field   string
	Value   string // as given, shortened
	Problem string
	Remedy  string
}

// Error says all of it in one line.
func (e *FieldError) Error() string {
	text := e.Field + ": "
	if e.Value != "" {
		text = fmt.Sprintf("%s %q: ", e.Field, e.Value)
	}
	text += e.Problem
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}
