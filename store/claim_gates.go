package store

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// What the gates of a claim decide, without reads and writes. A claim passes them one after the other; package rowwise has the
// sequence. QueueRates has what the gate of the limits of a whole queue decides.

// NodeGone returns the error of a claim of a node that the store does not have as alive.
func NodeGone(node int64) error { return fmt.Errorf("node %d: %w", node, ErrNodeGone) }

// Unpaused returns the claim without the kinds that are paused, and whether its queue is paused. Of pauses, which are active, only
// pauses of queues and kinds matter here, because jobs of other subjects are parked.
func (r ClaimRequest) Unpaused(pauses []Pause) (left ClaimRequest, paused bool) {
	var kinds []string
	for _, p := range pauses {
		switch p.Subject {
		case SubjectKind:
			kinds = append(kinds, p.Name)
		case SubjectQueue:
			paused = paused || InQueue(r.Queue, p.Name)
		}
	}
	if len(kinds) > 0 {
		r.Kinds = slices.DeleteFunc(slices.Clone(r.Kinds), func(kind string) bool { return slices.Contains(kinds, kind) })
		r.Exact = slices.DeleteFunc(slices.Clone(r.Exact), func(job ExactJob) bool { return slices.Contains(kinds, job.Kind) })
	}
	return r, paused
}

// ExactKinds returns each kind whose jobs the claim takes only with exact arguments, once.
func (r *ClaimRequest) ExactKinds() (kinds []string) {
	for i := range r.Exact {
		if kind := r.Exact[i].Kind; !slices.Contains(kinds, kind) && !slices.Contains(r.Kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// WantsNextDue reports whether the answer to the claim, with a number of jobs, says when the next job is due.
func (r *ClaimRequest) WantsNextDue(jobs int) bool { return jobs < r.Limit && !r.Suspects }

// ClaimWay is how a step of a claim is made by a driver that decides row by row.
type ClaimWay struct {
	// Last means that the step takes jobs although new jobs may still be without permits and without places in lanes. A step does not take
	// jobs while there is more to park, or, with RowLocks, more permits to pass on.
	Last bool
	// Busy means that the step passes on no permits, because another transaction has locked lanes.
	Busy bool
	// Claimable is how many jobs the steps before have made claimable that were not.
	Claimable int
	// RowLocks means that transactions lock rows. Otherwise one transaction writes at a time, so that a step must not take long.
	RowLocks bool
	// Digests means that the driver finds exact jobs by digests, which the driver computes between the steps.
	Digests bool
}

// PauseStep is what a step has done about pauses before a claim.
type PauseStep struct {
	Parked   int  // due jobs of paused groups and keys
	Released int  // jobs whose pauses have ended
	More     bool // there may be more jobs to park
}

// Again reports whether the claim has to come back in another transaction before it takes jobs: so that other transactions do not wait
// while very many jobs are parked, so that released jobs get digests, and so that locked pauses can be changed.
func (s PauseStep) Again(way ClaimWay, req ClaimRequest) bool {
	return s.More || way.Digests && s.Released > 0 && len(req.Exact) > 0 || way.RowLocks && !way.Last && s.Parked+s.Released > 0
}

// LaneWork is what a claim finds of limits of kinds and keys. A job needs a permit of each of them that concerns the job. Jobs of one limit, or of
// one key, form a lane: a job without a permit waits in the lane until another job gives its permit back.
type LaneWork struct {
	Limited bool      // such a limit concerns the queue
	Rated   bool      // such a limit with a rate does
	Found   bool      // permits are to be passed on
	Next    time.Time // when a lane has to be looked at next; zero: there is no such instant
}

// Refuses reports whether a claim gets no job, because it does not start its jobs at once.
func (w LaneWork) Refuses(req ClaimRequest) bool { return w.Rated && !req.Starts }

// LaneStep is what a step has done about permits before a claim.
type LaneStep struct {
	Left     bool // there may be more due jobs that hold no permits and wait in no lane
	More     bool // there are more permits to be passed on
	Released bool // jobs that have waited can be claimed

	Claimable int // jobs that can be claimed and could not before
	// Looked is how many of the first due jobs the step has looked at, whatever they need, unless there are fewer; 0: it is not known. Waits
	// is how many of them wait from now on. If enough of them do not wait, the claim takes these, and the jobs that are left come later.
	Looked, Waits int
}

// Again reports whether the claim has to come back in another transaction before it takes jobs. soon reports whether the claim takes jobs now
// although something is left to do, so that the next claim has to follow at once.
func (s LaneStep) Again(way ClaimWay, req ClaimRequest) (again, soon bool) {
	if way.RowLocks {
		inOrder := s.Looked > 0 && s.Looked-s.Waits >= req.Limit // the jobs that are left come after the jobs of the claim
		left, full := s.Left && !inOrder, way.Claimable+s.Claimable >= req.Limit
		again = s.More || left && !full && !way.Last
		return again, left && !again
	}
	left := s.Left || s.More
	return !way.Last && (left || way.Digests && s.Released && len(req.Exact) > 0), left && way.Last
}

// CompareClaimed compares claimed jobs in the order in which they start: by priority, the lowest number first, then by RunAt, then by ID.
func CompareClaimed(a, b Claimed) int {
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), a.RunAt.Compare(b.RunAt), cmp.Compare(a.ID, b.ID))
}

// LongestDue returns the jobs that have been due for longest, at most a number, whatever their priority; see ClaimRequest.DueFor.
// It changes the order of jobs if there are more; otherwise, as for each claim without DueFor, it returns jobs.
func LongestDue(jobs []Claimed, most int) []Claimed {
	if len(jobs) <= most {
		return jobs
	}
	slices.SortFunc(jobs, func(a, b Claimed) int { return cmp.Or(a.RunAt.Compare(b.RunAt), cmp.Compare(a.ID, b.ID)) })
	return jobs[:most]
}
