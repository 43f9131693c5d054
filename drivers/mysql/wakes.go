package mysql

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// wakeSet is a set of kinds of wake-ups.
type wakeSet uint8

const (
	wakeJobs wakeSet = 1 << iota
	wakeSchedules
	wakeCancels
)

// wakesOf has what a statement wakes. Statements that only move what a node has claimed or
// fired wake nothing.
var wakesOf = [statementCount]wakeSet{
	insertJobs: wakeJobs, replaceJob: wakeJobs,
	sqlrows.RequeueJobs: wakeJobs, sqlrows.ReleaseJobs: wakeJobs, sqlrows.ReviveJobs: wakeJobs, sqlrows.UpdateJobs: wakeJobs,
	sqlrows.UpdateWaits: wakeJobs, sqlrows.UnparkJobs: wakeJobs, sqlrows.AllotPermits: wakeJobs,
	sqlrows.UpsertLimits: wakeJobs, sqlrows.EndLimits: wakeJobs, sqlrows.InsertLimitVacancies: wakeJobs,
	sqlrows.UpsertSchedules: wakeSchedules, sqlrows.UpdateNext: wakeSchedules,
	sqlrows.UpsertPauses: wakeJobs | wakeSchedules | wakeCancels, sqlrows.DeletePauses: wakeJobs | wakeSchedules,
	sqlrows.RequestCancels: wakeCancels,
	// The nodes release the dependents of ended jobs.
	sqlrows.InsertReleases: wakeCancels, sqlrows.InsertDeletedReleases: wakeCancels, sqlrows.InsertLinkReleases: wakeCancels,
	sqlrows.InsertScheduleReleases: wakeCancels,
}

// noteWakes notes what a statement of the transaction wakes.
func (s *session) noteWakes(name statement, _ sql.Result) { s.wakes |= wakesOf[name] }

// wake sends the wake-ups of a transaction that has committed.
func (b *Backend) wake(set wakeSet) { b.wakes.committed(set) }

// wakeInTx raises the row of the connection in the program's transaction, whose commit
// then wakes.
func (s *session) wakeInTx(ctx context.Context) error {
	if s.wakes == 0 {
		return nil
	}
	return s.Exec(ctx, raiseWake, s.wakes.args(nil))
}

// kindsOfWakes has the kind of wake-up for each element of a wakeSet.
var kindsOfWakes = []struct {
	set  wakeSet
	kind store.WakeKind
}{
	{wakeJobs, store.WakeJobs},
	{wakeSchedules, store.WakeSchedules},
	{wakeCancels, store.WakeCancels},
}

// each calls wake for each element of the set.
func (w wakeSet) each(wake func(store.Wake)) {
	for _, one := range kindsOfWakes {
		if w&one.set != 0 {
			wake(store.Wake{Kind: one.kind})
		}
	}
}

// count is 1 if the set has the elements of one, else 0.
func (w wakeSet) count(one wakeSet) int64 {
	if w&one != 0 {
		return 1
	}
	return 0
}

// args are the parameters of raiseWake. source is the number of a row, or nil for
// the row of the connection.
func (w wakeSet) args(source any) args {
	return args{"source": source, "jobs": w.count(wakeJobs), "schedules": w.count(wakeSchedules), "cancels": w.count(wakeCancels)}
}

const (
	hereGap   = 3 * time.Millisecond  // between wake-ups in this process
	othersGap = 50 * time.Millisecond // between wake-ups of other processes
	wakeTime  = 2 * time.Second       // for writing them
)

// wakes sends the wake-ups of committed transactions. In this process they arrive at
// once. For other processes, which look at a table (see Backend.Listen), a row of that
// table is raised after the commit, at most once in othersGap, so that no transaction
// waits for it. If the process dies in between, a wake-up is lost, and other nodes find
// the work at their next poll.
type wakes struct {
	here, others throttle

	mu   sync.Mutex
	last int
	ears map[int]func(store.Wake) // of running calls of Listen
}

// newWakes sends wake-ups to other processes by raise.
func newWakes(raise func(ctx context.Context, set wakeSet) error) *wakes {
	w := &wakes{ears: map[int]func(store.Wake){}}
	w.here = throttle{gap: hereGap, closed: make(chan struct{}), send: func(set wakeSet) {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, wake := range w.ears {
			set.each(wake)
		}
	}}
	w.others = throttle{gap: othersGap, closed: make(chan struct{}), send: func(set wakeSet) {
		ctx, cancel := context.WithTimeout(context.Background(), wakeTime)
		defer cancel()
		_ = raise(ctx, set) // after an error other nodes find the work at their next poll
	}}
	return w
}

// listen adds a listener, and returns the function that removes it.
func (w *wakes) listen(wake func(store.Wake)) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	number := w.last
	w.ears[number] = wake
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.ears, number)
	}
}

// committed sends the wake-ups of a transaction that has committed.
func (w *wakes) committed(set wakeSet) {
	if set != 0 {
		w.here.owe(set)
		w.others.owe(set)
	}
}

// close sends what is still owed.
func (w *wakes) close() {
	w.here.close()
	w.others.close()
}

// throttle sends sets: the first at once, and what is added within the gap after it
// together.
type throttle struct {
	gap    time.Duration
	send   func(wakeSet)
	closed chan struct{}

	mu      sync.Mutex
	owed    wakeSet
	sending bool // a goroutine sends what is owed
	senders sync.WaitGroup
	one     sync.Mutex // held while send runs
}

// owe sends a set now, or when the gap has passed.
func (t *throttle) owe(set wakeSet) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.owed |= set
	if t.sending {
		return
	}
	t.sending = true
	t.senders.Go(func() {
		for t.next() {
			select {
			case <-time.After(t.gap):
			case <-t.closed:
			}
		}
	})
}

// next sends what is owed. It returns false if there was nothing; then the goroutine
// ends.
func (t *throttle) next() bool {
	if t.flush() {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sending = t.owed != 0
	return t.sending
}

// flush sends what is owed, and reports whether anything was. It waits for a call of
// send that is under way.
func (t *throttle) flush() bool {
	t.one.Lock()
	defer t.one.Unlock()
	t.mu.Lock()
	set := t.owed
	t.owed = 0
	t.mu.Unlock()
	if set != 0 {
		t.send(set)
	}
	return set != 0
}

// close sends what is owed. Nothing may be added after it.
func (t *throttle) close() {
	close(t.closed)
	t.flush()
	t.senders.Wait()
}
