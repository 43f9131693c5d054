package hourbell

import (
	"context"
	"fmt"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// GroupService reads and changes groups, the labels of schedules (Schedule.Group) and
// jobs (the option Group): Client.Groups. Concurrent calls are allowed.
//
// A group exists while a schedule or a job has it.
type GroupService struct{ client *Client }

// List returns the groups that a schedule or a job that has not finished has, by name.
func (s *GroupService) List(ctx context.Context) ([]store.GroupInfo, error) {
	return s.client.backend.ListGroups(ctx, store.ListGroupsRequest{})
}

// Get returns the group with that name, or ErrNotFound. A group whose jobs have all
// finished exists as long as one of them is kept.
func (s *GroupService) Get(ctx context.Context, name string) (store.GroupInfo, error) {
	if err := check.StoredName("group", name); err != nil {
		return store.GroupInfo{}, fmt.Errorf("read group: %w", err)
	}
	found, err := s.client.backend.ListGroups(ctx, store.ListGroupsRequest{Name: name})
	if err != nil {
		return store.GroupInfo{}, fmt.Errorf("read group %q: %w", name, err)
	}
	if len(found) > 0 {
		return found[0], nil
	}
	jobs, err := s.client.Jobs.List(ctx, JobFilter{Group: name, Limit: 1})
	if err == nil && len(jobs) == 0 {
		err = fmt.Errorf("%w; no schedule and no job has it", ErrNotFound)
	}
	if err != nil {
		return store.GroupInfo{}, fmt.Errorf("group %q: %w", name, err)
	}
	return store.GroupInfo{Name: name}, nil
}

// Triggered is a job that Trigger has made.
type Triggered struct {
	Schedule string
	Job      int64
}

// Trigger makes a job for each schedule of a group, as ScheduleService.Trigger does, one
// after the other by name. After an error the jobs that it returns stay. Groups without
// schedules give ErrNotFound.
func (s *GroupService) Trigger(ctx context.Context, name string) ([]Triggered, error) {
	names, err := s.Schedules(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("trigger: %w", err)
	}
	var jobs []Triggered
	for _, schedule := range names {
		id, err := s.client.Schedules.Trigger(ctx, schedule)
		if err != nil {
			return jobs, err
		}
		jobs = append(jobs, Triggered{schedule, id})
	}
	return jobs, nil
}

// Schedules returns the names of the schedules of a group, in byte order; ErrNotFound if
// there are none.
func (s *GroupService) Schedules(ctx context.Context, name string) ([]string, error) {
	if err := check.StoredName("group", name); err != nil {
		return nil, err
	}
	const page = 1000
	req := store.ListSchedulesRequest{Group: name, Limit: page}
	var names []string
	for {
		rows, err := s.client.backend.ListSchedules(ctx, req)
		if err != nil {
			return nil, fmt.Errorf("schedules of group %q: %w", name, err)
		}
		for _, row := range rows {
			names = append(names, row.Name)
		}
		if len(rows) < page {
			break
		}
		req.After = names[len(names)-1]
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("group %q: %w; no schedule has it", name, ErrNotFound)
	}
	return names, nil
}

// Cancel cancels the jobs of a group that have not finished; see JobService.Cancel.
func (s *GroupService) Cancel(ctx context.Context, name string, options ...Option) (JobChanges, error) {
	if err := check.StoredName("group", name); err != nil {
		return JobChanges{}, fmt.Errorf("cancel jobs: %w", err)
	}
	return s.client.Jobs.Cancel(ctx, JobFilter{Group: name}, options...)
}

// Retry makes the failed jobs of a group ready again; see JobService.Retry.
func (s *GroupService) Retry(ctx context.Context, name string, options ...Option) (JobChanges, error) {
	if err := check.StoredName("group", name); err != nil {
		return JobChanges{}, fmt.Errorf("retry jobs: %w", err)
	}
	return s.client.Jobs.Retry(ctx, JobFilter{Group: name}, options...)
}
