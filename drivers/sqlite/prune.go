package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// Prune deletes what is old, the oldest first; see store.Maintenance. Where nothing
// is old it writes nothing.
func (b *Backend) Prune(ctx context.Context, req store.PruneRequest) (store.PruneResult, error) {
	return rowwise.InTx(b.write(ctx, "prune"), func(s *session) (out store.PruneResult, err error) {
		now, err := s.Now(ctx, req.Now)
		if err != nil {
			return out, err
		}
		completed, err := s.pruneJobs(ctx, pruneCompletedJobs, req.Completed, req.Limit, now)
		if err != nil {
			return out, err
		}
		failed, err := s.pruneJobs(ctx, pruneFailedJobs, req.Failed, req.Limit, now)
		if err != nil {
			return out, err
		}
		kept, err := s.pruneJobsBefore(ctx, pruneKeptJobs, now, req.Limit, now)
		if err != nil {
			return out, err
		}
		out.Jobs = completed + failed + kept
		if out.Slots, err = s.PruneRows(ctx, pruneSlots, req.Slots, req.Limit, now); err != nil {
			return out, err
		}
		out.Nodes, err = s.PruneRows(ctx, sqlrows.PruneNodes, req.Nodes, req.Limit, now)
		if err != nil {
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

// pruneJobs deletes finished jobs that are older than keep, which 0 switches off.
func (s *session) pruneJobs(ctx context.Context, name statement, keep time.Duration, limit int, now time.Time) (int, error) {
	if keep == 0 {
		return 0, nil
	}
	return s.pruneJobsBefore(ctx, name, now.Add(-keep), limit, now)
}

// pruneJobsBefore deletes finished jobs with their attempts.
func (s *session) pruneJobsBefore(ctx context.Context, name statement, before time.Time, limit int, now time.Time) (int, error) {
	var ids []int64
	err := s.Each(ctx, name, args{"before": sqlrows.Micros(before), "now": sqlrows.Micros(now), "limit": limit}, func(r row) error {
		var id int64
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return 0, err
	}
	return len(ids), s.OnIDs(ctx, ids, sqlrows.DeleteAttempts, sqlrows.DeleteProgress, sqlrows.DeleteSteps, sqlrows.DeleteEdges)
}
