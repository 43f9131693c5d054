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

// LockJobs implements rowwise.Jobs.
func (s *Session) LockJobs(ctx context.Context, ids []int64) ([]rowwise.Job, error) {
	return s.LockTargets(ctx, LockJobs, Args{"ids": ids})
}

// LockScheduleJobs implements rowwise.Jobs.
func (s *Session) LockScheduleJobs(ctx context.Context, schedule string) ([]rowwise.Job, error) {
	return s.LockTargets(ctx, findScheduleJobs, Args{"schedule": schedule})
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

// AlterJobs implements rowwise.Jobs.
func (s *Session) AlterJobs(ctx context.Context, jobs []rowwise.Altered) error {
	if err := s.Dialect.LeaveLanes(ctx, NumbersOf(jobs, func(job *rowwise.Altered) int64 { return job.ID }), false); err != nil {
		return err
	}
	return s.Exec(ctx, UpdateJobs, Args{"jobs": JSON(jobs)})
}

// RequestCancels implements rowwise.Jobs. It changes no row that the end of a job changes, too, and so touches the jobs.
func (s *Session) RequestCancels(ctx context.Context, ids []int64, reason string, now time.Time) error {
	rows := make([]Args, len(ids))
	for i, id := range ids {
		rows[i] = Args{"id": id, "now": Micros(now), "reason": reason}
	}
	if err := s.InsertRows(ctx, RequestCancels, rows); err != nil {
		return err
	}
	return s.Dialect.TouchJobs(ctx, ids)
}

// DeleteJobs implements rowwise.Jobs.
func (s *Session) DeleteJobs(ctx context.Context, ids []int64) error {
	now, err := s.Now(ctx, s.Asked)
	if err != nil {
		return err
	}
	if err := s.NoteEnds(ctx, InsertDeletedReleases, Args{"ids": ids, "now": Micros(now)}); err != nil {
		return err
	}
	if err := s.Dialect.LeaveLanes(ctx, ids, false); err != nil {
		return err
	}
	return s.OnIDs(ctx, ids, deleteKeyHolds, deleteJobs, deleteFinishedJobs, deleteAttempts, deleteProgress, deleteSteps, deleteEdges)
}

// LockKeyHolders implements rowwise.Jobs.
func (s *Session) LockKeyHolders(ctx context.Context, finished []int64, now time.Time) (map[store.JobKey]int64, error) {
	holders := map[store.JobKey]int64{}
	err := s.Each(ctx, FindKeyHolders, Args{"ids": finished, "now": Micros(now)}, func(r Row) error {
		var key store.JobKey
		var id int64
		var live bool
		err := r.Scan(&key.Kind, &key.Unique, &id, &live)
		holders[key] = id
		return err
	})
	return holders, err
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
	return s.OnIDs(ctx, ids, deleteFinishedJobs)
}

// ReleaseJobs implements rowwise.Groups.
func (s *Session) ReleaseJobs(ctx context.Context, ids []int64) error {
	return s.OnIDs(ctx, ids, ReleaseJobs)
}
