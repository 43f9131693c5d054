package sqlite

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// PutCalendars creates or changes calendars; see store.Calendars. It sends a fixed
// number of statements, however many schedules name them.
func (b *Backend) PutCalendars(ctx context.Context, req store.PutCalendarsRequest) (store.PutCalendarsResult, error) {
	var out store.PutCalendarsResult
	err := b.write(ctx, "put calendars", func(s *session) error {
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		names := make([]string, len(req.Calendars))
		for i, put := range req.Calendars {
			names[i] = put.Name
		}
		known, err := s.calendarsNamed(ctx, names)
		if err != nil {
			return err
		}
		var last int64
		if err := s.one(ctx, readCounter, args{"name": "revision"}, &last); err != nil {
			return err
		}
		out = store.PutCalendarsResult{}
		var changed []store.PutCalendar
		for _, put := range req.Calendars {
			row := known[put.Name]
			if err := row.CheckPut(put); err != nil {
				return fmt.Errorf("calendar %q: %w", put.Name, err)
			}
			if row.Same(put) {
				out.Revisions = append(out.Revisions, row.Revision)
				continue
			}
			changed = append(changed, put)
			out.Changed++
			out.Revisions = append(out.Revisions, last+1)
		}
		out.Revised, err = s.saveCalendars(ctx, changed, last+1, now)
		return err
	})
	if err != nil {
		return store.PutCalendarsResult{}, err
	}
	return out, nil
}

// savedCalendar is a calendar on its way to upsert_calendars.sql.
type savedCalendar struct {
	Name string `json:"name"`
	At   int    `json:"at"`
	Len  int    `json:"len"`
}

// saveCalendars gives calendars and the schedules that name them a new revision,
// unless one of these schedules is due, and returns the names of the schedules.
func (s *session) saveCalendars(ctx context.Context, puts []store.PutCalendar, revision int64, now time.Time) (users []string, err error) {
	if len(puts) == 0 {
		return nil, nil
	}
	var pack packer
	saved, names := make([]savedCalendar, len(puts)), make([]string, len(puts))
	for i, put := range puts {
		at, length := pack.add(put.Definition)
		saved[i], names[i] = savedCalendar{put.Name, at, length}, put.Name
	}
	users, due, err := s.calendarUsers(ctx, names, now)
	if err != nil {
		return nil, err
	}
	if due {
		return nil, fmt.Errorf("a schedule that names it: %w", store.ErrUnsettled)
	}
	if err := s.exec(ctx, reviseSchedules, args{"names": jsonList(names), "revision": revision}); err != nil {
		return nil, err
	}
	err = s.exec(ctx, upsertCalendars, args{"calendars": jsonOf(saved), "bytes": pack.parameter(), "revision": revision, "now": micros(now)})
	if err != nil {
		return nil, err
	}
	return users, s.exec(ctx, raiseCounter, args{"name": "revision", "value": revision})
}

// calendarUsers returns the names of the living schedules that name one of the
// calendars, and whether any of these schedules is due.
func (s *session) calendarUsers(ctx context.Context, calendars []string, now time.Time) (users []string, anyDue bool, err error) {
	err = s.each(ctx, lockCalendarUsers, args{"names": jsonList(calendars), "now": micros(now)}, func(r row) error {
		var name string
		var due bool
		err := r.Scan(&name, &due)
		users, anyDue = append(users, name), anyDue || due
		return err
	})
	return users, anyDue, err
}

// calendarsNamed reads calendars by name.
func (s *session) calendarsNamed(ctx context.Context, names []string) (map[string]*store.Calendar, error) {
	found := map[string]*store.Calendar{}
	err := s.each(ctx, lockCalendars, args{"names": jsonList(names)}, func(r row) error {
		calendar, err := scanCalendar(r)
		found[calendar.Name] = &calendar
		return err
	})
	return found, err
}

// calendarColumns are the columns that scanCalendar scans.
const calendarColumns = "name revision definition updated_at"

func scanCalendar(r row) (c store.Calendar, err error) {
	err = r.Scan(&c.Name, &c.Revision, &c.Definition, into(&c.UpdatedAt))
	return c, err
}

// DeleteCalendars deletes calendars; see store.Calendars.
func (b *Backend) DeleteCalendars(ctx context.Context, req store.DeleteCalendarsRequest) error {
	return b.write(ctx, "delete calendars", func(s *session) error {
		known, err := s.calendarsNamed(ctx, req.Names)
		if err != nil {
			return err
		}
		for _, name := range req.Names {
			if known[name] == nil {
				return fmt.Errorf("calendar %q: %w", name, store.ErrNotFound)
			}
			users, _, err := s.calendarUsers(ctx, []string{name}, time.Time{})
			if err != nil {
				return err
			}
			if len(users) > 0 {
				return fmt.Errorf("calendar %q: %w", name, store.ErrInUse)
			}
		}
		return s.exec(ctx, deleteCalendars, args{"names": jsonList(req.Names)})
	})
}

// ListCalendars reads calendars in pages; see store.Calendars.
func (b *Backend) ListCalendars(ctx context.Context, req store.ListCalendarsRequest) ([]store.Calendar, error) {
	var out []store.Calendar
	err := b.read(ctx, "list calendars", func(s *session) error {
		var given []string
		a := args{"after": req.After, "limit": req.Limit}
		if len(req.Names) > 0 {
			given, a["names"] = append(given, "names"), jsonList(req.Names)
		}
		return s.list(ctx, listCalendars, given, a, func(r row) error {
			calendar, err := scanCalendar(r)
			out = append(out, calendar)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// checkCalendars refuses schedules that name a calendar which is not there.
func (s *session) checkCalendars(ctx context.Context, puts []store.PutSchedule) error {
	var names []string
	for _, put := range puts {
		names = append(names, put.Calendars...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return nil
	}
	known, err := s.calendarsNamed(ctx, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		if known[name] == nil {
			return fmt.Errorf("calendar %q: %w", name, store.ErrNotFound)
		}
	}
	return nil
}

// calendarUse is a schedule and a calendar on their way to insert_calendar_uses.sql.
type calendarUse struct {
	Calendar string `json:"calendar"`
	Schedule string `json:"schedule"`
}

// nameCalendars notes which calendars the schedules of a put name that were
// created or changed.
func (s *session) nameCalendars(ctx context.Context, req store.PutSchedulesRequest, p *putPlan) error {
	if len(p.changed) == 0 {
		return nil
	}
	names, changed := make([]string, len(p.changed)), make(map[string]bool, len(p.changed))
	for i, row := range p.changed {
		names[i], changed[row.Name] = row.Name, true
	}
	if err := s.exec(ctx, deleteCalendarUses, args{"names": jsonList(names)}); err != nil {
		return err
	}
	var uses []calendarUse
	for _, put := range req.Schedules {
		for _, calendar := range put.Calendars {
			if changed[put.Name] {
				uses = append(uses, calendarUse{calendar, put.Name})
			}
		}
	}
	if len(uses) == 0 {
		return nil
	}
	return s.exec(ctx, insertCalendarUses, args{"uses": jsonOf(uses)})
}
