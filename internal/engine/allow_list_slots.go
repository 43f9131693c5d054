package engine

import (
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Slots whose jobs this node may not run (their kind is restricted, and they are
// not admitted) it leaves to nodes that may: else it would make jobs that nobody
// is there to run, and that all start at once when somebody comes. Only when
// such a slot has missed its time, and is not to be made up for, does any node
// account for it, so that somebody is told.

// foreign says whether the jobs of a schedule are for other nodes to run.
func (e *Engine) unlisted(p Plan) bool {
	if !slices.Contains(e.cfg.Restricted, p.Kind) {
		return false
	}
	admitted, _ := e.allowList.find(p.Kind, []byte(p.Args))
	return !admitted
}

// leaveAlone says until when a node that may not run a schedule's jobs leaves
// its due slots to others; zero: for ever.
func (p Plan) leftToOthersUntil(s store.Schedule) time.Time {
	if p.Misfire != MisfireSkip {
		return time.Time{}
	}
	return s.NextAt.Add(p.grace() + time.Microsecond)
}

// passOver takes those schedules out of the due ones that are others' to fire.
// again is when the first of them has to be looked at anew; zero: none has.
func (e *Engine) ownSchedules(due []store.Schedule, plans planCache, now time.Time) (ours []store.Schedule, again time.Time) {
	for _, s := range due {
		plan, _, err := plans.get(s)
		if err != nil || !e.unlisted(plan) || !s.PausedAt.IsZero() {
			ours = append(ours, s)
			continue
		}
		until := plan.leftToOthersUntil(s)
		if !until.IsZero() && !until.After(now) {
			ours = append(ours, s)
			continue
		}
		if !until.IsZero() && (again.IsZero() || until.Before(again)) {
			again = until
		}
	}
	return ours, again
}

// onlyLate keeps of a decision what accounts for slots that have missed their
// time, if it would fire others: those are for nodes that may run their jobs.
func (p Plan) onlyMissed(s store.Schedule, f store.Firing, now time.Time) store.Firing {
	if len(f.Jobs) == 0 {
		return f
	}
	onTime := now.Add(-p.grace())
	f.Jobs, f.NewMark = nil, s.Mark
	var late []store.SlotRecord
	for _, r := range f.Slots {
		if r.Last.Before(onTime) {
			late = append(late, r)
			f.NewMark = later(f.NewMark, r.Last)
		}
	}
	f.Slots, f.NewNextAt = late, p.Rule.Next(f.NewMark)
	f.After = p.missedFollowUp(s, late)
	return f
}
