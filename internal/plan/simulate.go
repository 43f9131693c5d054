package plan

import (
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Simulation plays a schedule through a span of time with Decide and Settle, as running nodes
// would whose store fires early. Each slot is found when it is due, or fires early as on nodes,
// unless no node runs. Jobs start when they are ready, and no job fails.
type Simulation struct {
	Plan     Plan
	Schedule store.Schedule // as at From; its mark is before From
	From, To time.Time      // slots from From up to, but without, To
	// Down contains the spans without a node. A job that runs when a span begins is released, and
	// starts again when the span ends.
	Down []Span
	// RunTime is how long a job runs.
	RunTime time.Duration
	// Most is the greatest number of slots in the result.
	Most int
}

// Span is a span of time from From up to, but without, To.
type Span struct{ From, To time.Time }

// SimulatedSlot is a slot, or Count consecutive slots with the same outcome, and the slot's job.
type SimulatedSlot struct {
	store.SlotRecord
	Job     int64     // number of the slot's job, from 1
	FoundAt time.Time // when the slot was accounted for
	Started time.Time // last start of the job; zero: none before To
	Ended   time.Time // end of the job; zero: none before To
	State   store.State
	Why     string // why the job was cancelled
}

// Run simulates the schedule from From to To and returns the first Most slots. complete reports
// whether these are all slots.
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

// player is the state of a running simulation.
type player struct {
	Simulation
	row   store.Schedule
	now   time.Time
	jobs  []*simulatedJob // live jobs, oldest first
	slots []SimulatedSlot
	last  int64 // greatest number of a job
}

// simulatedJob is a live job.
type simulatedJob struct {
	store.LiveJob
	runAt time.Time
	ends  time.Time // zero: the job does not run
	place int       // index of the job's slot
}

// round does all work of the present instant.
func (p *player) round() {
	for {
		p.endJobs()
		p.startJobs()
		switch {
		case p.anyEnds(): // before a slot of this instant fires, because such a job is not in its way
		case p.fires():
			p.fire()
		default:
			return
		}
	}
}

// fires reports whether the next slot fires now: it is due, or it may fire early.
func (p *player) fires() bool {
	at := p.row.NextAt
	switch {
	case at.IsZero() || at.After(p.now.Add(MaxEarly)):
		return false
	case !at.After(p.now):
		return true
	}
	alone := len(p.jobs) == 0 || p.Plan.overlap() == store.OverlapAllow
	return alone && p.Plan.CanPrefetch(p.row) && OnlyFires(p.Plan.Decide(p.row, at))
}

// anyEnds reports whether a running job ends now, because it takes no time.
func (p *player) anyEnds() bool {
	return slices.ContainsFunc(p.jobs, func(j *simulatedJob) bool { return j.Running && !j.ends.After(p.now) })
}

// fire makes one decision and settles it.
func (p *player) fire() {
	at := later(p.now, p.row.NextAt)
	f := p.Plan.Decide(p.row, at)
	settled := f.Settle(p.live(at), store.Delays{})
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

// live returns the live jobs as they are at an instant. A job that is due has started, unless its start is later than its slot.
func (p *player) live(at time.Time) []store.LiveJob {
	live := make([]store.LiveJob, len(p.jobs))
	for i, j := range p.jobs {
		live[i] = j.LiveJob
		live[i].Due = !j.Slot.After(at)
		if j.runAt.After(at) {
			live[i].StartsAt = j.runAt
		}
	}
	return live
}

// startJobs starts the ready jobs.
func (p *player) startJobs() {
	for _, j := range p.jobs {
		if j.Running || j.Waiting || j.runAt.After(p.now) {
			continue
		}
		j.Running, j.ends = true, p.now.Add(p.RunTime)
		p.slots[j.place].Started, p.slots[j.place].State = p.now, store.StateRunning
	}
}

// endJobs ends the jobs that have run for RunTime.
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

// release makes the first waiting job ready if no other job is ready or running.
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

// handBack releases all running jobs.
func (p *player) handBack() {
	for _, j := range p.jobs {
		j.Running = false
	}
}

// down reports whether no node runs now, and until when.
func (p *player) down() (until time.Time, down bool) {
	for _, span := range p.Down {
		if !p.now.Before(span.From) && p.now.Before(span.To) {
			return span.To, true
		}
	}
	return time.Time{}, false
}

// next returns the next instant with work; zero: none.
func (p *player) next() time.Time {
	next := p.row.NextAt
	sooner := func(t time.Time) {
		if t.After(p.now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	if !next.IsZero() {
		sooner(next.Add(-MaxEarly))
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
