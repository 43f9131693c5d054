package mysql

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// LockCalendars implements rowwise.Calendars. It locks the counter of revisions first, so that no other
// transaction creates calendars or schedules.
func (s *session) LockCalendars(ctx context.Context, names []string) (map[string]*store.Calendar, error) {
	if _, err := s.LockRevision(ctx); err != nil {
		return nil, err
	}
	found := map[string]*store.Calendar{}
	err := s.Each(ctx, sqlrows.LockCalendars, args{"names": names}, func(r row) error {
		calendar, err := sqlrows.ScanCalendar(r)
		found[calendar.Name] = &calendar
		return err
	})
	return found, err
}

// SaveCalendars implements rowwise.Calendars.
func (s *session) SaveCalendars(ctx context.Context, calendars []store.PutCalendar, revision int64, now time.Time) error {
	saved := make([]args, len(calendars))
	for i, put := range calendars {
		saved[i] = args{"name": put.Name, "definition": sqlrows.NotNull(put.Definition), "revision": revision, "now": sqlrows.Micros(now)}
	}
	err := s.insertRows(ctx, sqlrows.UpsertCalendars, saved)
	return err
}
