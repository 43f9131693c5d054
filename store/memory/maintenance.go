package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Prune deletes old rows, the oldest first; see store.Maintenance.
func (s *Store) Prune(ctx context.Context, req store.PruneRequest) (store.PruneResult, error) {
	now, err := s.beginWrite(ctx, "prune", req.Now)
	if err != nil {
		return store.PruneResult{}, err
	}
	defer s.mu.Unlock()
	var out store.PruneResult
	done := s.pruneJobs(req.Limit, now, aged(req.Completed, now, store.StateCompleted, store.StateCancelled))
	failed := s.pruneJobs(req.Limit, now, aged(req.Failed, now, store.StateFailed, store.StateNotStarted))
	kept := s.pruneJobs(req.Limit, now, func(j *job) bool { return j.keepUntil.Before(now) && !j.keepUntil.IsZero() })
	out.Jobs = done + failed + kept
	out.Slots = s.pruneSlots(req.Slots, req.Limit, now)
	ends := s.pruneEnds(req.Slots, req.Limit, now)
	out.Nodes = s.pruneNodes(req.Nodes, req.Limit, now)
	copies := s.pruneCopies(req.Nodes, req.Limit, now)
	out.Events = s.pruneEvents(req.Limit, now)
	out.Audit = s.pruneAudit(req.Audit, req.Limit, now)
	held := s.pruneHolds(req.Limit, now)
	batches := s.pruneBatches(req.BatchAge(), req.Limit, now)
	out.More = max(done, failed, kept, out.Slots, out.Nodes, out.Events, out.Audit, held, ends, batches, copies) >= req.Limit
	return out, nil
}

// old reports whether a row of that time is older than keep allows.
func old(at time.Time, keep time.Duration, now time.Time) bool {
	return keep != 0 && !at.IsZero() && at.Add(keep).Before(now)
}

// aged returns the condition for finished jobs to be deleted by their age.
func aged(keep time.Duration, now time.Time, states ...store.State) func(*job) bool {
	return func(j *job) bool {
		return j.keepUntil.IsZero() && slices.Contains(states, j.State) && old(j.FinishedAt, keep, now)
	}
}

// pruneJobs deletes up to limit finished jobs that are over and do not hold their
// keys.
func (s *Store) pruneJobs(limit int, now time.Time, over func(*job) bool) int {
	var gone []*job
	for _, j := range s.finished {
		if over(j) && !s.heldBy(j, now) && !s.needed(j) {
			gone = append(gone, j)
		}
	}
	slices.SortFunc(gone, func(a, b *job) int {
		return cmp.Or(a.keepUntil.Compare(b.keepUntil), a.FinishedAt.Compare(b.FinishedAt), cmp.Compare(a.ID, b.ID))
	})
	gone = gone[:min(len(gone), limit)]
	for _, j := range gone {
		delete(s.finished, j.ID)
		delete(s.attempts, j.ID)
		delete(s.progress, j.ID)
		delete(s.steps, j.ID)
	}
	return len(gone)
}

// pruneHolds deletes holds that have expired.
func (s *Store) pruneHolds(limit int, now time.Time) int {
	gone := 0
	maps.DeleteFunc(s.holds, func(_ uniqueKey, h hold) bool {
		if gone == limit || h.until.After(now) {
			return false
		}
		gone++
		return true
	})
	return gone
}

func (s *Store) pruneSlots(keep time.Duration, limit int, now time.Time) int {
	gone := 0
	s.slots = slices.DeleteFunc(s.slots, func(row *store.SlotInfo) bool {
		if gone == limit || !old(row.RecordedAt, keep, now) {
			return false
		}
		gone++
		return true
	})
	return gone
}

// pruneCopies deletes old copies of hosts without a known node.
func (s *Store) pruneCopies(keep time.Duration, limit int, now time.Time) (gone int) {
	hosts := map[string]bool{}
	for _, node := range s.nodes {
		hosts[node.Host] = true
	}
	for name, owner := range s.owners {
		owner.Copies = slices.DeleteFunc(slices.Clone(owner.Copies), func(c store.Copy) bool {
			over := gone < limit && !hosts[c.Host] && old(c.ChangedAt, keep, now)
			if over {
				gone++
			}
			return over
		})
		s.owners[name] = owner
	}
	return gone
}

func (s *Store) pruneNodes(keep time.Duration, limit int, now time.Time) int {
	gone := 0
	for _, node := range s.sortedNodes() {
		if gone < limit && old(node.EndedAt, keep, now) {
			delete(s.nodes, node.ID)
			delete(s.beats, node.ID)
			gone++
		}
	}
	return gone
}

// Now reads the store's clock.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	now, err := s.begin(ctx, "read the clock", time.Time{})
	if err != nil {
		return time.Time{}, err
	}
	s.mu.Unlock()
	return now, nil
}
