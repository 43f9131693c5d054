package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// PutSchedules creates or changes schedules; see store.Schedules.
func (b *Backend) PutSchedules(ctx context.Context, req store.PutSchedulesRequest) (store.PutSchedulesResult, error) {
	var out store.PutSchedulesResult
	err := b.work(ctx, "put schedules", func(tx pgx.Tx) error {
		if err := b.noteSync(ctx, tx, req); err != nil {
			return err
		}
		now, rows, err := b.lockForPut(ctx, tx, req)
		if err != nil {
			return err
		}
		p := putting{owner: req.Owner, now: now, rows: rows}
		if err := p.decide(req); err != nil {
			return err
		}
		out = p.out
		return b.writePut(ctx, tx, p)
	})
	if err != nil {
		return store.PutSchedulesResult{}, err
	}
	return out, nil
}

// noteSync refuses a sync that is older than the owner's last.
func (b *Backend) noteSync(ctx context.Context, tx pgx.Tx, req store.PutSchedulesRequest) error {
	if !req.Ordered() {
		return nil
	}
	var revision int64
	err := tx.QueryRow(ctx, b.q("sync_owner"), req.Owner, req.SyncRevision).Scan(&revision)
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("owner %q, revision %d: %w", req.Owner, req.SyncRevision, store.ErrStale)
	}
	return err
}

// lockForPut reads the clock and the rows that a put may change, by name.
func (b *Backend) lockForPut(ctx context.Context, tx pgx.Tx, req store.PutSchedulesRequest) (time.Time, map[string]*store.Schedule, error) {
	names := make([]string, len(req.Schedules))
	for i, put := range req.Schedules {
		names[i] = put.Name
	}
	var owner *string
	if req.Sync {
		owner = &req.Owner
	}
	return b.lockSchedules(ctx, tx, req.Now, names, owner)
}

// lockSchedules reads the clock and locks schedules by name, and the living
// ones of an owner if that is not nil.
func (b *Backend) lockSchedules(ctx context.Context, tx pgx.Tx, asked time.Time, names []string, owner *string) (now time.Time, rows map[string]*store.Schedule, err error) {
	if err := tx.QueryRow(ctx, b.q("read_clock"), when(asked)).Scan(into(&now)); err != nil {
		return now, nil, err
	}
	list, err := collect(ctx, tx, scanSchedule, b.q("lock_schedules"), names, owner)
	rows = make(map[string]*store.Schedule, len(list))
	for i := range list {
		rows[list[i].Name] = &list[i]
	}
	return now, rows, err
}

// putting decides what a put does. It is pure.
type putting struct {
	owner   string
	now     time.Time
	rows    map[string]*store.Schedule // as they are, locked; then as they shall be
	created []*store.Schedule
	changed []*store.Schedule
	out     store.PutSchedulesResult
}

func (p *putting) decide(req store.PutSchedulesRequest) error {
	named := make(map[string]bool, len(req.Schedules))
	for _, put := range req.Schedules {
		named[put.Name] = true
		if err := p.check(put); err != nil {
			return fmt.Errorf("schedule %q: %w", put.Name, err)
		}
		p.put(put)
		p.out.Revisions = append(p.out.Revisions, p.rows[put.Name].Revision)
	}
	if !req.Sync {
		return nil
	}
	for name, row := range p.rows {
		if named[name] || row.Owner != p.owner || !row.DeletedAt.IsZero() {
			continue
		}
		if unsettled(row, p.now) {
			return fmt.Errorf("delete schedule %q: %w", name, store.ErrUnsettled)
		}
		bury(row, p.now)
		p.changed = append(p.changed, row)
		p.out.Deleted++
	}
	return nil
}

// check returns why a schedule cannot be put, or nil.
func (p *putting) check(put store.PutSchedule) error {
	row := p.rows[put.Name]
	alive := row != nil && row.DeletedAt.IsZero()
	switch {
	case put.IfRevision != 0 && (!alive || row.Revision != put.IfRevision):
		return store.ErrConflict
	case alive && row.Owner != p.owner:
		return fmt.Errorf("%w: it belongs to owner %q", store.ErrConflict, row.Owner)
	case alive && !bytes.Equal(row.Definition, put.Definition) && unsettled(row, p.now):
		return store.ErrUnsettled
	}
	return nil
}

// put creates, changes or brings back one schedule, or leaves it as it is.
func (p *putting) put(put store.PutSchedule) {
	row := p.rows[put.Name]
	switch {
	case row == nil:
		row = &store.Schedule{Name: put.Name, Anchor: p.now}
		p.rows[put.Name] = row
		p.created = append(p.created, row)
	case !row.DeletedAt.IsZero():
		row.Anchor = p.now
		row.DeletedAt, row.PausedAt, row.PausedDeclared = time.Time{}, time.Time{}, false
		p.changed = append(p.changed, row)
	case bytes.Equal(row.Definition, put.Definition):
		return
	default:
		p.changed = append(p.changed, row)
	}
	p.out.Changed++
	row.Revision++
	row.Owner = p.owner
	row.Definition = bytes.Clone(put.Definition)
	if row.Mark.Before(p.now) {
		row.Mark = p.now
	}
	row.NextAt, row.UpdatedAt = p.now, p.now
	declare(row, put.Paused, p.now)
}

// declare pauses or resumes a schedule if its definition declares another thing
// than before; otherwise a pause or resume by hand stays.
func declare(row *store.Schedule, paused bool, now time.Time) {
	switch {
	case paused == row.PausedDeclared:
	case !paused:
		row.PausedAt = time.Time{}
	case row.PausedAt.IsZero():
		row.PausedAt = now
	}
	row.PausedDeclared = paused
}

