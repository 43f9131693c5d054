package main

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
)

// mostShownUsers is how many of the schedules that share a calendar are shown.
const mostShownUsers = 20

var calendarListing = listing[hourbell.CalendarInfo]{
	columns: []string{"NAME", "EXCLUDES", "ZONE", "REVISION", "UPDATED"},
	row: func(c hourbell.CalendarInfo) []string {
		return []string{c.Name, plain.Cut(excluded(c), 70), plain.Dash(c.Zone), fmt.Sprint(c.Revision), plain.Stamp(c.UpdatedAt)}
	},
	record: func(c hourbell.CalendarInfo) any { return newCalendarRecord(c) },
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

func printCalendar(out *bufio.Writer, c hourbell.CalendarInfo, schedules []string) {
	if len(schedules) == mostShownUsers {
		schedules = append(schedules, "…")
	}
	printFacts(out, []fact{
		{"calendar", c.Name},
		{"problem", c.Problem},
		{"revision", fmt.Sprint(c.Revision)},
		{"dates", strings.Join(c.Dates, ", ")},
		{"weekdays", strings.Join(c.Weekdays, ", ")},
		{"rules", strings.Join(ruleTexts(c), " | ")},
		{"tz", c.Zone},
		{"updated_at", plain.Stamp(c.UpdatedAt)},
		{"schedules", strings.Join(schedules, ", ")},
	})
}

// calendarRecord is a calendar in machine-readable output. Fields are only ever
// added.
type calendarRecord struct {
	Name      string     `json:"name"`
	Revision  int64      `json:"revision"`
	Dates     []string   `json:"dates"` // includes spans of dates
	Weekdays  []string   `json:"weekdays"`
	Rules     []string   `json:"rules"`
	TZ        *string    `json:"tz"`
	UpdatedAt *time.Time `json:"updated_at"`
	Problem   *string    `json:"problem"`
}

// shownCalendar is a calendar with the first schedules that exclude it.
type shownCalendar struct {
	calendarRecord
	Schedules []string `json:"schedules"`
}

func newCalendarRecord(c hourbell.CalendarInfo) calendarRecord {
	return calendarRecord{
		Name: c.Name, Revision: c.Revision, Dates: slices.Concat([]string{}, c.Dates), Weekdays: slices.Concat([]string{}, c.Weekdays),
		Rules: ruleTexts(c), TZ: orNull(c.Zone), UpdatedAt: timeOrNull(c.UpdatedAt), Problem: orNull(c.Problem),
	}
}
