package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// Calendar is a named set of times at which slots do not fire.
type Calendar struct {
	Name string `json:"name"`
	recur.CalendarSpec
	// Stored reports whether this is a calendar of the store, which schedules share by name. A
	// definition contains only the name of such a calendar. CalendarSpec then contains the times
	// that it excluded when it was read.
	Stored bool `json:"-"`
}

// MarshalJSON encodes a stored calendar as its name, and any other calendar as an object. Releases
// without stored calendars cannot decode a name here, so they refuse the schedule instead of firing
// excluded slots.
func (c Calendar) MarshalJSON() ([]byte, error) {
	if c.Stored {
		return json.Marshal(c.Name)
	}
	type whole Calendar
	return json.Marshal(whole(c))
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (c *Calendar) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte(`"`)) {
		*c = Calendar{Stored: true}
		return json.Unmarshal(text, &c.Name)
	}
	type whole Calendar
	*c = Calendar{}
	return json.Unmarshal(text, (*whole)(c))
}

// StoredNames returns the names of the stored calendars that the definition excludes.
func (d Definition) StoredNames() (names []string) {
	for _, c := range d.Exclude {
		if c.Stored {
			names = append(names, c.Name)
		}
	}
	return names
}

// EncodeCalendar returns the bytes of a stored calendar; equal calendars have equal bytes.
func EncodeCalendar(spec recur.CalendarSpec) ([]byte, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("encode calendar: %w", err)
	}
	return text, nil
}

// DecodeCalendar is the inverse of EncodeCalendar. It refuses fields of newer releases, because the
// times that they exclude must not fire.
func DecodeCalendar(text []byte) (recur.CalendarSpec, error) {
	var spec recur.CalendarSpec
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&spec); err != nil {
		return recur.CalendarSpec{}, fmt.Errorf("decode calendar: %w", err)
	}
	return spec, nil
}

// StoredCalendars contains calendars of the store by name. Plans share the calendars.
type StoredCalendars map[string]StoredCalendar

// StoredCalendar is a decoded calendar of the store.
type StoredCalendar struct {
	spec     recur.CalendarSpec
	revision int64
	calendar *recur.Calendar
	err      error // why the calendar cannot be used
}

func newStoredCalendar(row store.Calendar, zones *recur.Zones) StoredCalendar {
	c := StoredCalendar{revision: row.Revision}
	if c.spec, c.err = DecodeCalendar(row.Definition); c.err == nil {
		c.calendar, c.err = zones.Calendar(c.spec)
	}
	return c
}

// NewCalendars decodes calendars of the store.
func NewCalendars(rows []store.Calendar) StoredCalendars {
	calendars := StoredCalendars{}
	calendars.update(nil, rows, nil)
	return calendars
}

// CalendarNames returns the names of the stored calendars that schedules name, in byte order. The
// caller reads these calendars after the schedules: a calendar that changes later gives its
// schedules a new revision, so that the store refuses decisions that were made with the old
// calendar.
func CalendarNames(schedules []store.Schedule) []string {
	names := map[string]bool{}
	for _, s := range schedules {
		if !bytes.Contains(s.Definition, []byte(`"exclude":`)) {
			continue
		}
		if d, err := DecodeDefinition(s.Definition); err == nil {
			for _, name := range d.StoredNames() {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// update sets the calendars of names to rows. It keeps decoded calendars whose revision has not
// changed, and removes the calendars of names that have no row.
func (c StoredCalendars) update(names []string, rows []store.Calendar, zones *recur.Zones) {
	stored := make(map[string]bool, len(rows))
	for _, row := range rows {
		stored[row.Name] = true
		if known, found := c[row.Name]; !found || known.revision != row.Revision {
			c[row.Name] = newStoredCalendar(row, zones)
		}
	}
	for _, name := range names {
		if !stored[name] {
			delete(c, name)
		}
	}
}

// Given returns the stored calendars of a definition with the times that the definition contains
// for them, for plans that are made without a store.
func Given(exclude []Calendar) StoredCalendars {
	calendars := StoredCalendars{}
	for _, c := range exclude {
		if c.Stored {
			one := StoredCalendar{spec: c.CalendarSpec}
			one.calendar, one.err = c.Calendar()
			calendars[c.Name] = one
		}
	}
	return calendars
}

// Fill returns a copy of exclude in which the stored calendars contain the times that they exclude.
func (c StoredCalendars) Fill(exclude []Calendar) []Calendar {
	filled := slices.Clone(exclude)
	for i := range filled {
		if filled[i].Stored {
			filled[i].CalendarSpec = c[filled[i].Name].spec
		}
	}
	return filled
}

// find returns the decoded calendar for a calendar of a definition.
func (c StoredCalendars) find(of Calendar, zones *recur.Zones) (*recur.Calendar, error) {
	if !of.Stored {
		return zones.Calendar(of.CalendarSpec)
	}
	stored, found := c[of.Name]
	if !found {
		return nil, fmt.Errorf("it is not stored: %w", store.ErrNotFound)
	}
	return stored.calendar, stored.err
}
