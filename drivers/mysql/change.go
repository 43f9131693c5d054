package mysql

import (
	"context"
	"slices"

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
	return s.updateAfter(ctx, sqlrows.NumbersOf(jobs, func(job *rowwise.Altered) int64 { return job.ID }), s.Session.AlterJobs(ctx, jobs))
}

// DeleteJobs implements rowwise.Jobs.
func (s *session) DeleteJobs(ctx context.Context, ids []int64) error {
	if err := s.OnIDs(ctx, ids, deleteRare); err != nil { // which looks at the jobs
		return err
	}
	return s.Session.DeleteJobs(ctx, ids)
}
