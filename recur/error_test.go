package recur

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// TestErrors lists what is refused: the field that is blamed and a word that
// the message must hold.
func TestErrors(t *testing.T) {
	huge := strings.Repeat("1,", 500_000) + "1"
	cases := []struct {
		spec  Spec
		field string
		say   string
	}{
		// none or several
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
		{Spec{Cron: "0 0 12 1 1 ? 2026"}, "cron", "years are not supported yet"},
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

		// not yet
		{Spec{Cron: "0 0 L * *"}, "cron", "not supported yet"},
		{Spec{Cron: "0 0 L-3 * *"}, "cron", "not supported yet"},
		{Spec{Cron: "0 0 LW * *"}, "cron", "not supported yet"},
		{Spec{Cron: "0 0 15W * *"}, "cron", "not supported yet"},
		{Spec{Cron: "0 0 1,15w * *"}, "cron", "not supported yet"},
		{Spec{Cron: "0 0 * * L"}, "cron", "not supported yet"},
		{Spec{Cron: "0 0 * * 5L"}, "cron", "not supported yet"},
		{Spec{Cron: "0 0 * * friL"}, "cron", "not supported yet"},
		{Spec{Cron: "0 0 * * 5#3"}, "cron", "not supported yet"},
		{Spec{Cron: "0 0 * * MON#1"}, "cron", "not supported yet"},
		{Spec{Every: "1d"}, "every", "days are calendar units, which are not supported yet"},
		{Spec{Every: "1 day"}, "every", "days"},
		{Spec{Every: "2w"}, "every", "weeks"},
		{Spec{Every: "1 month"}, "every", "months"},
		{Spec{Every: "3 Years"}, "every", "years"},
		{Spec{Cron: "@every 1d"}, "every", "not supported yet"},

		// macros
		{Spec{Cron: "@reboot"}, "cron", "crontab file"},
		{Spec{Cron: "@fortnightly"}, "cron", "no macro"},
		{Spec{Cron: "@"}, "cron", "no macro"},
		{Spec{Cron: "@daily *"}, "cron", "stands alone"},
		{Spec{Cron: "@daily 0 9 * * *"}, "cron", "stands alone"},
		{Spec{Cron: "@every"}, "cron", "takes one duration"},
		{Spec{Cron: "@every 1h 2h"}, "cron", "takes one duration"},
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
		{Spec{Every: "9999999999h"}, "every", "not a duration"},
		{Spec{Every: "1h0.0000001s"}, "every", "finer than a microsecond"},
		{Spec{Every: "90"}, "every", "not a duration"},
		{Spec{Every: " 90s"}, "every", "not a duration"},
		{Spec{Every: "d"}, "every", "not a duration"},
		{Spec{Every: "NaNs"}, "every", "not a duration"},
		{Spec{Every: "1h\x00"}, "every", "not a duration"},
		{Spec{Every: strings.Repeat("1h", 1<<19)}, "every", "longer than 64 bytes"},

		// instants
		{Spec{At: "tomorrow"}, "at", "not an RFC 3339 instant"},
		{Spec{At: "2026-03-01"}, "at", "not an RFC 3339 instant"},
		{Spec{At: "2026-02-30T09:00:00Z"}, "at", "not an RFC 3339 instant"},
		{Spec{At: "2026-03-01T25:00:00Z"}, "at", "not an RFC 3339 instant"},
		{Spec{At: "2026-03-01T09:00:00\x00"}, "at", "not an RFC 3339 instant"},
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
		{Spec{Cron: "* * * * '; DROP TABLE job; --"}, "cron", "field(s)"},
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

// checkMessage holds for every error: one short, printable line with a
// problem and a remedy.
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
		{"every 90s from", "every"},
		{"every 90s since 2026-01-01T00:00:00Z", "every"},
		{"every 90s from yesterday", "every"},
		{"every 90s from 2026-01-01T00:00:00Z now", "every"},
		{"every 1ms from 2026-01-01T00:00:00Z", "every"},
		{"every 90s from 0000-01-01T00:00:00Z", "every"},
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
