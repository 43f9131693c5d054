package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/hourbell/hourbell/store"
)

// ListGroups counts what is in groups; see store.Groups.
func (s *Store) ListGroups(ctx context.Context, req store.ListGroupsRequest) ([]store.GroupInfo, error) {
	now, err := s.begin(ctx, "list groups", req.Now)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	groups := map[string]store.GroupInfo{}
	in := func(name string, count func(g *store.GroupInfo)) {
		if name != "" && (req.Name == "" || req.Name == name) {
			g := groups[name]
			g.Name = name
			count(&g)
			groups[name] = g
		}
	}
	for _, row := range s.schedules {
		if row.DeletedAt.IsZero() {
			in(row.Group, func(g *store.GroupInfo) { g.Schedules++ })
		}
	}
	for _, j := range s.live {
		in(j.Group, func(g *store.GroupInfo) {
			switch {
			case j.State == store.StateRunning:
				g.Running++
			case j.State == store.StateWaiting:
				g.Waiting++
			case j.RunAt.After(now):
				g.Scheduled++
			default:
				g.Ready++
			}
		})
	}
	return slices.SortedFunc(maps.Values(groups), func(a, b store.GroupInfo) int { return cmp.Compare(a.Name, b.Name) }), nil
}
