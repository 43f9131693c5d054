package sqlite

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// PutSchedules creates or changes schedules; see store.Schedules. It reads the
// rows, decides in memory, and writes those that change.
func (b *Backend) PutSchedules(ctx context.Context, req store.PutSchedulesRequest) (store.PutSchedulesResult, error) {
	var out store.PutSchedulesResult
	err := b.write(ctx, "put schedules", func(s *session) error {
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		if err := s.checkSync(ctx, req); err != nil {
			return err
		}
		if err := s.checkCalendars(ctx, req.Schedules); err != nil {
			return err
		}
		plan, err := s.planPut(ctx, req, now)
		if err != nil {
			return err
		}
		out = plan.result()
		return s.applyPut(ctx, req, plan)
	})
	if err != nil {
		return store.PutSchedulesResult{}, err
	}
	return out, nil
}

// checkSync refuses a Sync that is older than the owner's last one.
func (s *session) checkSync(ctx context.Context, req store.PutSchedulesRequest) error {
	if !req.Ordered() {
		return nil
	}
	return s.each(ctx, readOwner, args{"owner": req.Owner}, func(r row) error {
		var last int64
		if err := r.Scan(&last); err != nil {
			return err
		}
		if req.SyncRevision < last {
			return fmt.Errorf("owner %q, revision %d after %d: %w", req.Owner, req.SyncRevision, last, store.ErrStale)
		}
		return nil
	})
}

// putPlan is what PutSchedules has to write.
type putPlan struct {
	rows         []*store.Schedule // one for each of the request, as it will be
	changed      []*store.Schedule // the rows that are new or change
	gone         []*store.Schedule // those that a Sync deletes
	back         []int64           // the numbers of changed rows that were deleted
	lastRevision int64             // given so far, of any schedule
}

func (p *putPlan) result() store.PutSchedulesResult {
	out := store.PutSchedulesResult{Changed: len(p.changed), Deleted: len(p.gone)}
	for _, row := range slices.Concat(p.changed, p.gone) {
		out.Edited = append(out.Edited, row.Name)
	}
	for _, row := range p.rows {
		out.Revisions = append(out.Revisions, row.Revision)
	}
	return out
}

// planPut decides about every schedule of a request, and refuses all of it where
// one cannot be put.
func (s *session) planPut(ctx context.Context, req store.PutSchedulesRequest, now time.Time) (*putPlan, error) {
	known, err := s.schedulesNamed(ctx, putNames(req.Schedules))
	if err != nil {
		return nil, err
	}
	plan := &putPlan{}
	if err := s.one(ctx, readCounter, args{"name": "revision"}, &plan.lastRevision); err != nil {
		return nil, err
	}
	asked := map[string]bool{}
	for _, put := range req.Schedules {
		asked[put.Name] = true
		if err := known[put.Name].CheckPut(put, req.Owner, now); err != nil {
			return nil, fmt.Errorf("schedule %q: %w", put.Name, err)
		}
		known[put.Name] = plan.put(known[put.Name], put, req.Owner, now)
	}
	if !req.Sync {
		return plan, nil
	}
	err = s.eachSchedule(ctx, lockOwnedSchedules, args{"owner": req.Owner}, func(row *store.Schedule) error {
		if asked[row.Name] {
			return nil
		}
		if row.Unsettled(now) {
			return fmt.Errorf("delete schedule %q: %w", row.Name, store.ErrUnsettled)
		}
		row.Bury(now)
		plan.gone = append(plan.gone, row)
		return nil
	})
	return plan, err
}

func putNames(puts []store.PutSchedule) []string {
	names := make([]string, len(puts))
	for i, put := range puts {
		names[i] = put.Name
	}
	return names
}

// put adds one schedule to the plan and returns its row as it will be.
func (p *putPlan) put(row *store.Schedule, put store.PutSchedule, owner string, now time.Time) *store.Schedule {
	if !row.Same(put, owner) {
		if row == nil {
			row = &store.Schedule{}
		}
		if !row.DeletedAt.IsZero() {
			p.back = append(p.back, row.ID)
		}
		p.lastRevision++
		row.Put(put, owner, now)
		row.Revision = p.lastRevision
		p.changed = append(p.changed, row)
	}
	p.rows = append(p.rows, row)
	return row
}

// applyPut writes a plan; where nothing changes it writes nothing.
func (s *session) applyPut(ctx context.Context, req store.PutSchedulesRequest, p *putPlan) error {
	if err := s.saveSchedules(ctx, append(p.changed, p.gone...)); err != nil {
		return err
	}
	if err := s.nameCalendars(ctx, req, p); err != nil {
		return err
	}
	if err := s.onIDs(ctx, append(p.back, numbersOf(p.gone)...), nil, endFailing); err != nil {
		return err
	}
	if len(p.changed) > 0 {
		if err := s.exec(ctx, raiseCounter, args{"name": "revision", "value": p.lastRevision}); err != nil {
			return err
		}
	}
	if !req.Ordered() {
		return nil
	}
	return s.exec(ctx, syncOwner, args{"owner": req.Owner, "revision": req.SyncRevision})
}

