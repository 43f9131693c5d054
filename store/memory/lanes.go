package memory

import (
	"cmp"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// permits are what a live job has to do with limits whose permits jobs hold.
type permits struct {
	held  []store.LaneKey // nil: the job holds none
	waits bool            // for a permit; the job is ready
	first bool            // before the other waiting jobs of its priority
}

// jobLimits returns the limits whose permits jobs hold.
func (s *Store) jobLimits() (limits store.Limits) {
	for _, l := range s.limits {
		if !l.WholeQueue() {
			limits = append(limits, l)
		}
	}
	return limits
}

// givePermits gives permits to jobs that wait, and to due jobs that a claim would take, in one order. Nothing else
// gives permits. What jobs hold is counted each time.
func (s *Store) givePermits(req store.ClaimRequest, now time.Time) {
	s.leavePaused(now)
	if s.isPaused(subject{store.SubjectQueue, req.Queue}, now) {
		return
	}
	limits := s.jobLimits()
	concerns := func(l store.Limit) bool { return l.Queue == "" || l.Queue == req.Queue }
	if !slices.ContainsFunc(limits, concerns) && !slices.ContainsFunc(s.ended, concerns) {
		return
	}
	s.ended = nil
	used := map[store.LaneKey]int{}
	var jobs []*job
	for _, j := range s.live {
		for _, lane := range j.held {
			used[lane]++
		}
		if s.jobPaused(j, now) {
			continue
		}
		fresh := j.State == store.StateReady && !j.RunAt.After(now) && j.Queue == req.Queue && j.held == nil && admitted(req, j) &&
			(j.Losses >= store.SuspectLosses) == req.Suspects && len(limits.Lanes(&j.JobSpec)) > 0
		if fresh && !j.waits {
			j.first = j.Token > 0
		}
		if fresh || j.waits {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b *job) int {
		if a.Priority == b.Priority && a.first != b.first {
			if a.first {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), a.RunAt.Compare(b.RunAt), cmp.Compare(a.ID, b.ID))
	})
	for _, j := range jobs {
		lanes := limits.Lanes(&j.JobSpec)
		full := slices.ContainsFunc(lanes, func(lane store.LaneKey) bool {
			width := limits.ByID(lane.Limit).Width(lane.Key)
			return width > 0 && used[lane] >= width
		})
		if full {
			j.waits = true
			continue
		}
		for _, lane := range lanes {
			used[lane]++
		}
		if j.waits {
			j.RunAt = laterOf(j.RunAt, now)
			s.wake(store.Wake{Kind: store.WakeJobs, Queue: j.Queue})
		}
		j.permits = permits{held: lanes}
	}
}

// leavePaused lets due jobs of paused groups leave the lanes in which they wait.
func (s *Store) leavePaused(now time.Time) {
	for _, j := range s.live {
		if j.waits && !j.RunAt.After(now) && s.isPaused(subject{store.SubjectGroup, j.Group}, now) {
			j.permits = permits{}
		}
	}
}

// startLimits lets limits be in force that were written: jobs that run hold permits of new limits, and jobs that hold permits and
// have not been claimed wait again, first of all.
func (s *Store) startLimits(written []store.Limit, isNew map[int64]bool) {
	for i := range written {
		l := &written[i]
		if l.WholeQueue() {
			continue
		}
		for _, j := range s.live {
			switch {
			case !l.Matches(&j.JobSpec):
			case j.State == store.StateRunning && isNew[l.ID]:
				j.held = append(slices.Clone(j.held), store.LaneKey{Limit: l.ID, Key: l.Lane(&j.JobSpec)})
			case j.State == store.StateReady && j.held != nil:
				waits := slices.ContainsFunc(j.held, func(lane store.LaneKey) bool {
					limits := append(s.jobLimits(), s.ended...)
					return limits.ByID(lane.Limit) != nil
				})
				j.permits = permits{waits: waits, first: waits}
			}
		}
	}
}

// keepsPermits reports whether a job keeps its permits while it waits for its next attempt, because one of its limits is strict.
func (s *Store) keepsPermits(j *job) bool {
	return slices.ContainsFunc(j.held, func(lane store.LaneKey) bool {
		limits := append(s.jobLimits(), s.ended...)
		l := limits.ByID(lane.Limit)
		return l != nil && l.Strict
	})
}

// endLimit remembers a limit that ends until permits are given next: until then its jobs wait, and strict jobs keep permits.
func (s *Store) endLimit(l store.Limit) {
	if !l.WholeQueue() {
		s.ended = append(slices.Clone(s.ended), l)
	}
}

// limitInfo returns a limit with what it holds.
func (s *Store) limitInfo(l store.Limit) store.LimitInfo {
	out := store.LimitInfo{Limit: l}
	if l.WholeQueue() {
		return out
	}
	for _, j := range s.live {
		for _, lane := range j.held {
			if lane.Limit == l.ID {
				out.InUse++
			}
		}
	}
	return out
}
