package rowwise

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

const (
	// FreshRows is how many jobs that need their first permit a step of PassOnPermits takes.
	FreshRows = 1_000
	// vacancyRows is how many rows of vacancies a step takes.
	vacancyRows = 16
	// laneRows is how many lanes a step looks at for each reason other than a permit given back.
	laneRows = 500
	// waitingRows is how many waiting jobs a step reads in one lane, and in all lanes together.
	waitingRows, allWaitingRows = 1_000, 4_000
	// peekRows is how many waiting jobs of a lane a step reads at most if they may need other lanes, too, and spareRows how many more
	// jobs than permits that are free, because some may not find a permit in another lane.
	peekRows, spareRows = 200, 100
	// returnedRows is how many unclaimed jobs give back their permits when a limit is changed or lanes are closed. Further jobs do so in
	// steps of PassOnPermits, FreshRows in each.
	returnedRows = 10_000
	// lookAgain is after how long a lane is looked at again in which a job was locked.
	lookAgain = time.Second
)

// Vacancy is a row that the end of jobs, or a change of a limit, leaves.
type Vacancy struct {
	Lanes []int64 // what was given back: see store.Allotment.Held
	Limit int64   // all lanes of this limit are to be looked at; 0: none
	// DoneTo is the number up to which that is done for the limit's lanes. If it is negative, unclaimed jobs of the limit have to give back
	// permits before, apart from the jobs up to -DoneTo; the lanes are looked at in doing so.
	DoneTo int64
}

// LanesTx reads and writes lanes and the jobs that need permits. What it locks stays locked until the end of the
// transaction. Transactions lock lanes in the order of their numbers, and wait for no job while they have locked lanes.
type LanesTx interface {
	// ReadLimits returns the limits that have not ended.
	ReadLimits(ctx context.Context) (store.Limits, error)

	// TakeVacancies deletes and returns the oldest vacancies that no other transaction has locked.
	TakeVacancies(ctx context.Context, limit int) ([]Vacancy, error)

	// InsertVacancies inserts vacancies.
	InsertVacancies(ctx context.Context, vacancies []Vacancy) error

	// FindLanes returns the numbers of lanes of a limit after a number, in their order.
	FindLanes(ctx context.Context, limit, after int64, most int) ([]int64, error)

	// FindDueLanes returns the numbers of lanes that have to be looked at now.
	FindDueLanes(ctx context.Context, now time.Time, most int) ([]int64, error)

	// MakeLanes returns the numbers of lanes, and inserts those that do not exist.
	MakeLanes(ctx context.Context, keys []store.LaneKey) (map[store.LaneKey]int64, error)

	// LockLanes locks and returns the given lanes that exist, in the order of their numbers.
	LockLanes(ctx context.Context, ids []int64) ([]store.Lane, error)

	// FindLaneJobs returns the first jobs that wait in lanes and that are not paused, of each lane as many as most has in its place.
	FindLaneJobs(ctx context.Context, lanes []int64, most []int, now time.Time) ([]store.LaneJob, error)

	// LockLaneJobs is FindLaneJobs with locks. It leaves out jobs that other transactions have locked.
	LockLaneJobs(ctx context.Context, lanes []int64, most []int, now time.Time) ([]store.LaneJob, error)

	// FindOccupied returns the given lanes in which jobs wait.
	FindOccupied(ctx context.Context, lanes []int64) ([]int64, error)

	// SaveAllotments writes what becomes of jobs. A job that has waited is due now, if it was due before.
	SaveAllotments(ctx context.Context, allotments []store.Allotment, now time.Time) error

	// SaveLanes updates lanes.
	SaveLanes(ctx context.Context, lanes []store.Lane) error

	// LockRunning locks and returns the running jobs that a limit concerns, without jobs that other transactions have locked.
	LockRunning(ctx context.Context, limit *store.Limit) ([]store.LaneJob, error)

	// UseStarts takes from jobs the starts that they hold, and returns them.
	UseStarts(ctx context.Context, jobs []int64) ([]UsedStart, error)

	// CapRate sets the state of the rate of each lane of a limit to an instant if it is later.
	CapRate(ctx context.Context, limit int64, greatest time.Time) error

	// AddPermits gives each job a permit of its Lane.
	AddPermits(ctx context.Context, jobs []store.LaneJob) error

	// LockUnclaimed locks and returns jobs after a number, in their order, that a limit concerns, that hold permits and that no node has
	// claimed, with the permits as Lanes (store.Allotment.Held). It leaves out jobs that other transactions have locked. to: the number of
	// the last job that it has looked at; 0: it has looked at all.
	LockUnclaimed(ctx context.Context, limit *store.Limit, after int64, most int) (jobs []store.LaneJob, to int64, err error)

	// LockHolders locks and returns jobs that hold permits of lanes and that no node has claimed, as LockUnclaimed
	// does.
	LockHolders(ctx context.Context, lanes []int64, most int) (jobs []store.LaneJob, to int64, err error)

	// LockIdleLanes locks idle lanes (store.Room.Idle) without a LookAt, at most a number, and returns their numbers. It leaves out
	// lanes of limits that have ended, and lanes that other transactions have locked.
	LockIdleLanes(ctx context.Context, most int) ([]int64, error)

	// DeleteLanes deletes lanes.
	DeleteLanes(ctx context.Context, ids []int64) error

	// DeleteEndedLimits deletes the limits that have ended and have no lanes.
	DeleteEndedLimits(ctx context.Context) error
}

