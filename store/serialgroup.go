package store

import "cmp"

// SerialGroup identifies jobs that run one after the other if they request it
// (NewJob.Waiting): the backfilled jobs of a schedule, or its other jobs. Jobs
// without a schedule are in the zero SerialGroup, in which no job waits.
type SerialGroup struct {
	Schedule int64
	Backfill bool
}

// SerialGroupOf returns the serial group of a job.
func SerialGroupOf(schedule int64, origin Origin) SerialGroup {
	if schedule == 0 {
		return SerialGroup{}
	}
	return SerialGroup{schedule, origin.Backfills()}
}

// GivesWay reports whether a job of the group that would run again gives way to
// a waiting job of the group, instead of running before it. Backfilled jobs do
// not.
func (g SerialGroup) GivesWay() bool { return g.Schedule != 0 && !g.Backfill }

// GroupState is what decides which job of a serial group may run next.
type GroupState struct {
	First int64 // the waiting job with the smallest slot, then the smallest number; 0: none
	Busy  bool  // a job of the group is ready or running
}

// GroupStateOf returns the state of a group of live jobs.
func GroupStateOf(live []LiveJob) (g GroupState) {
	var first LiveJob
	for _, job := range live {
		switch {
		case !job.Waiting:
			g.Busy = true
		case g.First == 0 || cmp.Or(job.Slot.Compare(first.Slot), cmp.Compare(job.ID, first.ID)) < 0:
			first, g.First = job, job.ID
		}
	}
	return g
}

// Waits reports whether a job waits.
func (g GroupState) Waits() bool { return g.First != 0 }

// Next returns the waiting job that becomes ready; 0: none does. See Jobs.
func (g GroupState) Next() int64 {
	if g.Busy {
		return 0
	}
	return g.First
}
