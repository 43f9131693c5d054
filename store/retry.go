package store

import (
	"time"
)

// FinishedJob is what decides how RetryJobs makes a finished job ready.
type FinishedJob struct {
	ID                   int64
	Attempt, MaxAttempts int16
	JobKey               // Unique is empty if the job has no key
	// Mark is the mark of its schedule, or zero.
	Mark time.Time
}

// Revival is how RetryJobs makes a finished job ready. Its refunds become 0; its
// attempt, token and losses stay.
type Revival struct {
	RunAt       time.Time
	MaxAttempts int16
}

// Revival is the rule of RetryJobs for a finished job: it is due now (or later, see
// Schedules.Fire), and has at least one more attempt, as far as the number allows.
func (j FinishedJob) Revival(now time.Time) Revival {
	return Revival{RunAt: afterFired(j.Mark, now), MaxAttempts: max(j.MaxAttempts, oneMore(j.Attempt))}
}

// PullTo returns the run_at of a ready job that RetryJobs makes due: now (or its
// slot, see Schedules.Fire), and never later than it was.
func PullTo(runAt, slot, now time.Time) time.Time {
	at := afterSlot(slot, now)
	if runAt.Before(at) {
		return runAt
	}
	return at
}

// JobKey is the unique key of a job with its kind.
type JobKey struct{ Kind, Unique string }

// TakeKeys divides finished jobs, which are to be ready again, in their order:
// the first job with a key that no other job has takes the key back; the other
// jobs with the key stay finished. others has the live jobs with the keys of the
// finished jobs, and the jobs that hold a key after their end. holders has, for
// each job that stays, the job with its key.
func TakeKeys(jobs []FinishedJob, others map[JobKey]int64) (revive []FinishedJob, holders map[int64]int64) {
	taken := map[JobKey]int64{}
	for _, job := range jobs {
		holder := taken[job.JobKey]
		if other := others[job.JobKey]; other != job.ID && holder == 0 {
			holder = other
		}
		switch {
		case job.Unique == "":
		case holder != 0:
			if holders == nil {
				holders = map[int64]int64{}
			}
			holders[job.ID] = holder
			continue
		default:
			taken[job.JobKey] = job.ID
		}
		revive = append(revive, job)
	}
	return revive, holders
}
