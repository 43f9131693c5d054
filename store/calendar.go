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
	return CheckRevision(put.IfRevision, revision)
}
