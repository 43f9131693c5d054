package sqlite

import (
	"context"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// serialGroup is a serial group in the JSON of a parameter.
type serialGroup struct {
	Schedule int64 `json:"schedule"`
	Backfill bool  `json:"backfill"`
}

// LockGroups implements rowwise.Groups.
func (s *session) LockGroups(ctx context.Context, groups []store.SerialGroup) (map[store.SerialGroup]store.GroupState, error) {
	rows := make([]serialGroup, len(groups))
	for i, group := range groups {
		rows[i] = serialGroup(group)
	}
	states := map[store.SerialGroup]store.GroupState{}
	err := s.Each(ctx, lockWaitingJobs, args{"groups": sqlrows.JSON(rows)}, func(r row) error {
		var i int
		var state store.GroupState
		err := r.Scan(&i, &state.First, &state.Busy)
		states[groups[i]] = state
		return err
	})
	return states, err
}
