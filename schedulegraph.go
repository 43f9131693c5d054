package hourbell

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/hourbell/hourbell/store"
)

// ScheduleGraph is schedules that follow each other, as ScheduleService.Graph returns them.
type ScheduleGraph struct {
	// Schedules, by name. The edges between them are their After, which may also name
	// schedules that do not exist, or that were left out.
	Schedules []ScheduleInfo
	// More reports that the graph has schedules that were left out.
	More bool
}

// Graph returns the schedules that a schedule is connected with: its predecessors and
// dependents, their predecessors and dependents, and so on, the nearest first, at most limit
// schedules (200 if it is 0, and not more than 10,000). ErrNotFound means that no schedule has
// the name. It reads all schedules, in pages, so that pages may be of different instants.
func (s *ScheduleService) Graph(ctx context.Context, name string, limit int) (ScheduleGraph, error) {
	if limit == 0 {
		limit = 200
	}
	limit = min(max(limit, 1), 10_000)
	if _, err := s.Get(ctx, name); err != nil {
		return ScheduleGraph{}, err
	}
	next := map[string][]string{} // connected names, in both directions
	for after := ""; ; {
		page, err := s.List(ctx, ScheduleFilter{After: after, Limit: 1000})
		if err != nil {
			return ScheduleGraph{}, fmt.Errorf("read the graph of schedule %q: %w", name, err)
		}
		if len(page) == 0 {
			break
		}
		for _, one := range page {
			for _, e := range one.After {
				next[one.Name] = append(next[one.Name], e.Schedule)
				next[e.Schedule] = append(next[e.Schedule], one.Name)
			}
			after = one.Name
		}
	}
	var g ScheduleGraph
	names, seen := []string{name}, map[string]bool{name: true}
	for i := 0; i < len(names); i++ {
		for _, other := range next[names[i]] {
			switch {
			case seen[other]:
			case len(names) == limit:
				g.More = true
			default:
				seen[other] = true
				names = append(names, other)
			}
		}
	}
	for part := range slices.Chunk(names, 500) {
		found, err := s.list(ctx, store.ListRequest{Names: part, Limit: len(part)})
		if err != nil {
			return ScheduleGraph{}, fmt.Errorf("read the graph of schedule %q: %w", name, err)
		}
		g.Schedules = append(g.Schedules, found...)
	}
	slices.SortFunc(g.Schedules, func(a, b ScheduleInfo) int { return cmp.Compare(a.Name, b.Name) })
	return g, nil
}
