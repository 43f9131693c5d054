package schedulefile

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
)

const withPolicies = `owner: o
calendars:
  holidays: {dates: ["12-24..12-26 Christmas", 2027-05-01], tz: Europe/Prague}
  nights: {rules: [{cron: "* 0-6 * * *"}], weekdays: [sat, "0"]}
  mornings: {rules: [{on_calendar: "Mon..Fri 0..6:0/1"}]}
schedules:
  - name: a
    every: 1 month
    start: 2027-01-31T10:00:00
    stop: 2028-01-31T10:00:00
    tz: Europe/Prague
    gap: skip
    fold: both
    kind: k
    overlap: replace
    misfire: all
    misfire_cap: 5
    grace: 10m
    window: 48h
    count: 12
    jitter: 30s
    pause_after_failures: 3
    exclude: [holidays, nights, mornings]
  - name: b
    cron: "0 30 2 ? * MON-FRI"
    dialect: quartz
    kind: k
    exclude: holidays
`

func TestPoliciesAndCalendars(t *testing.T) {
	set, err := Read("x.yaml", []byte(withPolicies))
	if err != nil {
		t.Fatal(err)
	}
	a, b := set.Entries[0].Schedule, set.Entries[1].Schedule
	if a.Overlap != hourbell.OverlapReplace || a.Misfire != hourbell.MisfireAll || a.MisfireCap != 5 || a.Count != 12 || a.PauseAfterFailures != 3 || a.Rule.Gap != "skip" {
		t.Errorf("%+v", a)
	}
	if len(a.Exclude) != 3 || len(b.Exclude) != 1 || !reflect.DeepEqual(a.Exclude[0], b.Exclude[0]) || a.Exclude[0].Dates[1] != "2027-05-01" || a.Exclude[1].Rules[0].Cron != "* 0-6 * * *" {
		t.Errorf("calendars: %+v and %+v", a.Exclude, b.Exclude)
	}
	if rules := a.Exclude[2].Rules; !reflect.DeepEqual(rules, []recur.Spec{recur.OnCalendar("Mon..Fri 0..6:0/1")}) {
		t.Errorf("a rule of systemd in a calendar: %+v", rules)
	}
	got := readBack(t, set)
	if !reflect.DeepEqual(got.Schedules(), set.Schedules()) {
		t.Errorf("written and read again: %+v, want %+v", got.Schedules(), set.Schedules())
	}
}

func TestMistakesInCalendars(t *testing.T) {
	for text, want := range map[string]string{
		"calendars: [a]\nschedules: []\n":                                                         "x.yaml:1: calendars is a list",
		"calendars:\n  c: {days: [mon]}\nschedules: []\n":                                         `days is not a key here`,
		"calendars:\n  c: {dates: [someday]}\nschedules: []\n":                                    `dates "someday": this is not a date`,
		"calendars:\n  c: {rules: [{cron: x}]}\nschedules: []\n":                                  `cron`,
		"schedules:\n  - {name: a, every: 1h, kind: k, exclude: [c, 2027-13-01]}\n":               `exclude "2027-13-01" cannot be used: dates "2027-13-01": this is not a date`,
		"calendars:\n  c: {rules: [{on_calendar: 9:00, dialect: spring}]}\nschedules: []\n":       `dialect has no meaning with on_calendar`,
		"schedules:\n  - {name: a, every: 1h, kind: k, exclude: [c, c]}\n":                        `exclude "c" is given twice`,
		"schedules:\n  - {name: a, cron: \"@reboot\", shell: x, exclude: [c]}\n":                  "exclude has no meaning for @reboot",
		"schedules:\n  - {name: a, every: 1h, kind: k, misfire: once, misfire_cap: 3}\n":          "misfire_cap",
		"schedules:\n  - {name: a, every: 1h, kind: k, grace: 48h}\n":                             "grace",
		"schedules:\n  - {name: a, every: 1h, kind: k, stop: soon}\n":                             "stop",
		"schedules:\n  - {name: a, every: 1h, kind: k, start: 2027-01-01T00:00:00Z, gap: jump}\n": "gap",
	} {
		_, err := Read("x.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

const withExclusions = `calendars:
  sat: {dates: [01-06]}
  nights: {rules: [{cron: "* 0-6 * * *"}]}
schedules:
  - {name: a, every: 1h, kind: k, exclude: [nights, holidays, sat, "sun, 12-24..12-26 Christmas", "0 9 1,15 * *"]}
  - {name: b, every: 1h, kind: k, exclude: 2027-12-25}
`

// A name that the file does not define has the same meaning as elsewhere: a
// stored calendar.
func TestExclude(t *testing.T) {
	set, err := Read("x.yaml", []byte(withExclusions))
	if err != nil {
		t.Fatal(err)
	}
	want := []hourbell.Calendar{
		{Name: "nights", CalendarSpec: recur.CalendarSpec{Rules: []recur.Spec{{Cron: "* 0-6 * * *"}}}},
		{Name: "sat", CalendarSpec: recur.CalendarSpec{Dates: []string{"01-06"}}},
		{Name: "holidays", Stored: true},
		{Name: "own", CalendarSpec: recur.CalendarSpec{Dates: []string{"12-24..12-26 Christmas"}, Weekdays: []string{"sun"}, Rules: []recur.Spec{{Cron: "0 9 1,15 * *"}}}},
	}
	if got := set.Entries[0].Exclude; !reflect.DeepEqual(got, want) {
		t.Errorf("read as %+v, want %+v", got, want)
	}
	if got := readBack(t, set); !reflect.DeepEqual(got.Schedules(), set.Schedules()) {
		t.Errorf("written and read again: %+v, want %+v", got.Schedules(), set.Schedules())
	}
}

func TestCalendarsAlone(t *testing.T) {
	calendars, err := ReadCalendars("x.yaml", []byte("calendars:\n  b: {weekdays: [sat]}\n  \"a b\": {dates: [12-25 Christmas], rules: [{every: 2 weeks, start: 2027-01-01T00:00:00Z}], tz: Europe/Prague}\n"))
	if err != nil || len(calendars) != 2 || calendars[0].Name != "a b" {
		t.Fatalf("%+v, %v", calendars, err)
	}
	again, err := ReadCalendars("y.yaml", WriteCalendars(calendars...))
	if err != nil || !reflect.DeepEqual(again, calendars) {
		t.Errorf("written and read again: %+v, %v", again, err)
	}
	for text, want := range map[string]string{
		"schedules: []\n":                       "calendars is missing",
		"[]\n":                                  "x.yaml:1: the file is a list",
		"calender: {}\n":                        `did you mean "calendars"?`,
		"calendars: {c: {dates: [2027-02-30]}}": "this is not a date",
	} {
		if _, err := ReadCalendars("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
