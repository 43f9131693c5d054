package rowwise

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// ChangeJobs cancels, retries or deletes jobs; see store.Jobs.
func ChangeJobs(ctx context.Context, tx Tx, req store.ChangeJobsRequest, now time.Time) (store.ChangeJobsResult, error) {
	out := store.ChangeJobsResult{EntryID: req.EntryID}
	jobs, ids, err := lockTargets(ctx, tx, req)
	if err != nil || len(ids) == 0 {
		return out, err
	}
	if err := match(ctx, tx, req.Match, jobs, now); err != nil {
		return out, err
	}
	states := map[int64]store.State{}
	for id, job := range jobs {
		states[id] = job.State
	}
	plan := req.Action.Plan(ids, states)
	forgotten, err := StepsToForget(ctx, tx, req, plan)
	if err != nil {
		return out, err
	}
	if err := endAndDelete(ctx, tx, plan, jobs, req.Reason, now); err != nil {
		return out, err
	}
	if len(plan.Ask) > 0 {
		if err := tx.RequestCancels(ctx, plan.Ask, req.Reason, now); err != nil {
			return out, err
		}
	}
	if err := pull(ctx, tx, plan.Pull, jobs, now); err != nil {
		return out, err
	}
	if err := alter(ctx, tx, req, plan.Alter, jobs, now); err != nil {
		return out, err
	}
	holders, err := revive(ctx, tx, plan.Revive, jobs, now)
	if err != nil {
		return out, err
	}
	store.WithConflicts(plan.Changes, holders)
	if err := ForgetSteps(ctx, tx, plan.Changes, forgotten); err != nil {
		return out, err
	}
	entry, err := RecordMore(ctx, tx, req.Entry(plan.Changes), req.EntryID, now)
	return store.ChangeJobsResult{Changes: plan.Changes, EntryID: entry}, err
}

// lockTargets returns the jobs that a request names, and their numbers in the
// order of the answers.
func lockTargets(ctx context.Context, tx Tx, req store.ChangeJobsRequest) (byID map[int64]*Job, ids []int64, err error) {
	var jobs []Job
	switch bySchedule := req.Action == store.CancelJobs && req.Schedule != ""; {
	case bySchedule:
		jobs, err = tx.LockScheduleJobs(ctx, req.Schedule)
		for i := range jobs {
			ids = append(ids, jobs[i].ID)
		}
	case len(req.IDs) > 0:
		jobs, err = tx.LockJobs(ctx, req.IDs)
		ids = req.IDs
	}
	byID = map[int64]*Job{}
	for i := range jobs {
		byID[jobs[i].ID] = &jobs[i]
	}
	return byID, ids, err
}

// match removes the jobs that do not match a filter.
func match(ctx context.Context, tx Tx, f store.JobFilter, jobs map[int64]*Job, now time.Time) error {
	if f.Empty() || len(jobs) == 0 {
		return nil
	}
	matching, err := tx.MatchJobs(ctx, slices.Collect(maps.Keys(jobs)), f, now)
	if err != nil {
		return err
	}
	match := map[int64]bool{}
	for _, id := range matching {
		match[id] = true
	}
	maps.DeleteFunc(jobs, func(id int64, _ *Job) bool { return !match[id] })
	return nil
}

// alter gives waiting and ready jobs another queue or priority.
func alter(ctx context.Context, tx Tx, req store.ChangeJobsRequest, ids []int64, jobs map[int64]*Job, now time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	rows := make([]Altered, len(ids))
	for i, id := range ids {
		rows[i] = Altered{ID: id, RunAt: store.AlteredRunAt(jobs[id].RunAt, now).UnixMicro()}
		if req.Action == store.MoveJobs {
			rows[i].Queue = req.Queue
		} else {
			rows[i].Priority = req.Priority
		}
	}
	return tx.AlterJobs(ctx, rows)
}

// endAndDelete ends and deletes jobs, and releases the jobs that waited for them.
func endAndDelete(ctx context.Context, tx Tx, plan store.JobPlan, jobs map[int64]*Job, reason string, now time.Time) error {
	var ends []End
	var freed []store.SerialGroup
	for _, id := range plan.End {
		ends = append(ends, End{ID: id, State: store.StateCancelled, Reason: reason})
		freed = append(freed, jobs[id].Group)
	}
	for _, id := range plan.Delete {
		freed = append(freed, jobs[id].Group)
	}
	if len(plan.Delete) > 0 {
		if err := tx.DeleteJobs(ctx, plan.Delete); err != nil {
			return err
		}
	}
	return endAndRequeue(ctx, tx, ends, nil, freed, now)
}

// pull makes ready jobs due.
func pull(ctx context.Context, tx Tx, ids []int64, jobs map[int64]*Job, now time.Time) error {
	var due []Requeue
	for _, id := range ids {
		job := jobs[id]
		if at := store.PullTo(job.RunAt, job.Slot, now); !at.Equal(job.RunAt) {
			due = append(due, Requeue{ID: id, Delay: at.Sub(now).Microseconds()})
		}
	}
	return endAndRequeue(ctx, tx, nil, due, nil, now)
}

// revive makes finished jobs ready. It returns, for jobs whose key another job
// has, the other job.
func revive(ctx context.Context, tx Tx, ids []int64, jobs map[int64]*Job, now time.Time) (holders map[int64]int64, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	live, err := tx.LockKeyHolders(ctx, ids, now)
	if err != nil {
		return nil, err
	}
	finished := make([]store.FinishedJob, len(ids))
	for i, id := range ids {
		finished[i] = jobs[id].FinishedJob
	}
	free, holders := store.TakeKeys(finished, live)
	if len(free) == 0 {
		return holders, nil
	}
	rows := make([]Revived, len(free))
	for i, job := range free {
		r := job.Revival(now)
		rows[i] = Revived{job.ID, r.RunAt.UnixMicro(), r.MaxAttempts}
	}
	return holders, tx.ReviveJobs(ctx, rows)
}
