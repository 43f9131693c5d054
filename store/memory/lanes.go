package memory

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/store"
)

// permits are the permits of limits of kinds and keys that a live job needs, holds or waits for.
type permits struct {
	held   []store.LaneKey // nil: the job holds none
	starts []store.LaneKey // the lanes in held that have a rate, if no claim has used the start
	waits  bool            // for a permit; the job is ready
	lane   store.LaneKey   // in which it waits
	first  bool            // before the other waiting jobs of its priority
}

// lane is what is remembered of a lane, whatever jobs hold.
type lane struct {
	tat       time.Time // of its rate
	notBefore time.Time // nothing starts before
}

// jobLimits returns the limits of kinds and keys.
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
	if s.rated(req.Queue) && !req.Starts {
		return
	}
	limits := s.jobLimits()
	concerns := func(l store.Limit) bool { return l.Queue == "" || store.InQueue(req.Queue, l.Queue) }
	if !slices.ContainsFunc(limits, concerns) && !slices.ContainsFunc(s.ended, func(l endedLimit) bool { return concerns(l.Limit) }) {
		return
	}
	s.leaveEnded(now)
	used, starts := s.usedPermits()
	var jobs []*job
	for _, j := range s.live {
		if s.jobPaused(j, now) {
			continue
		}
		fresh := j.State == store.StateReady && !j.RunAt.After(now) && j.Queue == req.Queue && j.held == nil && allowed(req, j) &&
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
			return !s.full(limits.ByID(lane.Limit), lane, used[lane], starts[lane], now)
		})
		if len(full) > 0 {
			if !j.waits || !slices.Contains(full, j.lane) {
				j.lane = full[0]
			}
			j.waits = true
			continue
		}
		if j.waits && j.RunAt.After(now) && !limits.KeepPermit(&j.JobSpec) {
			j.permits = permits{}
			continue
		}
		var rated []store.LaneKey
		for _, lane := range lanes {
			used[lane]++
			if limits.ByID(lane.Limit).Rate > 0 {
				starts[lane]++
				rated = append(rated, lane)
			}
		}
		if j.waits {
			j.RunAt = laterOf(j.RunAt, now)
			s.wake(store.Wake{Kind: store.WakeJobs, Queue: j.Queue})
		}
		j.permits = permits{held: lanes, starts: rated}
	}
}

// full reports whether a lane has no permit for another job.
func (s *Store) full(limit *store.Limit, key store.LaneKey, used, starts int, now time.Time) bool {
	if width := limit.Width(key.Key); width > 0 && used >= width {
		return true
	}
	lane := s.lanes[key]
	rate, rated := limit.Pace()
	return lane.notBefore.After(now) || rated && rate.Room(lane.tat, now, starts+1) <= starts
}

// rated reports whether a rate of a kind or of keys concerns a queue.
func (s *Store) rated(queue string) bool {
	return slices.ContainsFunc(s.jobLimits(), func(l store.Limit) bool { return l.Rate > 0 && (l.Queue == "" || store.InQueue(queue, l.Queue)) })
}

// useStarts uses the starts that a job holds, and returns the least slack of their rates; zero: it holds none.
func (s *Store) useStarts(j *job, now time.Time) (slack time.Duration) {
	limits := s.jobLimits()
	for _, key := range j.starts {
		if limit := limits.ByID(key.Limit); limit != nil {
			if rate, rated := limit.Pace(); rated {
				lane := s.lanes[key]
				lane.tat = rate.After(lane.tat, now, 1)
				s.lanes[key] = lane
				slack = rate.SlackWith(slack)
			}
		}
	}
	j.starts = nil
	return slack
}

