package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
)

// MostCalendarUsers is how many of the schedules that share a calendar are shown.
const MostCalendarUsers = 20

// CalendarListing shows calendars.
func CalendarListing() Listing[hourbell.CalendarInfo] {
	return Listing[hourbell.CalendarInfo]{
		Columns: []string{"NAME", "EXCLUDES", "ZONE", "REVISION", "UPDATED"},
		Minor:   []string{"UPDATED", "REVISION"},
		Row: func(c hourbell.CalendarInfo) []string {
			return []string{c.Name, excluded(c), plain.Dash(c.Zone), fmt.Sprint(c.Revision), plain.Stamp(c.UpdatedAt)}
		},
		Record: func(c hourbell.CalendarInfo) any { return NewCalendarRecord(c) },
	}
}

// excluded returns the times that a calendar excludes in one line.
func excluded(c hourbell.CalendarInfo) string {
	parts := slices.Concat(c.Dates, c.Weekdays, ruleTexts(c))
	switch {
	case c.Problem != "":
		return "broken: " + c.Problem
	case len(parts) == 0:
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

func ruleTexts(c hourbell.CalendarInfo) []string {
	texts := []string{}
	for _, rule := range c.Rules {
		texts = append(texts, rule.String())
	}
	return texts
}

// CalendarFacts returns the facts about a calendar and the first schedules that
// exclude it, at most MostCalendarUsers.
func CalendarFacts(c hourbell.CalendarInfo, schedules []string) []Fact {
	if len(schedules) == MostCalendarUsers {
		schedules = append(schedules, "…")
	}
	return []Fact{
		{"calendar", c.Name},
		{"problem", c.Problem},
		{"revision", fmt.Sprint(c.Revision)},
		{"dates", strings.Join(c.Dates, ", ")},
		{"weekdays", strings.Join(c.Weekdays, ", ")},
		{"rules", strings.Join(ruleTexts(c), " | ")},
		{"tz", c.Zone},
		{"updated_at", plain.Stamp(c.UpdatedAt)},
		{"schedules", strings.Join(schedules, ", ")},
	}
}

// CalendarRecord is a calendar in machine-readable output. Fields are only ever
// added.
type CalendarRecord struct {
	Name      string     `json:"name"`
	Revision  int64      `json:"revision"`
	Dates     []string   `json:"dates"` // includes spans of dates
	Weekdays  []string   `json:"weekdays"`
	Rules     []string   `json:"rules"`
	TZ        *string    `json:"tz"`
	UpdatedAt *time.Time `json:"updated_at"`
	Problem   *string    `json:"problem"`
}

// CalendarUsersRecord is a calendar with the first schedules that exclude it.
type CalendarUsersRecord struct {
	CalendarRecord
	Schedules []string `json:"schedules"`
}

// NewCalendarRecord returns the record of a calendar.
func NewCalendarRecord(c hourbell.CalendarInfo) CalendarRecord {
	return CalendarRecord{
		Name: c.Name, Revision: c.Revision, Dates: slices.Concat([]string{}, c.Dates), Weekdays: slices.Concat([]string{}, c.Weekdays),
		Rules: ruleTexts(c), TZ: orNull(c.Zone), UpdatedAt: timeOrNull(c.UpdatedAt), Problem: orNull(c.Problem),
	}
}
