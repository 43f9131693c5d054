package sqlrows

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// LockRevision implements rowwise.Schedules. The row of the counter is also what lets one transaction at a time change schedules,
// calendars and handlers.
func (s *Session) LockRevision(ctx context.Context) (last int64, err error) {
	err = s.One(ctx, LockCounter, Args{"name": "revision"}, &last)
	return last, err
}

// RaiseRevision implements rowwise.Schedules.
func (s *Session) RaiseRevision(ctx context.Context, to int64) error {
	return s.Exec(ctx, RaiseCounter, Args{"name": "revision", "value": to})
}

// SaveSchedules implements rowwise.Schedules. It finds rows by their names.
func (s *Session) SaveSchedules(ctx context.Context, schedules []*store.Schedule) error {
	rows := make([]Args, len(schedules))
	for i, r := range schedules {
		rows[i] = Args{
			"name": r.Name, "owner": r.Owner, "revision": r.Revision, "definition": NotNull(r.Definition), "group_name": TextOrNull(r.Group),
			"anchor": Micros(r.Anchor), "mark": Micros(r.Mark), "next_at": Micros(r.NextAt), "fired": r.Fired,
			"paused_at": Micros(r.PausedAt), "paused_until": Micros(r.PausedUntil),
			"group_paused_at": Micros(r.GroupPausedAt), "group_paused_until": Micros(r.GroupPausedUntil),
			"paused_declared": r.PausedDeclared, "created_at": Micros(r.CreatedAt), "updated_at": Micros(r.UpdatedAt), "deleted_at": Micros(r.DeletedAt),
		}
	}
	return s.InsertRows(ctx, UpsertSchedules, rows)
}

// LockSchedules implements rowwise.Schedules.
func (s *Session) LockSchedules(ctx context.Context, names []string) (map[string]*store.Schedule, error) {
	found := map[string]*store.Schedule{}
	err := s.EachSchedule(ctx, LockSchedules, Args{"names": names}, func(row *store.Schedule) error {
		found[row.Name] = row
		return nil
	})
	return found, err
}

// LockOwnedSchedules implements rowwise.Schedules.
func (s *Session) LockOwnedSchedules(ctx context.Context, owner string) (rows []*store.Schedule, err error) {
	err = s.EachSchedule(ctx, LockOwnedSchedules, Args{"owner": owner}, func(row *store.Schedule) error {
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// ResetFailures implements rowwise.Schedules.
func (s *Session) ResetFailures(ctx context.Context, schedules []int64) error {
	return s.OnIDs(ctx, schedules, ResetFailures)
}

// EachSchedule runs a statement that returns schedules.
func (s *Session) EachSchedule(ctx context.Context, name Statement, a Args, do func(*store.Schedule) error) error {
	return s.Each(ctx, name, a, func(r Row) error {
		schedule, err := scanSchedule(r)
		if err != nil {
			return err
		}
		return do(&schedule)
	})
}

// scheduleList is the list "schedule_columns" of statements, and ScheduleColumns what scanSchedule scans: that list, and how many
// jobs in a row failed.
const (
	scheduleList = "id, name, owner, revision, definition, group_name, anchor, mark, next_at, fired, paused_at, " +
		"paused_until, group_paused_at, group_paused_until, paused_declared, created_at, updated_at, deleted_at"
	ScheduleColumns = "{schedule_columns} failures"
)

// scanSchedule scans a schedule, and into more what comes after it.
func scanSchedule(r Row, more ...any) (store.Schedule, error) {
	var x store.Schedule
	err := r.Scan(append([]any{
		&x.ID, &x.Name, &x.Owner, &x.Revision, &x.Definition,
		IntoText(&x.Group),
		IntoTime(&x.Anchor), IntoTime(&x.Mark), IntoTime(&x.NextAt), &x.Fired,
		IntoTime(&x.PausedAt), IntoTime(&x.PausedUntil), IntoTime(&x.GroupPausedAt), IntoTime(&x.GroupPausedUntil),
		&x.PausedDeclared, IntoTime(&x.CreatedAt), IntoTime(&x.UpdatedAt), IntoTime(&x.DeletedAt), &x.Failures,
	}, more...)...)
	return x, err
}

// scheduleConditions are the conditions of list_schedules.sql that a request gives.
func scheduleConditions(req store.ListRequest) (given []string, a Args) {
	a = Args{"after": req.After, "limit": req.Limit}
	if len(req.Names) > 0 {
		given, a["names"] = append(given, "names"), req.Names
	}
	if len(req.IDs) > 0 {
		given, a["ids"] = append(given, "ids"), req.IDs
	}
	if req.Owner != nil {
		given, a["owner"] = append(given, "owner"), *req.Owner
	}
	if req.Calendar != "" {
		given, a["calendar"] = append(given, "calendar"), req.Calendar
	}
	if req.Group != "" {
		given, a["group_name"] = append(given, "group"), req.Group
	}
	if req.Failed {
		given, a["failed_among"] = append(given, "failed"), store.FailedAmong
	}
	if !req.MarkAfter.IsZero() {
		given, a["mark_after"] = append(given, "marked"), req.MarkAfter.UnixMicro()
	}
	if !req.Deleted {
		given = append(given, "living")
	}
	return given, a
}
