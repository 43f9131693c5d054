package recur

import (
	"encoding/json"
	"math"
	"sync"
	"testing"
	"time"
)

var (
	anchor      = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	lastMicro   = time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)
	extremes    = []time.Time{{}, time.Unix(math.MinInt64, 0), time.Unix(math.MaxInt64, 0), time.Unix(math.MinInt64/2, 999), time.Unix(math.MaxInt64/2, 999), year(-1_000_000), year(-1), year(0), year(1), year(9999), year(10_000), year(1_000_000), lastMicro}
	sampleRules = []string{
		"* * * * *", "* * * * * *", "0 9 * * *", "@yearly", "0 0 29 2 */7", "0 0 30 2 *", "CRON_TZ=America/New_York 30 2 * * *",
		"CRON_TZ=Pacific/Apia */5 * * * *", "CRON_TZ=Asia/Tokyo 59 59 23 31 12 *",
		"0 0 15W * FRI#3", "0 0 L-3W 2 5L", "CRON_TZ=America/New_York */5 2 8-14 3 */7",
		"CRON_TZ=America/New_York 30 1 * * * gap skip fold last", "CRON_TZ=Europe/London 30 1 25-31 3 */7 gap skip fold first",
		"CRON_TZ=Pacific/Apia 30 3 * * * gap shift fold both", "0 0 0 1 1 ? 2026/4 dialect quartz",
		"every 100ms from 0001-01-01T00:00:00Z", "every 876600h from 9999-12-31T23:59:59Z",
		"every 1 day from 0001-01-01T00:00:00Z tz Pacific/Apia", "every 1 month from 2024-02-29T07:30:00Z tz America/New_York fold both",
		"every 100 years from 9999-01-01T00:00:00Z", "every 1 month from 2026-01-10T07:30:00Z tz America/New_York gap skip until 2030-01-01T00:00:00Z",
		"at 2026-03-01T09:00:00Z", "at 0001-01-01T00:00:00Z", "0 9 * * * from 2026-03-01T09:00:00Z until 2027-03-01T09:00:00Z",
		"0 9 * * 1-5 | CRON_TZ=Asia/Tokyo 0 12 * * 6 until 2026-05-01T00:00:00Z | every 90s from 2026-01-01T00:00:00Z",
	}
)

func year(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }

