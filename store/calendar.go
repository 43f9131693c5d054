package store

import (
	"bytes"
	"time"
)

// Calendar is the row of a calendar that schedules share by its name. Definition
// has the excluded times; drivers store it byte for byte and never read it.
type Calendar struct {
	Name string
	// Revision changes with the definition, and always to a number that is
	// greater than every number that this name had, also before it was deleted.
	Revision   int64
	Definition []byte
	UpdatedAt  time.Time
}

// PutCalendar is one calendar to be created or changed.
type PutCalendar struct {
	Name       string
	Definition []byte
	// IfRevision, if not 0, must equal the row's revision (ErrConflict). OnlyNew: no calendar may have the name.
	IfRevision int64
}

// PutCalendarsRequest creates or changes calendars, each at most once.
//
// An unchanged calendar (same definition) keeps its row as it is. A changed
// calendar gets a new revision, and so does every live schedule that names it,
// as if the schedule had been edited; except Revision, the schedules' rows stay
// as they are.
//
// It refuses, and writes nothing: ErrConflict for a wrong IfRevision (any value,
// if the calendar does not exist); ErrUnsettled if a schedule that names a
// calendar that would change is due: next_at is not after now. (PutSchedules
// moves marks, so that it can accept schedules whose next_at is not after their
// mark; PutCalendars moves no marks.)
type PutCalendarsRequest struct {
	Now       time.Time
	Calendars []PutCalendar
	By        Actor // recorded in the audit
}

// PutCalendarsResult has the result for each calendar.
type PutCalendarsResult struct {
	Revisions []int64 // in the order of the request
	Changed   int     // created or changed
	// Revised has the names of the schedules that got a new revision, in any order.
	Revised []string
}

// DeleteCalendarsRequest names calendars. It refuses, and deletes none:
// ErrNotFound for a name that does not exist, ErrInUse for a calendar that a
// live schedule names.
type DeleteCalendarsRequest struct {
	Now   time.Time // of the entry in the audit; zero: the store's clock
	Names []string
	By    Actor // recorded in the audit
}

// CalendarNames returns the names of puts.
func CalendarNames(puts []PutCalendar) []string {
	names := make([]string, len(puts))
	for i, put := range puts {
		names[i] = put.Name
	}
	return names
}

// Same reports whether a put changes nothing of c, which is nil for a name that
// does not exist.
func (c *Calendar) Same(put PutCalendar) bool {
	return c != nil && bytes.Equal(c.Definition, put.Definition)
}

// CheckPut returns why a put must be refused, whatever schedules name the
// calendar, or nil; c is nil for a name that does not exist.
func (c *Calendar) CheckPut(put PutCalendar) error {
	var revision int64
	if c != nil {
		revision = c.Revision
	}
	return checkRevision(put.IfRevision, revision)
}
