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
	// Waiting is false only if no job waits in the lane.
	Waiting bool
	// LookAt is when the lane has to be looked at although no permit is given back; zero: not.
	LookAt time.Time
}

// LookNow is LookAt of a lane that has to be looked at now. It is long ago, so that the store's clock may be set back.
func LookNow() time.Time { return time.Unix(0, 0).UTC() }

// LaneJob is a due ready job that limits concern and that holds no permit.
type LaneJob struct {
	ID    int64
	Lane  int64   // in which it waits; 0: it is new, and does not wait yet
	First bool    // it goes before the others of its priority, because it was claimed before, or was taken back
	Lanes []int64 // of the limits that concern it, in the order of the limits
	RunAt time.Time
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

// Room is a lane that a step has locked.
type Room struct {
	Lane
	// Width is how many permits the lane has; 0: no bound.
	Width int
	// Ended means that the limit does not exist any more: the lane is left by the jobs that wait
	// in it, and no job gets a permit of it.
	Ended bool
	// Asked is how many waiting jobs the step has read, or would have read if there were so many.
	Asked int
	last  *LaneJob // the last of Asked jobs: more may wait behind it
	found int
}

// Free returns how many permits the lane has left, at most most.
func (r *Room) Free(most int) int {
	switch {
	case r.Ended || r.Width == 0:
		return most
	case r.Used >= r.Width:
		return 0
	}
	return min(r.Width-r.Used, most)
}

// admits reports whether the lane has a permit for a job now. Jobs that wait and were not read go first.
func (r *Room) admits(job *LaneJob) bool {
	if r.Waiting && r.Asked == 0 || r.last != nil && job.Before(r.last) > 0 {
		return false
	}
	return r.Free(1) == 1
}

// Admission is what a step does with a job.
type Admission struct {
	Job *LaneJob
	// Lanes are the lanes in which the job holds a permit from now on, so that the job can be claimed. A job that
	// no limit concerns any more has none.
	Lanes []int64
	// Wait is the lane in which the job waits from now on; 0: it can be claimed.
	Wait int64
}

// Admit decides which jobs get permits: all permits that a job needs, or none. jobs are new jobs, and of
// each lane in rooms the first Asked jobs that wait there. The rooms of all Lanes of the jobs are given. Admit counts the
// permits in rooms, and sets Waiting and LookAt. A job that stays in its lane has no admission. A job stays as long as its lane has
// no permit, and otherwise waits in the first of its lanes that has none.
func Admit(rooms map[int64]*Room, jobs []LaneJob) (out []Admission) {
	slices.SortFunc(jobs, func(a, b LaneJob) int { return a.Before(&b) })
	stays := map[int64]bool{}
	for i := range jobs {
		if room := rooms[jobs[i].Lane]; room != nil {
			if room.found++; room.found >= room.Asked {
				room.last = &jobs[i]
			}
		}
	}
	for i := range jobs {
		job := &jobs[i]
		full := slices.DeleteFunc(slices.Clone(job.Lanes), func(lane int64) bool { return rooms[lane].admits(job) })
		if len(full) == 0 {
			for _, lane := range job.Lanes {
				rooms[lane].Used++
			}
			out = append(out, Admission{Job: job, Lanes: job.Lanes})
			continue
		}
		wait := full[0]
		if slices.Contains(full, job.Lane) {
			wait = job.Lane
		}
		stays[wait] = true
		if wait != job.Lane {
			out = append(out, Admission{Job: job, Wait: wait})
		}
	}
	for id, room := range rooms {
		room.settle(stays[id])
	}
	return out
}

// settle sets what is remembered about the lane. stays: a job that the step has looked at waits in it.
func (r *Room) settle(stays bool) {
	r.LookAt = time.Time{}
	more := r.last != nil || r.Asked == 0 && r.Waiting // jobs may wait that were not read
	if more && r.Free(1) == 1 {
		r.LookAt = LookNow()
	}
	r.Waiting = more || stays
}

// OfJobs returns the limits whose permits jobs hold.
func (l Limits) OfJobs() Limits {
	return slices.DeleteFunc(slices.Clone(l), func(limit Limit) bool { return limit.WholeQueue() })
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
