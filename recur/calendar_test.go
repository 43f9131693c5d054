package recur

import (
	"strings"
	"testing"
	"time"
)

// TestCalendarExcludes compares the reason for each instant; an empty reason
// means that the instant is not excluded.
func TestCalendarExcludes(t *testing.T) {
	holidays := CalendarSpec{Dates: []string{"2026-04-06 Easter Monday", "12-24..12-26 Christmas", "2026-12-28..2027-01-02", "02-29", "11-30..01-01"}}
	cases := []struct {
		spec CalendarSpec
		at   string
		want string
	}{
		{holidays, "2026-04-06T00:00:00Z", "date 2026-04-06 Easter Monday"},
		{holidays, "2026-04-06T23:59:59.999999Z", "date 2026-04-06 Easter Monday"},
		{holidays, "2026-04-07T00:00:00Z", ""},
		{holidays, "2026-04-05T23:59:59Z", ""},
		{holidays, "2027-04-06T12:00:00Z", ""},
		{holidays, "2030-12-25T12:00:00Z", "date 12-24..12-26 Christmas"},
		{holidays, "2027-01-02T12:00:00Z", "date 2026-12-28..2027-01-02"},
		{holidays, "2028-01-02T12:00:00Z", ""},
		{holidays, "2028-01-01T12:00:00Z", "date 11-30..01-01"},
		{holidays, "2028-11-30T12:00:00Z", "date 11-30..01-01"},
		{holidays, "2028-11-29T12:00:00Z", ""},
		{holidays, "2028-02-29T12:00:00Z", "date 02-29"},

		{CalendarSpec{Weekdays: []string{"sat", "Sunday"}}, "2026-03-01T12:00:00Z", "weekday Sunday"},
		{CalendarSpec{Weekdays: []string{"6", "7"}}, "2026-02-28T12:00:00Z", "weekday Saturday"},
		{CalendarSpec{Weekdays: []string{"6", "7"}}, "2026-03-02T12:00:00Z", ""},

		// The zone is the zone of the instant, unless the calendar has its own.
		{CalendarSpec{Weekdays: []string{"sat"}}, "2026-02-28T01:00:00+02:00", "weekday Saturday"},
		{CalendarSpec{Weekdays: []string{"sat"}, Zone: "UTC"}, "2026-02-28T01:00:00+02:00", ""},
		{CalendarSpec{Weekdays: []string{"sat"}, Zone: "Europe/Prague"}, "2026-02-27T23:30:00Z", "weekday Saturday"},

		// A cron rule excludes its whole minute or second, other rules only the
		// instant.
		{CalendarSpec{Rules: []Spec{{Cron: "* 0-6 * * *"}}}, "2026-03-01T06:59:59.9Z", "rule * 0-6 * * *"},
		{CalendarSpec{Rules: []Spec{{Cron: "* 0-6 * * *"}}}, "2026-03-01T07:00:00Z", ""},
		{CalendarSpec{Rules: []Spec{{Cron: "* 0-6 * * *"}}, Zone: "Europe/Prague"}, "2026-03-01T06:30:00Z", ""},
		{CalendarSpec{Rules: []Spec{{Cron: "30 0 9 * * *"}}}, "2026-03-01T09:00:30.5Z", "rule 30 0 9 * * *"},
		{CalendarSpec{Rules: []Spec{{Cron: "30 0 9 * * *"}}}, "2026-03-01T09:00:31Z", ""},
		{CalendarSpec{Rules: []Spec{{Cron: "0 9 * * *", Stop: "2026-03-01T09:00:00Z"}}}, "2026-03-01T09:00:59Z", "rule 0 9 * * * until 2026-03-01T09:00:00Z"},
		{CalendarSpec{Rules: []Spec{{Cron: "0 9 * * *", Stop: "2026-03-01T09:00:00Z"}}}, "2026-03-02T09:00:59Z", ""},
		{CalendarSpec{Rules: []Spec{{Every: "2 weeks", Start: "2026-03-01T09:00:00Z"}}}, "2026-03-15T09:00:00Z", "rule every 2 weeks from 2026-03-01T09:00:00Z"},
		{CalendarSpec{Rules: []Spec{{Every: "2 weeks", Start: "2026-03-01T09:00:00Z"}}}, "2026-03-15T09:00:01Z", ""},
		{CalendarSpec{Rules: []Spec{{Any: []Spec{{Cron: "0 9 * * *"}, {At: "2026-03-01T10:00:00Z"}}}}}, "2026-03-01T10:00:00Z", "rule at 2026-03-01T10:00:00Z"},
		{CalendarSpec{}, "2026-03-01T10:00:00Z", ""},
	}
	for _, c := range cases {
		calendar, err := c.spec.Calendar()
		if err != nil {
			t.Error(err)
			continue
		}
		why, excluded := calendar.Excludes(mustTime(t, c.at))
		if why != c.want || excluded != (c.want != "") {
			t.Errorf("%+v: %s: got %q, %v, want %q", c.spec, c.at, why, excluded, c.want)
		}
	}
}

