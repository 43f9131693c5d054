package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// MatchJobs implements rowwise.Jobs.
func (s *Session) MatchJobs(ctx context.Context, ids []int64, f store.JobFilter, now time.Time) ([]int64, error) {
	f.IDs = ids
	given, a := jobConditions(f, now)
	return s.Numbers(ctx, MatchJobs, a, given...)
}

// LockScheduleJobs implements rowwise.Jobs.
func (s *Session) LockScheduleJobs(ctx context.Context, schedule string) ([]rowwise.Job, error) {
	return s.LockTargets(ctx, FindScheduleJobs, Args{"schedule": schedule})
}

// TargetColumns are the columns that LockTargets scans.
const TargetColumns = "id state run_at slot schedule_id origin attempt max_attempts kind unique_key mark"

// LockTargets runs a statement that returns TargetColumns, and returns the jobs, which a retry, a cancellation or a deletion is
// about to change.
func (s *Session) LockTargets(ctx context.Context, name Statement, a Args) ([]rowwise.Job, error) {
	var jobs []rowwise.Job
	err := s.Each(ctx, name, a, func(r Row) error {
		var j rowwise.Job
		var schedule int64
		var origin store.Origin
		err := r.Scan(&j.ID, &j.State, IntoTime(&j.RunAt), IntoTime(&j.Slot), &schedule, &origin, &j.Attempt, &j.MaxAttempts, &j.Kind, &j.Unique, IntoTime(&j.Mark))
		j.Group = store.SerialGroupOf(schedule, origin)
		jobs = append(jobs, j)
		return err
	})
	return jobs, err
}

// ReviveJobs implements rowwise.Jobs.
func (s *Session) ReviveJobs(ctx context.Context, jobs []rowwise.Revived) error {
	if err := s.Exec(ctx, ReviveJobs, Args{"jobs": JSON(jobs)}); err != nil {
		return err
	}
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		ids[i] = job.ID
	}
	now, err := s.Now(ctx, s.Asked)
	if err != nil {
		return err
	}
	if err := s.noteRetries(ctx, ids, now); err != nil {
		return err
	}
	return s.OnIDs(ctx, ids, DeleteFinishedJobs)
}

// ReleaseJobs implements rowwise.Groups.
func (s *Session) ReleaseJobs(ctx context.Context, ids []int64) error {
	return s.OnIDs(ctx, ids, ReleaseJobs)
}
