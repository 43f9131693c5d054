package store

import (
	"slices"
	"time"
)

// MostAhead is the longest time before its instant that a slot may fire.
const MostAhead = time.Second

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