func TestCalendarErrors(t *testing.T) {
	cases := []struct {
		spec  CalendarSpec
		field string
		say   string
	}{
		{CalendarSpec{Dates: []string{""}}, "dates", "not a date"},
		{CalendarSpec{Dates: []string{"Christmas"}}, "dates", "not a date"},
		{CalendarSpec{Dates: []string{"2026-02-29"}}, "dates", "not a date"},
		{CalendarSpec{Dates: []string{"02-30"}}, "dates", "not a date"},
		{CalendarSpec{Dates: []string{"0000-01-01"}}, "dates", "not a date"},
		{CalendarSpec{Dates: []string{"2026-01-01..02-01"}}, "dates", "one end"},
		{CalendarSpec{Dates: []string{"2026-01-02..2026-01-01"}}, "dates", "backwards"},
		{CalendarSpec{Dates: []string{"2026-01-02.."}}, "dates", "not a date"},
		{CalendarSpec{Dates: []string{"12-25 " + strings.Repeat("x", 300)}}, "dates", "300 bytes"},
		{CalendarSpec{Dates: make([]string, MaxDates+1)}, "dates", "at most 2000"},
		{CalendarSpec{Weekdays: []string{"8"}}, "weekdays", "no such day"},
		{CalendarSpec{Weekdays: []string{"mo"}}, "weekdays", "no such day"},
		{CalendarSpec{Rules: make([]Spec, MaxRules+1)}, "rules", "at most 20"},
		{CalendarSpec{Rules: []Spec{{Cron: "* * *"}}}, "cron", "3 field"},
		{CalendarSpec{Rules: []Spec{{Every: "1h"}}}, "start", "has no start"},
		{CalendarSpec{Rules: []Spec{{Any: []Spec{{Cron: "@daily"}, {Every: "1 day"}}}}}, "start", "has no start"},
		{CalendarSpec{Zone: "Nowhere"}, "tz", "no such zone"},
	}
	for _, c := range cases {
		err := c.spec.Validate()
		if err == nil {
			t.Errorf("%.80v: no error", c.spec)
			continue
		}
		checkMessage(t, err)
		if e := err.(*Error); e.Field != c.field || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%v: want field %s and %q", err, c.field, c.say)
		}
	}
}

