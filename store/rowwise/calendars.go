package rowwise

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// putCalendars creates or changes calendars. Its number of
// statements does not depend on how many schedules name them.
func putCalendars(ctx context.Context, tx Tx, req store.PutRequest, now time.Time) (out store.PutResult, err error) {
	if len(req.Calendars) == 0 {
		return out, nil
	}
	names := store.CalendarNames(req.Calendars)
	known, err := tx.LockCalendars(ctx, names)
	if err != nil {
		return out, err
	}
	last, err := tx.LockRevision(ctx)
	if err != nil {
		return out, err
	}
	var changed []store.PutCalendar
	for _, put := range req.Calendars {
		row := known[put.Name]
		if err := row.CheckPut(put); err != nil {
			return out, fmt.Errorf("calendar %q: %w", put.Name, err)
		}
		if row.Same(put) {
			out.Revisions = append(out.Revisions, row.Revision)
			continue
		}
		changed = append(changed, put)
		out.Revisions = append(out.Revisions, last+1)
	}
	if len(changed) == 0 {
		return out, nil
	}
	out.Changed = len(changed)
	if out.Revised, err = saveCalendars(ctx, tx, changed, last+1, now); err != nil {
		return out, err
	}
	return out, Record(ctx, tx, req.CalendarsEntry(store.CalendarNames(changed), len(out.Revised)), now)
}

// saveCalendars gives calendars this revision and the schedules that name them their next one,
// unless a schedule is due, and returns the names of the schedules.
func saveCalendars(ctx context.Context, tx Tx, puts []store.PutCalendar, revision int64, now time.Time) (schedules []string, err error) {
	names := store.CalendarNames(puts)
	users, err := tx.LockCalendarUsers(ctx, names)
	if err != nil {
		return nil, err
	}
	for _, user := range users {
		if !user.NextAt.IsZero() && !user.NextAt.After(now) {
			return nil, fmt.Errorf("schedule %q, which names it: %w", user.Schedule, store.ErrUnsettled)
		}
		schedules = append(schedules, user.Schedule)
	}
	slices.Sort(schedules)
	schedules = slices.Compact(schedules)
	if len(schedules) > 0 {
		if err := tx.ReviseSchedules(ctx, schedules); err != nil {
			return nil, err
		}
	}
	if err := tx.SaveCalendars(ctx, puts, revision, now); err != nil {
		return nil, err
	}
	return schedules, tx.RaiseRevision(ctx, revision)
}

func deleteCalendars(ctx context.Context, tx Tx, req store.DeleteRequest, now time.Time) error {
	if len(req.Names) == 0 {
		return nil
	}
	known, err := tx.LockCalendars(ctx, req.Names)
	if err != nil {
		return err
	}
	users, err := tx.LockCalendarUsers(ctx, req.Names)
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, user := range users {
		used[user.Calendar] = true
	}
	for _, name := range req.Names {
		switch {
		case known[name] == nil:
			return fmt.Errorf("calendar %q: %w", name, store.ErrNotFound)
		case used[name]:
			return fmt.Errorf("calendar %q: %w", name, store.ErrInUse)
		}
		if err := store.CheckRevision(req.IfRevision, known[name].Revision); err != nil {
			return fmt.Errorf("calendar %q: %w", name, err)
		}
	}
	if err := tx.DeleteCalendars(ctx, req.Names); err != nil {
		return err
	}
	return Record(ctx, tx, req.Entry(), now)
}
