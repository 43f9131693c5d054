package store

import (
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
)

// A schedule may follow other schedules instead of a rule: its predecessors
// (PutSchedule.After). Each end of a job of a predecessor is a slot of each of its
// dependents. Jobs of backfills (except OriginBackfillDependents) and jobs that do not belong to a
// schedule set off nothing.

// ScheduleEnd is the end of a job of a predecessor, as a slot of a dependent. It is
// stored after the transaction that ended the job, by the predecessors and pauses as
// they were at the end, and becomes due at once; see OfEnds.
type ScheduleEnd struct {
	Schedule int64 // the dependent's number
	// Slot is the instant of the end or, if the dependent has that slot or a later mark
	// already, the first microsecond after these: so slots are different, and in the
	// order of the ends.
	Slot  time.Time
	After string // the name of the predecessor
	// Ended is the job that ended. If the predecessor is a dependent that did not start,
	// State is StateNotStarted, and ID and Reason belong to the job that this goes
	// back to.
	Ended
	Paused bool // the predecessor, or its group, was paused at the instant of the end
}

// PassOn returns the end of a job of a predecessor as the slot of a dependent; last is the
// greatest slot of the dependent so far.
func PassOn(end Ended, predecessor, dependent *Schedule, last time.Time) ScheduleEnd {
	slot := end.At
	for _, floor := range []time.Time{dependent.Mark, last} {
		if !slot.After(floor) {
			slot = floor.Add(time.Microsecond)
		}
	}
	return ScheduleEnd{
		Schedule: dependent.ID, Slot: slot, After: predecessor.Name, Ended: end,
		Paused: predecessor.PausedFor(end.At) && !predecessor.PausedAt.After(end.At) ||
			predecessor.GroupPausedFor(end.At) && !predecessor.GroupPausedAt.After(end.At),
	}
}

// CheckAfter returns why puts must be refused because of a predecessor, or nil. Drivers
// call it before they store anything.
func CheckAfter(req PutSchedulesRequest) error {
	for _, put := range req.Schedules {
		if len(put.After) > 0 && req.Tx != nil {
			return &check.FieldError{
				Field: "after", Problem: "is given in a transaction of the program, which would hold up the jobs of the other schedule until it ends",
				Remedy: "put the schedule without InTx",
			}
		}
	}
	return nil
}

// Predecessors returns the names of the predecessors of all schedules of the request, each
// once, ascending.
func (r PutSchedulesRequest) Predecessors() (names []string) {
	for _, put := range r.Schedules {
		names = append(names, put.After...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// CheckCycle returns an error that names the path if edges, the predecessors of each
// schedule by name, lead from one of these schedules back to it.
func CheckCycle(edges map[string][]string, from []string) error {
	done := map[string]bool{}
	for _, name := range from {
		if path := cycle(edges, name, nil, done); path != nil {
			slices.Reverse(path)
			return &check.FieldError{
				Field: "after", Value: strings.Join(path, " → "), Problem: "is a cycle: each of these schedules would start because of itself",
				Remedy: "leave out one of the edges",
			}
		}
	}
	return nil
}

// cycle returns a path from a schedule over its predecessors back to a schedule of the path.
func cycle(edges map[string][]string, name string, path []string, done map[string]bool) []string {
	if at := slices.Index(path, name); at >= 0 {
		return append(slices.Clone(path[at:]), name)
	}
	if done[name] {
		return nil
	}
	path = append(path, name)
	for _, predecessor := range edges[name] {
		if found := cycle(edges, predecessor, path, done); found != nil {
			return found
		}
	}
	done[name] = true
	return nil
}
