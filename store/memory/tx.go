package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Tx is a caller's transaction. It keeps the inserted jobs, with what they wait for, and the outcomes until Commit. From
// its first change of jobs or schedules on it works on a copy of the store, which replaces the
// store's tables at Commit; all other writers wait. Like other transactions it is not safe for
// concurrent use.
type Tx struct {
	store *Store
	jobs  []*job // inserted before the first change
	holds []hold
	links []link // of these jobs
	// outcomes are recorded at Commit, after the other changes.
	outcomes []datedOutcome
	changed  *Store // the copy; nil: nothing was changed
	done     bool
	ended    chan struct{} // closed when the transaction ends
}

// datedOutcome is an outcome that a transaction records when it commits.
type datedOutcome struct {
	store.Outcome
	node string
	at   time.Time
}

// Begin starts a transaction.
func (s *Store) Begin() *Tx {
	s.mu.Lock()
	defer s.mu.Unlock()
	tx := &Tx{store: s, ended: make(chan struct{})}
	s.open[tx] = true
	return tx
}

// HourbellTx marks the type as a store.Tx.
func (*Tx) HourbellTx() {}

// Commit makes all changes visible at once and sends the wake-ups. If a claim of
// the outcomes was lost, it rolls back and returns an error. A transaction with
// outcomes waits while another transaction is open that has changed something.
func (t *Tx) Commit() error {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	return t.commit()
}

func (t *Tx) commit() error {
	if t.done {
		return store.ErrTxEnded
	}
	s := t.store
	for len(t.outcomes) > 0 && s.changing != nil && s.changing != t {
		if err := s.await(context.Background(), s.changing, "commit"); err != nil {
			return err
		}
	}
	for _, o := range t.outcomes {
		if !s.accepts(o.Outcome) {
			t.end()
			return fmt.Errorf("commit: the claim on job %d was lost", o.ID)
		}
	}
	defer t.end()
	if t.changed != nil {
		s.tables = t.changed.tables
		s.wake(store.Wake{Kind: store.WakeAll})
	} else {
		if s.changing != nil { // the jobs are in the copy, too
			t.addTo(s.changing.changed)
		}
		t.addTo(s)
	}
	for _, o := range t.outcomes {
		s.finishAndFollow(o.Outcome, o.node, o.at)
	}
	return nil
}

// addTo adds the inserted jobs to a store, or to a copy of it.
func (t *Tx) addTo(s *Store) {
	s.add(copies(t.jobs)...)
	s.hold(t.holds...)
	for _, l := range t.links {
		s.link(s.live[l.id], l.waits, l.at)
	}
}

// Rollback discards all changes.
func (t *Tx) Rollback() error {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	if t.done {
		return store.ErrTxEnded
	}
	t.end()
	return nil
}

func (t *Tx) end() {
	t.done = true
	delete(t.store.open, t)
	if t.store.changing == t {
		t.store.changing = nil
	}
	for _, j := range t.jobs {
		if j.Unique != "" {
			delete(t.store.reserved, uniqueKey{j.Kind, j.Unique})
		}
	}
	for _, o := range t.outcomes {
		delete(t.store.locked, o.ID)
	}
	close(t.ended)
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
		return nil, store.ErrTxEnded
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
		own.changed = &Store{clock: s.clock, tables: s.clone(), reserved: reserved, listeners: map[*listener]bool{}}
		own.addTo(own.changed)
		s.changing = own
	}
	return own.changed, nil
}

// within returns the store that a request changes: s, or what changedBy returns if the request has a transaction, which is
// then taken from the request.
func (s *Store) within(ctx context.Context, tx *store.Tx, what string) (*Store, error) {
	if *tx == nil {
		return s, nil
	}
	changed, err := s.changedBy(ctx, *tx, what)
	*tx = nil
	return changed, err
}

// clone returns a copy that shares no row with t.
func (t *tables) clone() tables {
	c := *t
	c.live, c.finished = copiesOf(t.live), copiesOf(t.finished)
	c.schedules, c.calendars, c.nodes = copiesOf(t.schedules), copiesOf(t.calendars), copiesOf(t.nodes)
	c.cancels, c.failing, c.owners, c.beats = maps.Clone(t.cancels), maps.Clone(t.failing), maps.Clone(t.owners), maps.Clone(t.beats)
	c.named, c.attempts, c.lookAt, c.pauses = maps.Clone(t.named), maps.Clone(t.attempts), maps.Clone(t.lookAt), maps.Clone(t.pauses)
	c.handlers, c.limits = maps.Clone(t.handlers), maps.Clone(t.limits)
	c.permits, c.lanes = maps.Clone(t.permits), maps.Clone(t.lanes)
	c.stats = maps.Clone(t.stats)
	c.progress, c.output, c.steps = maps.Clone(t.progress), maps.Clone(t.output), maps.Clone(t.steps)
	c.follows, c.ends = maps.Clone(t.follows), copies(t.ends)
	c.holds, c.dependents, c.batches = maps.Clone(t.holds), maps.Clone(t.dependents), copiesOf(t.batches)
	for id, list := range c.attempts {
		c.attempts[id] = slices.Clone(list)
	}
	for id, list := range c.steps {
		c.steps[id] = slices.Clone(list)
	}
	c.slots, c.feed.rows, c.audit = copies(t.slots), slices.Clone(t.feed.rows), copies(t.audit)
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

// Transactions begins the transactions of workers on a Store; see
// hourbell.RegisterTx.
func Transactions(s *Store) store.Transactions[*Tx] { return transactions{s} }

type transactions struct{ store *Store }

// Begin implements store.Transactions.
func (t transactions) Begin(ctx context.Context, _ store.BeginTxRequest) (store.WorkerTx[*Tx], error) {
	tx := t.store.Begin()
	return store.WorkerTx[*Tx]{Native: tx, Tx: tx, Rollback: func() { _ = tx.Rollback() }}, ctx.Err()
}

// GaveUp implements store.Transactions. No transaction is given up.
func (transactions) GaveUp(error) bool { return false }

// Pool implements store.Transactions. There are no connections.
func (t transactions) Pool() (any, int) { return t.store, 0 }
