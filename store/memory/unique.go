package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// uniqueKey is the key that no two living jobs share.
type uniqueKey struct{ kind, key string }

// mayChange reports whether a new job may change the job that has its key.
func mayChange(n store.NewJob) bool {
	return n.Unique != "" && (n.OnConflict == store.OnConflictReplace || n.OnConflict == store.OnConflictReschedule || n.UntilStart || n.TakesFrom != 0)
}

// awaitRivals waits, without holding the mutex, until no other transaction has
// inserted a job with the key of one of the jobs, unless a live job has that key.
func (s *Store) awaitRivals(ctx context.Context, tx *Tx, jobs []store.NewJob) error {
	for i := 0; i < len(jobs); i++ {
		key := uniqueKey{jobs[i].Kind, jobs[i].Unique}
		rival := s.reserved[key]
		if key.key == "" || rival == nil || rival == tx || s.holderOf(key) != 0 {
			continue
		}
		if err := s.await(ctx, rival, "insert jobs"); err != nil {
			return err
		}
		i = -1 // there may be other rivals now
	}
	return nil
}

// insertion is one Insert. The rows of live jobs are changed by write only.
type insertion struct {
	store   *Store
	tx      *Tx
	now     time.Time
	jobs    []*job // new ones
	holds   []hold
	rekeyed []rekeying
	taken   []*job        // whose keys new jobs get
	again   map[*job]*job // new jobs, and the jobs for whose ends they wait
	answers []store.Inserted
}

// rekeying is what becomes of a job that has not begun, and whose key a new job has.
type rekeying struct {
	job *job
	to  store.JobInfo // JobSpec and RunAt
}

// insert answers for one job and notes what is to be written.
func (i *insertion) insert(n *store.NewJob) {
	var from *job
	if n.Unique != "" {
		holder, answer := i.meetKey(n)
		if answer.Existed {
			i.answers = append(i.answers, answer)
			return
		}
		from = holder
	}
	j := i.store.newJob(*n, i.now)
	if n.Origin == store.OriginTrigger {
		j.RunAt = i.store.startAfterFired(n.Schedule, j.RunAt, i.now)
	}
	if n.HoldsKey() {
		i.holds = append(i.holds, hold{uniqueKey{n.Kind, n.Unique}, j.ID, instant(i.now.Add(n.UniqueFor))})
	}
	conflict := store.ConflictNone
	if from != nil && !n.UntilStart && from.ID != n.TakesFrom {
		conflict = store.ConflictAgain
		if i.again == nil {
			i.again = map[*job]*job{}
		}
		i.again[j] = from
	}
	i.jobs = append(i.jobs, j)
	i.answers = append(i.answers, store.Inserted{ID: j.ID, Conflict: conflict})
}

// meetKey answers for a job whose key another job has or holds. from is the job from which the new job takes the key instead.
func (i *insertion) meetKey(n *store.NewJob) (from *job, answer store.Inserted) {
	key := uniqueKey{n.Kind, n.Unique}
	j := i.liveWith(key)
	switch {
	case j != nil && i.passes(n, j):
		from = j
		i.taken = append(i.taken, from)
	case j != nil:
		return nil, store.Inserted{ID: j.ID, Existed: true, Conflict: i.meet(n, j)}
	}
	if h := i.store.holds[key]; h.until.After(i.now) {
		return nil, store.Inserted{ID: h.job, Existed: true, Conflict: store.ConflictHeld}
	}
	return from, store.Inserted{}
}

// hasBegun reports whether a job is running or an attempt of it has ended.
func (j *job) hasBegun() bool {
	return j.State == store.StateRunning || j.Attempt > 0 || j.Snoozes > 0 || j.refunds > 0
}

// passes reports whether a new job gets the key of a live job.
func (i *insertion) passes(n *store.NewJob, j *job) bool {
	switch {
	case i.store.live[j.ID] != j || i.store.heldBy(j, i.now):
		return false
	case n.TakesFrom == j.ID:
		return true
	case n.UntilStart:
		return j.hasBegun()
	}
	return j.State == store.StateRunning && mayChange(*n)
}

// liveWith returns the live job that has a key: of the store, of the transaction,
// or an earlier job of the request; nil: none.
func (i *insertion) liveWith(key uniqueKey) *job {
	if j := i.store.live[i.store.holderOf(key)]; j != nil && !slices.Contains(i.taken, j) {
		return j
	}
	earlier := i.jobs
	if i.tx != nil {
		earlier = slices.Concat(i.tx.jobs, i.jobs)
	}
	for _, j := range earlier {
		if j.Unique == key.key && j.Kind == key.kind {
			return j
		}
	}
	return nil
}

