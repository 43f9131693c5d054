package hourbell_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// TestNamesWithSegmentsOfDotsAreRefused checks every name that can be given:
// names are used in addresses, so a name must not have a segment with a meaning
// in addresses.
func TestNamesWithSegmentsOfDotsAreRefused(t *testing.T) {
	client := newCluster(t).client(nil)
	put := func(change func(*hourbell.Schedule)) error {
		s := hourbell.Schedule{Name: "s", Job: hourbell.RawArgs{Name: "k"}, Rule: recur.Spec{Cron: "@daily"}}
		change(&s)
		_, err := client.Schedules.Put(t.Context(), s)
		return err
	}
	for _, name := range []string{".", "..", "a/../b", `a\..\b`, "./a"} {
		for field, give := range map[string]func() error{
			"name":  func() error { return put(func(s *hourbell.Schedule) { s.Name = name }) },
			"kind":  func() error { return put(func(s *hourbell.Schedule) { s.Job = hourbell.RawArgs{Name: name} }) },
			"queue": func() error { return put(func(s *hourbell.Schedule) { s.Queue = name }) },
			"group": func() error { return put(func(s *hourbell.Schedule) { s.Group = name }) },
			"on_missed kind": func() error {
				return put(func(s *hourbell.Schedule) { s.Hooks.OnMissed = hourbell.RawArgs{Name: name} })
			},
			"exclude": func() error {
				return put(func(s *hourbell.Schedule) { s.Exclude = []hourbell.Calendar{hourbell.StoredCalendar(name)} })
			},
			"owner": func() error {
				_, err := client.Schedules.Sync(t.Context(), name, 0, nil)
				return err
			},
			"name of a calendar": func() error {
				_, err := client.Calendars.Put(t.Context(), hourbell.Calendar{Name: name, CalendarSpec: rules("@daily")}, 0)
				return err
			},
			"kind of a job": func() error {
				_, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: name})
				return err
			},
			"queue of a job": func() error {
				_, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: "k"}, hourbell.Queue(name))
				return err
			},
			"kind of a worker": func() error {
				workers := hourbell.NewWorkers()
				workers.Handle(name, func(context.Context, *hourbell.JobRow) error { return nil })
				_, err := hourbell.New(newCluster(t).store, hourbell.Config{Workers: workers})
				return err
			},
			"name of a lock": func() error { return check.Name("name", name) },
		} {
			var bad *check.FieldError
			want, _, _ := strings.Cut(field, " of ")
			if err := give(); !errors.As(err, &bad) || bad.Field != want || !strings.Contains(bad.Problem, "which a URL would resolve as a path") || bad.Remedy == "" {
				t.Errorf("%s %q: got %v", field, name, err)
			}
		}
	}
	if found, err := client.Schedules.List(t.Context(), hourbell.ScheduleFilter{}); len(found) != 0 || err != nil {
		t.Errorf("what was refused left %+v, %v", found, err)
	}
	// A key is data, such as the path of a file, and is not used in addresses.
	if _, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: "k"}, hourbell.Unique("../report.csv")); err != nil {
		t.Error(err)
	}
}

// TestStoredNamesWithSegmentsOfDotsCanBeDeleted checks that rows that were
// stored before such names were refused can be listed and deleted.
func TestStoredNamesWithSegmentsOfDotsCanBeDeleted(t *testing.T) {
	c := newCluster(t)
	const name = "a/../b"
	if _, err := c.store.PutSchedules(t.Context(), store.PutSchedulesRequest{Owner: "..", Schedules: []store.PutSchedule{
		{Name: name, Definition: []byte(`{"rule":{"cron":"@daily"},"kind":"."}`)},
	}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.store.Put(t.Context(), store.PutRequest{Calendars: []store.PutCalendar{{Name: name, Definition: []byte(`{}`)}}}); err != nil {
		t.Fatal(err)
	}
	res, err := c.store.Insert(t.Context(), store.InsertRequest{Jobs: []store.NewJob{{JobSpec: store.JobSpec{Kind: "..", Queue: ".", MaxAttempts: 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	client := c.client(nil)
	owner := ".."
	if found, err := client.Schedules.List(t.Context(), hourbell.ScheduleFilter{Owner: &owner}); len(found) != 1 || err != nil {
		t.Errorf("schedules of the owner: %+v, %v", found, err)
	}
	if found, err := client.Schedules.Get(t.Context(), name); found.Name != name || err != nil {
		t.Errorf("the schedule: %+v, %v", found, err)
	}
	if found, err := client.Calendars.Get(t.Context(), name); found.Name != name || err != nil {
		t.Errorf("the calendar: %+v, %v", found, err)
	}
	if jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{Queue: ".", Kind: ".."}); len(jobs) != 1 || err != nil {
		t.Errorf("jobs of the queue: %+v, %v", jobs, err)
	}
	if err := client.Schedules.Delete(t.Context(), []string{name}); err != nil {
		t.Error(err)
	}
	if err := client.Calendars.Delete(t.Context(), name); err != nil {
		t.Error(err)
	}
	if changes, err := client.Jobs.Delete(t.Context(), hourbell.JobFilter{IDs: res.IDs()}); err != nil || changes.Changed != 1 {
		t.Errorf("the job: %+v, %v", changes, err)
	}
	if err := check.StoredName("name", name); err != nil {
		t.Error(err)
	}
}
