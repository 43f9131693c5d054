package mysql

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// LockJobs implements rowwise.Jobs. A job that moves to history, or back, while it is looked for
// is found by another look. Schedules are locked before jobs, but not by a caller's transaction, because
// they could not fire until it ends.
func (s *session) LockJobs(ctx context.Context, ids []int64) (jobs []rowwise.Job, err error) {
	if !s.callers {
		if err := s.Exec(ctx, lockRetriedSchedules, args{"ids": ids}); err != nil {
			return nil, err
		}
	}
	missing := slices.Clone(ids)
	for _, look := range []statement{sqlrows.LockJobs, lockFinishedJobs, sqlrows.LockJobs} {
		some, err := s.LockTargets(ctx, look, args{"ids": missing})
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, some...)
		missing = slices.DeleteFunc(missing, func(id int64) bool {
			return slices.ContainsFunc(some, func(job rowwise.Job) bool { return job.ID == id })
		})
		if len(missing) == 0 {
			break
		}
	}
	return jobs, nil
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
	return s.updateAfter(ctx, ids, s.Exec(ctx, sqlrows.UpdateJobs, args{"jobs": sqlrows.JSON(jobs)}))
}

// RequestCancels implements rowwise.Jobs. It changes no row that the end of a job changes, too, and so touches the jobs.
func (s *session) RequestCancels(ctx context.Context, ids []int64, reason string, now time.Time) error {
	rows := make([]args, len(ids))
	for i, id := range ids {
		rows[i] = args{"id": id, "now": sqlrows.Micros(now), "reason": reason}
	}
	if err := s.insertRows(ctx, sqlrows.RequestCancels, rows); err != nil {
		return err
	}
	return s.touchJobs(ctx, ids)
}

// DeleteJobs implements rowwise.Jobs.
func (s *session) DeleteJobs(ctx context.Context, ids []int64) error {
	now, err := s.Now(ctx, s.Asked)
	if err != nil {
		return err
	}
	if err := s.NoteEnds(ctx, sqlrows.InsertDeletedReleases, args{"ids": ids, "now": sqlrows.Micros(now)}); err != nil {
		return err
	}
	if err := s.leaveLanes(ctx, ids, false); err != nil {
		return err
	}
	return s.OnIDs(ctx, ids, sqlrows.DeleteKeyHolds, deleteRare, sqlrows.DeleteJobs, sqlrows.DeleteFinishedJobs, sqlrows.DeleteAttempts, sqlrows.DeleteProgress, sqlrows.DeleteSteps, sqlrows.DeleteEdges)
}

// LockKeyHolders implements rowwise.Jobs.
func (s *session) LockKeyHolders(ctx context.Context, finished []int64, now time.Time) (map[store.JobKey]int64, error) {
	holders := map[store.JobKey]int64{}
	err := s.Each(ctx, findKeyHolders, args{"ids": finished, "now": sqlrows.Micros(now)}, func(r row) error {
		var key store.JobKey
		var id int64
		var live bool
		err := r.Scan(&key.Kind, &key.Unique, &id, &live)
		holders[key] = id
		return err
	})
	return holders, err
}
