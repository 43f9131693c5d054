package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// ScanCalendar scans a calendar.
func ScanCalendar(r Row) (c store.Calendar, err error) {
	err = r.Scan(&c.Name, &c.Revision, &c.Definition, IntoTime(&c.UpdatedAt))
	return c, err
}

// CalendarColumns are the columns that ScanCalendar scans.
const CalendarColumns = "name revision definition updated_at"

// LockCalendars implements rowwise.Calendars. It locks the counter of revisions first, so that no other transaction creates calendars
// or schedules.
func (s *Session) LockCalendars(ctx context.Context, names []string) (map[string]*store.Calendar, error) {
	if _, err := s.Dialect.LockRevision(ctx); err != nil {
		return nil, err
	}
	found := map[string]*store.Calendar{}
	err := s.Each(ctx, lockCalendars, Args{"names": names}, func(r Row) error {
		calendar, err := ScanCalendar(r)
		found[calendar.Name] = &calendar
		return err
	})
	return found, err
}

// SaveCalendars implements rowwise.Calendars.
func (s *Session) SaveCalendars(ctx context.Context, calendars []store.PutCalendar, revision int64, now time.Time) error {
	rows := make([]Args, len(calendars))
	for i, put := range calendars {
		rows[i] = Args{"name": put.Name, "definition": NotNull(put.Definition), "revision": revision, "now": Micros(now)}
	}
	return s.InsertRows(ctx, upsertCalendars, rows)
}

// LockCalendarUsers implements rowwise.Calendars.
func (s *Session) LockCalendarUsers(ctx context.Context, calendars []string) (users []rowwise.CalendarUser, err error) {
	err = s.Each(ctx, LockCalendarUsers, Args{"names": calendars}, func(r Row) error {
		var u rowwise.CalendarUser
		err := r.Scan(&u.Calendar, &u.Schedule, IntoTime(&u.NextAt))
		users = append(users, u)
		return err
	})
	return users, err
}

// ReviseSchedules implements rowwise.Calendars.
func (s *Session) ReviseSchedules(ctx context.Context, schedules []string) error {
	return s.Exec(ctx, ReviseSchedules, Args{"names": schedules})
}

// DeleteCalendars implements rowwise.Calendars.
func (s *Session) DeleteCalendars(ctx context.Context, names []string) error {
	return s.Exec(ctx, deleteCalendars, Args{"names": names})
}

// DeleteCalendarUses implements rowwise.Schedules.
func (s *Session) DeleteCalendarUses(ctx context.Context, schedules []string) error {
	return s.Exec(ctx, DeleteCalendarUses, Args{"names": schedules})
}

// InsertCalendarUses implements rowwise.Schedules.
func (s *Session) InsertCalendarUses(ctx context.Context, uses []rowwise.CalendarUse) error {
	return s.Exec(ctx, InsertCalendarUses, Args{"uses": JSON(uses)})
}
