package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// LockCalendars implements rowwise.Calendars.
func (s *session) LockCalendars(ctx context.Context, names []string) (map[string]*store.Calendar, error) {
	found := map[string]*store.Calendar{}
	err := s.Each(ctx, sqlrows.LockCalendars, args{"names": sqlrows.JSONList(names)}, func(r row) error {
		calendar, err := sqlrows.ScanCalendar(r)
		found[calendar.Name] = &calendar
		return err
	})
	return found, err
}

// savedCalendar is a calendar on its way to upsert_calendars.sql.
type savedCalendar struct {
	Name string `json:"name"`
	At   int    `json:"at"`
	Len  int    `json:"len"`
}

// SaveCalendars implements rowwise.Calendars.
func (s *session) SaveCalendars(ctx context.Context, calendars []store.PutCalendar, revision int64, now time.Time) error {
	var pack sqlrows.Packer
	saved := make([]savedCalendar, len(calendars))
	for i, put := range calendars {
		at, length := pack.Add(put.Definition)
		saved[i] = savedCalendar{put.Name, at, length}
	}
	return s.Exec(ctx, sqlrows.UpsertCalendars, args{"calendars": sqlrows.JSON(saved), "bytes": pack.Parameter(), "revision": revision, "now": sqlrows.Micros(now)})
}
