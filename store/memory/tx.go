package memory

import (
	"errors"

	"github.com/hourbell/hourbell/store"
)

// Tx is a caller's transaction. It holds what was inserted with it until
// Commit. It is not safe for use by several goroutines at once, as other
// transactions are not.
type Tx struct {
	store *Store
	jobs  []*job
	done  bool
}

var errTxDone = errors.New("the transaction has been committed or rolled back")

// Begin starts a transaction.
func (s *Store) Begin() *Tx { return &Tx{store: s} }

// HourbellTx marks the type as a store.Tx.
func (*Tx) HourbellTx() {}

// Commit makes all that was inserted visible at once and sends the wake-ups.
func (t *Tx) Commit() error {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	if t.done {
		return errTxDone
	}
	t.done = true
	t.store.add(t.jobs)
	return nil
}

// Rollback forgets all that was inserted.
func (t *Tx) Rollback() error {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	if t.done {
		return errTxDone
	}
	t.done = true
	return nil
}

// txOf returns the caller's transaction, or nil if there is none.
func (s *Store) txOf(tx store.Tx) (*Tx, error) {
	if tx == nil {
		return nil, nil
	}
	own, ok := tx.(*Tx)
	if !ok || own == nil || own.store != s {
		return nil, store.ErrForeignTx
	}
	if own.done {
		return nil, errTxDone
	}
	return own, nil
}
