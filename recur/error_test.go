package recur

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// TestErrors lists refused rules, with the field in the error and a text that
// the message must contain.
func TestErrors(t *testing.T) {
	huge := strings.Repeat("1,", 500_000) + "1"
	cases := []struct {
		spec  Spec
		field string
		say   string
	}{
		// no rule, or several rules
		{Spec{}, "cron", "no rule is given"},
		{Spec{Zone: "UTC"}, "cron", "no rule is given"},
		{Spec{Cron: "* * * * *", Every: "1h"}, "every", "cron is given too"},
		{Spec{Every: "1h", At: "2026-03-01T09:00:00Z"}, "at", "every is given too"},
		{Spec{Cron: "x", At: "y"}, "at", "exactly one"},

		// the number of fields
		{Spec{Cron: " "}, "cron", "empty"},
		{Spec{Cron: "\t\n"}, "cron", "empty"},
		{Spec{Cron: "*"}, "cron", "1 field"},
		{Spec{Cron: "* * * *"}, "cron", "4 field"},
		{Spec{Cron: "0 0 12 1 1 ? 2026"}, "cron", "dialect quartz"},
		{Spec{Cron: "* * * * * * * *"}, "cron", "8 field"},

		// out of range, field by field
		{Spec{Cron: "60 * * * * *"}, "cron", `second "60" is out of range; write 0 to 59`},
		{Spec{Cron: "60 * * * *"}, "cron", `minute "60" is out of range; write 0 to 59`},
		{Spec{Cron: "* 24 * * *"}, "cron", `hour "24" is out of range; write 0 to 23`},
		{Spec{Cron: "* * 0 * *"}, "cron", `day of month "0" is out of range; write 1 to 31`},
		{Spec{Cron: "* * 32 * *"}, "cron", `day of month "32" is out of range`},
		{Spec{Cron: "* * * 0 *"}, "cron", `month "0" is out of range; write 1 to 12`},
		{Spec{Cron: "* * * 13 *"}, "cron", `month "13" is out of range`},
		{Spec{Cron: "* * * * 8"}, "cron", `day of week "8" is out of range; write 0 to 7`},
		{Spec{Cron: "50-60 * * * *"}, "cron", "out of range"},
		{Spec{Cron: "99999999999999999999 * * * *"}, "cron", "out of range"},
		{Spec{Cron: "* * 5,40 * *"}, "cron", `"40" is out of range`},

		// the form of a field
		{Spec{Cron: "-1 * * * *"}, "cron", "minute"},
		{Spec{Cron: "+1 * * * *"}, "cron", "minute"},
		{Spec{Cron: "1.5 * * * *"}, "cron", "minute"},
		{Spec{Cron: "a * * * *"}, "cron", "is not a value of this field"},
		{Spec{Cron: "1, * * * *"}, "cron", "minute"},
		{Spec{Cron: ",1 * * * *"}, "cron", "minute"},
		{Spec{Cron: "1,,2 * * * *"}, "cron", "minute"},
		{Spec{Cron: "1- * * * *"}, "cron", "minute"},
		{Spec{Cron: "1-2-3 * * * *"}, "cron", "minute"},
		{Spec{Cron: "*-5 * * * *"}, "cron", "minute"},
		{Spec{Cron: "** * * * *"}, "cron", "minute"},
		{Spec{Cron: "*5 * * * *"}, "cron", "minute"},
		{Spec{Cron: "? * * * *"}, "cron", "minute"},
		{Spec{Cron: "* ? * * *"}, "cron", "hour"},
		{Spec{Cron: "* * * ? *"}, "cron", "month"},
		{Spec{Cron: "* * ?/2 * *"}, "cron", "day of month"},
		{Spec{Cron: "* * * JANUARY *"}, "cron", "JAN to DEC"},
		{Spec{Cron: "* * * * MONDAY"}, "cron", "SUN to SAT"},
		{Spec{Cron: "* * * MON *"}, "cron", "month"},
		{Spec{Cron: "* * JAN * *"}, "cron", "day of month"},
		{Spec{Cron: "* * JUL * *"}, "cron", "is not a value of this field"},
		{Spec{Cron: "H * * * *"}, "cron", "minute"},
		{Spec{Cron: "٣ * * * *"}, "cron", "minute"},

		// steps
		{Spec{Cron: "*/0 * * * *"}, "cron", `"*/0" has a step`},
		{Spec{Cron: "1-5/0 * * * *"}, "cron", "step"},
		{Spec{Cron: "*/ * * * *"}, "cron", "step"},
		{Spec{Cron: "*/x * * * *"}, "cron", "step"},
		{Spec{Cron: "*/-1 * * * *"}, "cron", "step"},
		{Spec{Cron: "*/2/3 * * * *"}, "cron", "step"},
		{Spec{Cron: "/5 * * * *"}, "cron", "minute"},

		// ranges that run backwards
		{Spec{Cron: "0 22-2 * * *"}, "cron", "write 22-23,0-2"},
		{Spec{Cron: "50-10 * * * *"}, "cron", "write 50-59,0-10"},
		{Spec{Cron: "0 0 28-3 * *"}, "cron", "write 28-31,1-3"},
		{Spec{Cron: "0 0 1 NOV-FEB *"}, "cron", "write 11-12,1-2"},
		{Spec{Cron: "0 0 1 DEC-JAN *"}, "cron", "write 12,1"},
		{Spec{Cron: "0 0 * * FRI-MON"}, "cron", "write 5-7,1"},
		{Spec{Cron: "0 0 * * FRI-SUN"}, "cron", "write 5-7 (7 is Sunday)"},
		{Spec{Cron: "0 0 * * 7-2"}, "cron", "write 0-2"},

		// L, W and #
		{Spec{Cron: "0 0 L-31 * *"}, "cron", "counted from the last"},
		{Spec{Cron: "0 0 L3 * *"}, "cron", "counted from the last"},
		{Spec{Cron: "0 0 L- * *"}, "cron", "counted from the last"},
		{Spec{Cron: "0 0 W * *"}, "cron", "1W to 31W"},
		{Spec{Cron: "0 0 WL * *"}, "cron", "day of month"},
		{Spec{Cron: "0 0 32W * *"}, "cron", "1W to 31W"},
		{Spec{Cron: "0 0 0W * *"}, "cron", "1W to 31W"},
		{Spec{Cron: "0 0 1-5W * *"}, "cron", "1W to 31W"},
		{Spec{Cron: "0 0 L/2 * *"}, "cron", "counted from the last"},
		{Spec{Cron: "0 0 * * SAT,SUN,L"}, "cron", "names no day of the week"},
		{Spec{Cron: "*/99999999999 * * * *"}, "cron", "a step greater than an integer; write a step of at most 59"},
		{Spec{Cron: "0 0 5#3 * *"}, "cron", "day of month"},
		{Spec{Cron: "0 0 * * L"}, "cron", "names no day of the week"},
		{Spec{Cron: "0 0 * * 8L"}, "cron", "out of range"},
		{Spec{Cron: "0 0 * * 1-5L"}, "cron", "day of week"},
		{Spec{Cron: "0 0 * * 5W"}, "cron", "day of week"},
		{Spec{Cron: "0 0 * * 5#0"}, "cron", "1 to 5"},
		{Spec{Cron: "0 0 * * 5#6"}, "cron", "1 to 5"},
		{Spec{Cron: "0 0 * * 5#"}, "cron", "1 to 5"},
		{Spec{Cron: "0 0 * * #1"}, "cron", "day of week"},
		{Spec{Cron: "0 0 * * 5#1#2"}, "cron", "1 to 5"},
		{Spec{Cron: "0 0 * * 5#1L"}, "cron", "1 to 5"},
		{Spec{Cron: "0 0 * * 8#1"}, "cron", "out of range"},
		{Spec{Cron: "L * * * *"}, "cron", "minute"},
		{Spec{Cron: "0 0 1 L *"}, "cron", "month"},

		// Quartz
		{Spec{Cron: "0 0 12 * * *", Dialect: Quartz}, "cron", "exactly one of the two"},
		{Spec{Cron: "0 0 12 ? * ?", Dialect: Quartz}, "cron", "exactly one of the two"},
		{Spec{Cron: "0 0 12 1 * MON", Dialect: Quartz}, "cron", "exactly one of the two"},
		{Spec{Cron: "0 12 * * ?", Dialect: Quartz}, "cron", "5 fields"},
		{Spec{Cron: "daily"}, "cron", "the rule has 1 field; write 5 fields"},
		{Spec{Cron: "0 0 12 ? * 0", Dialect: Quartz}, "cron", `day of week "0" is out of range; write 1 to 7`},
		{Spec{Cron: "0 0 12 ? * 8", Dialect: Quartz}, "cron", "out of range"},
		{Spec{Cron: "0 0 12 1 * ? 1969", Dialect: Quartz}, "cron", "write 1970 to 2099"},
		{Spec{Cron: "0 0 12 1 * ? 2100", Dialect: Quartz}, "cron", "write 1970 to 2099"},
		{Spec{Cron: "0 0 12 1 * ? 2030-2026", Dialect: Quartz}, "cron", "write 2026-2030"},
		{Spec{Cron: "0 0 12 1 * ? ?", Dialect: Quartz}, "cron", "year"},
		{Spec{Cron: "0 0/60 12 1 * ?", Dialect: Quartz}, "cron", "at most 59"},
		{Spec{Cron: "", Dialect: Quartz}, "cron", "no rule is given"},
		{Spec{Cron: " ", Dialect: Quartz}, "cron", "write 6 fields with seconds first, or 7 with the year last"},
		{Spec{Cron: "0 0 9 ? * 2-6 2026 7", Dialect: Quartz}, "cron", "8 fields"},

		// options
		{Spec{Cron: "@daily", Dialect: "vixie"}, "dialect", "write quartz, spring, kubernetes, eventbridge or systemd, or leave it out"},

		// Rules of other schedulers.
		{Spec{Cron: "0 5 * * * Europe/Amsterdam"}, "cron", "the last word is a time zone, not a field; take it out of cron, and give it as tz: Europe/Amsterdam"},
		{Spec{Cron: "0 0 5 * * * UTC"}, "cron", "give it as tz: UTC"},
		{Spec{Cron: "0 0 5 * * ? Europe/Amsterdam", Dialect: Quartz}, "cron", "give it as tz: Europe/Amsterdam"},
		{Spec{Cron: "0 0 5 * * * *"}, "cron", "the rule has 7 fields; drop the last field, the year: 0 0 5 * * *"},
		{Spec{Cron: "0 0 5 * * * 2027"}, "cron", "drop the last field, the year, or choose the dialect quartz"},
		{Spec{Cron: "cron(0/3 * * * ? *)"}, "cron", "this is a rule of EventBridge; choose the dialect eventbridge"},
		{Spec{Cron: "rate(5 minutes)", Dialect: Quartz}, "cron", "choose the dialect eventbridge"},
		{Spec{Cron: "0/3 * * * ? *"}, "cron", "ends with the year; choose the dialect eventbridge"},
		{Spec{Cron: "0 18 ? * MON-FRI *"}, "cron", "choose the dialect eventbridge"},
		{Spec{Cron: "at(2027-03-01T09:00:00)", Dialect: EventBridge}, "cron", "this is one instant; write at: 2027-03-01T09:00:00 in place of cron"},
		{Spec{Cron: "rate(5 weeks)", Dialect: EventBridge}, "cron", "write it like rate(5 minutes)"},
		{Spec{Cron: "rate(5)", Dialect: EventBridge}, "cron", "write it like rate(5 minutes)"},
		{Spec{Cron: "cron()", Dialect: EventBridge}, "cron", "the rule is empty; write 6 fields"},
		{Spec{Cron: "0 0 * * ?", Dialect: EventBridge}, "cron", "5 fields; write 6 fields: minute"},
		{Spec{Cron: "0 0 * * *", Dialect: Spring}, "cron", "write 6 fields with seconds first"},
		{Spec{Cron: "0 0 LW * *", Dialect: Kubernetes}, "cron", "a letter that Kubernetes does not have"},
		{Spec{Every: "1h", Dialect: Quartz}, "dialect", "for cron rules"},
		{Spec{Every: "1 day", Dialect: Quartz}, "dialect", "for cron rules"},
		{Spec{Cron: "@daily", Gap: "jump"}, "gap", "write shift or skip"},
		{Spec{Cron: "@daily", Fold: "twice"}, "fold", "write first, last or both"},
		{Spec{Every: "1h", Gap: GapSkip}, "gap", "leave it out"},
		{Spec{Every: "1h", Fold: FoldLast}, "fold", "leave it out"},
		{Spec{At: "2026-03-01T09:00:00Z", Gap: GapSkip}, "gap", "leave it out"},
		{Spec{At: "2026-03-01T09:00:00Z", Fold: FoldBoth}, "fold", "leave it out"},
		{Spec{Cron: "@daily", Start: "tomorrow"}, "start", "not an instant"},
		{Spec{Cron: "@daily", Stop: "tomorrow"}, "stop", "not an instant"},
		{Spec{Cron: "@daily", Start: "2026-03-01T09:00:00Z", Stop: "2026-03-01T08:59:59Z"}, "stop", "before the start"},

		// unions
		{Spec{Any: []Spec{{}}}, "cron", "no rule is given"},
		{Spec{Cron: "@daily", Any: []Spec{{Cron: "@daily"}}}, "any", "cron is given too"},
		{Spec{Any: []Spec{{Any: []Spec{{Cron: "@daily"}}}}}, "any", "one list"},
		{Spec{Any: []Spec{{Cron: "@daily"}}, Gap: GapSkip}, "any", "beside the rules"},
		{Spec{Any: make([]Spec, 21)}, "any", "at most 20"},
		{Spec{Any: []Spec{{Cron: "@daily"}, {Cron: "61 * * * *"}}}, "cron", "minute"},

		// intervals on the calendar
		{Spec{Every: "0 days"}, "every", "at least 1 day"},
		{Spec{Every: "-1 day"}, "every", "not a duration"},
		{Spec{Every: "1.5 days"}, "every", "not a duration"},
		{Spec{Every: "day"}, "every", "not a duration"},
		{Spec{Every: "1 fortnight"}, "every", "not a duration"},
		{Spec{Every: "1 month 2 days"}, "every", "not a duration"},
		{Spec{Every: "1201 months"}, "every", "longer than 100 years"},
		{Spec{Every: "101 years"}, "every", "longer than 100 years"},
		{Spec{Every: "36526 days"}, "every", "longer than 100 years"},
		{Spec{Every: "9223372036854775807 weeks"}, "every", "longer than 100 years"},
		{Spec{Every: "9223372036854775808 weeks"}, "every", "not a duration"},
		{Spec{Every: "9223372036854775807 hours"}, "every", "longer than 876600h"},

		// macros
		{Spec{Cron: "@reboot"}, "cron", "crontab file"},
		{Spec{Cron: "@start"}, "cron", "crontab file"},
		{Spec{Cron: "@fortnightly"}, "cron", "no macro"},
		{Spec{Cron: "@"}, "cron", "no macro"},
		{Spec{Cron: "@daily *"}, "cron", "must be the whole rule"},
		{Spec{Cron: "@daily 0 9 * * *"}, "cron", "must be the whole rule"},
		{Spec{Cron: "@every"}, "cron", "takes one duration"},
		{Spec{Cron: "@every 1h 2h"}, "every", "not a duration"},
		{Spec{Cron: "@every 1 2 3"}, "cron", "takes one duration"},
		{Spec{Cron: "@every soon"}, "every", "not a duration"},
		{Spec{Cron: "@every 1ms"}, "every", "shorter than 100ms"},

		// zones
		{Spec{Cron: "* * * * *", Zone: "Mars/Olympus"}, "tz", "no such zone"},
		{Spec{Cron: "* * * * *", Zone: "Local"}, "tz", "another one on each machine"},
		{Spec{Cron: "* * * * *", Zone: "localtime"}, "tz", "another one on each machine"},
		{Spec{Cron: "* * * * *", Zone: "right/Europe/Prague"}, "tz", "leap seconds"},
		{Spec{Cron: "* * * * *", Zone: "../../etc/passwd"}, "tz", "characters"},
		{Spec{Cron: "* * * * *", Zone: "/etc/passwd"}, "tz", "no such zone"},
		{Spec{Cron: "* * * * *", Zone: "Europe/Prague\x00"}, "tz", "characters"},
		{Spec{Cron: "* * * * *", Zone: "\xff\xfe"}, "tz", "characters"},
		{Spec{Cron: "* * * * *", Zone: "Europe /Prague"}, "tz", "characters"},
		{Spec{Cron: "* * * * *", Zone: strings.Repeat("A", 1<<20)}, "tz", "longer than 100 bytes"},
		{Spec{Every: "1h", Zone: "Nowhere"}, "tz", "no such zone"},
		{Spec{At: "2026-03-01T09:00:00Z", Zone: "Nowhere"}, "tz", "no such zone"},
		{Spec{Cron: "CRON_TZ=Nowhere * * * * *"}, "tz", "no such zone"},
		{Spec{Cron: "CRON_TZ= * * * * *"}, "tz", "empty"},
		{Spec{Cron: "CRON_TZ=UTC"}, "cron", "empty"},
		{Spec{Cron: "TZ=UTC CRON_TZ=UTC * * * * *"}, "tz", "twice"},
		{Spec{Cron: "TZ=Europe/Prague * * * * *", Zone: "Europe/London"}, "tz", "give the zone in one place"},
		{Spec{Cron: "CRON_TZ=UTC * * * * *", Zone: "Europe/London"}, "tz", "give the zone in one place"},

		// intervals
		{Spec{Every: "0"}, "every", "shorter than 100ms"},
		{Spec{Every: "-5s"}, "every", "shorter than 100ms"},
		{Spec{Every: "99ms"}, "every", "at least 100ms"},
		{Spec{Every: "876601h"}, "every", "longer than 876600h"},
		{Spec{Every: "9999999999h"}, "every", "longer than 876600h"},
		{Spec{Every: "1h0.0000001s"}, "every", "finer than a microsecond"},
		{Spec{Every: "90"}, "every", "not a duration"},
		{Spec{Every: " 90s"}, "every", "not a duration"},
		{Spec{Every: "d"}, "every", "not a duration"},
		{Spec{Every: "NaNs"}, "every", "not a duration"},
		{Spec{Every: "1h\x00"}, "every", "not a duration"},
		{Spec{Every: strings.Repeat("1h", 1<<19)}, "every", "longer than 64 bytes"},

		// instants
		{Spec{At: "tomorrow"}, "at", "not an instant"},
		{Spec{At: "2026-02-30T09:00:00Z"}, "at", "not an instant"},
		{Spec{At: "2026-03-01T25:00:00Z"}, "at", "not an instant"},
		{Spec{At: "2026-03-01T09:00:00\x00"}, "at", "not an instant"},
		{Spec{At: "0000-12-31T00:00:00Z"}, "at", "outside the years 1 to 9999"},
		{Spec{At: "9999-12-31T23:00:00-05:00"}, "at", "outside the years 1 to 9999"},
		{Spec{At: "9999-12-31T23:59:59.9999999Z"}, "at", "outside the years 1 to 9999"},
		{Spec{At: strings.Repeat("2", 1<<20)}, "at", "longer than 64 bytes"},
		{Spec{At: "2011-12-30T09:00:00", Zone: "Pacific/Apia"}, "at", "skipped that whole day"},

		// hostile text
		{Spec{Cron: huge + " * * * *"}, "cron", "longer than 1000 bytes"},
		{Spec{Cron: "* * * * *" + strings.Repeat(" ", 1<<20)}, "cron", "longer than 1000 bytes"},
		{Spec{Cron: strings.Repeat("\x00", 100)}, "cron", "1 field"},
		{Spec{Cron: "\x00 * * * *"}, "cron", "minute"},
		{Spec{Cron: "\xff\xfe\xfd * * * *"}, "cron", "minute"},
		{Spec{Cron: "* * * * '; DROP TABLE job; --"}, "cron", "fields"},
		{Spec{Cron: "1;DROP * * * *"}, "cron", "minute"},
		{Spec{Cron: "../../etc/passwd"}, "cron", "1 field"},
		{Spec{Cron: "* * * * \u202e5"}, "cron", "day of week"},
	}
	for _, c := range cases {
		rule, err := c.spec.Rule(time.Time{})
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%.80q: got rule %v and error %v", c.spec, rule, err)
			continue
		}
		if rule != nil {
			t.Errorf("%v: got a rule beside the error", err)
		}
		if e.Field != c.field || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%v: want field %s and %q", err, c.field, c.say)
		}
		if c.spec.Validate() == nil {
			t.Errorf("%v: Validate finds nothing", err)
		}
		checkMessage(t, err)
	}
}

