package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// PutSchedules creates or changes schedules; see store.Schedules.
func (b *Backend) PutSchedules(ctx context.Context, req store.PutSchedulesRequest) (out store.PutSchedulesResult, err error) {
	if err := store.CheckAfter(req); err != nil {
		return out, fmt.Errorf("put schedules: %w", err)
	}
	return rowwise.InTxAt(b.within(ctx, "put schedules", req.Tx, req.Now), func(tx querier, at time.Time) (store.PutSchedulesResult, error) {
		req := req
		req.Now = at
		return b.putSchedules(ctx, tx, req)
	})
}

// putSchedules is PutSchedules in a transaction.
func (b *Backend) putSchedules(ctx context.Context, tx querier, req store.PutSchedulesRequest) (out store.PutSchedulesResult, err error) {
	if err := b.lockChain(ctx, tx, req); err != nil {
		return out, err
	}
	if kept, err := rowwise.SyncOwner(ctx, ownersTx{b, tx}, req, req.Now); err != nil || kept != nil {
		return store.PutSchedulesResult{Kept: kept}, err
	}
	if err := b.holdCalendars(ctx, tx, req.Schedules); err != nil {
		return out, err
	}
	limits, err := b.syncLimits(ctx, tx, req)
	if err != nil {
		return out, err
	}
	p, err := b.lockForPut(ctx, tx, req)
	if err != nil {
		return out, err
	}
	if err := p.decide(req); err != nil {
		return out, err
	}
	chain := chainTx{b, tx}
	if err := chain.check(ctx, req, p.out.Edited); err != nil {
		return out, err
	}
	if err := b.writePut(ctx, tx, p); err != nil {
		return out, err
	}
	if err := chain.write(ctx, req, p); err != nil {
		return out, err
	}
	p.out.LimitsChanged, p.out.LimitsDeleted = limits.Counts()
	return p.out, b.record(ctx, tx, req.Entry(p.edits), p.now)
}

// lockForPut reads the pauses of groups, the clock, and the rows that a put may change, by name.
func (b *Backend) lockForPut(ctx context.Context, tx querier, req store.PutSchedulesRequest) (p putting, err error) {
	p.owner = req.Owner
	if groups := rowwise.GroupsOf(req.Schedules); len(groups) > 0 {
		if p.pauses, err = (pausesTx{auditTx{b, tx}}).LockPauses(ctx, store.SubjectGroup, groups); err != nil {
			return p, err
		}
	}
	names := req.Predecessors() // in the same order as all other schedules
	for _, put := range req.Schedules {
		names = append(names, put.Name)
	}
	var owner *string
	if req.Sync {
		owner = &req.Owner
	}
	p.now, p.rows, err = b.lockSchedules(ctx, tx, req.Now, names, owner)
	return p, err
}

// lockSchedules reads the clock and locks schedules by name, and the living
// ones of an owner if that is not nil.
func (b *Backend) lockSchedules(ctx context.Context, tx querier, asked time.Time, names []string,
	owner *string,
) (now time.Time, rows map[string]*store.Schedule, err error) {
	if err := tx.QueryRow(ctx, b.q(readClock), when(asked)).Scan(into(&now)); err != nil {
		return now, nil, err
	}
	list, err := collect(ctx, tx, scanSchedule, b.q(lockSchedules), names, owner)
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
	pauses  map[string]store.Pause     // of groups
	created []*store.Schedule
	changed []*store.Schedule
	well    []int64              // deleted or returned schedules, which are not failing any more
	uses    []store.PutSchedule  // created and changed schedules that name calendars
	edits   []store.ScheduleEdit // for the audit
	out     store.PutSchedulesResult
}