func TestNextOpen(t *testing.T) {
	calendar := func(s CalendarSpec) *Calendar {
		c, err := s.Calendar()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	weekends := calendar(CalendarSpec{Weekdays: []string{"sat", "sun"}})
	christmas := calendar(CalendarSpec{Dates: []string{"12-24..12-26"}})
	nights := calendar(CalendarSpec{Rules: []Spec{{Cron: "* 0-5 * * *"}}})
	allWeek := calendar(CalendarSpec{Weekdays: []string{"0", "1", "2", "3", "4", "5", "6"}})
	cases := []struct {
		rule, after, want string
		calendars         []*Calendar
	}{
		{"0 9 * * *", "2026-02-27T09:00:00Z", "2026-03-02T09:00:00Z", []*Calendar{weekends}},
		{"0 9 * * *", "2026-12-23T09:00:00Z", "2026-12-28T09:00:00Z", []*Calendar{weekends, christmas}},
		{"0 9 * * *", "2026-12-23T09:00:00Z", "2026-12-24T09:00:00Z", nil},
		{"* * * * * *", "2026-02-27T23:59:59Z", "2026-03-02T00:00:00Z", []*Calendar{weekends}},
		{"*/10 * * * *", "2026-02-27T23:59:59Z", "2026-03-02T06:00:00Z", []*Calendar{weekends, nights}},
		{"at 2026-12-24T00:00:00Z", "2026-01-01T00:00:00Z", "", []*Calendar{christmas}},
		{"0 0 30 2 *", "2026-01-01T00:00:00Z", "", []*Calendar{christmas}},
		{"CRON_TZ=Pacific/Apia * * * * * *", "2011-12-30T09:59:58Z", "2011-12-30T10:00:00Z", []*Calendar{calendar(CalendarSpec{Dates: []string{"2011-12-29"}})}},
	}
	for _, c := range cases {
		got, found := NextOpen(mustRule(t, c.rule), mustTime(t, c.after), c.calendars...)
		if found != (c.want != "") || found && !got.Equal(mustTime(t, c.want)) || !found && !got.IsZero() {
			t.Errorf("%s after %s: got %s, %v, want %s", c.rule, c.after, got, found, c.want)
		}
	}
	got, found := NextOpen(mustRule(t, "* * * * * *"), mustTime(t, "2026-01-01T00:00:00Z"), allWeek)
	if found || got.Before(year(2028)) || got.After(year(2029)) {
		t.Errorf("everything is excluded, but got %s, %v", got, found)
	}
}

func TestClockChanges(t *testing.T) {
	cases := []struct {
		rule, after, until string
		want               string // the texts, one per line
	}{
		{
			"CRON_TZ=America/New_York 30 2 * * *", "2024-01-01T00:00:00Z", "2024-12-31T00:00:00Z",
			"2024-03-10T03:00:00-04:00 the clock goes from 2024-03-10 02:00 to 03:00: 02:30 is skipped and rings once, right after",
		},
		{
			"CRON_TZ=America/New_York 30 1 * * * gap skip", "2024-01-01T00:00:00Z", "2024-12-31T00:00:00Z",
			"2024-11-03T01:00:00-05:00 the clock goes from 2024-11-03 02:00 to 01:00: 01:30 is shown twice and rings the first time",
		},
		{
			"CRON_TZ=America/New_York */10 1-2 * * *", "2024-01-01T00:00:00Z", "2024-12-31T00:00:00Z",
			"2024-03-10T03:00:00-04:00 the clock goes from 2024-03-10 02:00 to 03:00: 6 times from 02:00 to 02:50 are skipped and do not ring\n" +
				"2024-11-03T01:00:00-05:00 the clock goes from 2024-11-03 02:00 to 01:00: 6 times from 01:00 to 01:50 are shown twice and ring each time",
		},
		{
			"CRON_TZ=Pacific/Apia 0 9 * * *", "2011-12-01T00:00:00Z", "2011-12-31T00:00:00Z",
			"2011-12-31T00:00:00+14:00 the clock goes from 2011-12-30 00:00 to 2011-12-31 00:00: 2011-12-30 09:00 is skipped and does not ring",
		},
		{
			"every 1 day from 2018-11-01T03:30:00Z tz America/Sao_Paulo fold last | every 1 day from 2018-01-01T01:30:00Z tz America/Sao_Paulo fold last", "2018-01-01T00:00:00Z", "2018-12-31T00:00:00Z",
			"2018-02-17T23:00:00-03:00 the clock goes from 2018-02-18 00:00 to 2018-02-17 23:00: 23:30 is shown twice and rings the last time\n" +
				"2018-11-04T01:00:00-02:00 the clock goes from 2018-11-04 00:00 to 01:00: 00:30 is skipped and rings once, right after",
		},
		{"CRON_TZ=America/New_York 30 2 * * * from 2024-03-10T08:00:00Z", "2024-01-01T00:00:00Z", "2024-12-31T00:00:00Z", ""},
		{"CRON_TZ=America/New_York 30 2 * * * until 2024-03-10T06:59:59Z", "2024-01-01T00:00:00Z", "2024-12-31T00:00:00Z", ""},
		{"CRON_TZ=America/New_York 0 9 * * *", "2024-01-01T00:00:00Z", "2030-12-31T00:00:00Z", ""},
		{"every 1h from 2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z", "2030-12-31T00:00:00Z", ""},
	}
	for _, c := range cases {
		var lines []string
		for _, change := range ClockChanges(mustRule(t, c.rule), mustTime(t, c.after), mustTime(t, c.until), 10) {
			lines = append(lines, change.At.Format(time.RFC3339)+" "+change.Text)
		}
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.rule, got, c.want)
		}
	}
	all := ClockChanges(mustRule(t, "CRON_TZ=Europe/London 30 1 * * *"), year(1), year(9999), 7)
	if len(all) != 7 {
		t.Errorf("asked for 7 changes, got %d", len(all))
	}
}
