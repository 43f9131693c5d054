package memory

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// listGroups counts what is in groups.
func (s *Store) listGroups(only string, now time.Time) []store.GroupInfo {
	groups := map[string]store.GroupInfo{}
	in := func(name string, count func(g *store.GroupInfo)) {
		if name != "" && (only == "" || only == name) {
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
	return slices.SortedFunc(maps.Values(groups), func(a, b store.GroupInfo) int { return cmp.Compare(a.Name, b.Name) })
}
