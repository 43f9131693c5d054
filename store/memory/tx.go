package memory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Tx is a caller's transaction. It keeps the inserted jobs until Commit. From its first
// change of jobs or schedules on it works on a copy of the store, which replaces the store's
// tables at Commit; all other writers wait. Like other transactions it is not safe for
// concurrent use.
type Tx struct {
	store   *Store
	jobs    []*job // inserted before the first change
	holds   []hold
	changed *Store // the copy; nil: nothing was changed
	done    bool
	ended   chan struct{} // closed when the transaction ends
}

var errTxDone = errors.New("the transaction has been committed or rolled back")

// Begin starts a transaction.
func (s *Store) Begin() *Tx { return &Tx{store: s, ended: make(chan struct{})} }

// HourbellTx marks the type as a store.Tx.
func (*Tx) HourbellTx() {}

// Commit makes all inserted jobs visible at once and sends the wake-ups.
func (t *Tx) Commit() error {
	return t.end(func() {
		s := t.store
		if t.changed != nil {
			s.tables = t.changed.tables
			s.wake(store.Wake{Kind: store.WakeAll})
			return
		}
		s.add(t.jobs...)
		s.hold(t.holds...)
		if s.changing != nil { // the jobs are in the copy, too
			s.changing.changed.add(copies(t.jobs)...)
			s.changing.changed.hold(t.holds...)
		}
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
	if t.store.changing == t {
		t.store.changing = nil
	}
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

// changedBy returns the copy of the store that a caller's transaction changes. It waits for
// another transaction that has changed something.
func (s *Store) changedBy(ctx context.Context, tx store.Tx, what string) (*Store, error) {
	if _, err := s.begin(ctx, what, time.Time{}); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	own, err := s.txOf(tx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	for own.changed == nil && s.changing != nil {
		if err := s.await(ctx, s.changing, what); err != nil {
			return nil, err
		}
	}
	if own.changed == nil {
		reserved := maps.Clone(s.reserved)
		maps.DeleteFunc(reserved, func(_ uniqueKey, by *Tx) bool { return by == own })
		own.changed = &Store{clock: s.clock, neverEarly: s.neverEarly, tables: s.clone(), reserved: reserved, listeners: map[*listener]bool{}}
		own.changed.add(copies(own.jobs)...)
		own.changed.hold(own.holds...)
		s.changing = own
	}
	return own.changed, nil
}

// clone returns a copy that shares no row with t.
func (t *tables) clone() tables {
	c := *t
	c.live, c.finished = copiesOf(t.live), copiesOf(t.finished)
	c.schedules, c.calendars, c.nodes = copiesOf(t.schedules), copiesOf(t.calendars), copiesOf(t.nodes)
	c.cancels, c.failing, c.revisions, c.beats = maps.Clone(t.cancels), maps.Clone(t.failing), maps.Clone(t.revisions), maps.Clone(t.beats)
	c.named, c.attempts = maps.Clone(t.named), maps.Clone(t.attempts)
	c.holds = maps.Clone(t.holds)
	for id, list := range c.attempts {
		c.attempts[id] = slices.Clone(list)
	}
	c.slots = copies(t.slots)
	return c
}

func copies[T any](rows []*T) []*T {
	out := make([]*T, len(rows))
	for i, row := range rows {
		one := *row
		out[i] = &one
	}
	return out
}

func copiesOf[K comparable, T any](rows map[K]*T) map[K]*T {
	out := make(map[K]*T, len(rows))
	for key, row := range rows {
		one := *row
		out[key] = &one
	}
	return out
}
