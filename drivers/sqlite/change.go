package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// LockJobs implements rowwise.Jobs.
func (s *session) LockJobs(ctx context.Context, ids []int64) ([]rowwise.Job, error) {
	return s.LockTargets(ctx, sqlrows.LockJobs, args{"ids": sqlrows.JSONList(ids)})
}

// AlterJobs implements rowwise.Jobs.
func (s *session) AlterJobs(ctx context.Context, jobs []rowwise.Altered) error {
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		ids[i] = job.ID
	}
	if err := s.leaveLanes(ctx, ids, false); err != nil {
		return err
	}
	return s.Exec(ctx, sqlrows.UpdateJobs, args{"jobs": sqlrows.JSON(jobs)})
}

// RequestCancels implements rowwise.Jobs.
func (s *session) RequestCancels(ctx context.Context, ids []int64, reason string, now time.Time) error {
	return s.Exec(ctx, sqlrows.RequestCancels, args{"ids": ids, "now": sqlrows.Micros(now), "reason": reason})
}

// DeleteJobs implements rowwise.Jobs.
func (s *session) DeleteJobs(ctx context.Context, ids []int64) error {
	now, err := s.Now(ctx, s.Asked)
	if err != nil {
		return err
	}
	if err := s.NoteEnds(ctx, sqlrows.InsertDeletedReleases, args{"ids": sqlrows.JSONList(ids), "now": sqlrows.Micros(now)}); err != nil {
		return err
	}
	if err := s.leaveLanes(ctx, ids, false); err != nil {
		return err
	}
	return s.OnIDs(ctx, ids, sqlrows.DeleteKeyHolds, sqlrows.DeleteJobs, sqlrows.DeleteFinishedJobs, sqlrows.DeleteAttempts, sqlrows.DeleteProgress, sqlrows.DeleteSteps, sqlrows.DeleteEdges)
}

// LockKeyHolders implements rowwise.Jobs.
func (s *session) LockKeyHolders(ctx context.Context, finished []int64, now time.Time) (map[store.JobKey]int64, error) {
	holders := map[store.JobKey]int64{}
	err := s.Each(ctx, findKeyHolders, args{"ids": sqlrows.JSONList(finished), "now": sqlrows.Micros(now)}, func(r row) error {
		var key store.JobKey
		var id int64
		err := r.Scan(&key.Kind, &key.Unique, &id)
		holders[key] = id
		return err
	})
	return holders, err
}
