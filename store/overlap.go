package store

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Settle decides overlaps; it is a pure function. Under OverlapSkip two jobs of a schedule never run concurrently: a job overlaps
// if it runs, or if it is due and has not started. Under the other policies only a running job overlaps.
//
//   - OverlapSkip: no slot fires while a job of the schedule runs, waits, or is due and has not
//     started. The reason of the slot names the cause of the delay.
//   - OverlapQueue: while a job is running or has not started yet, the newest
//     slot's job waits; while a job waits, no other slot fires.
//   - OverlapReplace: the newest slot's job replaces a waiting job, running jobs
//     are asked to cancel, and the new job waits until they have ended.
//   - OverlapAllow: every slot fires.
//
// Except under OverlapAllow, a job that waits for a retry, or that snoozes, is
// superseded by a slot that fires, and if several slots fire at once, each job waits for the job
// before it. Backfilled jobs do not count. delays matters only if AsksWhy reports true.
func (f Firing) Settle(live []LiveJob, delays Delays) Settled {
	out := Settled{Jobs: f.Jobs, Slots: f.Slots}
	if f.Overlap == OverlapAllow || len(f.Jobs) == 0 {
		return out
	}
	group := sortLive(live)
	jobs, skipped, reason := f.choose(group, delays)
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

// AsksWhy reports whether Settle names what delays a job, so that its caller reads Delays. This is rare.
func (f Firing) AsksWhy(live []LiveJob) bool {
	if f.Overlap != OverlapSkip || len(f.Jobs) == 0 {
		return false
	}
	group := sortLive(live)
	return len(group.running)+len(group.waiting) == 0 && len(group.due()) > 0
}

// choose decides which jobs fire, which slots are skipped instead, and why they are skipped.
func (f Firing) choose(group liveByState, delays Delays) (jobs, skipped []NewJob, reason string) {
	reason = group.inTheWay(f.Overlap, delays)
	switch {
	case reason != "":
		return nil, f.Jobs, reason
	case f.Overlap != OverlapSkip && len(group.running) > 0:
		last := len(f.Jobs) - 1
		return f.Jobs[last:], f.Jobs[:last], "overlap: a newer slot fired in its place"
	}
	return f.Jobs, nil, ""
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

// due returns the jobs that are due and have not started.
func (l liveByState) due() []LiveJob {
	return slices.DeleteFunc(slices.Clone(l.fresh), func(job LiveJob) bool { return !job.Due })
}

// inTheWay returns why no slot fires now; empty if a slot fires.
func (l liveByState) inTheWay(overlap Overlap, delays Delays) string {
	switch {
	case overlap == OverlapSkip && len(l.running) > 0:
		return fmt.Sprintf("overlap: job %d was still running", first(l.running).ID)
	case overlap != OverlapReplace && len(l.waiting) > 0:
		return fmt.Sprintf("overlap: job %d waited to start", first(l.waiting).ID)
	case overlap != OverlapSkip:
		return ""
	}
	if due := l.due(); len(due) > 0 {
		job := first(due)
		return fmt.Sprintf("overlap: job %d has not started: %s", job.ID, delays.Of(job))
	}
	return ""
}

// Delays are what may delay a due job.
type Delays struct {
	Nodes  []NodeInfo // that live
	Pauses []Pause    // that are active
}

// Of returns why a job that is due has not started, in words.
func (d Delays) Of(job LiveJob) string {
	for _, p := range d.Pauses {
		if p.Concerns(job.JobSpec) {
			return fmt.Sprintf("%v %s is paused", p.Subject, p.Name)
		}
	}
	serve, run := false, false
	for _, n := range d.Nodes {
		if n.Serves(job.Queue) {
			serve, run = true, run || n.Runs(job.Kind)
		}
	}
	switch {
	case !job.StartsAt.IsZero():
		return "it starts at " + job.StartsAt.Format(time.RFC3339Nano)
	case !serve:
		return fmt.Sprintf("no living node serves queue %q", job.Queue)
	case !run:
		return fmt.Sprintf("no living node of queue %q has code for kind %q", job.Queue, job.Kind)
	case job.Limited:
		return "a limit lets it wait"
	}
	return "the queue is behind"
}

// first returns the job with the smallest number.
func first(jobs []LiveJob) LiveJob {
	return slices.MinFunc(jobs, func(a, b LiveJob) int { return cmp.Compare(a.ID, b.ID) })
}

func idsOf(jobs []LiveJob) (ids []int64) {
	for _, job := range jobs {
		ids = append(ids, job.ID)
	}
	return ids
}
