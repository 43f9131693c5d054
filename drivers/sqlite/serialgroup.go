package sqlite

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// serialGroup is a serial group in the JSON of a parameter.
type serialGroup struct {
	Schedule int64 `json:"schedule"`
	Backfill bool  `json:"backfill"`
}

// groups reads the states of serial groups. A group without a waiting job, or
// without a schedule, is not in the answer.
func (s *session) groups(ctx context.Context, of []store.SerialGroup) (map[store.SerialGroup]store.GroupState, error) {
	var asked []serialGroup
	seen := map[store.SerialGroup]bool{}
	for _, one := range of {
		if one.Schedule != 0 && !seen[one] {
			seen[one] = true
			asked = append(asked, serialGroup(one))
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	states := map[store.SerialGroup]store.GroupState{}
	err := s.each(ctx, lockWaitingJobs, args{"groups": jsonOf(asked)}, func(r row) error {
		var i int
		var state store.GroupState
		err := r.Scan(&i, &state.First, &state.Busy)
		states[store.SerialGroup(asked[i])] = state
		return err
	})
	return states, err
}

// release makes waiting jobs ready, in the serial groups of jobs that were added
// or removed, if they need not wait any more.
func (s *session) release(ctx context.Context, touched []store.SerialGroup) error {
	states, err := s.groups(ctx, touched)
	if err != nil {
		return err
	}
	var next []int64
	for _, state := range states {
		if id := state.Next(); id != 0 {
			next = append(next, id)
		}
	}
	return s.onIDs(ctx, next, nil, releaseJobs)
}
