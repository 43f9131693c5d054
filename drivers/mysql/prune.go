package mysql

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// Prune deletes what is old, the oldest first; see store.Maintenance. Where nothing
// is old it is one statement.
func (b *Backend) Prune(ctx context.Context, req store.PruneRequest) (store.PruneResult, error) {
	some, err := rowwise.InTx(b.look(ctx, "prune"), func(s *session) (bool, error) { return s.findOld(ctx, req) })
	if err != nil || !some {
		return store.PruneResult{}, err
	}
	if err := b.numberEvents(ctx); err != nil {
		return store.PruneResult{}, err
	}
	return rowwise.InTx(b.write(ctx, "prune"), func(s *session) (out store.PruneResult, err error) {
		now, err := s.Now(ctx, req.Now)
		if err != nil {
			return out, err
		}
		completed, err := s.pruneJobs(ctx, req.Completed, req.Limit, now, store.StateCompleted, store.StateCancelled)
		if err != nil {
			return out, err
		}
		failed, err := s.pruneJobs(ctx, req.Failed, req.Limit, now, store.StateFailed, store.StateNotStarted)
		if err != nil {
			return out, err
		}
		old, err := s.oldJobs(ctx, findOldKeptJobs, args{"before": sqlrows.Micros(now), "now": sqlrows.Micros(now), "limit": req.Limit})
		if err != nil {
			return out, err
		}
		kept, err := s.pruneOld(ctx, old)
		if err != nil {
			return out, err
		}
		out.Jobs = completed + failed + kept
		if out.Slots, err = s.PruneRows(ctx, pruneSlots, req.Slots, req.Limit, now); err != nil {
			return out, err
		}
		if out.Nodes, err = s.pruneNodes(ctx, req.Nodes, req.Limit, now); err != nil {
			return out, err
		}
		if out.Events, err = s.pruneEvents(ctx, req.Limit, now); err != nil {
			return out, err
		}
		if out.Audit, err = s.pruneAudit(ctx, req.Audit, req.Limit, now); err != nil {
			return out, err
		}
		held, err := s.Count(ctx, pruneKeyHolds, args{"now": sqlrows.Micros(now), "limit": req.Limit})
		if err != nil {
			return out, err
		}
		ends, err := s.PruneRows(ctx, pruneChainEnds, req.Slots, req.Limit, now)
		if err != nil {
			return out, err
		}
		copies, err := s.PruneRows(ctx, pruneCopies, req.Nodes, req.Limit, now)
		if err != nil {
			return out, err
		}
		batches, err := s.PruneRows(ctx, pruneBatches, req.BatchAge(), req.Limit, now)
		out.More = max(completed, failed, kept, out.Slots, out.Nodes, out.Events, out.Audit, held, ends, batches, copies) >= req.Limit
		return out, err
	})
}

// findOld reports, by one statement, whether Prune would find anything to delete or to number.
func (s *session) findOld(ctx context.Context, req store.PruneRequest) (some bool, err error) {
	now, limit := instantOf(req.Now), 1
	each := []query{
		{findUnnumberedEvents, args{"limit": limit}},
		{findOldEvents, args{"now": now, "limit": req.Limit}},
		{findOldKeyHolds, args{"now": now, "limit": limit}},
		{findOldKeptJobs, args{"before": now, "now": now, "limit": limit}},
	}
	add := func(keep time.Duration, name statement, more args) {
		if keep == 0 { // which switches the deletion off
			return
		}
		a := args{"before": before(req.Now, keep), "limit": limit}
		maps.Copy(a, more)
		each = append(each, query{name, a})
	}
	for _, state := range []store.State{store.StateCompleted, store.StateCancelled} {
		add(req.Completed, findOldJobs, args{"state": int(state), "now": now})
	}
	for _, state := range []store.State{store.StateFailed, store.StateNotStarted} {
		add(req.Failed, findOldJobs, args{"state": int(state), "now": now})
	}
	add(req.Slots, findOldSlots, nil)
	add(req.Slots, findOldChainEnds, nil)
	add(req.Nodes, findOldNodes, nil)
	add(req.Nodes, findOldCopies, nil)
	add(req.Audit, findOldAudit, nil)
	add(req.BatchAge(), findOldBatches, nil)
	return s.findsAny(ctx, each)
}

// sqlrows.PruneNodes deletes nodes that ended before the time to keep, which 0 switches off. It locks no node that lives.
func (s *session) pruneNodes(ctx context.Context, keep time.Duration, limit int, now time.Time) (int, error) {
	if keep == 0 {
		return 0, nil
	}
	ids, err := s.Numbers(ctx, findOldNodes, args{"before": sqlrows.Micros(now.Add(-keep)), "limit": limit})
	if err != nil {
		return 0, err
	}
	return len(ids), s.OnIDs(ctx, ids, sqlrows.PruneNodes)
}

// oldJob is a finished job that has been kept long enough.
type oldJob struct {
	id    int64
	ended time.Time
}

func (s *session) oldJobs(ctx context.Context, name statement, a args) (jobs []oldJob, err error) {
	err = s.Each(ctx, name, a, func(r row) error {
		var j oldJob
		err := r.Scan(&j.id, sqlrows.IntoTime(&j.ended))
		jobs = append(jobs, j)
		return err
	})
	return jobs, err
}

// pruneJobs deletes finished jobs of some states that are older than keep, which 0 switches off.
func (s *session) pruneJobs(ctx context.Context, keep time.Duration, limit int, now time.Time, states ...store.State) (int, error) {
	if keep == 0 {
		return 0, nil
	}
	var old []oldJob
	for _, state := range states {
		some, err := s.oldJobs(ctx, findOldJobs, args{"state": int(state), "before": sqlrows.Micros(now.Add(-keep)), "now": sqlrows.Micros(now), "limit": limit})
		if err != nil {
			return 0, err
		}
		old = append(old, some...)
	}
	slices.SortFunc(old, func(a, b oldJob) int { return cmp.Or(a.ended.Compare(b.ended), cmp.Compare(a.id, b.id)) })
	return s.pruneOld(ctx, old[:min(len(old), limit)])
}

// pruneOld deletes finished jobs with their attempts, unless other transactions have locked them.
func (s *session) pruneOld(ctx context.Context, old []oldJob) (int, error) {
	if len(old) == 0 {
		return 0, nil
	}
	found := make([]int64, len(old))
	for i, job := range old {
		found[i] = job.id
	}
	slices.Sort(found)
	ids, err := s.Numbers(ctx, lockOldJobs, args{"ids": sqlrows.JSONList(found)})
	if err != nil {
		return 0, err
	}
	return len(ids), s.OnIDs(ctx, ids, pruneJobs, sqlrows.DeleteAttempts, sqlrows.DeleteProgress, sqlrows.DeleteSteps, sqlrows.DeleteEdges)
}
