package mysql

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// PutCalendars creates or changes calendars; see store.Calendars.
func (b *Backend) PutCalendars(ctx context.Context, req store.PutCalendarsRequest) (out store.PutCalendarsResult, err error) {
	err = b.writeAt(ctx, "put calendars", req.Now, func(s *session, now time.Time) (err error) {
		out, err = rowwise.PutCalendars(ctx, s, req, now)
		return err
	})
	if err != nil {
		return store.PutCalendarsResult{}, err
	}
	return out, nil
}

// DeleteCalendars deletes calendars; see store.Calendars.
func (b *Backend) DeleteCalendars(ctx context.Context, req store.DeleteCalendarsRequest) error {
	return b.writeAt(ctx, "delete calendars", req.Now, func(s *session, now time.Time) error {
		return rowwise.DeleteCalendars(ctx, s, req, now)
	})
}

// ListCalendars reads calendars in pages; see store.Calendars.
func (b *Backend) ListCalendars(ctx context.Context, req store.ListCalendarsRequest) ([]store.Calendar, error) {
	var out []store.Calendar
	err := b.read(ctx, "list calendars", func(s *session) error {
		out = nil
		var given []string
		a := args{"after": req.After, "limit": req.Limit}
		if len(req.Names) > 0 {
			given, a["names"] = append(given, "names"), req.Names
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

// LockCalendars implements rowwise.Calendars. It locks the counter of revisions first, so that no other
// transaction creates calendars or schedules.
func (s *session) LockCalendars(ctx context.Context, names []string) (map[string]*store.Calendar, error) {
	if _, err := s.LockRevision(ctx); err != nil {
		return nil, err
	}
	found := map[string]*store.Calendar{}
	err := s.each(ctx, lockCalendars, args{"names": names}, func(r row) error {
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

// LockCalendarUsers implements rowwise.Calendars.
func (s *session) LockCalendarUsers(ctx context.Context, calendars []string) (users []rowwise.CalendarUser, err error) {
	err = s.each(ctx, lockCalendarUsers, args{"names": calendars}, func(r row) error {
		var u rowwise.CalendarUser
		err := r.Scan(&u.Calendar, &u.Schedule, into(&u.NextAt))
		users = append(users, u)
		return err
	})
	return users, err
}

// ReviseSchedules implements rowwise.Calendars.
func (s *session) ReviseSchedules(ctx context.Context, schedules []string, revision int64) error {
	return s.exec(ctx, reviseSchedules, args{"names": schedules, "revision": revision})
}

// SaveCalendars implements rowwise.Calendars.
func (s *session) SaveCalendars(ctx context.Context, calendars []store.PutCalendar, revision int64, now time.Time) error {
	saved := make([]args, len(calendars))
	for i, put := range calendars {
		saved[i] = args{"name": put.Name, "definition": notNull(put.Definition), "revision": revision, "now": micros(now)}
	}
	_, err := s.insertRows(ctx, upsertCalendars, saved)
	return err
}

// DeleteCalendars implements rowwise.Calendars.
func (s *session) DeleteCalendars(ctx context.Context, names []string) error {
	return s.exec(ctx, deleteCalendars, args{"names": names})
}

// DeleteCalendarUses implements rowwise.Schedules.
func (s *session) DeleteCalendarUses(ctx context.Context, schedules []string) error {
	return s.exec(ctx, deleteCalendarUses, args{"names": schedules})
}

// InsertCalendarUses implements rowwise.Schedules.
func (s *session) InsertCalendarUses(ctx context.Context, uses []rowwise.CalendarUse) error {
	return s.exec(ctx, insertCalendarUses, args{"uses": jsonOf(uses)})
}
