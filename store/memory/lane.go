package memory

import (
	"cmp"
	"slices"

	"github.com/hourbell/hourbell/store"
)

// release makes ready, in the schedules of jobs that came or went, those that
// waited and need not any more; see store.Jobs.
func (s *Store) release(jobs ...*job) {
	for _, j := range jobs {
		if j.Schedule == 0 {
			continue
		}
		waiting := s.lane(j, store.StateWaiting)
		if len(waiting) > 0 && len(s.lane(j, store.StateReady, store.StateRunning)) == 0 {
			s.ready(waiting[0], waiting[0].RunAt)
		}
	}
}

// lane returns the jobs of some states that run one after the other with j, in
// their order.
func (s *Store) lane(j *job, states ...store.State) []*job {
	var out []*job
	for _, other := range s.live {
		if other.Schedule == j.Schedule && backfilled(other) == backfilled(j) && slices.Contains(states, other.State) {
			out = append(out, other)
		}
	}
	slices.SortFunc(out, func(a, b *job) int { return cmp.Or(a.Slot.Compare(b.Slot), cmp.Compare(a.ID, b.ID)) })
	return out
}

func backfilled(j *job) bool { return j.Origin == store.OriginBackfill }

// gives says whether a job that has run and would be tried again gives way to
// one of its schedule that waits.
func (s *Store) gives(j *job) bool {
	return j.Schedule != 0 && !backfilled(j) && len(s.lane(j, store.StateWaiting)) > 0
}
