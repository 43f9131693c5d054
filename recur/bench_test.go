package recur

import (
	"testing"
	"time"
)

// benchCases are usual rules, and the most expensive rules known.
var benchCases = []struct{ name, rule, at string }{
	{"typical/minutely", "* * * * *", "2026-03-01T12:00:00Z"},
	{"typical/minutely-zone", "CRON_TZ=Europe/Prague */5 * * * *", "2026-03-01T12:00:00Z"},
	{"typical/weekdays", "0 9 * * 1-5", "2026-03-01T12:00:00Z"},
	{"typical/weekdays-zone", "CRON_TZ=Europe/Prague 0 9 * * 1-5", "2026-03-01T12:00:00Z"},
	{"typical/monthly-zone", "CRON_TZ=America/New_York 30 2 1 * *", "2026-03-01T12:00:00Z"},
	{"typical/yearly", "@yearly", "2026-03-01T12:00:00Z"},
	{"typical/last-day-zone", "CRON_TZ=America/New_York 30 2 L * *", "2026-03-01T12:00:00Z"},
	{"typical/every", "every 90s from 2026-01-01T00:00:00Z", "2026-03-01T12:00:00Z"},
	{"typical/every-month", "every 1 month from 2026-01-31T09:00:00Z tz America/New_York", "2026-03-01T12:00:00Z"},
	{"typical/after-tables", "CRON_TZ=America/New_York 0 9 * * 1-5", "2060-03-01T12:00:00Z"},
	{"worst/impossible", "CRON_TZ=America/New_York 0 0 30 2 *", "2026-03-01T12:00:00Z"},
	{"worst/leap-day-sunday", "CRON_TZ=America/New_York 0 0 29 2 */7", "2072-03-01T12:00:00Z"},
	{"worst/always-in-gap", "CRON_TZ=America/New_York */5 2 8-14 3 */7", "2026-03-01T12:00:00Z"},
	{"worst/always-in-gap-far", "CRON_TZ=America/New_York */5 2 8-14 3 */7", "9999-03-01T12:00:00Z"},
	{"worst/always-in-gap-first", "CRON_TZ=America/New_York 0-59 2 8-14 3 */7 gap skip", "2026-03-01T12:00:00Z"},
	{"worst/always-in-gap-last", "CRON_TZ=America/New_York * 0-59 2 8-14 3 */7 gap skip fold last", "2026-03-01T12:00:00Z"},
	{"worst/always-in-gap-last-far", "CRON_TZ=America/New_York * 0-59 2 8-14 3 */7 gap skip fold last", "9999-03-01T12:00:00Z"},
	{"worst/shift-both", "CRON_TZ=Europe/London */5 1 25-31 3 */7 gap shift fold both", "9000-03-01T12:00:00Z"},
	{"worst/skipped-day", "CRON_TZ=Pacific/Apia 0 9 30 12 *", "2011-12-29T12:00:00Z"},
	{"worst/morocco", "CRON_TZ=Africa/Casablanca */7 2 29 2 */7", "2026-03-01T12:00:00Z"},
	{"worst/fifth-leap-monday", "CRON_TZ=America/New_York 0 0 29W 2 */7", "1800-03-01T12:00:00Z"},
	{"worst/one-year", "CRON_TZ=America/New_York 59 59 23 L 12 ? 2099 dialect quartz", "0001-03-01T12:00:00Z"},
}

func BenchmarkNext(b *testing.B) {
	benchmark(b, func(rule Rule, at time.Time) { rule.Next(at) })
}

func BenchmarkPrev(b *testing.B) {
	benchmark(b, func(rule Rule, at time.Time) { rule.Prev(at) })
}

// BenchmarkCount counts the instants of a year.
func BenchmarkCount(b *testing.B) {
	benchmark(b, func(rule Rule, at time.Time) { Count(rule, at, at.AddDate(1, 0, 0), 1<<40) })
}

func benchmark(b *testing.B, call func(rule Rule, at time.Time)) {
	for _, c := range benchCases {
		rule, at := mustRule(b, c.rule), mustTime(b, c.at)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call(rule, at)
			}
		})
	}
}

// TestNoCallTakesLong has a generous bound, for machines under load; the
// benchmark measures less than a millisecond.
func TestNoCallTakesLong(t *testing.T) {
	const limit = 20 * time.Millisecond
	far := mustTime(t, "9999-12-31T00:00:00Z")
	for _, c := range benchCases {
		rule, at := mustRule(t, c.rule), mustTime(t, c.at)
		calls := map[string]func(){
			"Next":               func() { rule.Next(at) },
			"Prev":               func() { rule.Prev(at) },
			"Count":              func() { Count(rule, at, at.AddDate(1, 0, 0), 100_000) },
			"from the beginning": func() { rule.Next(time.Time{}) },
			"from the end":       func() { rule.Prev(far) },
			"Describe":           func() { _ = rule.Describe() },
		}
		for name, call := range calls {
			fastest := time.Hour
			for range 5 {
				start := time.Now()
				call()
				fastest = min(fastest, time.Since(start))
			}
			if fastest > limit {
				t.Errorf("%s: %s takes %v", c.rule, name, fastest)
			}
		}
	}
}

func BenchmarkParseCron(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseCron("*/5 9-17 * JAN-JUN MON-FRI", nil); err != nil {
			b.Fatal(err)
		}
	}
}
