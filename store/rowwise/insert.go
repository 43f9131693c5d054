package rowwise

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Insert stores jobs; see store.Jobs. tx is the caller's transaction if the
// request has one.
func Insert(ctx context.Context, tx Tx, req store.InsertRequest, now time.Time) (out store.InsertResult, err error) {
	jobs := req.Jobs
	if len(jobs) == 0 {
		return out, nil
	}
	if jobs, err = startAfterFired(ctx, tx, jobs, now); err != nil {
		return out, err
	}
	insert := tx.InsertJobs
	if store.HasKeys(jobs) {
		insert = func(ctx context.Context, jobs []store.NewJob, now time.Time) ([]store.Inserted, error) {
			return insertKeyed(ctx, tx, jobs, now)
		}
	}
	if out.Jobs, err = insert(ctx, jobs, now); err != nil {
		return out, err
	}
	var touched []store.SerialGroup
	var noted []int64
	for i, job := range jobs {
		if job.Waiting {
			touched = append(touched, store.SerialGroupOf(job.Schedule, job.Origin))
		}
		if job.Origin.LeavesNotes() {
			noted = append(noted, out.Jobs[i].ID)
		}
	}
	if len(noted) > 0 {
		if err := tx.MarkReleases(ctx, noted); err != nil {
			return out, err
		}
	}
	if err := Release(ctx, tx, touched); err != nil {
		return out, err
	}
	return out, Record(ctx, tx, req.Entry(out.Jobs), now)
}

// startAfterFired returns the jobs, with triggered jobs that start after the slots
// of their schedules that have fired early.
func startAfterFired(ctx context.Context, tx Tx, jobs []store.NewJob, now time.Time) ([]store.NewJob, error) {
	var schedules []int64
	for _, job := range jobs {
		if job.Origin == store.OriginTrigger {
			schedules = append(schedules, job.Schedule)
		}
	}
	if len(schedules) == 0 {
		return jobs, nil
	}
	marks, err := tx.LockMarks(ctx, schedules)
	if err != nil {
		return nil, err
	}
	return store.StartAfter(jobs, marks, now), nil
}
