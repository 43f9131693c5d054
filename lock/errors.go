package lock

import (
	"errors"
	"fmt"
	"time"
)

// Errors for comparison with errors.Is.
var (
	// ErrHeld means that another owner holds the lock. The error is a
	// *HeldError.
	ErrHeld = errors.New("lock is held")
	// ErrNotDue means that no slot of Every or Cron is due. The error is a
	// *NotDueError.
	ErrNotDue = errors.New("not due")
	// ErrLost means that the lock has expired or was taken by another owner. It
	// is also the cause of a context that ended because the lock could not be
	// kept.
	ErrLost = errors.New("lock was lost")
	// ErrAtMost means that the work took longer than the lock may be held. It
	// is the cause of a context that ended for this reason.
	ErrAtMost = errors.New("the lock's at-most time has passed")
	// ErrReleased means that the lock was released already; take the lock
	// again.
	ErrReleased = errors.New("lease was released already")
	// ErrUnreleased means that the store failed to release the lock. The lock
	// becomes free when its hold ends.
	ErrUnreleased = errors.New("lock was not released")
	// ErrNested means that the lock is held by the context with which it is
	// requested.
	ErrNested = errors.New("lock is held by this context already")
	// ErrBusy means that no connection to the store was free in time, or that
	// an earlier writer did not finish in time.
	ErrBusy = errors.New("the store was too busy to answer in time")
	// ErrNotFound means that there is no lock with that name.
	ErrNotFound = errors.New("no such lock")
)

// HeldError has the holder of a lock and the end of its hold. errors.Is finds
// ErrHeld.
type HeldError struct {
	Name  string
	Owner string    // empty if the lock was released before the store was asked for its owner
	Until time.Time // by the store's clock; extended while the holder lives
	Now   time.Time // the store's clock when Until was read
}

// Error returns all fields in one line.
func (e *HeldError) Error() string {
	if e.Owner == "" {
		return fmt.Sprintf("lock %q is held by someone else", e.Name)
	}
	return fmt.Sprintf("lock %q is held by %s until %s (unless it is extended)", e.Name, e.Owner, e.Until.UTC().Format(time.RFC3339))
}

// Unwrap returns ErrHeld.
func (e *HeldError) Unwrap() error { return ErrHeld }

// NotDueError has the slot that was granted last. errors.Is finds ErrNotDue.
type NotDueError struct {
	Name  string
	State State
	// Next is the next instant of the grid, and DueAt is the instant from which
	// it can be granted (a little before Next). Providers leave both zero, and
	// the Locker sets them. Both are zero too if the rule has no further
	// instant.
	Next, DueAt time.Time
}

// Error returns all fields in one line, with a remedy if the clock was wrong.
func (e *NotDueError) Error() string {
	text := fmt.Sprintf("lock %q: not due", e.Name)
	if s := e.State; !s.Mark.Slot.IsZero() {
		text += fmt.Sprintf("; the last run, due %s, was granted at %s", stamp(s.Mark.Slot), stamp(s.GrantedAt))
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

// Unwrap returns ErrNotDue.
func (e *NotDueError) Unwrap() error { return ErrNotDue }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// fineStamp formats instants that are compared with the present: rounded to
// whole seconds, a future instant could appear to be in the past.
func fineStamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999Z07:00") }
