package store

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// TestPlanOfScheduleChanges has the rule of changes of schedules as a table: a row, an action, and what becomes of the row.
func TestPlanOfScheduleChanges(t *testing.T) {
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	before, later, soon := now.Add(-time.Hour), now.Add(time.Hour), now.Add(MostAhead/2)
	settled := Schedule{Mark: before, NextAt: later}
	due := Schedule{Mark: before, NextAt: now}
	paused := Schedule{Mark: before, NextAt: later, PausedAt: before, PausedUntil: later}
	failing := Schedule{Mark: before, NextAt: later, Failures: 2}
	ahead := Schedule{Mark: soon, NextAt: later}
	gone := Schedule{Mark: before, DeletedAt: before}
	for name, test := range map[string]struct {
		action ScheduleAction
		until  time.Time
		row    Schedule
		want   func(*Schedule) // changes the row to what is expected; nil: it is not changed
		err    error
	}{
		"pause":                       {PauseSchedules, time.Time{}, settled, func(s *Schedule) { s.PausedAt = now }, nil},
		"pause until":                 {PauseSchedules, later, settled, func(s *Schedule) { s.PausedAt, s.PausedUntil = now, later }, nil},
		"pause, paused":               {PauseSchedules, later, paused, nil, nil},
		"pause for ever, paused":      {PauseSchedules, time.Time{}, paused, func(s *Schedule) { s.PausedUntil = time.Time{} }, nil},
		"pause, due":                  {PauseSchedules, time.Time{}, due, nil, ErrUnsettled},
		"pause, deleted":              {PauseSchedules, time.Time{}, gone, nil, ErrNotFound},
		"resume, paused":              {ResumeSchedules, time.Time{}, paused, func(s *Schedule) { s.PausedAt, s.PausedUntil = time.Time{}, time.Time{} }, nil},
		"resume, failing":             {ResumeSchedules, time.Time{}, failing, func(s *Schedule) { s.Failures = 0 }, nil},
		"resume, neither":             {ResumeSchedules, time.Time{}, settled, nil, nil},
		"resume, neither, due":        {ResumeSchedules, time.Time{}, due, nil, nil},
		"delete":                      {DeleteSchedules, time.Time{}, settled, func(s *Schedule) { s.DeletedAt, s.NextAt = now, time.Time{} }, nil},
		"delete, due":                 {DeleteSchedules, time.Time{}, due, nil, ErrUnsettled},
		"delete, deleted":             {DeleteSchedules, time.Time{}, gone, nil, ErrNotFound},
		"reset":                       {ResetSchedules, time.Time{}, settled, func(s *Schedule) { s.Mark, s.NextAt = now, now }, nil},
		"reset after an early firing": {ResetSchedules, time.Time{}, ahead, func(s *Schedule) { s.NextAt = now }, nil},
	} {
		want := test.row
		row := test.row
		req := ChangeSchedulesRequest{Names: []string{"s", "s"}, Action: test.action, Until: test.until}
		changed, err := req.Plan(map[string]*Schedule{"s": &row}, now)
		if test.want != nil {
			test.want(&want)
			if !slices.Equal(changed, []*Schedule{&row}) {
				t.Errorf("%s: changes %v, want the row once", name, changed)
			}
		} else if len(changed) > 0 {
			t.Errorf("%s: changes a row", name)
		}
		if !errors.Is(err, test.err) || test.err == nil && err != nil {
			t.Errorf("%s: %v, want %v", name, err, test.err)
		}
		if !equalRows(row, want) {
			t.Errorf("%s: %+v, want %+v", name, row, want)
		}
	}
}

func equalRows(a, b Schedule) bool {
	return a.Mark.Equal(b.Mark) && a.NextAt.Equal(b.NextAt) && a.PausedAt.Equal(b.PausedAt) && a.PausedUntil.Equal(b.PausedUntil) &&
		a.DeletedAt.Equal(b.DeletedAt) && a.Failures == b.Failures
}