// UsedStart is a start under the rate of a lane that a job held.
type UsedStart struct{ Job, Lane int64 }

// Passed is what a step of PassOnPermits has done.
type Passed struct {
	Claimable int      // how many jobs can be claimed that could not before
	Waits     int      // how many fresh jobs wait from now on
	Queues    []string // of jobs that have waited and can be claimed now
	More      bool     // another step has something to do now
	// Next is when one of the lanes has to be looked at next; zero: not, or now.
	Next time.Time
}

// PassOnPermits is a step that takes back the permits of jobs that have left lanes, and gives what is free to the jobs that wait
// there and to fresh jobs: due jobs that limits concern, that hold no permit and are locked. A fresh job
// that gets no permit waits from then on. The step leaves to later steps what exceeds its bounds; fresh jobs are left to the step
// that takes the last vacancies.
func PassOnPermits(ctx context.Context, tx LanesTx, fresh []store.LaneJob, now time.Time) (out Passed, err error) {
	s := passing{tx: tx, now: now, began: map[int64]bool{}, look: map[int64]bool{}, lock: map[int64]bool{}}
	if err := s.begin(ctx); err != nil {
		return out, err
	}
	if s.partly {
		fresh = nil // jobs would wait for permits that the next step takes back, and be due later than jobs that did not wait
	}
	if err := s.findLanes(ctx, fresh); err != nil {
		return out, err
	}
	if err := s.lockRooms(ctx); err != nil {
		return out, err
	}
	waiting, err := s.lockWaiting(ctx)
	if err != nil {
		return out, err
	}
	jobs := s.able(waiting)
	if !s.unread { // otherwise a fresh job could go before jobs that have waited
		jobs = append(s.able(fresh), jobs...)
	}
	allotments := store.Allot(s.rooms, jobs)
	for i := range allotments {
		switch a := &allotments[i]; {
		case a.Claimable():
			out.Claimable++
			if a.Job.Lane != 0 && !slices.Contains(out.Queues, a.Job.Queue) {
				out.Queues = append(out.Queues, a.Job.Queue)
			}
		case a.Wait != 0 && a.Job.Lane == 0:
			out.Waits++
		}
	}
	if len(allotments) > 0 {
		if err := tx.SaveAllotments(ctx, allotments, now); err != nil {
			return out, err
		}
	}
	err = s.save(ctx)
	out.More, out.Next = s.more, s.next
	return out, err
}

// passing is one run of PassOnPermits.
type passing struct {
	tx       LanesTx
	now      time.Time
	limits   store.Limits
	ends     bool            // a limit that has ended is among the vacancies
	peek     bool            // waiting jobs may need other lanes than the lanes in which they wait
	freed    []int64         // what was given back: see store.Allotment.Held
	returned []store.LaneJob // unclaimed jobs that give back permits, as LockUnclaimed returns them
	began    map[int64]bool  // lanes in which jobs wait that did not before, or may do so
	look     map[int64]bool
	due      []int64        // lanes in look that are looked at because of their LookAt
	lock     map[int64]bool // further lanes that jobs need
	before   map[int64]*store.Lane
	rooms    map[int64]*store.Room
	missed   map[int64]bool // lanes whose first jobs need a lane that is not locked
	ids      map[store.LaneKey]int64
	more     bool
	partly   bool      // there may be more vacancies than the step takes
	unread   bool      // jobs wait in lanes of ended limits that the step has not read
	next     time.Time // Passed.Next
}

