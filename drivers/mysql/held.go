package mysql

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Programs' transactions may have locked rows for long. What nodes do again and again, to fire
// schedules and to release dependents, does not wait for them: it looks for a locked row a few times,
// and then leaves out what depends on the row, until a later call.

// looks has the pauses before the looks for rows that are locked. A node's own transactions are shorter.
var looks = []time.Duration{0, 5 * time.Millisecond, 15 * time.Millisecond, 30 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond}

// errHeld: a row that is needed stays locked.
var errHeld = errors.New("another transaction has locked a row")

// lookFor calls look until look returns no rows, at most once for each pause in looks, and returns the rows that other
// transactions still hold. look locks the free rows among ids, and returns the rows that other transactions hold.
func lookFor(ctx context.Context, ids []int64, look func(ids []int64) ([]int64, error)) (held []int64, err error) {
	held = ids
	for _, pause := range looks {
		if err := rest(ctx, pause); err != nil {
			return nil, err
		}
		if held, err = look(held); err != nil || len(held) == 0 {
			return nil, err
		}
	}
	return held, nil
}

// atOnce calls lock, which ends with an error where it would have to wait, as often as looks has pauses, and
// returns errHeld if a row stays locked.
func atOnce(ctx context.Context, lock func() error) error {
	for _, pause := range looks {
		if err := rest(ctx, pause); err != nil {
			return err
		}
		err := lock()
		if number := numberOf(err); number != errLockWaitTimeout && number != errLockedNow {
			return err
		}
	}
	return errHeld
}

func rest(ctx context.Context, pause time.Duration) error {
	if pause == 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// without returns the numbers that are not in a list.
func without(ids, found []int64) []int64 {
	set := make(map[int64]bool, len(found))
	for _, id := range found {
		set[id] = true
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return set[id] })
}
