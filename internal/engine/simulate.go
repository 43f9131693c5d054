package engine

import (
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Simulation is a time in which a schedule is played through: by Decide and
// Settle, as nodes would, in no time at all. Each slot is found the moment it is
// due, or ahead of it as by nodes, unless the cluster is down; jobs start when they
// are ready, and none fails.
type Simulation struct {
	Plan     Plan
	Schedule store.Schedule // as it is at From; Mark before it
	From, To time.Time      // slots from From up to, but without, To
	// Down are times without any node. A job that runs when one begins is handed
	// back and starts anew when it ends.
	Down []Span
	// RunTime is how long a job runs.
	RunTime time.Duration
	// Most is how many slots there may be; what comes later is left out.
	Most int
}

// Span is a time from From up to, but without, To.
type Span struct{ From, To time.Time }

// SimulatedSlot is what became of a slot, or of Count of them in a row.
type SimulatedSlot struct {
	store.SlotRecord
	Job     int64     // that it made; they count from 1
	FoundAt time.Time // when it was accounted for
	Started time.Time // of the job, the last time; zero: not before To
	Ended   time.Time // of the job; zero: not before To
	State   store.State
	Why     string // of a cancelled job
}

// Run plays the time through. complete is false where Most cut it short.
func (sim Simulation) Run() (slots []SimulatedSlot, complete bool) {
	p := &player{Simulation: sim, row: sim.Schedule, now: sim.From}
	slices.SortFunc(p.Down, func(a, b Span) int { return a.From.Compare(b.From) })
	p.row.NextAt = p.Plan.Next(p.row, p.row.Mark)
	for p.now.Before(p.To) && len(p.slots) <= p.Most {
		if until, down := p.down(); down {
			p.handBack()
			p.now = until
			continue
		}
		p.round()
		next := p.next()
		if next.IsZero() {
			break
		}
		p.now = next
	}
	p.slots = slices.DeleteFunc(p.slots, func(s SimulatedSlot) bool { return !s.Slot.Before(p.To) })
	slices.SortStableFunc(p.slots, func(a, b SimulatedSlot) int { return a.Slot.Compare(b.Slot) })
	return p.slots[:min(len(p.slots), p.Most)], len(p.slots) <= p.Most
}

// player is a simulation that runs.
type player struct {
	Simulation
	row   store.Schedule
	now   time.Time
	jobs  []*simulatedJob // that live, oldest first
	slots []SimulatedSlot
	last  int64 // number of a job
}

// simulatedJob is a job that lives.
type simulatedJob struct {
	store.LiveJob
	runAt time.Time
	ends  time.Time // zero: it does not run
	place int       // of its slot
}

// round does all that is to be done now.
func (p *player) round() {
	for {
		p.endJobs()
		p.startJobs()
		switch {
		case p.fires():
			p.fire()
		case !p.anyEnds():
			return
		}
	}
}

// fires says whether the next slot fires now: it is due, or it will be soon and
// need not wait.
func (p *player) fires() bool {
	at := p.row.NextAt
	switch {
	case at.IsZero() || at.After(p.now.Add(maxEarly)):
		return false
	case !at.After(p.now):
		return true
	}
	alone := len(p.jobs) == 0 || p.Plan.overlap() == store.OverlapAllow
	return alone && p.Plan.canPrefetch(p.row) && onlyFires(p.Plan.Decide(p.row, at))
}

// anyEnds says whether a job ends right now: one that takes no time.
func (p *player) anyEnds() bool {
	return slices.ContainsFunc(p.jobs, func(j *simulatedJob) bool { return j.Running && !j.ends.After(p.now) })
}

// fire makes and settles one decision.
func (p *player) fire() {
	at := later(p.now, p.row.NextAt)
	f := p.Plan.Decide(p.row, at)
	live := make([]store.LiveJob, len(p.jobs))
	for i, j := range p.jobs {
		live[i] = j.LiveJob
	}
	settled := f.Settle(live)
	for _, id := range settled.Replace {
		p.end(id, store.StateCancelled, store.ReplacedReason)
	}
	for _, id := range settled.Supersede {
		p.end(id, store.StateCancelled, store.SupersededReason)
	}
	for _, id := range settled.Cancel {
		p.end(id, store.StateCancelled, store.ReplacedReason)
	}
	for _, record := range settled.Slots {
		p.slots = append(p.slots, SimulatedSlot{SlotRecord: record, FoundAt: at})
	}
	for _, job := range settled.Jobs {
		p.last++
		p.jobs = append(p.jobs, &simulatedJob{
			LiveJob: store.LiveJob{ID: p.last, Slot: job.Slot, Waiting: job.Waiting}, runAt: job.RunAt, place: len(p.slots),
		})
		p.slots = append(p.slots, SimulatedSlot{
			SlotRecord: store.SlotRecord{Slot: job.Slot, Last: job.Slot, Count: 1, Outcome: store.SlotFired}, Job: p.last, FoundAt: at,
		})
		p.row.Fired++
	}
	p.row.Mark, p.row.NextAt = f.NewMark, f.NewNextAt
	p.release()
}

// startJobs starts what is ready.
func (p *player) startJobs() {
	for _, j := range p.jobs {
		if j.Running || j.Waiting || j.runAt.After(p.now) {
			continue
		}
		j.Running, j.ends = true, p.now.Add(p.RunTime)
		p.slots[j.place].Started, p.slots[j.place].State = p.now, store.StateRunning
	}
}

// endJobs ends what has run long enough.
func (p *player) endJobs() {
	for _, j := range slices.Clone(p.jobs) {
		if j.Running && !j.ends.After(p.now) {
			p.end(j.ID, store.StateCompleted, "")
		}
	}
	p.release()
}

func (p *player) end(id int64, state store.State, why string) {
	i := slices.IndexFunc(p.jobs, func(j *simulatedJob) bool { return j.ID == id })
	slot := &p.slots[p.jobs[i].place]
	slot.Ended, slot.State, slot.Why = p.now, state, why
	p.jobs = slices.Delete(p.jobs, i, i+1)
}

// release makes ready the first job that waits, if no other is ready or runs.
func (p *player) release() {
	for _, j := range p.jobs {
		if !j.Waiting {
			return
		}
	}
	if len(p.jobs) > 0 {
		slices.MinFunc(p.jobs, func(a, b *simulatedJob) int { return a.Slot.Compare(b.Slot) }).Waiting = false
	}
}

// handBack stops all jobs that run.
func (p *player) handBack() {
	for _, j := range p.jobs {
		j.Running = false
	}
}

// down says whether there is no node now, and until when.
func (p *player) down() (until time.Time, down bool) {
	for _, span := range p.Down {
		if !p.now.Before(span.From) && p.now.Before(span.To) {
			return span.To, true
		}
	}
	return time.Time{}, false
}

// next is when there is something to do; zero: never.
func (p *player) next() time.Time {
	next := p.row.NextAt
	sooner := func(t time.Time) {
		if t.After(p.now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	if !next.IsZero() {
		sooner(next.Add(-maxEarly))
	}
	for _, j := range p.jobs {
		if j.Running {
			sooner(j.ends)
		} else if !j.Waiting {
			sooner(j.runAt)
		}
	}
	for _, span := range p.Down {
		sooner(span.From)
	}
	return next
}