// begin finds out which lanes are to be looked at.
func (s *passing) begin(ctx context.Context) error {
	limits, err := s.tx.ReadLimits(ctx)
	if err != nil {
		return err
	}
	s.limits = limits.OfJobs()
	slices.SortFunc(s.limits, func(a, b store.Limit) int { return cmp.Compare(a.ID, b.ID) })
	if err := s.takeVacancies(ctx); err != nil {
		return err
	}
	s.due, err = s.tx.FindDueLanes(ctx, s.now, laneRows)
	s.more = s.more || len(s.due) == laneRows
	for _, lane := range s.due {
		s.look[lane] = true
	}
	s.peek = len(s.limits) != 1 || s.ends || len(s.due) > 0
	return err
}

// takeVacancies takes vacancies, and stores what is left of them to later steps.
func (s *passing) takeVacancies(ctx context.Context) error {
	vacancies, err := s.tx.TakeVacancies(ctx, vacancyRows)
	if err != nil {
		return err
	}
	s.partly = len(vacancies) == vacancyRows
	s.more = s.partly
	var rest []Vacancy
	for _, v := range vacancies {
		s.freed = append(s.freed, v.Lanes...)
		for _, held := range v.Lanes {
			lane, _ := store.PermitOf(held)
			s.look[lane] = true
		}
		switch {
		case v.Limit == 0:
			continue
		case v.DoneTo < 0:
			to, err := s.lockUnclaimed(ctx, s.limits.ByID(v.Limit), -v.DoneTo)
			if err != nil {
				return err
			}
			if to > 0 {
				rest = append(rest, Vacancy{Limit: v.Limit, DoneTo: -to})
			}
			continue
		}
		lanes, err := s.tx.FindLanes(ctx, v.Limit, v.DoneTo, laneRows)
		if err != nil {
			return err
		}
		for _, lane := range lanes {
			s.look[lane] = true
		}
		ended := s.limits.ByID(v.Limit) == nil
		s.ends = s.ends || ended
		if len(lanes) == laneRows {
			s.unread = s.unread || ended
			rest = append(rest, Vacancy{Limit: v.Limit, DoneTo: lanes[laneRows-1]})
		}
	}
	if len(rest) == 0 {
		return nil
	}
	s.more = true
	return s.tx.InsertVacancies(ctx, rest)
}

// lockUnclaimed locks unclaimed jobs after a number that give back permits because a limit was changed; nil: the limit has ended.
func (s *passing) lockUnclaimed(ctx context.Context, limit *store.Limit, after int64) (to int64, err error) {
	if limit == nil {
		return 0, nil
	}
	jobs, to, err := s.tx.LockUnclaimed(ctx, limit, after, FreshRows)
	for _, job := range jobs {
		if slices.ContainsFunc(s.returned, func(j store.LaneJob) bool { return j.ID == job.ID }) {
			continue // another limit was changed, too
		}
		s.returned = append(s.returned, job)
		for _, held := range job.Lanes {
			lane, _ := store.PermitOf(held)
			s.look[lane] = true
		}
	}
	return to, err
}

// findLanes makes the lanes that fresh jobs need, and, if a waiting job may need another lane than the lane in which it waits, the lanes
// that the first jobs need that wait in the lanes to be looked at.
func (s *passing) findLanes(ctx context.Context, fresh []store.LaneJob) error {
	jobs := fresh
	if s.peek && len(s.look) > 0 {
		lanes := slices.Sorted(maps.Keys(s.look))
		waiting, err := s.tx.FindLaneJobs(ctx, lanes, slices.Repeat([]int{peekRows}, len(lanes)), s.now)
		if err != nil {
			return err
		}
		jobs = slices.Concat(fresh, waiting)
	}
	keys := make(map[store.LaneKey]bool, len(jobs))
	for i := range jobs {
		for _, key := range s.limits.Lanes(&jobs[i].JobSpec) {
			keys[key] = true
		}
	}
	if len(keys) == 0 {
		return nil
	}
	sorted := slices.SortedFunc(maps.Keys(keys), func(a, b store.LaneKey) int {
		return cmp.Or(cmp.Compare(a.Limit, b.Limit), cmp.Compare(a.Key, b.Key))
	})
	var err error
	if s.ids, err = s.tx.MakeLanes(ctx, sorted); err != nil {
		return err
	}
	s.lock = make(map[int64]bool, len(s.ids)+len(s.look))
	for _, id := range s.ids {
		s.lock[id] = true
	}
	return nil
}

