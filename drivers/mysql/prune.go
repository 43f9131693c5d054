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
	return b.calls.Prune(ctx, req)
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

// PruneNodes implements sqlrows.PruneTx. It locks no node that lives.
func (s *session) PruneNodes(ctx context.Context, keep time.Duration, limit int, now time.Time) (int, error) {
	ids, err := s.Numbers(ctx, findOldNodes, args{"before": sqlrows.Micros(now.Add(-keep)), "limit": limit})
	if err != nil {
		return 0, err
	}
	return len(ids), s.OnIDs(ctx, ids, sqlrows.PruneNodes)
}

// PruneKept implements sqlrows.PruneTx.
func (s *session) PruneKept(ctx context.Context, limit int, now time.Time) (int, error) {
	old, err := s.oldJobs(ctx, findOldKeptJobs, args{"before": sqlrows.Micros(now), "now": sqlrows.Micros(now), "limit": limit})
	if err != nil {
		return 0, err
	}
	return s.pruneOld(ctx, old)
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

// PruneJobs implements sqlrows.PruneTx.
func (s *session) PruneJobs(ctx context.Context, failed bool, keep time.Duration, limit int, now time.Time) (int, error) {
	states := []store.State{store.StateCompleted, store.StateCancelled}
	if failed {
		states = []store.State{store.StateFailed, store.StateNotStarted}
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
	if err := s.OnIDs(ctx, ids, pruneJobs); err != nil {
		return 0, err
	}
	return s.DeleteOfJobs(ctx, ids)
}