// checkMessage checks a property of every error: it is one short, printable
// line with a problem and a remedy.
func checkMessage(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("not an *Error: %v", err)
	}
	text := err.Error()
	if e.Problem == "" || e.Remedy == "" || len(e.Value) > 64 || len(text) > 600 || !utf8.ValidString(text) {
		t.Errorf("bad message: %q", text)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("message is not printable: %q", text)
	}
}

func TestParseErrors(t *testing.T) {
	cases := []struct{ text, field string }{
		{"", "cron"},
		{"every", "every"},
		{"every 90s", "every"},
		{"every 90s from", "start"},
		{"every 90s since 2026-01-01T00:00:00Z", "every"},
		{"every 90s from yesterday", "start"},
		{"every 90s from 2026-01-01T00:00:00Z now", "every"},
		{"every 1ms from 2026-01-01T00:00:00Z", "every"},
		{"every 90s from 0000-01-01T00:00:00Z", "start"},
		{"every 90s from 2026-01-01T00:00:00Z from 2026-01-01T00:00:00Z", "start"},
		{"0 9 * * * gap", "gap"},
		{"0 9 * * * gap later", "gap"},
		{"0 9 * * * until never", "stop"},
		{"0 9 * * * |", "cron"},
		{"0 9 * * * | at", "at"},
		{strings.Repeat("@daily|", 20) + "@daily", "any"},
		{"at", "at"},
		{"at noon", "at"},
		{"EVERY 90s", "cron"},
		{"@every", "cron"},
	}
	for _, c := range cases {
		_, err := Parse(c.text)
		if err == nil {
			t.Errorf("%q: no error", c.text)
			continue
		}
		checkMessage(t, err)
		if e := err.(*Error); e.Field != c.field {
			t.Errorf("%q: %v, want field %s", c.text, err, c.field)
		}
	}
}

func TestShortenKeepsCharacters(t *testing.T) {
	for _, s := range []string{strings.Repeat("ž", 100), "a" + strings.Repeat("ž", 100), strings.Repeat("日", 99), strings.Repeat("🔔", 99)} {
		got := shorten(s)
		if !utf8.ValidString(got) || len(got) > 64 || len(got) < 58 || !strings.HasSuffix(got, "…") {
			t.Errorf("shorten: %q", got)
		}
	}
}