// lockRooms locks all lanes of the step, and takes back permits.
func (s *passing) lockRooms(ctx context.Context) error {
	maps.Copy(s.lock, s.look)
	if len(s.lock) == 0 {
		return nil
	}
	lanes, err := s.tx.LockLanes(ctx, slices.Sorted(maps.Keys(s.lock)))
	if err != nil {
		return err
	}
	s.before = make(map[int64]*store.Lane, len(lanes))
	s.rooms = make(map[int64]*store.Room, len(lanes))
	s.ids = make(map[store.LaneKey]int64, len(lanes))
	for i := range lanes {
		lane := &lanes[i]
		s.before[lane.ID] = lane
		s.ids[lane.LaneKey] = lane.ID
		s.rooms[lane.ID] = store.NewRoom(*lane, s.limits.ByID(lane.Limit), s.now)
	}
	for _, held := range s.freed {
		lane, start := store.PermitOf(held)
		if room := s.rooms[lane]; room != nil {
			room.TakeBack(start)
		}
	}
	if len(s.returned) == 0 {
		return nil
	}
	allotments := waitAgain(s.rooms, s.returned, anyLane)
	for i := range allotments {
		s.began[allotments[i].Wait] = true
	}
	return s.tx.SaveAllotments(ctx, allotments, s.now)
}

func anyLane(int64) bool { return true }

// waitAgain takes the permits back from jobs that no node has claimed. Each job waits again, before all other jobs, in the first of
// its lanes that in selects.
func waitAgain(rooms map[int64]*store.Room, jobs []store.LaneJob, in func(lane int64) bool) []store.Allotment {
	allotments := make([]store.Allotment, len(jobs))
	for i := range jobs {
		jobs[i].First = true
		allotments[i].Job = &jobs[i]
		for _, held := range jobs[i].Lanes {
			lane, start := store.PermitOf(held)
			room := rooms[lane]
			if room == nil {
				continue
			}
			if room.TakeBack(start); allotments[i].Wait == 0 && in(lane) {
				allotments[i].Wait, room.Waiting = lane, true
			}
		}
	}
	return allotments
}

// lockWaiting locks the jobs that may get the permits that are free.
func (s *passing) lockWaiting(ctx context.Context) ([]store.LaneJob, error) {
	var lanes []int64
	var most []int
	total := 0
	for _, id := range slices.Sorted(maps.Keys(s.rooms)) {
		room := s.rooms[id]
		free := room.Free(waitingRows)
		if !room.Waiting || free == 0 {
			continue
		}
		if s.peek {
			free = min(free+spareRows, peekRows)
		}
		if total += free; total > allWaitingRows && len(lanes) > 0 {
			s.more, s.unread = true, s.unread || room.Ended
			continue // Allot sees that it was not read
		}
		room.Asked = free
		lanes, most = append(lanes, id), append(most, free)
	}
	if len(lanes) == 0 {
		return nil, nil
	}
	return s.tx.LockLaneJobs(ctx, lanes, most, s.now)
}

// able gives jobs the numbers of their lanes, and returns those whose lanes are locked.
func (s *passing) able(jobs []store.LaneJob) (able []store.LaneJob) {
	able = make([]store.LaneJob, 0, len(jobs))
	for i := range jobs {
		job := &jobs[i]
		job.Lanes = nil
		job.Leaves = job.Lane != 0 && job.RunAt.After(s.now) && !s.limits.KeepPermit(&job.JobSpec)
		locked := true
		for _, key := range s.limits.Lanes(&job.JobSpec) {
			id, found := s.ids[key]
			locked = locked && found
			job.Lanes = append(job.Lanes, id)
		}
		if locked {
			able = append(able, *job)
			continue
		}
		s.more = true
		if job.Lane != 0 {
			if s.missed == nil {
				s.missed = map[int64]bool{}
			}
			s.missed[job.Lane] = true
		}
	}
	return able
}

