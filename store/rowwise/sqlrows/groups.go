package sqlrows

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// LockGroups implements rowwise.Groups.
func (s *Session) LockGroups(ctx context.Context, groups []store.SerialGroup) (map[store.SerialGroup]store.GroupState, error) {
	type serialGroup struct {
		Schedule int64 `json:"schedule"`
		Backfill bool  `json:"backfill"`
	}
	rows := make([]serialGroup, len(groups))
	for i, group := range groups {
		rows[i] = serialGroup(group)
	}
	waiting, err := s.FindWaitingGroups(ctx, JSON(rows))
	states := make(map[store.SerialGroup]store.GroupState, len(waiting))
	for place, state := range waiting {
		states[groups[place]] = state
	}
	return states, err
}