// capRates lets no start wait longer than the changed limits require.
func (s *Store) capRates(written []store.Limit, now time.Time) {
	for i := range written {
		rate, rated := written[i].Pace()
		for key, lane := range s.lanes {
			if most := rate.Greatest(now); rated && key.Limit == written[i].ID && lane.tat.After(most) {
				lane.tat = most
				s.lanes[key] = lane
			}
		}
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
// returns how many jobs. Without a limit of a kind or of keys, no job holds up another.
func (s *Store) leaveIdle(most int) (left int) {
	if len(s.jobLimits()) == 0 {
		return 0
	}
	for _, j := range s.live {
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

// keepsPermits reports whether a job keeps its permits while it waits for its next attempt, because one of its limits is strict
// and none has a rate, nor more permits in use than it has, as a limit that has begun, or has become less, since the job began.
func (s *Store) keepsPermits(j *job) bool {
	strict := false
	used, _ := s.usedPermits()
	for _, lane := range j.held {
		if l := s.laneLimit(lane); l != nil {
			if width := l.Width(lane.Key); l.Rate > 0 || width > 0 && used[lane] > width {
				return false
			}
			strict = strict || l.Strict
		}
	}
	return strict
}

// endLimit remembers a limit that ends until permits are given next: until then its jobs wait, and strict jobs keep permits.
func (s *Store) endLimit(l store.Limit) {
	if !l.WholeQueue() {
		s.ended = append(slices.Clone(s.ended), endedLimit{Limit: l})
	}
	maps.DeleteFunc(s.lanes, func(key store.LaneKey, _ lane) bool { return key.Limit == l.ID })
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
	used, starts := s.usedPermits()
	for lane, n := range used {
		if lane.Limit == l.ID {
			found[lane.Key] = store.LaneInfo{Key: lane.Key, InUse: int64(n)}
			out.InUse += int64(n)
		}
	}
	for _, j := range s.live {
		if lane, waits := s.waitLane(j); waits && lane.Limit == l.ID {
			row := found[lane.Key]
			row.Key, row.Waiting = lane.Key, row.Waiting+1
			found[lane.Key] = row
			out.Waiting++
		}
	}
	out.Keys = int64(len(found))
	for key, lane := range s.lanes {
		if key.Limit == l.ID && lane.notBefore.After(now) {
			row := found[key.Key]
			row.Key = key.Key
			found[key.Key] = row
		}
	}
	for key, row := range found {
		at := store.LaneKey{Limit: l.ID, Key: key}
		state := store.Lane{LaneKey: at, Used: int(row.InUse), Starts: starts[at], TAT: s.lanes[at].tat, NotBefore: s.lanes[at].notBefore}
		found[key] = l.LaneInfo(state, row.Waiting, now)
	}
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

// usedPermits counts the permits and the starts that jobs hold.
func (s *Store) usedPermits() (used, starts map[store.LaneKey]int) {
	used, starts = map[store.LaneKey]int{}, map[store.LaneKey]int{}
	for _, j := range s.live {
		for _, lane := range j.held {
			used[lane]++
		}
		for _, lane := range j.starts {
			starts[lane]++
		}
	}
	return used, starts
}

// waitLane returns the lane in which a job waits, unless the limit has ended.
func (s *Store) waitLane(j *job) (lane store.LaneKey, waits bool) {
	return j.lane, j.waits && s.jobLimits().ByID(j.lane.Limit) != nil
}

// listLimitWaits finds why limits let jobs wait.
func (s *Store) listLimitWaits(jobs []int64, now time.Time) (out []store.LimitWait) {
	used, starts := s.usedPermits()
	limits := s.jobLimits()
	for _, id := range slices.Sorted(slices.Values(jobs)) {
		j := s.live[id]
		if j == nil {
			continue
		}
		if lane, waits := s.waitLane(j); waits {
			w := store.LimitWait{Job: id, Limit: *limits.ByID(lane.Limit), Key: lane.Key, InUse: int64(used[lane])}
			w.Until = s.nextStart(&w.Limit, lane, starts[lane], now)
			w.Before = s.waitingBefore(j, lane)
			out = append(out, w)
		}
		for _, l := range s.limits {
			if l.WholeQueue() && j.State == store.StateReady && store.InQueue(j.Queue, l.Queue) {
				out = append(out, store.LimitWait{Job: id, Limit: l, InUse: s.nodeUse(l.ID), Until: s.nextStart(&l, store.LaneKey{Limit: l.ID}, 0, now)})
			}
		}
	}
	return out
}

// waitingBefore counts the jobs that wait in a lane before a job.
func (s *Store) waitingBefore(j *job, lane store.LaneKey) (n int64) {
	for _, other := range s.live {
		if its, waits := s.waitLane(other); waits && its == lane && waitsBefore(other, j) < 0 {
			n++
		}
	}
	return n
}

// nextInLanes returns when a job that waits in a lane may start next, for a claim of a queue that such limits concern; zero: it is
// not a matter of time.
func (s *Store) nextInLanes(queue string, now time.Time) (next time.Time) {
	limits := s.jobLimits()
	if !slices.ContainsFunc(limits, func(l store.Limit) bool { return l.Queue == "" || store.InQueue(queue, l.Queue) }) {
		return next
	}
	var starts map[store.LaneKey]int // nil until a job waits, because mostly none does
	for _, j := range s.live {
		if lane, waits := s.waitLane(j); waits {
			if starts == nil {
				_, starts = s.usedPermits()
			}
			if at := s.nextStart(limits.ByID(lane.Limit), lane, starts[lane], now); !at.IsZero() {
				next = earliest(next, at)
			}
		}
	}
	return next
}

// nextStart returns when another job of a lane may start; zero: now, or it is not a matter of time.
func (s *Store) nextStart(limit *store.Limit, key store.LaneKey, starts int, now time.Time) time.Time {
	return store.NewRoom(store.Lane{LaneKey: key, Starts: starts, TAT: s.lanes[key].tat, NotBefore: s.lanes[key].notBefore}, limit, now).NextStart()
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
