package mysql

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// The table hourbell_job_rare has copies of columns of the jobs that have what few jobs have, with the indexes that find jobs by it
// (docs/adr/0089-mysql-decides-by-rows-that-it-locks.md). Each change of such a column in the table of jobs is followed by updateRare, in the same
// transaction.

// rareColumns are the columns of hourbell_job_rare that have the names of columns of hourbell_job.
const rareColumns = "run_at, slot, schedule_id, batch, lane, priority, state, losses, group_name, job_key, unique_key"

// rare reports whether a job has a row in hourbell_job_rare from its beginning.
func rare(schedule int64, spec *store.JobSpec) bool {
	return schedule != 0 || spec.Batch != 0 || spec.Group != "" || spec.Key != "" || spec.Unique != ""
}

// insertRares inserts the rows of new jobs.
func (s *session) insertRares(ctx context.Context, jobs []store.NewJob, ids []int64) error {
	var rares []int64
	for i := range jobs {
		if rare(jobs[i].Schedule, &jobs[i].JobSpec) {
			rares = append(rares, ids[i])
		}
	}
	return s.OnIDs(ctx, rares, insertRare)
}

// updateAfter brings the rows of jobs up to date after a change of the jobs, unless the change failed.
func (s *session) updateAfter(ctx context.Context, ids []int64, err error) error {
	if err != nil {
		return err
	}
	return s.OnIDs(ctx, ids, updateRare)
}

// ReleaseJobs implements rowwise.Groups.
func (s *session) ReleaseJobs(ctx context.Context, ids []int64) error {
	return s.updateAfter(ctx, ids, s.Session.ReleaseJobs(ctx, ids))
}

// SaveWaits implements rowwise.Edges.
func (s *session) SaveWaits(ctx context.Context, waits []rowwise.JobWait) error {
	return s.updateAfter(ctx, sqlrows.NumbersOf(waits, func(w *rowwise.JobWait) int64 { return w.ID }), s.Session.SaveWaits(ctx, waits))
}

// ReopenJobs implements rowwise.Edges.
func (s *session) ReopenJobs(ctx context.Context, jobs []rowwise.JobWait, now time.Time) error {
	if err := s.Session.ReopenJobs(ctx, jobs, now); err != nil {
		return err
	}
	return s.OnIDs(ctx, sqlrows.NumbersOf(jobs, func(w *rowwise.JobWait) int64 { return w.ID }), insertRare)
}

// ReviveJobs implements rowwise.Jobs.
func (s *session) ReviveJobs(ctx context.Context, jobs []rowwise.Revived) error {
	if err := s.Session.ReviveJobs(ctx, jobs); err != nil {
		return err
	}
	return s.OnIDs(ctx, sqlrows.NumbersOf(jobs, func(job *rowwise.Revived) int64 { return job.ID }), insertRare)
}
