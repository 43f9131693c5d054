package plan

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

// A node leaves slots to other nodes if it may not run their jobs, because their kind is restricted
// and the allow-list does not contain them, or because their place is not a place of the node. Otherwise the slots' jobs would accumulate while no
// node can run them, and would all start together later. Any node accounts for such a slot once it
// is later than the grace and not to be made up for, so that it is reported as missed.

// leaveUntil returns until when a node that may not run a schedule's jobs leaves its due
// slots to other nodes; zero: for ever.
func (p Plan) leaveUntil(s store.Schedule) time.Time {
	if p.Misfire != MisfireSkip || p.Follows() {
		return time.Time{}
	}
	return s.NextAt.Add(p.grace() + time.Microsecond)
}

// Own returns the due schedules that this node decides on. mayRun reports whether the node may run
// the jobs of a schedule. again is when the first of the other schedules has to be read
// again; zero: none has to be.
func (c Cache) Own(due []store.Schedule, mayRun func(Definition) bool, now time.Time) (ours []store.Schedule, again time.Time) {
	for _, s := range due {
		plan, _, err := c.Get(s)
		if err != nil || mayRun(plan.Definition) || !s.LastPausedAt().IsZero() {
			ours = append(ours, s)
			continue
		}
		until := plan.leaveUntil(s)
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

// OnlyMissed reduces a decision that fires slots to the records of slots that are later than the
// grace. The slots that fire are left to nodes that may run their jobs.
func (p Plan) OnlyMissed(s store.Schedule, f store.Firing, now time.Time) store.Firing {
	if len(f.Jobs) == 0 || p.Follows() {
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
	p.addEvents(s, &f)
	return f
}
