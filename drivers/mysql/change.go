package mysql

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// ChangeJobs cancels, retries or deletes jobs; see store.Jobs.
func (b *Backend) ChangeJobs(ctx context.Context, req store.ChangeJobsRequest) (out store.ChangeJobsResult, err error) {
	if len(req.IDs) == 0 && req.Schedule == "" {
		return store.ChangeJobsResult{EntryID: req.EntryID}, nil
	}
	err = b.withinAt(ctx, "change jobs", req.Tx, req.Now, func(s *session, now time.Time) (err error) {
		out, err = rowwise.ChangeJobs(ctx, s, req, now)
		return err
	})
	if err != nil {
		return store.ChangeJobsResult{}, err
	}
	return out, nil
}

// LockJobs implements rowwise.Jobs. A job that moves to history, or back, while it is looked for
// is found by another look. Schedules are locked before jobs, but not by a caller's transaction, because
// they could not fire until it ends.
func (s *session) LockJobs(ctx context.Context, ids []int64) (jobs []rowwise.Job, err error) {
	if !s.callers {
		if err := s.exec(ctx, lockRetriedSchedules, args{"ids": ids}); err != nil {
			return nil, err
		}
	}
	missing := slices.Clone(ids)
	for _, look := range []statement{lockJobs, lockFinishedJobs, lockJobs} {
		some, err := s.jobs(ctx, look, args{"ids": missing})
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

// MatchJobs implements rowwise.Jobs.
func (s *session) MatchJobs(ctx context.Context, ids []int64, f store.JobFilter, now time.Time) (matching []int64, err error) {
	f.IDs = ids
	given, a := jobConditions(f, now)
	err = s.list(ctx, matchJobs, given, a, func(r row) error {
		var id int64
		err := r.Scan(&id)
		matching = append(matching, id)
		return err
	})
	return matching, err
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
	return s.exec(ctx, updateJobs, args{"jobs": jsonOf(jobs)})
}

// LockScheduleJobs implements rowwise.Jobs.
func (s *session) LockScheduleJobs(ctx context.Context, schedule string) ([]rowwise.Job, error) {
	return s.jobs(ctx, findScheduleJobs, args{"schedule": schedule})
}

// targetColumns are the columns that session.jobs scans.
const targetColumns = "id state run_at slot schedule_id origin attempt max_attempts kind unique_key mark"

// jobs runs a statement that returns targetColumns, and returns the jobs: those
// that a retry, a cancellation or a deletion is about to change.
func (s *session) jobs(ctx context.Context, name statement, a args) ([]rowwise.Job, error) {
	var jobs []rowwise.Job
	err := s.each(ctx, name, a, func(r row) error {
		var j rowwise.Job
		var schedule int64
		var origin store.Origin
		err := r.Scan(&j.ID, &j.State, into(&j.RunAt), into(&j.Slot), &schedule, &origin, &j.Attempt, &j.MaxAttempts, &j.Kind, &j.Unique, into(&j.Mark))
		j.Group = store.SerialGroupOf(schedule, origin)
		jobs = append(jobs, j)
		return err
	})
	return jobs, err
}

// RequestCancels implements rowwise.Jobs.
func (s *session) RequestCancels(ctx context.Context, ids []int64, reason string, now time.Time) error {
	rows := make([]args, len(ids))
	for i, id := range ids {
		rows[i] = args{"id": id, "now": micros(now), "reason": reason}
	}
	_, err := s.insertRows(ctx, requestCancels, rows)
	return err
}

// DeleteJobs implements rowwise.Jobs.
func (s *session) DeleteJobs(ctx context.Context, ids []int64) error {
	now, err := s.now(ctx, s.asked)
	if err != nil {
		return err
	}
	if err := s.noteEnds(ctx, insertDeletedReleases, args{"ids": ids, "now": micros(now)}); err != nil {
		return err
	}
	if err := s.leaveLanes(ctx, ids, false); err != nil {
		return err
	}
	return s.onIDs(ctx, ids, deleteKeyHolds, deleteJobs, deleteFinishedJobs, deleteAttempts, deleteProgress, deleteEdges)
}

// LockKeyHolders implements rowwise.Jobs.
func (s *session) LockKeyHolders(ctx context.Context, finished []int64, now time.Time) (map[store.JobKey]int64, error) {
	holders := map[store.JobKey]int64{}
	err := s.each(ctx, findKeyHolders, args{"ids": finished, "now": micros(now)}, func(r row) error {
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
func (s *session) ReviveJobs(ctx context.Context, jobs []rowwise.Revived) error {
	if err := s.exec(ctx, reviveJobs, args{"jobs": jsonOf(jobs)}); err != nil {
		return err
	}
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		ids[i] = job.ID
	}
	now, err := s.now(ctx, s.asked)
	if err != nil {
		return err
	}
	if err := s.noteRetries(ctx, ids, now); err != nil {
		return err
	}
	return s.onIDs(ctx, ids, deleteFinishedJobs)
}
