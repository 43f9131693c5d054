package recur

import (
	"reflect"
	"slices"
	"testing"
)

func TestParseExclude(t *testing.T) {
	cases := []struct {
		text  string
		own   CalendarSpec
		names []string
	}{
		{"2026-12-25", CalendarSpec{Dates: []string{"2026-12-25"}}, nil},
		{"2026-12-24..2026-12-26", CalendarSpec{Dates: []string{"2026-12-24..2026-12-26"}}, nil},
		{"12-24..01-01 Around Christmas", CalendarSpec{Dates: []string{"12-24..01-01 Around Christmas"}}, nil},
		{"12-25 a name of four words", CalendarSpec{Dates: []string{"12-25 a name of four words"}}, nil},
		{"sat,sun", CalendarSpec{Weekdays: []string{"sat", "sun"}}, nil},
		{"Saturday, MON", CalendarSpec{Weekdays: []string{"sat", "mon"}}, nil},
		{"fri-mon", CalendarSpec{Weekdays: []string{"fri", "sat", "sun", "mon"}}, nil},
		{"* 0-6,12 * * *", CalendarSpec{Rules: []Spec{{Cron: "* 0-6,12 * * *"}}}, nil},
		{"0 9 1,15 * 1-5", CalendarSpec{Rules: []Spec{{Cron: "0 9 1,15 * 1-5"}}}, nil},
		{"01-05 0 9 * *", CalendarSpec{Rules: []Spec{{Cron: "01-05 0 9 * *"}}}, nil},
		{"@hourly", CalendarSpec{Rules: []Spec{{Cron: "@hourly"}}}, nil},
		{"CRON_TZ=Europe/Prague * 0-6 * * *", CalendarSpec{Rules: []Spec{{Cron: "CRON_TZ=Europe/Prague * 0-6 * * *"}}}, nil},
		{"every 2 weeks from 2026-01-05T09:00:00Z", CalendarSpec{Rules: []Spec{{Every: "2 weeks", Start: "2026-01-05T09:00:00Z"}}}, nil},
		{"at 2026-01-05T09:00:00Z", CalendarSpec{Rules: []Spec{{At: "2026-01-05T09:00:00Z"}}}, nil},
		{"sat, * 0-6 * * *", CalendarSpec{Weekdays: []string{"sat"}, Rules: []Spec{{Cron: "* 0-6 * * *"}}}, nil},
		{"holidays", CalendarSpec{}, []string{"holidays"}},
		{"Czech holidays, 2027 plan,monthly", CalendarSpec{}, []string{"Czech holidays", "2027 plan", "monthly"}},
		{
			"holidays, sat | * 0-6 * * * | 2026-12-25",
			CalendarSpec{Dates: []string{"2026-12-25"}, Weekdays: []string{"sat"}, Rules: []Spec{{Cron: "* 0-6 * * *"}}},
			[]string{"holidays"},
		},
	}
	for _, c := range cases {
		own, names, err := ParseExclude(c.text)
		if err != nil || !reflect.DeepEqual(own, c.own) || !slices.Equal(names, c.names) {
			t.Errorf("%q: %+v and %q, %v; want %+v and %q", c.text, own, names, err, c.own, c.names)
			continue
		}
		text, ok := own.Exclude()
		if empty := reflect.DeepEqual(own, CalendarSpec{}); ok == empty {
			t.Errorf("%q: written as %q, %v", c.text, text, ok)
		}
		if again, _, err := ParseExclude(text); ok && (err != nil || !reflect.DeepEqual(again, own)) {
			t.Errorf("%q: written as %q, which reads as %+v, %v", c.text, text, again, err)
		}
	}
}

func TestParseExcludeErrors(t *testing.T) {
	for text, field := range map[string]string{
		"": "exclude", "sat,": "exclude", "sat | ": "exclude", "2026-13-01": "dates", "2026-12-26..2026-12-24": "dates", "12-25..": "dates",
		"* * * *": "cron", "0 25 * * *": "cron", "every 2 weeks": "every", "at noon": "at", "@never": "cron", "sat, *": "cron",
	} {
		_, _, err := ParseExclude(text)
		if err == nil {
			t.Errorf("%q: no error", text)
			continue
		}
		checkMessage(t, err)
		if e, ok := err.(*Error); !ok || e.Field != field {
			t.Errorf("%q: %v, want field %s", text, err, field)
		}
	}
}

// TestExcludeHasNoText checks calendars that a text cannot express.
func TestExcludeHasNoText(t *testing.T) {
	for _, s := range []CalendarSpec{
		{},
		{Weekdays: []string{"sat"}, Zone: "UTC"},
		{Dates: []string{"12-25 Christmas, all of it"}},
		{Weekdays: []string{"0"}},
		{Rules: []Spec{{Any: []Spec{{Cron: "@daily"}, {Cron: "@hourly"}}}}},
	} {
		if text, ok := s.Exclude(); ok {
			t.Errorf("%+v is written as %q", s, text)
		}
	}
}
