package store

import (
	"bytes"
	"time"
)

// Calendar is a row of a calendar that schedules share by its name. What it
// excludes is in Definition, which drivers keep byte for byte and never read.
type Calendar struct {
	Name string
	// Revision changes with the definition, and always to a number that is greater
	// than every one that this name had, also before it was deleted.
	Revision   int64
	Definition []byte
	UpdatedAt  time.Time
}

// PutCalendar is one calendar to be created or changed.
type PutCalendar struct {
	Name       string
	Definition []byte
	// IfRevision, if not 0, must equal the row's revision (ErrConflict).
	IfRevision int64
}

// PutCalendarsRequest creates or changes calendars, each at most once.
//
// An unchanged one (same definition) keeps its row as it is. A changed one gets a
// new revision, and so does every living schedule that names it, as if it had been
// edited itself; but for Revision the schedules' rows stay as they are.
//
// It refuses, and writes nothing: ErrConflict for a wrong IfRevision (any, if the
// calendar does not exist); ErrUnsettled where a schedule that names a calendar
// that would change is due: next_at is not after now. (A put moves the marks of
// schedules and can leave those alone whose next_at is not after mark; this does
// not.)
type PutCalendarsRequest struct {
	Now       time.Time
	Calendars []PutCalendar
}

// PutCalendarsResult tells what happened to each.
type PutCalendarsResult struct {
	Revisions []int64 // in the order of the request
	Changed   int     // created or changed
	// FiredTo is the latest Schedule.FiredTo of schedules that got a new revision.
	FiredTo time.Time
}

// DeleteCalendarsRequest names calendars. It refuses, and deletes none:
// ErrNotFound for a name that is not there, ErrInUse for one that a living
// schedule names.
type DeleteCalendarsRequest struct {
	Names []string
}

// ListCalendarsRequest selects calendars. Conditions that are given must all hold.
type ListCalendarsRequest struct {
	Names []string
	After string // only names after this one, in byte order
	Limit int    // at least 1
}

// Same says whether a put changes nothing of c, which is nil for a name that is
// not there.
func (c *Calendar) Same(put PutCalendar) bool {
	return c != nil && bytes.Equal(c.Definition, put.Definition)
}

// CheckPut returns why a put must be refused, whatever schedules name the
// calendar, or nil; c is nil for a name that is not there.
func (c *Calendar) CheckPut(put PutCalendar) error {
	if put.IfRevision != 0 && (c == nil || c.Revision != put.IfRevision) {
		return ErrConflict
	}
	return nil
}
