package lock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// Tx is a transaction of the caller's, as a value that a driver makes of it:
// Tx or SQLTx of the package or of its Locks. The Tx of package store is one.
type Tx interface {
	// HourbellTx marks the type; it does nothing.
	HourbellTx()
}

// ErrForeignTx: the transaction was not made by a driver that keeps locks.
var ErrForeignTx = errors.New("the transaction cannot check locks; make it with Tx or SQLTx of a driver whose database keeps locks")

// Checker is a [Tx] of a database that keeps locks. [Check] finds it by assertion;
// users call that.
type Checker interface {
	Tx

	// CheckLock is what Check does, in one statement of the transaction. The
	// error wraps ErrLost where the lock does not stand with that token.
	CheckLock(ctx context.Context, name string, token int64) error
}

// Check fails with [ErrLost], in one statement of the caller's transaction, unless
// the lock of that name still stands with that token: nobody has been granted the
// lock since, and its row was not deleted. From then on nobody can take the lock
// until the transaction ends: a takeover waits for the commit, and what the
// transaction writes was written before anything that the next holder writes.
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
// The tables must be in the database of the transaction. Those of the package's
// Tx are the default ones; for others use the Tx of the Locks.
//
// A lock that has expired, or was released, passes as long as nobody has taken it
// since: nobody else's work lies in between, as an outcome of a job that arrives
// late is accepted if nobody took the claim. So no clock is compared, and a check
// that has passed stays true until the commit, however long that takes.
//
// Call it as late in the transaction as can be, because those who want the lock, a
// Release included where the driver says so, wait for its end. After an error roll
// the transaction back. The call is bounded by ctx alone. A transaction that no
// driver made gives [ErrForeignTx].
func Check(ctx context.Context, tx Tx, name string, token int64) error {
	if err := errors.Join(CheckName(name), checkToken(token)); err != nil {
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
	return &FieldError{Field: "token", Value: strconv.FormatInt(token, 10), Problem: "is not a token of a lock", Remedy: "give what Lock.Token returned"}
}
