package fire

import (
	"context"
	"fmt"

	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// CalendarsOf reads the stored calendars that schedules name; it does not call the store if there
// are none. The schedules must have been read before.
func CalendarsOf(ctx context.Context, backend store.Listings, schedules []store.Schedule) (plan.StoredCalendars, error) {
	rows, err := readCalendars(ctx, backend, plan.CalendarNames(schedules))
	return plan.NewCalendars(rows), err
}

// readCalendars reads calendars by name; it does not call the store if there are no names.
func readCalendars(ctx context.Context, backend store.Listings, names []string) ([]store.Calendar, error) {
	if len(names) == 0 {
		return nil, nil
	}
	rows, err := store.List[store.Calendar](ctx, backend, store.ListRequest{Names: names, Limit: len(names)})
	if err != nil {
		return nil, fmt.Errorf("read calendars: %w", err)
	}
	return rows, nil
}
