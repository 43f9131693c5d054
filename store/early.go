package store

import (
	"context"
	"slices"
	"time"
)

// MostAhead is the longest time before its instant that a slot may fire.
const MostAhead = time.Second

// EarlyFirer is implemented by backends whose slots can fire early: the job of a
// slot is stored before the slot, so that at the slot only the claim is left.
// Callers find it by assertion; without it slots fire at their instant.
//
// The job of a slot that fires early has a RunAt that is not before the slot, so
// that it starts as if the slot had fired at its instant. From the early firing
// to the slot the schedule's mark is later than the clock, and the slot stays
// accounted for:
//
//   - An edit (PutSchedules, ChangeSchedules, Put of calendars) is made at once and
//     takes nothing back. The caller then waits until the instant that FiredTo
//     returns, so that no slot that was decided before the edit begins after the
//     caller has answered.
//   - ResetSchedules leaves a mark that is later than now by MostAhead or less.
//   - A job that is made due by hand does not start before the slot, because it
//     would overlap a slot that has been decided on. Insert gives a job of
//     origin OriginTrigger a run_at that is not before the instant that FiredTo
//     returns for its schedule, and so does RetryJobs with a finished job. RetryJobs does not set the run_at of a ready job before the job's own
//     slot, if that slot is at most MostAhead away.
//   - An early firing and a job that becomes live concurrently see each other:
//     either the slot does not fire early, or the job starts at the slot or later.
//     A job of a caller's transaction that is open need not be seen.
type EarlyFirer interface {
	// FireEarly accounts for slots as Fire does, and also for slots whose instant
	// comes within Ahead. A firing is early if next_at is after now. An early
	// firing is done only if its schedule has no live job, except backfilled
	// jobs, so that there is no overlap to settle; otherwise it is left out and
	// returned in Busy. Under OverlapAllow live jobs do not matter.
	FireEarly(ctx context.Context, req FireEarlyRequest) (FireEarlyResult, error)

	// FiredTo returns the latest Schedule.FiredTo of schedules, named in any
	// number, deleted schedules too; the zero time if no slot of them has fired
	// early that is still to come. Names that do not exist are ignored. After an
	// edit it covers all slots that fired before the edit.
	FiredTo(ctx context.Context, req FiredToRequest) (time.Time, error)
}

// FireEarlyRequest accounts for slots that are due, or that will be soon.
type FireEarlyRequest struct {
	FireRequest
	// Ahead, at most MostAhead, is how long before next_at a firing may be done.
	// The jobs of an early firing have a RunAt that is not before next_at.
	Ahead time.Duration
}

// FireEarlyResult is the result of FireEarly.
type FireEarlyResult struct {
	FireResult
	// Busy are schedules whose firing was left out because it was early and the
	// schedule has a live job; they are not in Lost. The firing may be sent again
	// when it is due.
	Busy []int64
}

// FiredToRequest names schedules.
type FiredToRequest struct {
	Now   time.Time
	Names []string
}

// FiredTo returns the schedule's mark if slots up to it may have fired early:
// their jobs exist, and start when they are due. Otherwise it returns the zero
// time. A mark that is later than now by more than MostAhead was written while
// the clock was wrong.
func (s *Schedule) FiredTo(now time.Time) time.Time { return firedTo(s.Mark, now) }

// firedTo is Schedule.FiredTo for a mark.
func firedTo(mark, now time.Time) time.Time {
	if !mark.After(now) || mark.After(now.Add(MostAhead)) {
		return time.Time{}
	}
	return mark
}

// resetMark sets the mark to now, unless an early firing may have set it.
func (s *Schedule) resetMark(now time.Time) {
	if s.FiredTo(now).IsZero() {
		s.Mark = now
	}
}

// LatestFiredTo returns the latest Schedule.FiredTo of schedules with these marks.
func LatestFiredTo(marks []time.Time, now time.Time) (latest time.Time) {
	for _, mark := range marks {
		if to := firedTo(mark, now); to.After(latest) {
			latest = to
		}
	}
	return latest
}

// StartAfter returns the jobs with a RunAt for triggered jobs that is not before
// the Schedule.FiredTo of their schedule; marks has the marks of the schedules by
// number.
func StartAfter(jobs []NewJob, marks map[int64]time.Time, now time.Time) []NewJob {
	jobs = slices.Clone(jobs)
	for i := range jobs {
		job := &jobs[i]
		to := firedTo(marks[job.Schedule], now)
		if job.Origin != OriginTrigger || to.IsZero() {
			continue
		}
		if job.RunAt.IsZero() {
			job.RunAt = now.Add(job.Delay)
		}
		if job.RunAt.Before(to) {
			job.RunAt = to
		}
	}
	return jobs
}

// afterFired returns when a job may start that is made due now by hand: not before
// a slot of its schedule, with this mark, that has fired early.
func afterFired(mark, now time.Time) time.Time {
	if to := firedTo(mark, now); !to.IsZero() {
		return to
	}
	return now
}

// afterSlot returns when a ready job may start that is made due now by hand: not
// before its own slot, if the slot is near.
func afterSlot(slot, now time.Time) time.Time {
	if slot.Before(now) || slot.After(now.Add(MostAhead)) {
		return now
	}
	return slot
}
