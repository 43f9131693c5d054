package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// Calendars are locked before schedules, by name. A put of a schedule holds the
// calendars that it names, so that they are not changed or deleted concurrently.

// putCalendars creates or changes calendars. It sends a fixed
// number of statements, however many schedules name them.
func (b *Backend) putCalendars(ctx context.Context, req store.PutRequest) (store.PutResult, error) {
	return rowwise.InTx(b.work(ctx, programConns, req.String()), func(tx pgx.Tx) (out store.PutResult, err error) {
		rows, err := b.lockCalendars(ctx, tx, store.CalendarNames(req.Calendars))
		if err != nil {
			return out, err
		}
		created, changed, err := decideCalendars(req, rows)
		if err != nil {
			return out, err
		}
		revised, err := b.reviseUsers(ctx, tx, req.Now, store.CalendarNames(changed))
		if err != nil {
			return out, err
		}
		revisions, err := b.writeCalendars(ctx, tx, req.Now, created, changed)
		if err != nil {
			return out, err
		}
		out = store.PutResult{Changed: len(created) + len(changed), Revised: revised}
		for _, put := range req.Calendars {
			if revision, written := revisions[put.Name]; written {
				out.Revisions = append(out.Revisions, revision)
			} else {
				out.Revisions = append(out.Revisions, rows[put.Name].Revision)
			}
		}
		return out, b.record(ctx, tx, req.CalendarsEntry(store.CalendarNames(slices.Concat(created, changed)), len(revised)), req.Now)
	})
}

// lockCalendars locks calendars and returns the calendars that exist, by name.
func (b *Backend) lockCalendars(ctx context.Context, tx querier, names []string) (map[string]*store.Calendar, error) {
	list, err := collect(ctx, tx, scanCalendar, b.q(lockCalendars), names)
	rows := make(map[string]*store.Calendar, len(list))
	for i := range list {
		rows[list[i].Name] = &list[i]
	}
	return rows, err
}

// decideCalendars returns which calendars a put creates and which it changes. It
// is a pure function.
func decideCalendars(req store.PutRequest, rows map[string]*store.Calendar) (created, changed []store.PutCalendar, err error) {
	for _, put := range req.Calendars {
		row := rows[put.Name]
		if err := row.CheckPut(put); err != nil {
			return nil, nil, fmt.Errorf("calendar %q: %w", put.Name, err)
		}
		switch {
		case row == nil:
			created = append(created, put)
		case !row.Same(put):
			changed = append(changed, put)
		}
	}
	return created, changed, nil
}

// reviseUsers gives the schedules that name one of the calendars a new revision,
// unless one of them is due, and returns their names.
func (b *Backend) reviseUsers(ctx context.Context, tx querier, now time.Time, calendars []string) (names []string, err error) {
	if len(calendars) == 0 {
		return nil, nil
	}
	var users []int64
	var id int64
	var name string
	var due, unsettled bool
	err = each(ctx, tx, []any{&id, &name, &due}, func() {
		users, names = append(users, id), append(names, name)
		unsettled = unsettled || due
	}, b.q(lockCalendarUsers), when(now), calendars)
	switch {
	case err != nil || len(users) == 0:
		return nil, err
	case unsettled:
		return nil, fmt.Errorf("a schedule that names it: %w", store.ErrUnsettled)
	}
	_, err = tx.Exec(ctx, b.q(reviseSchedules), users)
	return names, err
}

// writeCalendars returns the new revisions by name. If a free name was taken
// concurrently, the transaction begins again.
func (b *Backend) writeCalendars(ctx context.Context, tx querier, now time.Time, created, changed []store.PutCalendar) (map[string]int64, error) {
	revisions := map[string]int64{}
	var name string
	var revision int64
	write := func(s statement, puts []store.PutCalendar) error {
		if len(puts) == 0 {
			return nil
		}
		definitions := make([]string, len(puts))
		for i, put := range puts {
			definitions[i] = string(put.Definition)
		}
		return each(ctx, tx, []any{&name, &revision}, func() { revisions[name] = revision },
			b.q(s), when(now), store.CalendarNames(puts), definitions)
	}
	if err := write(insertCalendars, created); err != nil {
		return nil, err
	}
	if len(revisions) < len(created) {
		return nil, errMoved
	}
	return revisions, write(updateCalendars, changed)
}

func (b *Backend) deleteCalendars(ctx context.Context, req store.DeleteRequest) error {
	return b.work(ctx, programConns, req.String())(func(tx pgx.Tx) error {
		rows, err := b.lockCalendars(ctx, tx, req.Names)
		if err != nil {
			return err
		}
		for _, name := range req.Names {
			if rows[name] == nil {
				return fmt.Errorf("calendar %q: %w", name, store.ErrNotFound)
			}
			if err := store.CheckRevision(req.IfRevision, rows[name].Revision); err != nil {
				return fmt.Errorf("calendar %q: %w", name, err)
			}
		}
		used, err := collect(ctx, tx, pgx.RowTo[string], b.q(findCalendarUser), req.Names)
		if err != nil {
			return err
		}
		if len(used) > 0 {
			return fmt.Errorf("calendar %q: %w", used[0], store.ErrInUse)
		}
		if _, err = tx.Exec(ctx, b.q(deleteCalendars), req.Names); err != nil {
			return err
		}
		return b.record(ctx, tx, req.Entry(), req.Now)
	})
}

func (b *Backend) listCalendars(ctx context.Context, tx querier, req store.ListRequest) ([]store.Calendar, error) {
	return collect(ctx, tx, scanCalendar, b.q(listCalendars), listOrNull(req.Names), req.After, req.Limit)
}

// calendarColumns are the columns that scanCalendar scans.
const calendarColumns = "name revision definition updated_at"

func scanCalendar(r pgx.CollectableRow) (c store.Calendar, err error) {
	err = r.Scan(&c.Name, &c.Revision, &c.Definition, into(&c.UpdatedAt))
	return c, err
}

// holdCalendars keeps the calendars that schedules are to name as they are until
// the transaction ends.
func (b *Backend) holdCalendars(ctx context.Context, tx querier, puts []store.PutSchedule) error {
	var names []string
	for _, put := range puts {
		names = append(names, put.Calendars...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return nil
	}
	held, err := collect(ctx, tx, pgx.RowTo[string], b.q(holdCalendars), names)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.Contains(held, name) {
			return fmt.Errorf("calendar %q: %w", name, store.ErrNotFound)
		}
	}
	return nil
}

// nameCalendars notes which calendars the schedules of a put name that were
// created or changed.
func (b *Backend) nameCalendars(ctx context.Context, tx querier, p putting) error {
	var batch pgx.Batch
	if len(p.changed) > 0 {
		batch.Queue(b.q(deleteCalendarUses), numbersOf(p.changed))
	}
	if len(p.uses) > 0 {
		var calendars, schedules []string
		for _, put := range p.uses {
			for _, calendar := range put.Calendars {
				calendars, schedules = append(calendars, calendar), append(schedules, put.Name)
			}
		}
		batch.Queue(b.q(insertCalendarUses), calendars, schedules)
	}
	return send(ctx, tx, &batch)
}
