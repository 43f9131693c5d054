package plan

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// Edge lets a schedule start after the ends of the jobs of another schedule.
type Edge struct {
	Schedule string        `json:"schedule"` // the predecessor, by name
	On       store.On      `json:"on,omitempty"`
	Delay    time.Duration `json:"delay,omitempty"` // from the end
	// IgnoreCancelled: the end of a cancelled job has no effect at all.
	IgnoreCancelled bool `json:"ignore_cancelled,omitempty"`
}

// Predecessors returns the names of the schedules that the schedule follows.
func (d Definition) Predecessors() (names []string) {
	for _, e := range d.After {
		names = append(names, e.Schedule)
	}
	return names
}

// Follows reports whether the schedule follows other schedules instead of a rule.
func (d Definition) Follows() bool { return len(d.After) > 0 }

// never is the rule of schedules that follow other schedules.
type never struct{ recur.Rule }

// Next implements recur.Rule.
func (never) Next(time.Time) time.Time { return time.Time{} }

// Prev implements recur.Rule.
func (never) Prev(time.Time) time.Time { return time.Time{} }

// String implements recur.Rule.
func (never) String() string { return "" }

// bounds are between which instants the ends of predecessors count; zero: no bound.
type bounds struct{ start, stop time.Time }

// boundsOf reads Start and Stop of a rule that has nothing else.
func boundsOf(rule recur.Spec, zones *recur.Zones) (b bounds, err error) {
	for _, one := range []struct {
		text string
		at   *time.Time
	}{{rule.Start, &b.start}, {rule.Stop, &b.stop}} {
		if one.text == "" {
			continue
		}
		at, err := zones.Rule(recur.Spec{At: one.text, Zone: rule.Zone}, time.Time{})
		if err != nil {
			return b, err
		}
		*one.at = at.Next(time.Time{})
	}
	return b, nil
}

// has reports whether an end counts.
func (b bounds) has(at time.Time) bool {
	return !at.Before(b.start) && (b.stop.IsZero() || !at.After(b.stop))
}

// over reports whether no end counts any more.
func (b bounds) over(now time.Time) bool { return !b.stop.IsZero() && now.After(b.stop) }

// Ended reports whether the schedule, which follows other schedules, will make no job any more.
func (p Plan) Ended(s store.Schedule, now time.Time) bool {
	return p.Follows() && (p.countReached(s) || p.bounds.over(now))
}

// Follow accounts for ends of jobs of predecessors, in the order of their slots. It is pure, as
// Decide is. What becomes of an end:
//
//	the end                                              the schedule
//	is not between start and stop, or after the count    nothing
//	is a cancellation, and the edge ignores these        nothing
//	came while the schedule or its predecessor paused    not_started, as are its own dependents
//	is of a predecessor that was not started itself      not_started, with the first job and reason
//	does not match the edge                              not_started
//	matches the edge                                     a job, due at the end + the delay
//
// A slot that makes no job because of an overlap, or an end that counts for nothing, sets off
// nothing in the schedule's own dependents.
func (p Plan) Follow(s store.Schedule, ends []store.ScheduleEnd) store.Firing {
	f := store.Firing{
		Schedule: s.ID, Revision: s.Revision, Mark: s.Mark, NextAt: s.NextAt, PausedAt: s.LastPausedAt(),
		NewMark: s.Mark, Overlap: p.overlap(), Follows: true,
	}
	made := map[int64]bool{} // for which ended jobs
	for _, end := range ends {
		f.NewMark = later(f.NewMark, end.Slot)
		edge, known := p.edge(end.After)
		switch {
		case !known || !p.bounds.has(end.At) || edge.IgnoreCancelled && stopped(end.State),
			p.Count > 0 && s.Fired+int64(len(f.Jobs)) >= p.Count:
			continue
		case made[end.ID]:
			continue
		}
		if why := p.notStarted(s, end, edge); why != "" {
			f.Slots = append(f.Slots, store.SlotRecord{Slot: end.Slot, Last: end.Slot, Count: 1, Outcome: store.SlotNotStarted, Reason: why, Extend: true})
			f.NotStarted = append(f.NotStarted, store.Ended{ID: end.ID, State: store.StateNotStarted, At: end.At, Reason: why})
			continue
		}
		job := p.Job(s.ID, store.OriginAfter)
		job.Slot, job.RunAt = end.Slot, end.At.Add(edge.Delay)
		job.After = []store.Edge{{Job: end.ID, On: edge.On, Delay: edge.Delay}}
		f.Jobs, made[end.ID] = append(f.Jobs, job), true
	}
	p.addEvents(s, &f)
	return f
}

// edge returns the edge from a schedule: the edge that names it or, if it is of a host, the schedule from which it is made.
func (p Plan) edge(predecessor string) (edge Edge, known bool) {
	for _, e := range p.After {
		if e.Schedule == predecessor {
			return e, true
		}
		if e.follows(predecessor) {
			edge, known = e, true
		}
	}
	return edge, known
}

// notStarted returns why an end does not start the schedule; empty: it does. Equal causes have
// equal reasons, so that their records can be one.
func (p Plan) notStarted(s store.Schedule, end store.ScheduleEnd, edge Edge) string {
	for _, paused := range []*time.Time{&s.PausedAt, &s.GroupPausedAt} {
		if paused.After(end.At) { // a pause after the end does not matter
			*paused = time.Time{}
		}
	}
	if why := p.paused(s, end.At); why != "" {
		return why
	}
	switch {
	case end.Paused:
		return fmt.Sprintf("paused: the schedule %s was paused", end.After)
	case end.State == store.StateNotStarted:
		return end.Reason
	case edge.On.Matches(end.State):
		return ""
	case stopped(end.State):
		return fmt.Sprintf("after: a job of %s was %v", end.After, end.State)
	}
	return fmt.Sprintf("after: a job of %s %v", end.After, end.State)
}

// stopped reports whether a job was ended by hand.
func stopped(s store.State) bool { return s == store.StateCancelled || s == store.StateDeleted }
