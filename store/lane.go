package store

import (
	"cmp"
	"slices"
	"time"
)

// A lane has the permits of one limit and key. A step passes on permits: it locks lanes, takes back
// the permits of jobs that have left them, and lets waiting jobs and new jobs have what is free. What
// a step decides is in this file; package rowwise has its reads and writes.

// LaneKey names a lane.
type LaneKey struct {
	Limit int64 // the number of the limit's row
	Key   string
}

// Lane is a row of a lane.
type Lane struct {
	ID int64
	LaneKey
	Used int // permits of jobs
	// Starts counts the starts under the rate of the limit that jobs hold and that no claim has used.
	Starts int
	// TAT is the state of the rate (Rate); zero: it has rested.
	TAT time.Time
	// NotBefore is until when nothing starts, because a worker has asked for it; zero: no such instant.
	NotBefore time.Time
	// Waiting is false only if no job waits in the lane.
	Waiting bool
	// LookAt is when the lane has to be looked at although no permit is given back; zero: not.
	LookAt time.Time
}

// LookNow is LookAt of a lane that has to be looked at now. It is long ago, so that the store's clock may be set back.
func LookNow() time.Time { return time.Unix(0, 0).UTC() }

// LaneJob is a ready job that limits concern and that holds no permit. It is due, or waits in a lane.
type LaneJob struct {
	ID    int64
	Lane  int64   // in which it waits; 0: it is new, and does not wait yet
	First bool    // it goes before the others of its priority, because it was claimed before, or was taken back
	Lanes []int64 // of the limits that concern it, in the order of the limits
	// Leaves means that the job waits in a lane and is to hold no permit before it is due: it leaves the lane when it would get its permits.
	Leaves bool
	RunAt  time.Time
	JobSpec
}

// Before compares jobs in the order in which they get permits.
func (j *LaneJob) Before(other *LaneJob) int {
	first := 0
	switch {
	case j.First && !other.First:
		first = -1
	case !j.First && other.First:
		first = 1
	}
	return cmp.Or(cmp.Compare(j.Priority, other.Priority), first, j.RunAt.Compare(other.RunAt), cmp.Compare(j.ID, other.ID))
}

// PermitOf returns the lane of a number in Allotment.Held, and whether it is a start.
func PermitOf(held int64) (lane int64, start bool) { return max(held, -held), held < 0 }

// Room is a lane that is locked.
type Room struct {
	Lane
	// Width is how many permits the lane has; 0: no bound.
	Width int
	// Rate is the rate of the limit, if it is Rated.
	Rate  Rate
	Rated bool
	Now   time.Time // the store's clock
	// Ended means that the limit does not exist any more: the lane is left by the jobs that wait
	// in it, and no job gets a permit of it.
	Ended bool
	// Asked is how many waiting jobs the step has read, or would have read if there were so many.
	Asked int
	last  *LaneJob // the last of Asked jobs: more may wait behind it
	found int
}

// NewRoom returns the room of a locked lane whose limit is limit; nil: the limit does not exist any more.
func NewRoom(lane Lane, limit *Limit, now time.Time) *Room {
	r := &Room{Lane: lane, Now: now, Ended: limit == nil}
	if limit != nil {
		r.Width = limit.Width(lane.Key)
		r.Rate, r.Rated = limit.Pace()
	}
	return r
}

// Free returns how many permits the lane has left, at most most. Under a rate, a permit comes with a start.
func (r *Room) Free(most int) int {
	switch {
	case r.Ended:
		return most
	case r.NotBefore.After(r.Now):
		return 0
	}
	if r.Width > 0 {
		most = min(most, r.Width-r.Used)
	}
	if r.Rated {
		most = min(most, r.Rate.Room(r.TAT, r.Now, r.Starts+most)-r.Starts)
	}
	return max(most, 0)
}

// give gives a job a permit of the lane, and adds to held what it holds.
func (r *Room) give(held []int64) []int64 {
	r.Used++
	if r.Rated {
		r.Starts++
		held = append(held, -r.ID)
	}
	return append(held, r.ID)
}

// TakeBack takes back a permit of the lane, or with start a start that was not used.
func (r *Room) TakeBack(start bool) {
	if start {
		r.Starts = max(r.Starts-1, 0)
	} else {
		r.Used--
	}
}

// Use records that a claim has taken jobs that hold starts of the lane.
func (r *Room) Use(jobs int) {
	r.Starts = max(r.Starts-jobs, 0)
	if r.Rated {
		r.TAT = r.Rate.After(r.TAT, r.Now, jobs)
	}
	r.LookAt = Earlier(r.LookAt, r.nextLook())
}

// Close lets nothing start in the lane before an instant.
func (r *Room) Close(until time.Time) {
	if until.After(r.NotBefore) {
		r.NotBefore = until
	}
	r.LookAt = r.nextLook()
}

// Idle reports whether there is nothing to remember about the lane.
func (r *Room) Idle() bool {
	return !r.Waiting && (r.Ended || r.Used <= 0 && r.Starts <= 0 && !r.restsUntil().After(r.Now))
}

// restsUntil returns until when the lane has to be remembered although it holds nothing.
func (r *Room) restsUntil() time.Time {
	until := r.NotBefore
	if !until.IsZero() {
		until = until.Add(keepClosed)
	}
	if r.Rated && r.TAT.After(until) {
		return r.TAT
	}
	return until
}

// keepClosed is for how long it is remembered until when a lane was closed, because the store's clock may be set back.
const keepClosed = time.Minute

// tidyEvery divides the times at which lanes are looked at only because they may be idle, so that a store without other
// work is not woken for each of them.
const tidyEvery = 10 * time.Minute

