package memory

import (
	"cmp"
	"slices"

	"github.com/hourbell/hourbell/store"
)

// release makes waiting jobs ready, in the serial groups of jobs that were
// added or removed, if they no longer need to wait; see store.Jobs.
func (s *Store) release(jobs ...*job) {
	for _, j := range jobs {
		if j.Schedule == 0 {
			continue
		}
		waiting := s.serialGroup(j, store.StateWaiting)
		if len(waiting) > 0 && len(s.serialGroup(j, store.StateReady, store.StateRunning)) == 0 {
			s.ready(waiting[0], waiting[0].RunAt)
		}
	}
}

// serialGroup returns the jobs of j's serial group that are in one of the states, in
// the order in which they run.
func (s *Store) serialGroup(j *job, states ...store.State) []*job {
	var out []*job
	for _, other := range s.live {
		if other.Schedule == j.Schedule && backfilled(other) == backfilled(j) && slices.Contains(states, other.State) {
			out = append(out, other)
		}
	}
	slices.SortFunc(out, func(a, b *job) int { return cmp.Or(a.Slot.Compare(b.Slot), cmp.Compare(a.ID, b.ID)) })
	return out
}

func backfilled(j *job) bool { return j.Origin.Backfills() }

// gives reports whether a job that has run and is to run again gives way to a
// waiting job of its schedule.
func (s *Store) gives(j *job) bool {
	return j.Schedule != 0 && !backfilled(j) && len(s.serialGroup(j, store.StateWaiting)) > 0
}