// meet decides what becomes of a job whose key a new job has.
func (i *insertion) meet(n *store.NewJob, j *job) store.Conflict {
	is := j.JobInfo
	for _, r := range i.rekeyed {
		if r.job == j {
			is = r.to
		}
	}
	to := is
	switch {
	case j.State == store.StateRunning || j.Batch != 0 || j.hasBegun() && n.OnConflict != store.OnConflictReplace:
		return store.ConflictKept
	case n.OnConflict == store.OnConflictReplace:
		to.JobSpec = n.JobSpec.Clone()
		if (is.Queue != n.Queue || is.Priority != n.Priority) && is.RunAt.Before(i.now) {
			to.RunAt = i.now
		}
		i.rekeyed = append(i.rekeyed, rekeying{j, to})
		return store.ConflictReplaced
	case n.OnConflict == store.OnConflictReschedule:
		to.RunAt = i.pushed(n, is)
		if to.RunAt.Equal(is.RunAt) || !to.RunAt.After(i.now) && !is.RunAt.After(i.now) {
			return store.ConflictKept
		}
		i.rekeyed = append(i.rekeyed, rekeying{j, to})
		return store.ConflictRescheduled
	}
	return store.ConflictKept
}

// pushed returns when a job is due after a reschedule.
func (i *insertion) pushed(n *store.NewJob, is store.JobInfo) time.Time {
	at := instant(n.RunAt)
	if at.IsZero() {
		at = instant(i.now.Add(n.Delay))
	}
	if n.PushAtMost > 0 {
		at = earliest(at, laterOf(is.RunAt, instant(is.CreatedAt.Add(n.PushAtMost))))
	}
	return laterOf(at, i.now)
}

// write stores the new jobs and the changes of other jobs; with a transaction, which
// changes no other jobs, when it commits.
func (i *insertion) write() {
	if i.tx != nil {
		i.tx.jobs = append(i.tx.jobs, i.jobs...)
		i.tx.holds = append(i.tx.holds, i.holds...)
		i.store.reserve(i.tx, i.jobs)
		return
	}
	i.store.rekey(i.rekeyed...)
	for _, j := range i.taken { // after an earlier job of the request may have replaced it
		j.Unique = ""
	}
	i.store.add(i.jobs...)
	i.store.hold(i.holds...)
	i.store.release(i.jobs...)
	for _, j := range i.jobs {
		if from := i.again[j]; from != nil {
			i.store.link(j, store.NewJob{After: []store.Edge{{Job: from.ID, On: store.OnEnd}}}, i.now)
		}
	}
}

// rekey changes jobs, and wakes the nodes that may claim them.
func (s *Store) rekey(changes ...rekeying) {
	for _, r := range changes {
		r.job.JobInfo, r.job.permits = r.to, permits{}
		s.wake(store.Wake{Kind: store.WakeJobs, Queue: r.to.Queue})
	}
}

// hold means that a job holds a key until an instant.
type hold struct {
	uniqueKey
	job   int64
	until time.Time
}

// hold stores holds; each replaces the hold of its key, which has expired.
func (s *Store) hold(holds ...hold) {
	for _, h := range holds {
		s.holds[h.uniqueKey] = h
	}
}

// heldBy reports whether a job holds its key after its end.
func (s *Store) heldBy(j *job, now time.Time) bool {
	h := s.holds[uniqueKey{j.Kind, j.Unique}]
	return h.job == j.ID && h.until.After(now)
}

// holderOf returns the number of the living job with a key, or 0.
func (s *Store) holderOf(key uniqueKey) int64 {
	for _, j := range s.live {
		if j.Unique == key.key && j.Kind == key.kind {
			return j.ID
		}
	}
	return 0
}

// await waits, without the lock, until a transaction has ended.
func (s *Store) await(ctx context.Context, tx *Tx, doing string) error {
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-tx.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", doing, ctx.Err())
	}
}

// reserve keeps other transactions from inserting the unique keys that a
// transaction has inserted.
func (s *Store) reserve(tx *Tx, jobs []*job) {
	for _, j := range jobs {
		if j.Unique != "" {
			s.reserved[uniqueKey{j.Kind, j.Unique}] = tx
		}
	}
}
