package memory

import (
	"errors"

	"github.com/hourbell/hourbell/store"
)

// Tx is a caller's transaction. It keeps the inserted jobs until Commit. Like
// other transactions it is not safe for concurrent use.
type Tx struct {
	store *Store
	jobs  []*job
	holds []hold
	done  bool
	ended chan struct{} // closed when the transaction ends
}

var errTxDone = errors.New("the transaction has been committed or rolled back")

// Begin starts a transaction.
func (s *Store) Begin() *Tx { return &Tx{store: s, ended: make(chan struct{})} }

// HourbellTx marks the type as a store.Tx.
func (*Tx) HourbellTx() {}

// Commit makes all inserted jobs visible at once and sends the wake-ups.
func (t *Tx) Commit() error {
	return t.end(func() {
		t.store.add(t.jobs...)
		t.store.hold(t.holds...)
	})
}

// Rollback discards the inserted jobs.
func (t *Tx) Rollback() error { return t.end(func() {}) }

func (t *Tx) end(how func()) error {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	if t.done {
		return errTxDone
	}
	t.done = true
	how()
	for _, j := range t.jobs {
		if j.Unique != "" {
			delete(t.store.reserved, uniqueKey{j.Kind, j.Unique})
		}
	}
	close(t.ended)
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
