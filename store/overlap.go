package store

import (
	"cmp"
	"fmt"
	"slices"
)

// Settle decides overlaps; it is a pure function. Only a running job overlaps.
//
//   - OverlapSkip: no slot fires while a job is running, while a job of the
//     schedule is waiting, or while MostUnstarted ready jobs have never started;
//     fewer of these do not matter, and stay as they are.
//   - OverlapQueue: while a job is running or has not started yet, the newest
//     slot's job waits; while a job waits, no other slot fires.
//   - OverlapReplace: the newest slot's job replaces a waiting job, running jobs
//     are asked to cancel, and the new job waits until they have ended.
//   - OverlapAllow: every slot fires.
//
// Except under OverlapAllow, a job that waits for a retry, or that snoozes, is
// superseded by a slot that fires, and if several slots fire at once, each job waits for the job
// before it. Backfilled jobs do not count.
func (f Firing) Settle(live []LiveJob) Settled {
	out := Settled{Jobs: f.Jobs, Slots: f.Slots}
	if f.Overlap == OverlapAllow || len(f.Jobs) == 0 {
		return out
	}
	group := sortLive(live)
	jobs, skipped, reason := f.Jobs, []NewJob(nil), group.inTheWay(f.Overlap)
	switch {
	case reason != "":
		jobs, skipped = nil, f.Jobs
	case f.Overlap != OverlapSkip && len(group.running) > 0:
		last := len(jobs) - 1
		jobs, skipped, reason = jobs[last:], jobs[:last], "overlap: a newer slot fired in its place"
	}
	out.Slots = slices.Clip(out.Slots)
	for _, job := range skipped {
		out.Slots = append(out.Slots, SlotRecord{Slot: job.Slot, Last: job.Slot, Count: 1, Outcome: SlotSkipped, Reason: reason})
	}
	if len(jobs) == 0 {
		out.Jobs = nil
		return out
	}
	out.Supersede = idsOf(group.retrying)
	if f.Overlap == OverlapReplace {
		out.Replace, out.Cancel = idsOf(group.waiting), idsOf(group.running)
	}
	out.Jobs = slices.Clone(jobs)
	for i := range out.Jobs {
		out.Jobs[i].Waiting = i > 0 || f.Overlap != OverlapSkip && len(group.running)+len(group.fresh) > 0
	}
	return out
}

// liveByState holds the jobs of a schedule that matter for its slots, by state.
type liveByState struct{ running, waiting, retrying, fresh []LiveJob }

func sortLive(live []LiveJob) (l liveByState) {
	for _, job := range live {
		switch {
		case job.Origin.Backfills():
		case job.Running:
			l.running = append(l.running, job)
		case job.Waiting:
			l.waiting = append(l.waiting, job)
		case job.Attempt > 0 || job.Snoozed:
			l.retrying = append(l.retrying, job)
		default:
			l.fresh = append(l.fresh, job)
		}
	}
	return l
}

// inTheWay returns why no slot fires now; empty if a slot fires.
func (l liveByState) inTheWay(overlap Overlap) string {
	switch {
	case overlap == OverlapSkip && len(l.running) > 0:
		return fmt.Sprintf("overlap: job %d was still running", first(l.running))
	case overlap != OverlapReplace && len(l.waiting) > 0:
		return fmt.Sprintf("overlap: job %d waited to start", first(l.waiting))
	case overlap == OverlapSkip && len(l.fresh) >= MostUnstarted:
		return fmt.Sprintf("overlap: job %d had not started yet, nor had %d others", first(l.fresh), len(l.fresh)-1)
	}
	return ""
}

// first returns the smallest number of the jobs.
func first(jobs []LiveJob) int64 {
	return slices.MinFunc(jobs, func(a, b LiveJob) int { return cmp.Compare(a.ID, b.ID) }).ID
}

func idsOf(jobs []LiveJob) (ids []int64) {
	for _, job := range jobs {
		ids = append(ids, job.ID)
	}
	return ids
}
