package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/store"
)

// permits are what a live job has to do with limits whose permits jobs hold.
type permits struct {
	held  []store.LaneKey // nil: the job holds none
	waits bool            // for a permit; the job is ready
	lane  store.LaneKey   // in which it waits
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
	if s.queuePaused(req.Queue, now) {
		return
	}
	limits := s.jobLimits()
	concerns := func(l store.Limit) bool { return l.Queue == "" || store.InQueue(req.Queue, l.Queue) }
	if !slices.ContainsFunc(limits, concerns) && !slices.ContainsFunc(s.ended, func(l endedLimit) bool { return concerns(l.Limit) }) {
		return
	}
	s.leaveEnded(now)
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
	slices.SortFunc(jobs, waitsBefore)
	for _, j := range jobs {
		lanes := limits.Lanes(&j.JobSpec)
		slices.SortFunc(lanes, func(a, b store.LaneKey) int { return cmp.Compare(a.Limit, b.Limit) })
		full := slices.DeleteFunc(slices.Clone(lanes), func(lane store.LaneKey) bool {
			width := limits.ByID(lane.Limit).Width(lane.Key)
			return width == 0 || used[lane] < width
		})
		if len(full) > 0 {
			if !j.waits || !slices.Contains(full, j.lane) {
				j.lane = full[0]
			}
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

// endedLimit is a limit that has ended, and that concerns claims until no job waits in its lanes.
type endedLimit struct {
	store.Limit
	// kept are nil until permits are given next, and then the lanes in which jobs still wait, because they are paused.
	kept map[store.LaneKey]bool
}

// leaveEnded forgets ended limits, apart from the lanes in which paused jobs wait.
func (s *Store) leaveEnded(now time.Time) {
	var ended []endedLimit
	for _, l := range s.ended {
		l.kept = map[store.LaneKey]bool{}
		for _, j := range s.live {
			if j.waits && j.lane.Limit == l.ID && s.jobPaused(j, now) {
				l.kept[j.lane] = true
			}
		}
		if len(l.kept) > 0 {
			ended = append(ended, l)
		}
	}
	s.ended = ended
}

// laneLimit returns the limit of a lane in which a job holds a permit; nil: the limit has ended, and the lane is gone.
func (s *Store) laneLimit(lane store.LaneKey) *store.Limit {
	for i := range s.ended {
		if l := &s.ended[i]; l.ID == lane.Limit && (l.kept == nil || l.kept[lane]) {
			return &l.Limit
		}
	}
	return s.jobLimits().ByID(lane.Limit)
}

// leavePaused lets due jobs of paused groups leave the lanes in which they wait.
func (s *Store) leavePaused(now time.Time) {
	for _, j := range s.live {
		if j.waits && !j.RunAt.After(now) && s.isPaused(subject{store.SubjectGroup, j.Group}, now) {
			j.permits = permits{}
		}
	}
}

// leaveIdle takes permits from jobs that no living node runs, and lets such jobs leave the lanes in which they wait, at most a number. It
// returns how many jobs.
func (s *Store) leaveIdle(most int) (left int) {
	for _, id := range slices.Sorted(maps.Keys(s.live)) {
		j := s.live[id]
		if left < most && j.State == store.StateReady && (j.held != nil || j.waits) && !s.served(j) {
			j.permits = permits{}
			left++
		}
	}
	return left
}

// served reports whether a living node runs jobs with the queue and the kind of a job. A place has a queue of its own.
func (s *Store) served(j *job) bool {
	for _, node := range s.nodes {
		if !node.EndedAt.IsZero() || !slices.Contains(node.Kinds, j.Kind) {
			continue
		}
		for _, queue := range node.Queues {
			place, within := strings.CutPrefix(j.Queue, queue+"@")
			if j.Queue == queue || within && (place == node.Host || slices.Contains(node.Labels, place)) {
				return true
			}
		}
	}
	return false
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
				i := slices.IndexFunc(j.held, func(lane store.LaneKey) bool { return s.laneLimit(lane) != nil })
				if i < 0 {
					j.permits = permits{}
				} else {
					j.permits = permits{waits: true, first: true, lane: j.held[i]}
				}
			}
		}
	}
}

// keepsPermits reports whether a job keeps its permits while it waits for its next attempt, because one of its limits is strict.
func (s *Store) keepsPermits(j *job) bool {
	return slices.ContainsFunc(j.held, func(lane store.LaneKey) bool {
		l := s.laneLimit(lane)
		return l != nil && l.Strict
	})
}

