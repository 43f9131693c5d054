package plan

import (
	"fmt"
	"slices"
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

// patience is how long a due slot is left to other nodes before a node looks for the reason why none
// of them has fired it, unless its grace is shorter.
const patience = 5 * time.Second

// OverdueAt returns from when on the next slot of a schedule is overdue: no node has fired it for so
// long that there may be a reason.
func (p Plan) OverdueAt(s store.Schedule) time.Time { return p.overdueAt(s.NextAt) }

// overdueAt is OverdueAt for a slot.
func (p Plan) overdueAt(slot time.Time) time.Time { return slot.Add(min(patience, p.grace())) }

// Overdue returns what Passed returns, if the first of the slots is overdue; else a zero time.
func (p Plan) Overdue(s store.Schedule, now time.Time) (first time.Time, n int) {
	if first, n = p.Passed(s, now); n == 0 || p.overdueAt(first).After(now) {
		return time.Time{}, 0
	}
	return first, n
}

// mostPassed is how many slots Passed counts.
const mostPassed = 1000

// Passed returns the first slot of a due schedule that no node has accounted for, and how many such slots there are up to now, at
// most mostPassed. Slots that would not fire, because of a calendar or a pause, do not count. Of a schedule that follows others it
// is the end that is to be accounted for. first is zero if there is none.
func (p Plan) Passed(s store.Schedule, now time.Time) (first time.Time, n int) {
	switch {
	case s.NextAt.IsZero() || s.NextAt.After(now) || p.countReached(s) || p.On.Every:
		return first, 0
	case p.Follows():
		return s.NextAt, 1
	}
	slots, _ := p.due(s.Mark, now)
	for _, slot := range slots {
		if !p.mayFire(s, slot) {
			continue
		}
		if n++; n == 1 {
			first = slot
		}
		if n == mostPassed {
			break
		}
	}
	return first, n
}

// mayFire reports whether neither a calendar nor a pause keeps a slot from firing.
func (p Plan) mayFire(s store.Schedule, slot time.Time) bool {
	return p.excluded(slot) == "" && p.paused(s, slot) == ""
}

// Left is a schedule whose slots a node leaves to other nodes.
type Left struct {
	store.Schedule
	Kind, Queue string    // of its jobs; the queue is the queue of their place
	OverdueAt   time.Time // see Plan.OverdueAt
}

// Overdue reports whether the next slot is overdue.
func (l Left) Overdue(now time.Time) bool { return !l.OverdueAt.After(now) }

// Own returns the due schedules that this node decides on, and the schedules whose slots it leaves to
// other nodes, or would leave to them if the slots were not too late by now. mayRun reports whether
// the node may run the jobs of a schedule. again is when the first of the schedules that it does not
// decide on has to be read again; zero: none has to be.
func (c Cache) Own(due []store.Schedule, mayRun func(Definition) bool, now time.Time) (ours []store.Schedule, left []Left, again time.Time) {
	for _, s := range due {
		plan, _, err := c.Get(s)
		if err != nil || mayRun(plan.Definition) || !s.LastPausedAt().IsZero() {
			ours = append(ours, s)
			continue
		}
		one := Left{Schedule: s, Kind: plan.Kind, Queue: plan.On.Queue(plan.Queue), OverdueAt: plan.OverdueAt(s)}
		left = append(left, one)
		until := plan.leaveUntil(s)
		if !until.IsZero() && !until.After(now) {
			ours = append(ours, s)
			continue
		}
		if !one.Overdue(now) {
			until = one.OverdueAt
		}
		again = store.Earlier(again, until)
	}
	return ours, left, again
}

// NoTaker returns why no living node runs a stored job of a kind in a queue: each node that has
// code for it runs only the jobs that its own files declare, or no node of the place of the queue
// serves it. The result is empty if a node runs every job of the kind, if no node lives, or for
// another reason. declared returns why no node runs a job that a file declares, as DeclaredButLeft does; nil: no file declares the job.
func NoTaker(queue, kind string, nodes []store.NodeInfo, declared func() string) string {
	t := takersOf(queue, kind, nodes)
	if t.taken {
		return ""
	}
	base, place, placed := CutPlace(queue)
	switch {
	case !t.restricted && placed && t.living && !t.served:
		flag := "--label "
		if place.Host != "" {
			flag = "--host "
		}
		return fmt.Sprintf("no living node%s serves queue %q; start one with %s%s", place.Whose(), base, flag, place)
	case !t.restricted:
		return ""
	case declared != nil:
		if why := declared(); why != "" {
			return why
		}
	}
	jobs, known := map[string]string{"command": "commands", "http": "HTTP calls", "sql": "SQL statements"}[kind]
	if !known {
		jobs = fmt.Sprintf("jobs of kind %q", kind)
	}
	return "no living node allows stored " + jobs + ": start one with --commands any, or declare it in a file"
}

// takers are the nodes that may run the jobs of a kind in a queue.
type takers struct {
	living     bool // a node lives
	served     bool // a living node serves the queue
	restricted bool // a node that serves the queue runs jobs of the kind that its own files declare
	taken      bool // a node that serves the queue runs all jobs of the kind
}

// takersOf returns what nodes do with the jobs of a kind in a queue.
func takersOf(queue, kind string, nodes []store.NodeInfo) (t takers) {
	for _, node := range nodes {
		if !node.EndedAt.IsZero() {
			continue
		}
		if t.living = true; !node.Serves(queue) {
			continue
		}
		t.served = true
		t.taken = t.taken || slices.Contains(node.Kinds, kind)
		t.restricted = t.restricted || slices.Contains(node.Kinds, kind+store.Restricted)
	}
	return t
}

// OnlyMissed reduces a decision that fires slots to the records of slots that are later than the
// grace. The slots that fire are left to nodes that may run their jobs.
func (p Plan) OnlyMissed(s store.Schedule, f store.Firing, now time.Time) store.Firing {
	if len(f.Jobs) == 0 || p.Follows() {
		return f
	}
	onTime := now.Add(-p.grace())
	s, _ = p.aligned(s)
	f.Jobs, f.NewMark = nil, s.Mark
	var late []store.SlotRecord
	for _, r := range f.Slots {
		if r.Last.Before(onTime) || !r.Last.After(s.Mark) {
			late = append(late, r)
			f.NewMark = later(f.NewMark, r.Last)
		}
	}
	f.Slots, f.NewNextAt = late, p.Rule.Next(f.NewMark)
	p.addEvents(s, &f)
	return f
}
