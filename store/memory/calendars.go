package memory

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// putCalendars creates or changes calendars. It first checks everything and then writes, so that a refused request changes nothing.
func (s *Store) putCalendars(req store.PutRequest, now time.Time) (out store.PutResult, err error) {
	for _, put := range req.Calendars {
		row := s.calendars[put.Name]
		if err := row.CheckPut(put); err != nil {
			return out, fmt.Errorf("put calendar %q: %w", put.Name, err)
		}
		for _, schedule := range s.naming(put.Name) {
			if !row.Same(put) && !schedule.NextAt.IsZero() && !schedule.NextAt.After(now) {
				return out, fmt.Errorf("put calendar %q, schedule %q: %w", put.Name, schedule.Name, store.ErrUnsettled)
			}
		}
	}
	var changed []string
	for _, put := range req.Calendars {
		if !s.calendars[put.Name].Same(put) {
			s.putCalendar(put, now)
			out.Changed++
			changed = append(changed, put.Name)
			for _, schedule := range s.naming(put.Name) {
				if !slices.Contains(out.Revised, schedule.Name) {
					schedule.Revision++
					out.Revised = append(out.Revised, schedule.Name)
				}
			}
		}
		out.Revisions = append(out.Revisions, s.calendars[put.Name].Revision)
	}
	s.record(req.CalendarsEntry(changed, len(out.Revised)), 0, now)
	return out, nil
}

// putCalendar writes a new or changed calendar.
func (s *Store) putCalendar(put store.PutCalendar, now time.Time) {
	s.lastRevision++
	s.calendars[put.Name] = &store.Calendar{Name: put.Name, Revision: s.lastRevision, Definition: copyOf(put.Definition), UpdatedAt: now}
}

// naming returns the living schedules that name a calendar.
func (s *Store) naming(calendar string) (rows []*store.Schedule) {
	for _, row := range s.schedules {
		if row.DeletedAt.IsZero() && slices.Contains(s.named[row.ID], calendar) {
			rows = append(rows, row)
		}
	}
	return rows
}

// missingCalendar finds a calendar that a put names and that does not exist.
func (s *Store) missingCalendar(puts []store.PutSchedule) (name string, found bool) {
	for _, put := range puts {
		for _, name := range put.Calendars {
			if s.calendars[name] == nil {
				return name, true
			}
		}
	}
	return "", false
}

func (s *Store) deleteCalendars(names []string, ifRevision int64) error {
	for _, name := range names {
		switch {
		case s.calendars[name] == nil:
			return fmt.Errorf("delete calendar %q: %w", name, store.ErrNotFound)
		case len(s.naming(name)) > 0:
			return fmt.Errorf("delete calendar %q: %w", name, store.ErrInUse)
		}
		if err := store.CheckRevision(ifRevision, s.calendars[name].Revision); err != nil {
			return fmt.Errorf("delete calendar %q: %w", name, err)
		}
	}
	for _, name := range names {
		delete(s.calendars, name)
	}
	return nil
}

func (s *Store) listCalendars(req store.ListRequest) (out []store.Calendar) {
	for _, row := range s.calendars {
		if (len(req.Names) == 0 || slices.Contains(req.Names, row.Name)) && row.Name > req.After {
			calendar := *row
			calendar.Definition = copyOf(row.Definition)
			out = append(out, calendar)
		}
	}
	slices.SortFunc(out, func(a, b store.Calendar) int { return cmp.Compare(a.Name, b.Name) })
	return out[:min(len(out), req.Limit)]
}