// nextLook returns when the lane has to be looked at, because jobs that wait in it may start then, or because it is idle then;
// zero: something else has to happen before.
func (r *Room) nextLook() time.Time {
	switch until := r.restsUntil(); {
	case r.Ended:
		return time.Time{}
	case r.Waiting && (r.Width == 0 || r.Used < r.Width):
		return r.NextStart()
	case !r.Waiting && until.After(r.Now):
		return until.Truncate(tidyEvery).Add(tidyEvery)
	}
	return time.Time{}
}

// NextStart returns when another job of the lane may start, if that is later than now and a matter of time; otherwise zero. It does not consider
// how many permits are in use.
func (r *Room) NextStart() time.Time {
	next := r.NotBefore
	if r.Rated {
		at, possible := r.Rate.next(r.TAT, r.Now, r.Starts+1)
		if !possible {
			return time.Time{} // the starts that jobs hold have to be used before
		}
		if at.After(next) {
			next = at
		}
	}
	if !next.After(r.Now) {
		return time.Time{}
	}
	return next
}

// Earlier returns the earlier of two instants; zero means none.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// hasPermit reports whether the lane has a permit for a job now. Jobs that wait and were not read go first.
func (r *Room) hasPermit(job *LaneJob) bool {
	if r.Waiting && r.Asked == 0 || r.last != nil && job.Before(r.last) > 0 {
		return false
	}
	return r.Free(1) == 1
}

// Allotment is what a step does with a job.
type Allotment struct {
	Job *LaneJob
	// Held are the permits that the job holds from now on, so that it can be claimed: the number of a lane for each permit, and its
	// negative number for a start under the rate of its limit, which the claim uses. A job that no limit concerns any more, and a job that
	// leaves, hold none.
	Held []int64
	// Wait is the lane in which the job waits from now on; 0: it can be claimed.
	Wait int64
}

// Claimable reports whether the job can be claimed from now on.
func (a Allotment) Claimable() bool { return a.Wait == 0 && !a.Job.Leaves }

// Allot decides which jobs get permits: all permits that a job needs, or none. jobs are new jobs, and of
// each lane in rooms the first Asked jobs that wait there. The rooms of all Lanes of the jobs are given. Allot counts the
// permits in rooms, and sets Waiting and LookAt. A job that stays in its lane has no allotment. A job stays as long as its lane has
// no permit, and otherwise waits in the first of its lanes that has none.
func Allot(rooms map[int64]*Room, jobs []LaneJob) (out []Allotment) {
	slices.SortFunc(jobs, func(a, b LaneJob) int { return a.Before(&b) })
	countFound(rooms, jobs)
	stays := map[int64]bool{}
	for i := range jobs {
		job := &jobs[i]
		wait := job.fullLane(rooms)
		if wait == 0 {
			var held []int64
			for _, lane := range job.Lanes {
				if !job.Leaves {
					held = rooms[lane].give(held)
				}
			}
			out = append(out, Allotment{Job: job, Held: held})
			continue
		}
		stays[wait] = true
		if wait != job.Lane {
			out = append(out, Allotment{Job: job, Wait: wait})
		}
	}
	for id, room := range rooms {
		room.settle(stays[id])
	}
	return out
}

// countFound counts in rooms the jobs that were read from their lanes, and notes the last of them if there may be more.
func countFound(rooms map[int64]*Room, jobs []LaneJob) {
	for i := range jobs {
		if room := rooms[jobs[i].Lane]; room != nil {
			if room.found++; room.found >= room.Asked {
				room.last = &jobs[i]
			}
		}
	}
}

// fullLane returns a lane of the job that has no permit for it: the lane in which the job waits, or else the first; 0: all have one.
func (j *LaneJob) fullLane(rooms map[int64]*Room) (wait int64) {
	for _, lane := range j.Lanes {
		if (wait == 0 || lane == j.Lane) && !rooms[lane].hasPermit(j) {
			wait = lane
		}
	}
	return wait
}

// settle sets what is remembered about the lane. stays: a job that the step has looked at waits in it.
func (r *Room) settle(stays bool) {
	r.LookAt = time.Time{}
	more := r.last != nil || r.Asked == 0 && r.Waiting // jobs may wait that were not read
	if more && r.Free(1) == 1 {
		r.LookAt = LookNow()
	}
	if r.Waiting = more || stays; r.LookAt.IsZero() {
		r.LookAt = r.nextLook()
	}
}

// OfJobs returns the limits of kinds and keys, whose permits jobs hold.
func (l Limits) OfJobs() Limits {
	return slices.DeleteFunc(slices.Clone(l), func(limit Limit) bool { return limit.WholeQueue() })
}

// KeepPermit reports whether a job keeps its permits while it waits for its next attempt: one of the limits that concern the job is strict, and
// none has a rate.
func (l Limits) KeepPermit(job *JobSpec) bool {
	strict := false
	for i := range l {
		if l[i].Matches(job) {
			if l[i].Rate > 0 {
				return false
			}
			strict = strict || l[i].Strict
		}
	}
	return strict
}

// ByID returns the limit with a number; nil: there is none.
func (l Limits) ByID(id int64) *Limit {
	i := slices.IndexFunc(l, func(limit Limit) bool { return limit.ID == id })
	if i < 0 {
		return nil
	}
	return &l[i]
}

// Lanes returns the lanes in which a job needs permits.
func (l Limits) Lanes(job *JobSpec) (keys []LaneKey) {
	for i := range l {
		if l[i].Matches(job) {
			keys = append(keys, LaneKey{l[i].ID, l[i].Lane(job)})
		}
	}
	return keys
}