func (p *putting) decide(req store.PutSchedulesRequest) error {
	named := make(map[string]bool, len(req.Schedules))
	for _, put := range req.Schedules {
		named[put.Name] = true
		if err := p.rows[put.Name].CheckPut(put, p.owner, p.now); err != nil {
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
		if row.Unsettled(p.now) {
			return fmt.Errorf("delete schedule %q: %w", name, store.ErrUnsettled)
		}
		row.Bury(p.now)
		p.changed, p.well = append(p.changed, row), append(p.well, row.ID)
		p.edits = append(p.edits, store.ScheduleEdit{Name: name})
		p.out.Deleted++
		p.out.Edited = append(p.out.Edited, name)
	}
	return nil
}

// put creates, changes or brings back one schedule, or leaves it as it is.
func (p *putting) put(put store.PutSchedule) {
	row := p.rows[put.Name]
	edit := row.Edit(put)
	switch {
	case row.Same(put, p.owner):
		return
	case row == nil:
		row = &store.Schedule{}
		p.rows[put.Name] = row
		p.created = append(p.created, row)
	default:
		p.changed = append(p.changed, row)
		if !row.DeletedAt.IsZero() {
			p.well = append(p.well, row.ID)
		}
	}
	p.out.Changed++
	p.out.Edited = append(p.out.Edited, put.Name)
	if len(put.Calendars) > 0 {
		p.uses = append(p.uses, put)
	}
	row.Put(put, p.owner, p.now)
	row.FollowPause(p.pauses[put.Group], p.now)
	edit.To = row.Revision
	p.edits = append(p.edits, edit)
}

// writePut writes the decision. If a free name was taken concurrently, the
// transaction begins again.
func (b *Backend) writePut(ctx context.Context, tx querier, p putting) error {
	if n := len(p.created); n > 0 {
		names, definitions, groups, paused := make([]string, n), make([]string, n), make([]*string, n), make([]bool, n)
		groupPaused, groupUntil := make([]*time.Time, n), make([]*time.Time, n)
		for i, row := range p.created {
			names[i], definitions[i], groups[i], paused[i] = row.Name, string(row.Definition), orNull(row.Group), row.PausedDeclared
			groupPaused[i], groupUntil[i] = when(row.GroupPausedAt), when(row.GroupPausedUntil)
		}
		tag, err := tx.Exec(ctx, b.q(insertSchedules), when(p.now), p.owner, names, definitions, paused, groups, groupPaused, groupUntil)
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
	if err := b.well(ctx, tx, p.well); err != nil {
		return err
	}
	if err := b.nameCalendars(ctx, tx, p); err != nil {
		return err
	}
	if len(p.created)+len(p.changed) == 0 {
		return nil
	}
	return b.wake(ctx, tx, store.Wake{Kind: store.WakeSchedules})
}

// writeSchedules writes back locked rows.
func (b *Backend) writeSchedules(ctx context.Context, tx querier, rows []*store.Schedule) error {
	n := len(rows)
	if n == 0 {
		return nil
	}
	ids, revisions := make([]int64, n), make([]int64, n)
	owners, definitions, groups := make([]string, n), make([]string, n), make([]*string, n)
	anchors, marks, nexts := make([]*time.Time, n), make([]*time.Time, n), make([]*time.Time, n)
	paused, until, declared := make([]*time.Time, n), make([]*time.Time, n), make([]bool, n)
	updated, deleted := make([]*time.Time, n), make([]*time.Time, n)
	groupPaused, groupUntil := make([]*time.Time, n), make([]*time.Time, n)
	for i, row := range rows {
		ids[i], revisions[i], owners[i], definitions[i], groups[i] = row.ID, row.Revision, row.Owner, string(row.Definition), orNull(row.Group)
		anchors[i], marks[i], nexts[i] = when(row.Anchor), when(row.Mark), when(row.NextAt)
		paused[i], until[i], declared[i] = when(row.PausedAt), when(row.PausedUntil), row.PausedDeclared
		groupPaused[i], groupUntil[i] = when(row.GroupPausedAt), when(row.GroupPausedUntil)
		updated[i], deleted[i] = when(row.UpdatedAt), when(row.DeletedAt)
	}
	_, err := tx.Exec(ctx, b.q(updateSchedules), ids, owners, revisions, definitions, anchors, marks, nexts, paused,
		declared, updated, deleted, until, groups, groupPaused, groupUntil)
	return err
}

// ChangeSchedules pauses, resumes, deletes or resets; see store.Schedules.
func (b *Backend) ChangeSchedules(ctx context.Context, req store.ChangeSchedulesRequest) error {
	return b.within(ctx, "change schedules", req.Tx, req.Now)(func(tx querier, at time.Time) error {
		req := req
		req.Now = at
		return b.changeSchedules(ctx, tx, req)
	})
}

// changeSchedules is ChangeSchedules in a transaction.
func (b *Backend) changeSchedules(ctx context.Context, tx querier, req store.ChangeSchedulesRequest) error {
	now, rows, err := b.lockSchedules(ctx, tx, req.Now, req.Names, nil)
	if err != nil {
		return err
	}
	changed, err := req.Plan(rows, now)
	if err != nil || len(changed) == 0 {
		return err
	}
	if err := rowwise.CheckNotes(ctx, chainTx{b, tx}.hasNotes, req.Names); err != nil {
		return err
	}
	if err := b.writeSchedules(ctx, tx, changed); err != nil {
		return err
	}
	switch req.Action {
	case store.DeleteSchedules:
		err = b.well(ctx, tx, numbersOf(changed))
	case store.ResumeSchedules:
		_, err = tx.Exec(ctx, b.q(resetFailures), numbersOf(changed))
	}
	if err != nil {
		return err
	}
	if err := b.record(ctx, tx, req.Entry(store.ScheduleNames(changed)), now); err != nil {
		return err
	}
	return b.wake(ctx, tx, store.Wake{Kind: store.WakeSchedules})
}

func numbersOf(rows []*store.Schedule) []int64 {
	ids := make([]int64, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	return ids
}

// scheduleFilterParams are the parameters of list_schedules.sql.
const scheduleFilterParams = "names ids owner after deleted limit calendar group_name mark_after failed_among"

func (b *Backend) listSchedules(ctx context.Context, tx querier, req store.ListRequest) ([]store.Schedule, error) {
	name := listSchedules
	switch {
	case req.Failed:
		name = listFailedSchedules
	case req.Calendar != "":
		name = listCalendarSchedules
	}
	return collect(ctx, tx, scanListed, b.q(name), listOrNull(req.Names), listOrNull(req.IDs), req.Owner, req.After,
		req.Deleted, req.Limit, orNull(req.Calendar), orNull(req.Group),
		when(req.MarkAfter), store.FailedAmong)
}

func scanSchedule(r pgx.CollectableRow) (s store.Schedule, err error) {
	err = r.Scan(scheduleTargets(&s)...)
	return s, err
}

// scanListed is scanSchedule, and since when it fails.
func scanListed(r pgx.CollectableRow) (s store.Schedule, err error) {
	err = r.Scan(append(scheduleTargets(&s), into(&s.FailingSince))...)
	return s, err
}

// scheduleList is the list "schedule_columns" in statements, and scheduleColumns what scheduleTargets
// scan: that list, and how many jobs in a row failed.
const (
	scheduleList = "id, name, owner, revision, definition, group_name, anchor, mark, next_at, fired, paused_at, " +
		"paused_until, group_paused_at, group_paused_until, paused_declared, created_at, updated_at, deleted_at"
	scheduleColumns = "{schedule_columns} failures"
)

func scheduleTargets(s *store.Schedule) []any {
	return []any{
		&s.ID, &s.Name, &s.Owner, &s.Revision, &s.Definition, (*word)(&s.Group), into(&s.Anchor), into(&s.Mark), into(&s.NextAt), &s.Fired,
		into(&s.PausedAt), into(&s.PausedUntil), into(&s.GroupPausedAt), into(&s.GroupPausedUntil), &s.PausedDeclared,
		into(&s.CreatedAt), into(&s.UpdatedAt), into(&s.DeletedAt), (*number)(&s.Failures),
	}
}
