package hourbell

import (
	"context"
	"fmt"
	"slices"

	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// ListOverdue returns active schedules whose slots have passed without a node that fired them (ScheduleInfo.Overdue): up to limit
// of the schedules that have been due for longest, by the instant since which they are due. A limit of 0 means 100.
func (s *ScheduleService) ListOverdue(ctx context.Context, limit int) ([]ScheduleInfo, error) {
	infos, err := s.overdue(ctx, pageSize(limit))
	if err != nil {
		return nil, fmt.Errorf("list overdue schedules: %w", err)
	}
	return infos, nil
}

func (s *ScheduleService) overdue(ctx context.Context, limit int) ([]ScheduleInfo, error) {
	due, err := s.client.backend.DueSchedules(ctx, store.DueSchedulesRequest{Limit: limit})
	if err != nil || len(due.Schedules) == 0 {
		return nil, err
	}
	infos, now, err := s.infos(ctx, due.Schedules)
	if err != nil {
		return nil, err
	}
	infos = slices.DeleteFunc(infos, func(info ScheduleInfo) bool { return info.State() != "active" || info.Overdue.Since.IsZero() })
	if len(infos) == 0 {
		return nil, nil
	}
	nodes, err := s.client.Nodes.List(ctx)
	if err != nil {
		return nil, err
	}
	nodes = slices.DeleteFunc(nodes, func(n store.NodeInfo) bool { return !n.Alive(now) })
	for i, info := range infos {
		if info.Waits == "" || len(nodes) == 0 {
			infos[i].Waits = waits(plan.Place(info.On).Queue(info.Queue), info.Job.Kind(), nodes)
		}
	}
	return infos, nil
}
