package store

import (
	"maps"
	"slices"
)

// Consequences are the changes that a sequence of follow-ups makes.
type Consequences struct {
	Jobs []NewJob // to be inserted, in order
	// Begun, Again, Counted and Ended are numbers of schedules, in order. A
	// schedule is in at most one of them: in Begun if it is failing and was not;
	// in Again if it was failing, became well and is failing again; in Counted
	// if it is still failing, with another number of failures; in Ended if it
	// was failing and is well.
	Begun, Again, Counted, Ended []int64
	// Failures has the number of failures of each failing schedule.
	Failures map[int64]int64
	// Recovered are the schedules that became well, in the order of the follow-ups; a
	// schedule may be in it more than once.
	Recovered []int64
}

// Follow returns the consequences of follow-ups, applied one after the other;
// nil follow-ups are ignored. failing has the schedules of the follow-ups that
// are failing before, with their number of failures.
func Follow(followUps []*FollowUp, failing map[int64]int64) Consequences {
	out := Consequences{Failures: maps.Clone(failing)}
	if out.Failures == nil {
		out.Failures = map[int64]int64{}
	}
	touched, well := map[int64]bool{}, map[int64]bool{} // well: at any time
	for _, a := range followUps {
		if a == nil {
			continue
		}
		out.Jobs = append(out.Jobs, a.Always...)
		if a.Schedule == 0 {
			if a.Failing {
				out.Jobs = append(out.Jobs, a.Jobs...)
			}
			continue
		}
		touched[a.Schedule] = true
		n, before := out.Failures[a.Schedule]
		if a.Failing || before {
			out.Jobs = append(out.Jobs, a.Jobs...)
		}
		switch {
		case !a.Failing:
			if before {
				out.Recovered = append(out.Recovered, a.Schedule)
			}
			delete(out.Failures, a.Schedule)
			well[a.Schedule] = true
		case a.JobFailed:
			out.Failures[a.Schedule] = n + 1
		default:
			out.Failures[a.Schedule] = n
		}
	}
	for _, id := range slices.Sorted(maps.Keys(touched)) {
		out.compare(id, failing, well[id])
	}
	return out
}

// compare adds a schedule to Begun, Again, Counted or Ended. failing has the schedules that were failing before; well: the schedule became well.
func (c *Consequences) compare(id int64, failing map[int64]int64, well bool) {
	n, fails := c.Failures[id]
	was, failed := failing[id]
	switch {
	case fails && !failed:
		c.Begun = append(c.Begun, id)
	case fails && well:
		c.Again = append(c.Again, id)
	case fails && n != was:
		c.Counted = append(c.Counted, id)
	case failed && !fails:
		c.Ended = append(c.Ended, id)
	}
}
