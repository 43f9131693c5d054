package mysql

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// PutSchedules creates or changes schedules; see store.Schedules.
func (b *Backend) PutSchedules(ctx context.Context, req store.PutSchedulesRequest) (out store.PutSchedulesResult, err error) {
	if err := store.CheckAfter(req); err != nil {
		return out, fmt.Errorf("put schedules: %w", err)
	}
	err = b.withinAt(ctx, "put schedules", req.Tx, req.Now, func(s *session, now time.Time) (err error) {
		out, err = rowwise.PutSchedules(ctx, s, req, now)
		return err
	})
	if err != nil {
		return store.PutSchedulesResult{}, err
	}
	return out, nil
}

// ChangeSchedules pauses, resumes, deletes or resets; see store.Schedules.
func (b *Backend) ChangeSchedules(ctx context.Context, req store.ChangeSchedulesRequest) error {
	return b.withinAt(ctx, "change schedules", req.Tx, req.Now, func(s *session, now time.Time) error {
		return rowwise.ChangeSchedules(ctx, s, req, now)
	})
}

// LockRevision implements rowwise.Schedules. The row of the counter is also what lets one transaction at
// a time change schedules, calendars and handlers; in a cluster the row is changed, as touchJobs changes jobs.
func (s *session) LockRevision(ctx context.Context) (last int64, err error) {
	err = s.one(ctx, lockCounter, args{"name": "revision"}, &last)
	if err != nil || !s.cluster {
		return last, err
	}
	return last + 1, s.RaiseRevision(ctx, last+1)
}

// RaiseRevision implements rowwise.Schedules.
func (s *session) RaiseRevision(ctx context.Context, to int64) error {
	return s.exec(ctx, raiseCounter, args{"name": "revision", "value": to})
}

// SaveSchedules implements rowwise.Schedules. It finds rows by their names.
func (s *session) SaveSchedules(ctx context.Context, rows []*store.Schedule) error {
	saved := make([]args, len(rows))
	for i, r := range rows {
		saved[i] = args{
			"name": r.Name, "owner": r.Owner, "revision": r.Revision, "definition": notNull(r.Definition), "group_name": textOrNull(r.Group),
			"anchor": micros(r.Anchor), "mark": micros(r.Mark), "next_at": micros(r.NextAt), "fired": r.Fired,
			"paused_at": micros(r.PausedAt), "paused_until": micros(r.PausedUntil), "group_paused_at": micros(r.GroupPausedAt), "group_paused_until": micros(r.GroupPausedUntil),
			"paused_declared": r.PausedDeclared, "created_at": micros(r.CreatedAt), "updated_at": micros(r.UpdatedAt), "deleted_at": micros(r.DeletedAt),
		}
	}
	_, err := s.insertRows(ctx, upsertSchedules, saved)
	return err
}

// LockSchedules implements rowwise.Schedules.
func (s *session) LockSchedules(ctx context.Context, names []string) (map[string]*store.Schedule, error) {
	found := map[string]*store.Schedule{}
	err := s.eachSchedule(ctx, lockSchedules, args{"names": names}, func(row *store.Schedule) error {
		found[row.Name] = row
		return nil
	})
	return found, err
}

// LockOwnedSchedules implements rowwise.Schedules.
func (s *session) LockOwnedSchedules(ctx context.Context, owner string) (rows []*store.Schedule, err error) {
	err = s.eachSchedule(ctx, lockOwnedSchedules, args{"owner": owner}, func(row *store.Schedule) error {
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// ResetFailures implements rowwise.Schedules.
func (s *session) ResetFailures(ctx context.Context, schedules []int64) error {
	return s.onIDs(ctx, schedules, resetFailures)
}

func (s *session) eachSchedule(ctx context.Context, name statement, a args, do func(*store.Schedule) error) error {
	return s.each(ctx, name, a, func(r row) error {
		schedule, err := scanSchedule(r)
		if err != nil {
			return err
		}
		return do(&schedule)
	})
}

// scheduleList has the columns of schedules, scheduleSelect is what {schedule_columns} stands for in statements,
// and scheduleColumns what scanSchedule scans: these columns, and how many jobs in a row failed.
const (
	scheduleList    = "id, name, owner, revision, definition, group_name, anchor, mark, next_at, fired, paused_at, paused_until, group_paused_at, group_paused_until, paused_declared, created_at, updated_at, deleted_at"
	scheduleSelect  = "id, name, owner, revision, definition, group_name, {micros(anchor)} AS anchor, {micros(mark)} AS mark, {micros(next_at)} AS next_at, fired, {micros(paused_at)} AS paused_at, {micros(paused_until)} AS paused_until, {micros(group_paused_at)} AS group_paused_at, {micros(group_paused_until)} AS group_paused_until, paused_declared, {micros(created_at)} AS created_at, {micros(updated_at)} AS updated_at, {micros(deleted_at)} AS deleted_at"
	scheduleColumns = "{schedule_columns} failures"
)

// scanSchedule scans a schedule, and into more what comes after it.
func scanSchedule(r row, more ...any) (store.Schedule, error) {
	var x store.Schedule
	err := r.Scan(append([]any{
		&x.ID, &x.Name, &x.Owner, &x.Revision, &x.Definition,
		textScanner{&x.Group},
		into(&x.Anchor), into(&x.Mark), into(&x.NextAt), &x.Fired,
		into(&x.PausedAt), into(&x.PausedUntil), into(&x.GroupPausedAt), into(&x.GroupPausedUntil), &x.PausedDeclared, into(&x.CreatedAt), into(&x.UpdatedAt), into(&x.DeletedAt), &x.Failures,
	}, more...)...)
	return x, err
}

// ListSchedules reads schedules in pages; see store.Schedules.
func (b *Backend) ListSchedules(ctx context.Context, req store.ListSchedulesRequest) ([]store.Schedule, error) {
	var out []store.Schedule
	err := b.readIn(ctx, "list schedules", req.Tx, func(s *session) error {
		out = nil
		given, a := scheduleConditions(req)
		return s.list(ctx, listSchedules, given, a, func(r row) error {
			var since time.Time
			schedule, err := scanSchedule(r, into(&since))
			schedule.FailingSince = since
			out = append(out, schedule)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// scheduleConditions are the conditions of list_schedules.sql that a request gives.
func scheduleConditions(req store.ListSchedulesRequest) (given []string, a args) {
	a = args{"after": req.After, "limit": req.Limit}
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
	if !req.Deleted {
		given = append(given, "living")
	}
	return given, a
}
