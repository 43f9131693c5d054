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
// A group exists while a schedule or a job has it, or while it is paused.
type GroupService struct{ client *Client }

// GroupInfo is a group with its schedules and its jobs that have not finished counted.
type GroupInfo struct {
	store.GroupInfo
	Pause store.Pause // its At is zero if the group is not paused
}

// List returns the groups that a schedule or a job that has not finished has, and the
// groups that are paused, by name in byte order.
//
// It counts all their schedules and jobs: a second or so for a million.
func (s *GroupService) List(ctx context.Context) ([]GroupInfo, error) {
	return s.list(ctx, "")
}

// Estimate returns groups as List does, but does not count for longer than EstimateTime. A store with
// very many jobs or schedules then answers with estimates (GroupInfo.Estimated), which are rough for
// small groups. SQLite counts always.
func (s *GroupService) Estimate(ctx context.Context) ([]GroupInfo, error) {
	rows, err := estimated(ctx, s.client, func(g store.GroupInfo) bool { return g.Estimated })
	if err != nil {
		return nil, err
	}
	return s.withPauses(ctx, rows, "")
}

// list returns groups, or only the group with a name.
func (s *GroupService) list(ctx context.Context, name string) ([]GroupInfo, error) {
	rows, err := store.List[store.GroupInfo](ctx, s.client.backend, store.ListRequest{Names: []string{name}})
	if err != nil {
		return nil, err
	}
	return s.withPauses(ctx, rows, name)
}

// withPauses adds the pauses to groups, and the groups that are only paused; name is as in list.
func (s *GroupService) withPauses(ctx context.Context, rows []store.GroupInfo, name string) ([]GroupInfo, error) {
	pauses, err := s.pausing().list(ctx)
	if err != nil {
		return nil, err
	}
	if pause, found := pauses[name]; name != "" {
		if clear(pauses); found {
			pauses[name] = pause
		}
	}
	return withPauses(rows, pauses, func(g store.GroupInfo) string { return g.Name }, func(g store.GroupInfo, name string, pause store.Pause) GroupInfo {
		g.Name = name
		return GroupInfo{g, pause}
	}), nil
}

// Get returns the group with that name, or ErrNotFound. A group whose jobs have all
// finished exists as long as one of them is kept.
func (s *GroupService) Get(ctx context.Context, name string) (GroupInfo, error) {
	if err := check.StoredName("group", name); err != nil {
		return GroupInfo{}, fmt.Errorf("read group: %w", err)
	}
	found, err := s.list(ctx, name)
	if err != nil {
		return GroupInfo{}, fmt.Errorf("read group %q: %w", name, err)
	}
	if len(found) > 0 {
		return found[0], nil
	}
	jobs, err := s.client.Jobs.List(ctx, JobFilter{Group: name, Limit: 1})
	if err == nil && len(jobs) == 0 {
		err = fmt.Errorf("%w; no schedule and no job has it", ErrNotFound)
	}
	if err != nil {
		return GroupInfo{}, fmt.Errorf("group %q: %w", name, err)
	}
	return GroupInfo{GroupInfo: store.GroupInfo{Name: name}}, nil
}

// Pause pauses a group, or changes the pause of a group that is paused already. The group
// need not exist yet.
//
// When Pause has returned without an error, no node takes a job of the group any more,
// also no job that is enqueued, retried or made ready later, and the slots of the group's
// schedules are recorded as skipped, also of schedules that are put later. Within a second,
// nodes hand back jobs that they have claimed and not begun. Jobs that run go on, unless
// Pause.CancelRunning is set. Slots that were due before are accounted for first, and their jobs wait. Trigger
// makes jobs that wait, too.
func (s *GroupService) Pause(ctx context.Context, name string, pause Pause) error {
	return s.pausing().pause(ctx, name, pause, s.settling(ctx, name))
}

// Resume ends the pause of a group, and reports whether the group was paused. The jobs
// that have waited may run at once. Slots in the pause stay skipped.
func (s *GroupService) Resume(ctx context.Context, name string) (bool, error) {
	return s.pausing().resume(ctx, name, s.settling(ctx, name))
}

func (s *GroupService) pausing() pausing { return pausing{s.client, store.SubjectGroup} }

// settling returns a function that makes a change after the due slots of the group's schedules are
// accounted for.
func (s *GroupService) settling(ctx context.Context, name string) func(change func() error) error {
	return func(change func() error) error {
		rows, err := s.rows(ctx, name)
		if err != nil {
			return err
		}
		names := scheduleNames(rows) // also of hosts: their slots may have fired early, too
		return s.client.settler(nil).Change(ctx, names, func() ([]string, error) { return names, change() })
	}
}

// Triggered is a job that Trigger has made.
type Triggered struct {
	Schedule string
	Job      int64
}

// Trigger makes a job for each schedule of a group, as ScheduleService.Trigger does, one after the other by name; for a
// schedule on every host it makes a job for each host. The jobs of a paused group wait for its Resume. After an error
// the jobs that it returns stay. Groups without schedules give ErrNotFound.
func (s *GroupService) Trigger(ctx context.Context, name string) ([]Triggered, error) {
	names, err := s.Schedules(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("trigger: %w", err)
	}
	var jobs []Triggered
	for _, schedule := range names {
		ids, err := s.client.Schedules.TriggerAll(ctx, schedule)
		if err != nil {
			return jobs, err
		}
		for _, id := range ids {
			jobs = append(jobs, Triggered{schedule, id})
		}
	}
	return jobs, nil
}

// Schedules returns the names of the schedules of a group, in byte order, without the schedules of
// hosts that are made from a schedule on every host; ErrNotFound if there are none.
func (s *GroupService) Schedules(ctx context.Context, name string) ([]string, error) {
	if err := check.StoredName("group", name); err != nil {
		return nil, err
	}
	rows, err := s.rows(ctx, name)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, row := range rows {
		if store.EveryOf(row.Owner) == "" {
			names = append(names, row.Name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("group %q: %w; no schedule has it", name, ErrNotFound)
	}
	return names, nil
}

// rows returns the schedules of a group by name, also the schedules of hosts.
func (s *GroupService) rows(ctx context.Context, name string) (rows []store.Schedule, err error) {
	const page = 1000
	req := store.ListRequest{Group: name, Limit: page}
	for {
		some, err := store.List[store.Schedule](ctx, s.client.backend, req)
		if err != nil {
			return nil, fmt.Errorf("schedules of group %q: %w", name, err)
		}
		if rows = append(rows, some...); len(some) < page {
			return rows, nil
		}
		req.After = some[len(some)-1].Name
	}
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
