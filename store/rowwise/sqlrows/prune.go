package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// PruneTx deletes what databases find and delete in different ways.
type PruneTx interface {
	// PruneJobs deletes completed and cancelled jobs, or with failed the other finished jobs, that are older than keep, and PruneKept jobs
	// whose own time to be kept has passed, with their attempts.
	PruneJobs(ctx context.Context, failed bool, keep time.Duration, limit int, now time.Time) (int, error)
	PruneKept(ctx context.Context, limit int, now time.Time) (int, error)

	// PruneNodes deletes nodes that ended before the time to keep, and PruneEvents rows of the feed that have been kept long enough.
	PruneNodes(ctx context.Context, keep time.Duration, limit int, now time.Time) (int, error)
	PruneEvents(ctx context.Context, limit int, now time.Time) (int, error)
}

// Prune deletes what is old, the oldest first; see store.Maintenance. Where nothing is old it writes nothing.
func (c Calls[S]) Prune(ctx context.Context, req store.PruneRequest) (store.PruneResult, error) {
	return rowwise.InTx(c.Write(ctx, "prune", nil), func(s S) (out store.PruneResult, err error) {
		now, err := s.Now(ctx, req.Now)
		if err != nil {
			return out, err
		}
		var completed, failed, kept, held, ends, copies, batches int
		base, limit := s.Base(), req.Limit
		ages := func(name Statement, keep time.Duration) func() (int, error) {
			return func() (int, error) { return base.pruneRows(ctx, name, keep, limit, now) }
		}
		for _, step := range []struct {
			deleted *int
			prune   func() (int, error)
		}{
			{&completed, func() (int, error) { return pruneJobs(ctx, s, false, req.Completed, limit, now) }},
			{&failed, func() (int, error) { return pruneJobs(ctx, s, true, req.Failed, limit, now) }},
			{&kept, func() (int, error) { return s.PruneKept(ctx, limit, now) }},
			{&out.Slots, ages(PruneSlots, req.Slots)},
			{&out.Nodes, func() (int, error) { return pruneNodes(ctx, s, req.Nodes, limit, now) }},
			{&out.Events, func() (int, error) { return s.PruneEvents(ctx, limit, now) }},
			{&out.Audit, func() (int, error) { return base.pruneAudit(ctx, req.Audit, limit, now) }},
			{&held, func() (int, error) { return base.Count(ctx, PruneKeyHolds, Args{"now": Micros(now), "limit": limit}) }},
			{&ends, ages(PruneChainEnds, req.Slots)},
			{&copies, ages(PruneCopies, req.Nodes)},
			{&batches, ages(PruneBatches, req.BatchAge())},
		} {
			if *step.deleted, err = step.prune(); err != nil {
				return out, err
			}
			out.More = out.More || *step.deleted >= limit
		}
		out.Jobs = completed + failed + kept
		return out, nil
	})
}

func pruneJobs(ctx context.Context, tx PruneTx, failed bool, keep time.Duration, limit int, now time.Time) (int, error) {
	if keep == 0 { // which switches the deletion off
		return 0, nil
	}
	return tx.PruneJobs(ctx, failed, keep, limit, now)
}

func pruneNodes(ctx context.Context, tx PruneTx, keep time.Duration, limit int, now time.Time) (int, error) {
	if keep == 0 { // which switches the deletion off
		return 0, nil
	}
	return tx.PruneNodes(ctx, keep, limit, now)
}

// PruneNodes implements PruneTx.
func (s *Session) PruneNodes(ctx context.Context, keep time.Duration, limit int, now time.Time) (int, error) {
	return s.pruneRows(ctx, PruneNodes, keep, limit, now)
}

// pruneRows deletes what is older than keep, which 0 switches off.
func (s *Session) pruneRows(ctx context.Context, name Statement, keep time.Duration, limit int, now time.Time) (int, error) {
	if keep == 0 {
		return 0, nil
	}
	return s.Count(ctx, name, Args{"before": Micros(now.Add(-keep)), "limit": limit})
}

// DeleteOfJobs deletes what finished jobs had, after the jobs.
func (s *Session) DeleteOfJobs(ctx context.Context, ids []int64) (int, error) {
	return len(ids), s.OnIDs(ctx, ids, deleteAttempts, deleteProgress, deleteSteps, deleteEdges)
}