// endLimit remembers a limit that ends until permits are given next: until then its jobs wait, and strict jobs keep permits.
func (s *Store) endLimit(l store.Limit) {
	if !l.WholeQueue() {
		s.ended = append(slices.Clone(s.ended), endedLimit{Limit: l})
	}
}

// limitInfo returns a limit with what it holds, and with its fullest lanes, at most a number.
func (s *Store) limitInfo(l store.Limit, now time.Time, lanes int) store.LimitInfo {
	out := store.LimitInfo{Limit: l}
	if l.WholeQueue() {
		out.InUse = s.nodeUse(l.ID)
		for _, j := range s.live {
			if j.State == store.StateReady && store.InQueue(j.Queue, l.Queue) && !j.RunAt.After(now) {
				out.Waiting++
			}
		}
		out.Waiting = min(out.Waiting, store.MostCounted)
		return out
	}
	found := map[string]store.LaneInfo{}
	used := s.usedPermits()
	for lane, n := range used {
		if lane.Limit == l.ID {
			found[lane.Key] = store.LaneInfo{Key: lane.Key, InUse: int64(n)}
			out.InUse += int64(n)
		}
	}
	for _, j := range s.live {
		if lane, waits := s.waitLane(j, used); waits && lane.Limit == l.ID {
			row := found[lane.Key]
			row.Key, row.Waiting = lane.Key, row.Waiting+1
			found[lane.Key] = row
			out.Waiting++
		}
	}
	out.Keys = int64(len(found))
	out.Lanes = slices.SortedFunc(maps.Values(found), func(a, b store.LaneInfo) int {
		return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(b.InUse, a.InUse), cmp.Compare(a.Key, b.Key))
	})
	out.Lanes = out.Lanes[:min(len(out.Lanes), lanes)]
	if len(out.Lanes) == 0 {
		out.Lanes = nil
	}
	return out
}

// nodeUse counts the permits of a limit of a whole queue that nodes hold.
func (s *Store) nodeUse(limit int64) (n int64) {
	for key, row := range s.permits {
		if key.limit == limit {
			n += int64(row.Permits)
		}
	}
	return n
}

// usedPermits counts the permits that jobs hold.
func (s *Store) usedPermits() map[store.LaneKey]int {
	used := map[store.LaneKey]int{}
	for _, j := range s.live {
		for _, lane := range j.held {
			used[lane]++
		}
	}
	return used
}

// waitLane returns the lane in which a job waits: the first in which it finds no permit.
func (s *Store) waitLane(j *job, used map[store.LaneKey]int) (lane store.LaneKey, waits bool) {
	limits := s.jobLimits()
	lanes := limits.Lanes(&j.JobSpec)
	if !j.waits || len(lanes) == 0 {
		return lane, false
	}
	slices.SortFunc(lanes, func(a, b store.LaneKey) int { return cmp.Compare(a.Limit, b.Limit) })
	for _, lane := range lanes {
		if width := limits.ByID(lane.Limit).Width(lane.Key); width > 0 && used[lane] >= width {
			return lane, true
		}
	}
	return lanes[0], true
}

// FindLimitWaits finds why limits let jobs wait; see store.LimitStore.
func (s *Store) FindLimitWaits(ctx context.Context, req store.FindLimitWaitsRequest) (out []store.LimitWait, err error) {
	if _, err := s.begin(ctx, "find limit waits", req.Now); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	used, limits := s.usedPermits(), s.jobLimits()
	for _, id := range slices.Sorted(slices.Values(req.Jobs)) {
		j := s.live[id]
		if j == nil {
			continue
		}
		if lane, waits := s.waitLane(j, used); waits {
			w := store.LimitWait{Job: id, Limit: *limits.ByID(lane.Limit), Key: lane.Key, InUse: int64(used[lane])}
			for _, other := range s.live {
				if its, waits := s.waitLane(other, used); waits && its == lane && waitsBefore(other, j) < 0 {
					w.Before++
				}
			}
			out = append(out, w)
		}
		for _, l := range s.limits {
			if l.WholeQueue() && j.State == store.StateReady && store.InQueue(j.Queue, l.Queue) {
				out = append(out, store.LimitWait{Job: id, Limit: l, InUse: s.nodeUse(l.ID)})
			}
		}
	}
	return out, nil
}

// waitsBefore compares waiting jobs in the order in which they get permits.
func waitsBefore(a, b *job) int {
	if a.Priority == b.Priority && a.first != b.first {
		if a.first {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), a.RunAt.Compare(b.RunAt), cmp.Compare(a.ID, b.ID))
}