// savedSchedule is a row on its way to upsert_schedules.sql.
type savedSchedule struct {
	Name          string `json:"name"`
	Owner         string `json:"owner"`
	Revision      int64  `json:"revision"`
	DefinitionAt  int    `json:"definition_at"`
	DefinitionLen int    `json:"definition_len"`
	Anchor        *int64 `json:"anchor"`
	Mark          *int64 `json:"mark"`
	NextAt        *int64 `json:"next_at"`
	Fired         int64  `json:"fired"`
	PausedAt      *int64 `json:"paused_at"`
	PausedUntil   *int64 `json:"paused_until"`
	Declared      bool   `json:"paused_declared"`
	CreatedAt     *int64 `json:"created_at"`
	UpdatedAt     *int64 `json:"updated_at"`
	DeletedAt     *int64 `json:"deleted_at"`
}

// saveSchedules writes rows by their names.
func (s *session) saveSchedules(ctx context.Context, rows []*store.Schedule) error {
	if len(rows) == 0 {
		return nil
	}
	var pack packer
	saved := make([]savedSchedule, len(rows))
	for i, r := range rows {
		at, length := pack.add(r.Definition)
		saved[i] = savedSchedule{
			Name: r.Name, Owner: r.Owner, Revision: r.Revision, DefinitionAt: at, DefinitionLen: length,
			Anchor: micros(r.Anchor), Mark: micros(r.Mark), NextAt: micros(r.NextAt), Fired: r.Fired,
			PausedAt: micros(r.PausedAt), PausedUntil: micros(r.PausedUntil), Declared: r.PausedDeclared, CreatedAt: micros(r.CreatedAt), UpdatedAt: micros(r.UpdatedAt), DeletedAt: micros(r.DeletedAt),
		}
	}
	return s.exec(ctx, upsertSchedules, args{"schedules": jsonOf(saved), "bytes": pack.parameter()})
}

// schedulesNamed reads schedules, tombstones too.
func (s *session) schedulesNamed(ctx context.Context, names []string) (map[string]*store.Schedule, error) {
	found := map[string]*store.Schedule{}
	err := s.eachSchedule(ctx, lockSchedules, args{"names": jsonList(names)}, func(row *store.Schedule) error {
		found[row.Name] = row
		return nil
	})
	return found, err
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
	scheduleList    = "id, name, owner, revision, definition, anchor, mark, next_at, fired, paused_at, paused_until, paused_declared, created_at, updated_at, deleted_at"
	scheduleColumns = "{schedule_columns} failures"
)

// scanSchedule scans a schedule, and into more what comes after it.
func scanSchedule(r row, more ...any) (store.Schedule, error) {
	var x store.Schedule
	err := r.Scan(append([]any{
		&x.ID, &x.Name, &x.Owner, &x.Revision, &x.Definition, into(&x.Anchor), into(&x.Mark), into(&x.NextAt), &x.Fired,
		into(&x.PausedAt), into(&x.PausedUntil), &x.PausedDeclared, into(&x.CreatedAt), into(&x.UpdatedAt), into(&x.DeletedAt), &x.Failures,
	}, more...)...)
	return x, err
}

// ChangeSchedules pauses, resumes, deletes or resets; see store.Schedules.
func (b *Backend) ChangeSchedules(ctx context.Context, req store.ChangeSchedulesRequest) error {
	return b.write(ctx, "change schedules", func(s *session) error {
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		known, err := s.schedulesNamed(ctx, req.Names)
		if err != nil {
			return err
		}
		rows, err := planChange(req, known, now)
		if err != nil {
			return err
		}
		if err := s.saveSchedules(ctx, rows); err != nil {
			return err
		}
		switch req.Action {
		case store.DeleteSchedules:
			return s.onIDs(ctx, numbersOf(rows), nil, endFailing)
		case store.ResumeSchedules:
			return s.onIDs(ctx, numbersOf(rows), nil, resetFailures)
		}
		return nil
	})
}

func numbersOf(rows []*store.Schedule) []int64 {
	ids := make([]int64, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	return ids
}

// planChange returns the rows that an action changes, as they will be, or why
// nothing may change.
func planChange(req store.ChangeSchedulesRequest, known map[string]*store.Schedule, now time.Time) ([]*store.Schedule, error) {
	for _, name := range req.Names {
		if row := known[name]; row == nil || !row.DeletedAt.IsZero() {
			return nil, fmt.Errorf("schedule %q: %w", name, store.ErrNotFound)
		}
	}
	var rows []*store.Schedule
	for _, name := range req.Names {
		row := known[name]
		if !req.Changes(row) {
			continue
		}
		if row.Unsettled(now) {
			return nil, fmt.Errorf("schedule %q: %w", name, store.ErrUnsettled)
		}
		req.Apply(row, now)
		rows = append(rows, row)
	}
	return rows, nil
}

// ListSchedules reads schedules in pages; see store.Schedules.
func (b *Backend) ListSchedules(ctx context.Context, req store.ListSchedulesRequest) ([]store.Schedule, error) {
	var out []store.Schedule
	err := b.read(ctx, "list schedules", func(s *session) error {
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
	if !req.Deleted {
		given = append(given, "living")
	}
	return given, a
}
