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

// holderFor returns the number of the job that has the key of a new job: a live
// job, a job of the same transaction, an earlier job of the same request, or a
// job that holds the key after its end; 0: none.
func (s *Store) holderFor(tx *Tx, earlier []*job, n store.NewJob, now time.Time) (int64, store.Conflict) {
	if n.Unique == "" {
		return 0, store.ConflictNone
	}
	key := uniqueKey{n.Kind, n.Unique}
	if id := s.holderOf(key); id != 0 {
		return id, store.ConflictKept
	}
	if tx != nil {
		earlier = slices.Concat(tx.jobs, earlier)
	}
	for _, j := range earlier {
		if j.Unique == n.Unique && j.Kind == n.Kind {
			return j.ID, store.ConflictKept
		}
	}
	if h := s.holds[key]; h.until.After(now) {
		return h.job, store.ConflictHeld
	}
	return 0, store.ConflictNone
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