// save writes the lanes that have changed. It deletes idle lanes of limits that have ended, and idle lanes that were due. The other
// idle lanes stay until RecountPermits, because the next job of a key often comes soon.
func (s *passing) save(ctx context.Context) error {
	var left, empty []int64
	for id, room := range s.rooms {
		if s.missed[id] {
			room.Waiting, room.LookAt = true, store.LookNow()
		}
		if !room.Waiting && (s.before[id].Waiting || s.began[id]) {
			left = append(left, id)
		}
		s.more = s.more || room.LookAt.Equal(store.LookNow())
	}
	if len(left) > 0 { // jobs may be left because they were locked, or are paused
		occupied, err := s.tx.FindOccupied(ctx, left)
		if err != nil {
			return err
		}
		for _, id := range occupied {
			s.rooms[id].Waiting, s.rooms[id].LookAt = true, s.now.Add(lookAgain)
		}
	}
	var changed []store.Lane
	for _, id := range slices.Sorted(maps.Keys(s.rooms)) {
		room := s.rooms[id]
		switch {
		case room.Idle() && (room.Ended || slices.Contains(s.due, id)):
			empty = append(empty, id)
		case room.Lane != *s.before[id]:
			changed = append(changed, room.Lane)
		}
		s.next = earliest(s.next, room.LookAt, s.now)
	}
	if len(changed) > 0 {
		if err := s.tx.SaveLanes(ctx, changed); err != nil {
			return err
		}
	}
	if len(empty) > 0 || s.ends {
		return deleteLanes(ctx, s.tx, empty)
	}
	return nil
}

// deleteLanes deletes lanes, and then the limits that have ended and have no lanes.
func deleteLanes(ctx context.Context, tx LanesTx, ids []int64) error {
	if len(ids) > 0 {
		if err := tx.DeleteLanes(ctx, ids); err != nil {
			return err
		}
	}
	return tx.DeleteEndedLimits(ctx)
}

// earliest returns the earlier of next, if it is not zero, and at, if it is later than now.
func earliest(next, at, now time.Time) time.Time {
	if at.After(now) && (next.IsZero() || at.Before(next)) {
		return at
	}
	return next
}

// StartJobs uses the starts that claimed jobs hold, in the transaction of their claim, and marks the jobs: each start moves the rate of
// its lane. next is when one of the lanes has to be looked at next; zero: not, or now.
//
// The starts count from when clock reads the store's clock, after the lanes are locked, so that a wait for their locks takes nothing from
// the slack of the jobs.
func StartJobs(ctx context.Context, tx LanesTx, claimed []store.Claimed, clock func() (time.Time, error)) (next time.Time, err error) {
	if len(claimed) == 0 {
		return next, nil
	}
	ids := make([]int64, len(claimed))
	for i := range claimed {
		ids[i] = claimed[i].ID
	}
	starts, err := tx.UseStarts(ctx, ids)
	if err != nil || len(starts) == 0 {
		return next, err
	}
	used := map[int64]int{}
	for _, start := range starts {
		used[start.Lane]++
	}
	limits, err := tx.ReadLimits(ctx)
	if err != nil {
		return next, err
	}
	lanes, err := tx.LockLanes(ctx, slices.Sorted(maps.Keys(used)))
	if err != nil {
		return next, err
	}
	now, err := clock()
	if err != nil {
		return next, err
	}
	rates := make(map[int64]store.Rate, len(lanes))
	for i := range lanes {
		room := store.NewRoom(lanes[i], limits.ByID(lanes[i].Limit), now)
		room.Use(used[room.ID])
		if room.Rated {
			rates[room.ID] = room.Rate
		}
		lanes[i], next = room.Lane, earliest(next, room.LookAt, now)
	}
	slack := make(map[int64]time.Duration, len(claimed))
	for _, start := range starts {
		if rate, rated := rates[start.Lane]; rated {
			slack[start.Job] = rate.SlackWith(slack[start.Job])
		}
	}
	for i := range claimed {
		claimed[i].Slack = slack[claimed[i].ID]
	}
	return next, tx.SaveLanes(ctx, lanes)
}
