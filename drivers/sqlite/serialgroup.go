package sqlite

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// FindWaitingGroups implements sqlrows.Dialect.
func (s *session) FindWaitingGroups(ctx context.Context, groups string) (map[int]store.GroupState, error) {
	states := map[int]store.GroupState{}
	err := s.Each(ctx, lockWaitingJobs, args{"groups": groups}, func(r row) error {
		var place int
		var state store.GroupState
		err := r.Scan(&place, &state.First, &state.Busy)
		states[place] = state
		return err
	})
	return states, err
}
