package lock

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/hourbell/hourbell/check"
)

// Tx is a transaction of the caller, as a value that a driver makes from it: Tx
// or SQLTx of the driver's package or of its Locks. The Tx of package store
// implements it.
type Tx interface {
	// HourbellTx marks the type; it does nothing.
	HourbellTx()
}

// ErrForeignTx means that the transaction was not made by a driver that keeps
// locks.
var ErrForeignTx = errors.New("the transaction cannot check locks; make it with Tx or SQLTx of a driver whose database keeps locks")

// Checker is a [Tx] of a database that keeps locks. [Check] finds it by
// assertion; users call Check.
type Checker interface {
	Tx

	// CheckLock does the work of Check, in one statement of the transaction.
	// The error wraps ErrLost if the lock does not have that token any more.
	CheckLock(ctx context.Context, name string, token int64) error
}

// Check fails with [ErrLost], in one statement of the caller's transaction,
// unless the lock with the given name still has the given token: the lock was
// not granted again since, and its row was not deleted. After a successful
// Check no other owner can take the lock until the transaction ends: a takeover
// waits for the commit, so the transaction's writes come before all writes of
// the next holder.
//
//	err = locks.Do(ctx, "statistics", lock.Options{}, func(ctx context.Context, held *lock.Lock) error {
//		tx, err := pool.Begin(ctx)
//		…
//		if err := lock.Check(ctx, postgres.Tx(tx), held.Name(), held.Token()); err != nil {
//			return err // and roll back
//		}
//		return tx.Commit(ctx)
//	})
//
// The lock tables must be in the database of the transaction. The Tx of the
// package uses the default tables; for other tables use the Tx of the Locks.
//
// A lock that has expired, or was released, passes the check if no other owner
// has taken it since: no work of another owner lies in between. Outcomes of
// jobs follow the same rule: a late outcome is accepted if no other node has
// taken the claim. So no clock is compared, and a successful check stays valid
// until the commit, however long that takes.
//
// Call Check as late in the transaction as possible, because other callers that
// want the lock wait for the end of the transaction; a Release waits too, if
// the driver documents this. After an error roll the transaction back. The call
// is bounded by ctx only. A transaction that was not made by a driver gives
// [ErrForeignTx].
func Check(ctx context.Context, tx Tx, name string, token int64) error {
	if err := check.Join(check.Name("name", name), checkToken(token)); err != nil {
		return err
	}
	checker, ok := tx.(Checker)
	if !ok {
		return fmt.Errorf("check lock %q: %w", name, ErrForeignTx)
	}
	return checker.CheckLock(ctx, name, token)
}

func checkToken(token int64) error {
	if token > 0 {
		return nil
	}
	return &check.FieldError{Field: "token", Value: strconv.FormatInt(token, 10), Problem: "is not a token of a lock", Remedy: "give what Lock.Token returned"}
}