// unsettled says whether a slot is due that nobody has accounted for.
func unsettled(row *store.Schedule, now time.Time) bool {
	return !row.NextAt.IsZero() && row.NextAt.After(row.Mark) && !row.NextAt.After(now)
}

// bury leaves a tombstone.
func bury(row *store.Schedule, now time.Time) {
	row.DeletedAt, row.NextAt = now, time.Time{}
}

// writePut writes what was decided. If a name that was free has been taken
// meanwhile, all begins again.
func (b *Backend) writePut(ctx context.Context, tx pgx.Tx, p putting) error {
	if n := len(p.created); n > 0 {
		names, definitions, paused := make([]string, n), make([]string, n), make([]bool, n)
		for i, row := range p.created {
			names[i], definitions[i], paused[i] = row.Name, string(row.Definition), row.PausedDeclared
		}
		tag, err := tx.Exec(ctx, b.q("insert_schedules"), when(p.now), p.owner, names, definitions, paused)
		if err != nil {
			return err
		}
		if tag.RowsAffected() < int64(n) {
			return errMoved
		}
	}
	if err := b.writeSchedules(ctx, tx, p.changed); err != nil {
		return err
	}
	if len(p.created)+len(p.changed) == 0 {
		return nil
	}
	return b.wake(ctx, tx, store.Wake{Kind: store.WakeSchedules})
}

// writeSchedules writes back locked rows.
func (b *Backend) writeSchedules(ctx context.Context, tx pgx.Tx, rows []*store.Schedule) error {
	n := len(rows)
	if n == 0 {
		return nil
	}
	ids, revisions := make([]int64, n), make([]int64, n)
	owners, definitions := make([]string, n), make([]string, n)
	anchors, marks, nexts := make([]*time.Time, n), make([]*time.Time, n), make([]*time.Time, n)
	paused, declared := make([]*time.Time, n), make([]bool, n)
	updated, deleted := make([]*time.Time, n), make([]*time.Time, n)
	for i, row := range rows {
		ids[i], revisions[i], owners[i], definitions[i] = row.ID, row.Revision, row.Owner, string(row.Definition)
		anchors[i], marks[i], nexts[i] = when(row.Anchor), when(row.Mark), when(row.NextAt)
		paused[i], declared[i] = when(row.PausedAt), row.PausedDeclared
		updated[i], deleted[i] = when(row.UpdatedAt), when(row.DeletedAt)
	}
	_, err := tx.Exec(ctx, b.q("update_schedules"), ids, owners, revisions, definitions, anchors, marks, nexts, paused, declared, updated, deleted)
	return err
}

// ChangeSchedules pauses, resumes, deletes or resets; see store.Schedules.
func (b *Backend) ChangeSchedules(ctx context.Context, req store.ChangeSchedulesRequest) error {
	return b.work(ctx, "change schedules", func(tx pgx.Tx) error {
		now, rows, err := b.lockSchedules(ctx, tx, req.Now, req.Names, nil)
		if err != nil {
			return err
		}
		changed, err := decideChange(req, rows, now)
		if err != nil || len(changed) == 0 {
			return err
		}
		if err := b.writeSchedules(ctx, tx, changed); err != nil {
			return err
		}
		return b.wake(ctx, tx, store.Wake{Kind: store.WakeSchedules})
	})
}

// decideChange changes the rows that an action does something to and returns
// them. It is pure.
func decideChange(req store.ChangeSchedulesRequest, rows map[string]*store.Schedule, now time.Time) ([]*store.Schedule, error) {
	var changed []*store.Schedule
	seen := map[string]bool{}
	for _, name := range req.Names {
		row := rows[name]
		if row == nil || (!row.DeletedAt.IsZero() && !seen[name]) {
			return nil, fmt.Errorf("schedule %q: %w", name, store.ErrNotFound)
		}
		if seen[name] || !does(req.Action, row) {
			continue
		}
		seen[name] = true
		if unsettled(row, now) {
			return nil, fmt.Errorf("schedule %q: %w", name, store.ErrUnsettled)
		}
		act(req.Action, row, now)
		changed = append(changed, row)
	}
	return changed, nil
}

// does says whether an action changes a living schedule.
func does(action store.ScheduleAction, row *store.Schedule) bool {
	switch action {
	case store.PauseSchedules:
		return row.PausedAt.IsZero()
	case store.ResumeSchedules:
		return !row.PausedAt.IsZero()
	}
	return true
}

func act(action store.ScheduleAction, row *store.Schedule, now time.Time) {
	switch action {
	case store.PauseSchedules:
		row.PausedAt = now
	case store.ResumeSchedules:
		row.PausedAt = time.Time{}
	case store.DeleteSchedules:
		bury(row, now)
	case store.ResetSchedules:
		row.Mark, row.NextAt = now, now
	}
}

// ListSchedules reads schedules in pages; see store.Schedules.
func (b *Backend) ListSchedules(ctx context.Context, req store.ListSchedulesRequest) ([]store.Schedule, error) {
	var out []store.Schedule
	err := b.list(ctx, "list schedules", func(tx pgx.Tx) (err error) {
		out, err = collect(ctx, tx, scanSchedule, b.q("list_schedules"), listOrNull(req.Names), listOrNull(req.IDs), req.Owner, req.After, req.Deleted, req.Limit)
		return err
	})
	return out, err
}

func scanSchedule(r pgx.CollectableRow) (s store.Schedule, err error) {
	err = r.Scan(&s.ID, &s.Name, &s.Owner, &s.Revision, &s.Definition, into(&s.Anchor), into(&s.Mark), into(&s.NextAt), &s.Fired,
		into(&s.PausedAt), &s.PausedDeclared, into(&s.CreatedAt), into(&s.UpdatedAt), into(&s.DeletedAt))
	return s, err
}
