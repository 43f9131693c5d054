package sim

import (
	"cmp"
	"slices"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// slot is an instant of a schedule.
type slot struct {
	schedule string
	at       time.Time
}

// oneSlotOneJob: a slot makes one job at most, for ever.
func oneSlotOneJob(e *evidence) {
	jobs := map[slot]int64{}
	add := func(schedule string, at time.Time, id int64) {
		of := slot{schedule, at}
		if other, made := jobs[of]; made && other != id {
			e.fail("the slot %s of %s made job %d and job %d", clock(at), schedule, other, id)
		}
		jobs[of] = id
	}
	for i := range e.jobs {
		if j := &e.jobs[i]; j.Origin == store.OriginSchedule && !e.follows[j.ScheduleName] {
			add(j.ScheduleName, j.Slot, j.ID)
		}
	}
	for _, r := range e.runs { // also of jobs that are not stored any more
		if !r.Slot.IsZero() && !e.follows[r.Schedule] && e.origin(r.ID) == store.OriginSchedule {
			add(r.Schedule, r.Slot, r.ID)
		}
	}
}

// everyEndIsFollowedOnce: a schedule that follows another makes one job at most for the end of a job, and not before this
// end; it makes one for each end, if nothing keeps it from that.
func everyEndIsFollowedOnce(e *evidence) {
	type end struct {
		schedule string
		of       int64
	}
	made := map[end]int64{}
	for i := range e.jobs {
		j := &e.jobs[i]
		if j.Origin != store.OriginAfter || len(j.After) != 1 {
			continue
		}
		of := end{j.ScheduleName, j.After[0].Job}
		if other := made[of]; other != 0 {
			e.fail("%s made job %d and job %d for the end of job %d", of.schedule, other, j.ID, of.of)
		}
		made[of] = j.ID
		if p := e.byID[of.of]; p != nil && !e.changed[p.ID] && (p.FinishedAt.IsZero() || p.FinishedAt.After(j.CreatedAt)) && !e.clockWasSet() {
			e.fail("%s made job %d at %s, before the end of job %d at %s", of.schedule, j.ID, clock(j.CreatedAt), p.ID, clock(p.FinishedAt))
		}
	}
	for _, in := range e.rules {
		s := in.What
		if s.After == "" || s.Overlap != hourbell.OverlapAllow || e.halted[s.Name] || e.halted[s.After] || e.clockWasSet() {
			continue
		}
		calm := e.at.Store.Add(e.plan.Length - e.took)
		for i := range e.jobs {
			p := &e.jobs[i]
			within := p.FinishedAt.After(in.From.Store) && p.FinishedAt.Before(calm)
			if p.ScheduleName == s.After && p.Origin == store.OriginSchedule && within && made[end{s.Name, p.ID}] == 0 {
				e.fail("%s made no job for the end of job %d of %s at %s", s.Name, p.ID, s.After, clock(p.FinishedAt))
			}
		}
	}
}

// everySlotIsAccountedFor: the records of a schedule have each of its slots once, from the first to the last, and a
// slot that fired has its job.
func everySlotIsAccountedFor(e *evidence) {
	byName := map[string][]store.SlotInfo{}
	for _, s := range e.slots {
		byName[s.ScheduleName] = append(byName[s.ScheduleName], s)
	}
	for name, records := range byName {
		every := e.every[name]
		if every == 0 {
			continue
		}
		slices.SortStableFunc(records, func(a, b store.SlotInfo) int { return a.Slot.Compare(b.Slot) })
		for i, r := range records {
			if spans := r.Last.Sub(r.Slot)/every + 1; r.Last.Sub(r.Slot)%every != 0 || int64(spans) != r.Count {
				e.fail("%s: a record from %s to %s has %d slots, of one each %v",
					name, clock(r.Slot), clock(r.Last), r.Count, every)
			}
			if i > 0 {
				if next := records[i-1].Last.Add(every); !r.Slot.Equal(next) {
					e.fail("%s: after the slot %s comes %s, and not %s", name, clock(records[i-1].Last), clock(r.Slot), clock(next))
				}
			}
			if r.Outcome == store.SlotFired && e.byID[r.Job] == nil && !e.deleted[r.Job] {
				e.fail("%s: the slot %s fired job %d, which is not stored", name, clock(r.Slot), r.Job)
			}
		}
	}
}

// lateSlotsDoNotFire: a schedule that makes up for no slot fires none later than its grace.
func lateSlotsDoNotFire(e *evidence) {
	for _, s := range e.slots {
		late := s.RecordedAt.Sub(s.Slot)
		if grace, skips := e.skips[s.ScheduleName]; skips && s.Outcome == store.SlotFired && late > cmp.Or(grace, time.Minute)+latency {
			e.fail("%s: the slot %s fired %v later", s.ScheduleName, clock(s.Slot), late)
		}
	}
}

// latency is how long a call takes at most that no fault holds up, and what a node looks at once.
const latency = time.Second

// slotsAreOnTime: in fair weather, and while nothing has a fault, a slot that fires does so at its instant.
func slotsAreOnTime(e *evidence) {
	if e.plan.Weather.Before+e.plan.Weather.After+e.plan.Weather.Slow > 0 {
		return
	}
	for _, s := range e.slots {
		late := s.RecordedAt.Sub(s.Slot)
		if e.every[s.ScheduleName] == 0 || e.halted[s.ScheduleName] || s.Outcome != store.SlotFired || late < 2*latency || len(e.faults) > 0 {
			continue
		}
		e.fail("%s: the slot %s fired %v later, and nothing held it up", s.ScheduleName, clock(s.Slot), late)
	}
}

// countsAreKept: a schedule fires no more slots than it may.
func countsAreKept(e *evidence) {
	fired := map[string]int64{}
	for _, s := range e.slots {
		if s.Outcome == store.SlotFired {
			fired[s.ScheduleName]++
		}
	}
	rules := map[string]int{}
	for _, in := range e.rules {
		rules[in.What.Name]++
	}
	for _, in := range e.rules {
		if in.What.On.Every && rules[in.What.Name] > 1 {
			continue // its count is of instants of the present rule, whatever fired by earlier rules
		}
		for _, name := range e.plan.namesOf(in.What.Name) {
			if most := in.What.Count; most > 0 && fired[name] > most {
				e.fail("%s has fired %d slots, of %d", name, fired[name], most)
			}
		}
	}
}

// pausedSchedulesFireNothing: after the pause of a schedule has returned, its later slots do not fire until it is resumed.
func pausedSchedulesFireNothing(e *evidence) {
	for _, in := range e.halts {
		for _, s := range e.slots {
			to := in.To.Store
			within := s.Slot.After(in.From.Store) && (to.IsZero() || s.Slot.Before(to))
			if baseOf(s.ScheduleName) == in.What && s.Outcome == store.SlotFired && within && !e.clockWasSet() {
				e.fail("%s: the slot %s fired, although the schedule has been paused since %s",
					s.ScheduleName, clock(s.Slot), clock(in.From.Store))
			}
		}
	}
	groups := map[string]string{}
	for _, in := range e.rules {
		groups[in.What.Name] = in.What.Group
	}
	for _, in := range e.pauses {
		for _, s := range e.slots {
			to := in.To.Store
			within := s.Slot.After(in.From.Store) && (to.IsZero() || s.Slot.Before(to))
			if of := groups[baseOf(s.ScheduleName)]; in.What == (subject{"group", of}) && s.Outcome == store.SlotFired && within && !e.clockWasSet() {
				e.fail("%s: the slot %s fired, although its group has been paused since %s", s.ScheduleName, clock(s.Slot), clock(in.From.Store))
			}
		}
	}
}

// editsAreInForce: after the edit of a schedule has returned, its later slots follow the new rule.
func editsAreInForce(e *evidence) {
	for _, in := range e.rules {
		if len(in.What.Seconds) == 0 || e.clockWasSet() {
			continue
		}
		for _, s := range e.slots {
			to := in.To.Store
			later := s.Slot.After(in.From.Store) && (to.IsZero() || s.Slot.Before(to))
			if baseOf(s.ScheduleName) == in.What.Name && s.Outcome == store.SlotFired && later && !slices.Contains(in.What.Seconds, s.Slot.Second()) {
				e.fail("%s: the slot %s fired, although the rule since %s is the seconds %v",
					s.ScheduleName, clock(s.Slot), clock(in.From.Store), in.What.Seconds)
			}
		}
	}
}

// overlapIsKept: two jobs that slots of a schedule have made never run at once, unless the schedule allows that.
func overlapIsKept(e *evidence) {
	bySchedule := map[string][]*run{}
	for _, r := range e.runs {
		if r.Schedule != "" && e.origin(r.ID) == store.OriginSchedule && e.alone[r.Schedule] && !e.zombie(r) {
			bySchedule[r.Schedule] = append(bySchedule[r.Schedule], r)
		}
	}
	for _, runs := range bySchedule {
		for i, a := range runs {
			for _, b := range runs[i+1:] {
				if b.Start.Real.After(a.over()) {
					break
				}
				if a.ID != b.ID && meet(a, b) {
					e.fail("%v, and %v: at once", a, b)
				}
			}
		}
	}
}
