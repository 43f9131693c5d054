package hourbell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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
	Pause store.Pause // Pause.At is zero if the group is not paused
}

// List returns the groups that a schedule or a job that has not finished has, and the
// groups that are paused, by name in byte order.
//
// It counts all their schedules and jobs: a second or so for a million.
func (s *GroupService) List(ctx context.Context) ([]GroupInfo, error) {
	return s.list(ctx, "")
}

// Estimate returns groups as List does, but does not count for longer than PageTime. A store with
// very many jobs or schedules then answers with estimates (GroupInfo.Estimated), which are rough for
// small groups. SQLite counts always.
func (s *GroupService) Estimate(ctx context.Context) ([]GroupInfo, error) {
	rows, err := store.Estimates(s.client.backend).EstimateGroups(ctx, store.EstimateRequest{Within: PageTime / 2})
	if err != nil {
		return nil, err
	}
	return s.withPauses(ctx, rows, "")
}

// list returns groups, or only the group with a name.
func (s *GroupService) list(ctx context.Context, name string) ([]GroupInfo, error) {
	rows, err := s.client.backend.ListGroups(ctx, store.ListGroupsRequest{Name: name})
	if err != nil {
		return nil, err
	}
	return s.withPauses(ctx, rows, name)
}

// withPauses adds the pauses to groups, and the groups that are only paused; name is as in list.
func (s *GroupService) withPauses(ctx context.Context, rows []store.GroupInfo, name string) ([]GroupInfo, error) {
	pauses, err := s.pauses(ctx)
	if err != nil {
		return nil, err
	}
	var groups []GroupInfo
	for _, row := range rows {
		groups = append(groups, GroupInfo{row, pauses[row.Name]})
		delete(pauses, row.Name)
	}
	for _, pause := range pauses {
		if name == "" || name == pause.Name {
			groups = append(groups, GroupInfo{store.GroupInfo{Name: pause.Name}, pause})
		}
	}
	slices.SortFunc(groups, func(a, b GroupInfo) int { return strings.Compare(a.Name, b.Name) })
	return groups, nil
}

// pauses returns the pauses of groups.
func (s *GroupService) pauses(ctx context.Context) (map[string]store.Pause, error) {
	rows, err := s.client.backend.ListPauses(ctx, store.ListPausesRequest{})
	pauses := map[string]store.Pause{}
	for _, row := range rows {
		if row.Subject == store.SubjectGroup {
			pauses[row.Name] = row
		}
	}
	return pauses, err
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

// GroupPause describes a pause of a group.
type GroupPause struct {
	// Until is when the pause ends by itself, by the store's clock; zero: at Resume.
	Until  time.Time
	Reason string // in words, at most 1,024 bytes of UTF-8 without NUL; may be empty
	Actor  string // who pauses, at most 200 bytes; may be empty
}

// maxPauseReason is the greatest length of GroupPause.Reason in bytes.
const maxPauseReason = 1024

// Pause pauses a group, or changes the pause of a group that is paused already. The group
// need not exist yet.
//
// When Pause has returned without an error, no node takes a job of the group any more,
// also no job that is enqueued, retried or made ready later, and the slots of the group's
// schedules are recorded as skipped, also of schedules that are put later. Jobs that run
// go on. Slots that were due before are accounted for first, and their jobs wait. Trigger
// makes jobs that wait, too.
func (s *GroupService) Pause(ctx context.Context, name string, pause GroupPause) error {
	if err := s.checkPause(ctx, name, pause); err != nil {
		return fmt.Errorf("pause group: %w", err)
	}
	req := store.PauseRequest{Subject: store.SubjectGroup, Name: name, Until: pause.Until, Reason: pause.Reason, Actor: pause.Actor, By: s.client.actor(ctx)}
	err := s.settled(ctx, name, func() error { return s.client.backend.PauseSubject(ctx, req) })
	if err != nil {
		return fmt.Errorf("pause group %q: %w", name, err)
	}
	return nil
}

// checkPause returns what is wrong with a pause.
func (s *GroupService) checkPause(ctx context.Context, name string, pause GroupPause) error {
	err := errors.Join(check.Name("group", name), checkTime("until", pause.Until), checkIfGiven("actor", pause.Actor))
	switch {
	case len(pause.Reason) > maxPauseReason:
		err = errors.Join(err, &check.FieldError{Field: "reason", Value: check.Shorten(pause.Reason), Problem: fmt.Sprintf("has %d bytes", len(pause.Reason)), Remedy: fmt.Sprintf("use at most %d bytes", maxPauseReason)})
	case !utf8.ValidString(pause.Reason) || strings.ContainsRune(pause.Reason, 0):
		err = errors.Join(err, &check.FieldError{Field: "reason", Value: check.Shorten(pause.Reason), Problem: "is not UTF-8 without NUL", Remedy: "use another text"})
	}
	if err != nil || pause.Until.IsZero() {
		return err
	}
	now, err := s.client.Now(ctx)
	if err == nil && !pause.Until.After(now) {
		err = &check.FieldError{
			Field: "until", Value: pause.Until.Format(time.RFC3339), Problem: "is not in the future",
			Remedy: fmt.Sprintf("give an instant after %s, the store's clock", now.Format(time.RFC3339)),
		}
	}
	return err
}

// Resume ends the pause of a group, and reports whether the group was paused. The jobs
// that have waited may run at once. Slots in the pause stay skipped.
func (s *GroupService) Resume(ctx context.Context, name string) (bool, error) {
	if err := check.StoredName("group", name); err != nil {
		return false, fmt.Errorf("resume group: %w", err)
	}
	var res store.ResumeResult
	err := s.settled(ctx, name, func() (err error) {
		res, err = s.client.backend.ResumeSubject(ctx, store.ResumeRequest{Subject: store.SubjectGroup, Name: name, By: s.client.actor(ctx)})
		return err
	})
	if err != nil {
		return res.Resumed, fmt.Errorf("resume group %q: %w", name, err)
	}
	return res.Resumed, nil
}

// settled makes a change after the due slots of the group's schedules are accounted for.
func (s *GroupService) settled(ctx context.Context, name string, change func() error) error {
	names, err := s.Schedules(ctx, name)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return s.client.settler(nil).Change(ctx, names, func() ([]string, error) { return names, change() })
}

// Triggered is a job that Trigger has made.
type Triggered struct {
	Schedule string
	Job      int64
}

// Trigger makes a job for each schedule of a group, as ScheduleService.Trigger does, one
// after the other by name. The jobs of a paused group wait for its Resume. After an error the jobs that it returns stay. Groups without
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
