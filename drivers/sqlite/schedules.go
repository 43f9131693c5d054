package sqlite

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

// LockRevision implements rowwise.Schedules.
func (s *session) LockRevision(ctx context.Context) (last int64, err error) {
	err = s.one(ctx, readCounter, args{"name": "revision"}, &last)
	return last, err
}

// RaiseRevision implements rowwise.Schedules.
func (s *session) RaiseRevision(ctx context.Context, to int64) error {
	return s.exec(ctx, raiseCounter, args{"name": "revision", "value": to})
}

// savedSchedule is a row on its way to upsert_schedules.sql.
type savedSchedule struct {
	Name          string `json:"name"`
	Owner         string `json:"owner"`
	Revision      int64  `json:"revision"`
	DefinitionAt  int    `json:"definition_at"`
	DefinitionLen int    `json:"definition_len"`
	Group         string `json:"group_name,omitempty"`
	Anchor        *int64 `json:"anchor"`
	Mark          *int64 `json:"mark"`
	NextAt        *int64 `json:"next_at"`
	Fired         int64  `json:"fired"`
	PausedAt      *int64 `json:"paused_at"`
	PausedUntil   *int64 `json:"paused_until"`
	GroupAt       *int64 `json:"group_paused_at"`
	GroupUntil    *int64 `json:"group_paused_until"`
	Declared      bool   `json:"paused_declared"`
	CreatedAt     *int64 `json:"created_at"`
	UpdatedAt     *int64 `json:"updated_at"`
	DeletedAt     *int64 `json:"deleted_at"`
}

// SaveSchedules implements rowwise.Schedules. It finds rows by their names.
func (s *session) SaveSchedules(ctx context.Context, rows []*store.Schedule) error {
	var pack packer
	saved := make([]savedSchedule, len(rows))
	for i, r := range rows {
		at, length := pack.add(r.Definition)
		saved[i] = savedSchedule{
			Name: r.Name, Owner: r.Owner, Revision: r.Revision, DefinitionAt: at, DefinitionLen: length, Group: r.Group,
			Anchor: micros(r.Anchor), Mark: micros(r.Mark), NextAt: micros(r.NextAt), Fired: r.Fired,
			PausedAt: micros(r.PausedAt), PausedUntil: micros(r.PausedUntil), GroupAt: micros(r.GroupPausedAt), GroupUntil: micros(r.GroupPausedUntil),
			Declared: r.PausedDeclared, CreatedAt: micros(r.CreatedAt), UpdatedAt: micros(r.UpdatedAt), DeletedAt: micros(r.DeletedAt),
		}
	}
	return s.exec(ctx, upsertSchedules, args{"schedules": jsonOf(saved), "bytes": pack.parameter()})
}

// LockSchedules implements rowwise.Schedules.
func (s *session) LockSchedules(ctx context.Context, names []string) (map[string]*store.Schedule, error) {
	found := map[string]*store.Schedule{}
	err := s.eachSchedule(ctx, lockSchedules, args{"names": jsonList(names)}, func(row *store.Schedule) error {
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
	return s.onIDs(ctx, schedules, nil, resetFailures)
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

// scheduleList is the list "schedule_columns" in statements, and scheduleColumns what scanSchedule
// scans: that list, and how many jobs in a row failed.
const (
	scheduleList    = "id, name, owner, revision, definition, group_name, anchor, mark, next_at, fired, paused_at, paused_until, group_paused_at, group_paused_until, paused_declared, created_at, updated_at, deleted_at"
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
		given, a["names"] = append(given, "names"), jsonList(req.Names)
	}
	if len(req.IDs) > 0 {
		given, a["ids"] = append(given, "ids"), jsonList(req.IDs)
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