func TestEvery(t *testing.T) {
	cases := []struct {
		every, anchor, after, want string
	}{
		{"90s", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-01T00:01:30Z"},
		{"90s", "2026-01-01T00:00:00Z", "2026-01-01T00:01:29.999999999Z", "2026-01-01T00:01:30Z"},
		{"90s", "2026-01-01T00:00:00Z", "2026-01-01T00:01:30Z", "2026-01-01T00:03:00Z"},
		{"90s", "2026-01-01T00:00:00Z", "2025-06-01T00:00:00Z", "2026-01-01T00:00:00Z"},
		{"90s", "2026-01-01T00:00:00Z", "2025-12-31T23:59:59.999999999Z", "2026-01-01T00:00:00Z"},
		{"100ms", "2026-01-01T00:00:00.05Z", "2026-01-01T00:00:00.1Z", "2026-01-01T00:00:00.15Z"},
		{"7h", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-02T04:00:00Z"},
		{"1h30m", "2026-01-01T02:00:00+02:00", "2026-01-01T00:00:00Z", "2026-01-01T01:30:00Z"},
		{"24h", "2024-03-09T12:00:00-05:00", "2024-03-10T12:00:00-04:00", "2024-03-10T17:00:00Z"},
		{"150ms", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.1Z"},
		{"876600h", "1900-01-01T00:00:00Z", "1950-01-01T00:00:00Z", "2000-01-02T00:00:00Z"},
		{"876600h", "2026-01-01T00:00:00Z", "9970-01-01T00:00:00Z", ""},
		{"1s", "2026-01-01T00:00:00.0000001Z", "2026-01-01T00:00:01Z", "2026-01-01T00:00:01.000001Z"},
	}
	for _, c := range cases {
		rule, err := Spec{Every: c.every}.Rule(mustTime(t, c.anchor))
		if err != nil {
			t.Error(err)
			continue
		}
		got := rule.Next(mustTime(t, c.after))
		if c.want == "" {
			if !got.IsZero() {
				t.Errorf("%s: after %s got %s, want none", rule, c.after, got)
			}
		} else if !got.Equal(mustTime(t, c.want)) {
			t.Errorf("%s: after %s got %s, want %s", rule, c.after, got.Format(time.RFC3339Nano), c.want)
		}
	}
}

func TestEveryAnchorOutOfRange(t *testing.T) {
	for _, far := range []time.Time{year(0), year(10_000), year(-1_000_000), year(1_000_000), time.Unix(math.MaxInt64, 0)} {
		_, err := newEvery(time.Hour, "1h", far)
		if err == nil {
			t.Errorf("anchor %s: no error", far)
			continue
		}
		checkMessage(t, err)
	}
}

func TestAt(t *testing.T) {
	cases := []struct{ at, zone, want string }{
		{"2026-03-01T09:00:00Z", "", "2026-03-01T09:00:00Z"},
		{"2026-03-01T09:00:00+02:00", "", "2026-03-01T07:00:00Z"},
		{"2026-03-01T09:00:00+02:00", "America/New_York", "2026-03-01T07:00:00Z"},
		{"2026-03-01T09:00:00", "", "2026-03-01T09:00:00Z"},
		{"2026-03-01T09:00:00", "Europe/Prague", "2026-03-01T08:00:00Z"},
		{"2026-07-01T09:00:00.25", "Europe/Prague", "2026-07-01T07:00:00.25Z"},
		{"2026-03-01T09:00:00.0000001Z", "", "2026-03-01T09:00:00.000001Z"},
		{"2024-03-10T02:30:00", "America/New_York", "2024-03-10T07:00:00Z"}, // in a gap: the first instant after it
		{"2024-11-03T01:30:00", "America/New_York", "2024-11-03T05:30:00Z"}, // shown twice: the first instant
		{"2018-11-04T00:00:00", "America/Sao_Paulo", "2018-11-04T03:00:00Z"},
		{"2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00:00Z"},
		{"2026-03-01 09:00", "Europe/Prague", "2026-03-01T08:00:00Z"},
		{"2026-03-01T09:00", "", "2026-03-01T09:00:00Z"},
		{"2026-03-01 09:00:30", "Europe/Prague", "2026-03-01T08:00:30Z"},
		{"2026-03-01 09:00+02:00", "", "2026-03-01T07:00:00Z"},
		{"2026-03-01 09:00:00Z", "Europe/Prague", "2026-03-01T09:00:00Z"},
		{"2011-12-31T00:00:00", "Pacific/Apia", "2011-12-30T10:00:00Z"},
	}
	for _, c := range cases {
		rule, err := Spec{At: c.at, Zone: c.zone}.Rule(anchor)
		if err != nil {
			t.Error(err)
			continue
		}
		want := mustTime(t, c.want)
		if got := rule.Next(want.Add(-1)); !got.Equal(want) {
			t.Errorf("%s %s: got %s, want %s", c.at, c.zone, got, c.want)
		}
		if got := rule.Next(want); !got.IsZero() {
			t.Errorf("%s rings again at %s", rule, got)
		}
	}
}

func TestAtOutOfRangeNeverRings(t *testing.T) {
	for _, far := range []time.Time{{}, year(0), year(10_000), lastMicro.Add(1), time.Unix(math.MaxInt64, 0)} {
		for _, after := range extremes {
			if next := newAt(far).Next(after); !next.IsZero() {
				t.Errorf("newAt(%s) rings at %s", far, next)
			}
		}
	}
	if got := newAt(lastMicro).Next(anchor); !got.Equal(lastMicro) {
		t.Errorf("the last instant: got %s", got)
	}
}

// TestStringParsesBack compares the canonical text of each form.
func TestStringParsesBack(t *testing.T) {
	cases := []struct {
		spec Spec
		want string
	}{
		{Spec{Cron: "  0\t9 * *\n1-5 "}, "0 9 * * 1-5"},
		{Spec{Cron: "0 9 * * mon-FRI"}, "0 9 * * mon-FRI"},
		{Spec{Cron: "0 9 * * 1-5", Zone: "Europe/Prague"}, "CRON_TZ=Europe/Prague 0 9 * * 1-5"},
		{Spec{Cron: "TZ=Europe/Prague 0 9 * * 1-5"}, "CRON_TZ=Europe/Prague 0 9 * * 1-5"},
		{Spec{Cron: "CRON_TZ=Europe/Prague 0 9 * * 1-5", Zone: "Europe/Prague"}, "CRON_TZ=Europe/Prague 0 9 * * 1-5"},
		{Spec{Cron: "CRON_TZ=UTC 0 9 * * *"}, "0 9 * * *"},
		{Spec{Cron: "0 9 * * *", Zone: "Etc/UTC"}, "CRON_TZ=Etc/UTC 0 9 * * *"},
		{Spec{Cron: "@Daily", Zone: "Asia/Tokyo"}, "CRON_TZ=Asia/Tokyo @daily"},
		{Spec{Cron: "0 0 ? * 7"}, "0 0 ? * 7"},
		{Spec{Cron: "@every 1h30m"}, "every 90m from 2026-01-01T00:00:00Z"},
		{Spec{Every: "90s"}, "every 90s from 2026-01-01T00:00:00Z"},
		{Spec{Every: "1.5s", Zone: "Asia/Tokyo"}, "every 1500ms from 2026-01-01T00:00:00Z"},
		{Spec{Every: "100.001ms"}, "every 100001us from 2026-01-01T00:00:00Z"},
		{Spec{Every: "48h"}, "every 48h from 2026-01-01T00:00:00Z"},
		{Spec{At: "2026-03-01T09:00:00", Zone: "Europe/Prague"}, "at 2026-03-01T08:00:00Z"},
		{Spec{At: "2026-03-01T09:00:00.5+01:00"}, "at 2026-03-01T08:00:00.5Z"},
		{Spec{Cron: "0 0 9 ? * 2-6", Dialect: Quartz, Zone: "Europe/Prague"}, "CRON_TZ=Europe/Prague 0 0 9 ? * 2-6 dialect quartz"},
		{Spec{Cron: "@Daily", Dialect: Quartz}, "@daily dialect quartz"},
		{Spec{Cron: " cron(0/3  * * * ? *) ", Dialect: EventBridge}, "0/3 * * * ? * dialect eventbridge"},
		{Spec{Cron: "0 9 15w * fri#2", Fold: FoldLast, Gap: GapSkip}, "0 9 15w * fri#2 gap skip fold last"},
		{Spec{Cron: "0 9 * * *", Zone: "Europe/Prague", Start: "2026-03-01T00:00:00", Stop: "2026-04-01T00:00:00"}, "CRON_TZ=Europe/Prague 0 9 * * * from 2026-02-28T23:00:00Z until 2026-03-31T22:00:00Z"},
		{Spec{Cron: "CRON_TZ=Europe/Prague 0 9 * * *", Start: "2026-03-01T00:00:00"}, "CRON_TZ=Europe/Prague 0 9 * * * from 2026-02-28T23:00:00Z"},
		{Spec{Cron: "@every 1 month", Zone: "Europe/Prague"}, "every 1 month from 2026-01-01T00:00:00Z tz Europe/Prague"},
		{Spec{Cron: "@every 90s", Start: "2026-02-01T00:00:00Z"}, "every 90s from 2026-02-01T00:00:00Z"},
		{Spec{Every: "90 seconds"}, "every 90s from 2026-01-01T00:00:00Z"},
		{Spec{Every: "24 hours"}, "every 24h from 2026-01-01T00:00:00Z"},
		{Spec{Every: "2mo", Gap: GapShift}, "every 2 months from 2026-01-01T00:00:00Z gap shift"},
		{Spec{Every: "1 days", Start: "2026-03-01T09:00:00", Stop: "2026-03-05T09:00:00", Zone: "Asia/Tokyo"}, "every 1 day from 2026-03-01T00:00:00Z tz Asia/Tokyo until 2026-03-05T00:00:00Z"},
		{Spec{At: "2026-03-01T09:00:00Z", Stop: "2026-04-01T00:00:00Z"}, "at 2026-03-01T09:00:00Z until 2026-04-01T00:00:00Z"},
		{Spec{Any: []Spec{{Cron: "0 9 * * 1-5"}, {Cron: "TZ=UTC 0 12 * * 6"}}, Zone: "Asia/Tokyo", Start: "2026-03-01T09:00:00"}, "CRON_TZ=Asia/Tokyo 0 9 * * 1-5 from 2026-03-01T00:00:00Z | 0 12 * * 6 from 2026-03-01T09:00:00Z"},
		{Spec{Any: []Spec{{Cron: "0 9 * * 1-5"}}}, "0 9 * * 1-5"},
	}
	for _, c := range cases {
		rule, err := c.spec.Rule(anchor)
		if err != nil {
			t.Error(err)
			continue
		}
		if rule.String() != c.want {
			t.Errorf("%s: got %q, want %q", c.spec, rule, c.want)
		}
		checkParsesBack(t, rule)
	}
}

// checkParsesBack checks a property of every rule: its text makes an equal
// rule.
func checkParsesBack(t *testing.T, rule Rule) {
	t.Helper()
	again, err := Parse(rule.String())
	if err != nil {
		t.Fatalf("%q does not parse back: %v", rule, err)
	}
	if again.String() != rule.String() {
		t.Fatalf("%q parses back as %q", rule, again)
	}
	if again.Describe() != rule.Describe() {
		t.Fatalf("%q parsed back is %q, not %q", rule, again.Describe(), rule.Describe())
	}
	at := anchor
	for range 5 {
		got, want := again.Next(at), rule.Next(at)
		if !got.Equal(want) {
			t.Fatalf("%q parsed back: after %s got %s, want %s", rule, at, got, want)
		}
		at = want
	}
}

// TestSpecJSON compares the bytes that stores keep: the encoding of an earlier
// release does not change, and empty fields are left out.
func TestSpecJSON(t *testing.T) {
	for want, spec := range map[string]Spec{
		`{"cron":"0 9 * * *","tz":"Europe/Prague"}`: {Cron: "0 9 * * *", Zone: "Europe/Prague"},
		`{"every":"90s"}`:               {Every: "90s"},
		`{"at":"2026-03-01T09:00:00Z"}`: {At: "2026-03-01T09:00:00Z"},
		`{"cron":"0 0 9 ? * 2-6","dialect":"quartz","start":"2026-03-01T00:00:00Z","stop":"2027-03-01T00:00:00Z","gap":"skip","fold":"both"}`: {
			Cron: "0 0 9 ? * 2-6", Dialect: Quartz, Start: "2026-03-01T00:00:00Z", Stop: "2027-03-01T00:00:00Z", Gap: GapSkip, Fold: FoldBoth,
		},
		`{"tz":"Europe/Prague","any":[{"cron":"0 9 * * 1-5"},{"every":"1 month"}]}`: {Zone: "Europe/Prague", Any: []Spec{{Cron: "0 9 * * 1-5"}, {Every: "1 month"}}},
	} {
		got, err := json.Marshal(spec)
		if err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
		var back Spec
		if err := json.Unmarshal(got, &back); err != nil || !back.Equal(spec) {
			t.Errorf("%s reads back as %v, %v", got, back, err)
		}
	}
}

func TestSpecEqual(t *testing.T) {
	spec := Spec{Cron: "0 9 * * *", Any: []Spec{{Every: "1h"}}}
	for _, other := range []Spec{
		{},
		{Cron: "0 9 * * *"},
		{Cron: "0 9 * * *", Any: []Spec{{Every: "2h"}}},
		{Cron: "0 8 * * *", Any: []Spec{{Every: "1h"}}},
		{Cron: "0 9 * * *", Any: []Spec{{Every: "1h"}}, Fold: FoldLast},
		{Cron: "0 9 * * *", Any: []Spec{{Every: "1h"}, {}}},
	} {
		if spec.Equal(other) || other.Equal(spec) {
			t.Errorf("%v equals %v", spec, other)
		}
	}
	if !spec.Equal(Spec{Cron: "0 9 * * *", Any: []Spec{{Every: "1h"}}}) {
		t.Error("equal ones differ")
	}
}

func TestSpecString(t *testing.T) {
	for want, spec := range map[string]Spec{
		"CRON_TZ=Europe/Prague 0 9 * * *":      {Cron: "0 9 * * *", Zone: "Europe/Prague"},
		"0 9 * * *":                            {Cron: "0 9 * * *"},
		"every 90s":                            {Every: "90s", Zone: "Europe/Prague"},
		"at 2026-03-01T09:00:00 Europe/Prague": {At: "2026-03-01T09:00:00", Zone: "Europe/Prague"},
		"at 2026-03-01T09:00:00Z":              {At: "2026-03-01T09:00:00Z"},
		"":                                     {Zone: "UTC"},
		"every 1 month gap skip from 2026-01-31T09:00:00 until never": {Every: "1 month", Gap: "skip", Start: "2026-01-31T09:00:00", Stop: "never"},
		"0 9 * * 1-5 | every 90s from 2026-01-31T09:00:00":            {Any: []Spec{{Cron: "0 9 * * 1-5"}, {Every: "90s"}}, Start: "2026-01-31T09:00:00"},
	} {
		if got := spec.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestParseCronLocation(t *testing.T) {
	prague, err := time.LoadLocation("Europe/Prague")
	if err != nil {
		t.Fatal(err)
	}
	refused := []struct {
		expr string
		loc  *time.Location
	}{
		{"0 9 * * *", time.Local},
		{"0 9 * * *", time.FixedZone("", 3600)},
		{"0 9 * * *", time.FixedZone("CET", 3600)}, // the zone CET has summer time
		{"0 9 * * *", time.FixedZone("UTC", 3600)},
		{"0 9 * * *", time.FixedZone("My Zone", 3600)},
		{"TZ=Europe/London 0 9 * * *", prague},
		{"TZ=Europe/London 0 9 * * *", time.UTC},
	}
	for _, c := range refused {
		_, err := ParseCron(c.expr, c.loc)
		if err == nil {
			t.Errorf("%s in %s: no error", c.expr, c.loc)
			continue
		}
		checkMessage(t, err)
		if e := err.(*Error); e.Field != "tz" {
			t.Errorf("%v: want field tz", err)
		}
	}
	for _, expr := range []string{"0 9 * * *", "TZ=Europe/Prague 0 9 * * *"} {
		rule, err := ParseCron(expr, prague)
		if err != nil {
			t.Error(err)
			continue
		}
		next := rule.Next(anchor)
		if next.Location().String() != "Europe/Prague" || !next.Equal(mustTime(t, "2026-01-01T08:00Z")) {
			t.Errorf("%s: got %s", rule, next)
		}
	}
}

// TestExtremeTimes calls every kind of rule with times far outside the range.
func TestExtremeTimes(t *testing.T) {
	for _, text := range sampleRules {
		rule := mustRule(t, text)
		for _, at := range extremes {
			next, prev := rule.Next(at), rule.Prev(at)
			at = inRange(at)
			if !next.IsZero() && (!next.After(at) || next.Before(time.Time{}) || next.After(lastMicro)) {
				t.Errorf("%s: after %s got %s", rule, at, next)
			}
			if !prev.IsZero() && (!prev.Before(at) || prev.Before(time.Time{}) || prev.After(lastMicro)) {
				t.Errorf("%s: before %s got %s", rule, at, prev)
			}
			for _, until := range extremes {
				if n, more := Count(rule, at, until, 10); n < 0 || n > 10 || more && n != 10 || n > 0 && !inRange(until).After(at) {
					t.Errorf("%s: %d, %v instants after %s up to %s", rule, n, more, at, until)
				}
			}
		}
		if next := rule.Next(lastMicro); !next.IsZero() {
			t.Errorf("%s rings at %s, after the end", rule, next)
		}
		if prev := rule.Prev(time.Time{}); !prev.IsZero() {
			t.Errorf("%s rings at %s, before the beginning", rule, prev)
		}
		if got, want := rule.Next(year(-1_000_000)), rule.Next(time.Time{}); !got.Equal(want) {
			t.Errorf("%s: before the range got %s, want %s", rule, got, want)
		}
		if got, want := rule.Prev(year(1_000_000)), rule.Prev(year(10_000)); !got.Equal(want) {
			t.Errorf("%s: after the range got %s, want %s", rule, got, want)
		}
	}
}

// TestNextDoesNotAllocate covers each kind of rule, on the fast path and off
// it.
func TestNextDoesNotAllocate(t *testing.T) {
	for _, text := range sampleRules {
		rule := mustRule(t, text)
		after := mustTime(t, "2011-12-30T09:59:00Z")
		if n := testing.AllocsPerRun(100, func() { rule.Next(after); rule.Prev(after) }); n != 0 {
			t.Errorf("%s: %v allocations", rule, n)
		}
	}
}

// TestConcurrentNext is useful with the race detector.
func TestConcurrentNext(t *testing.T) {
	rule := mustRule(t, "CRON_TZ=America/New_York 30 2 * * *")
	want := rule.Next(anchor)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				if got := rule.Next(anchor); !got.Equal(want) {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		})
	}
	group.Wait()
}
