package recur

import (
	"testing"
	"time"
)

// BenchmarkNext measures one call of Next. The first group is what people
// write, the second the most expensive rules known.
func BenchmarkNext(b *testing.B) {
	cases := []struct{ name, expr, zone, after string }{
		{"typical/minutely", "* * * * *", "UTC", "2026-03-01T12:00:00Z"},
		{"typical/minutely-zone", "*/5 * * * *", "Europe/Prague", "2026-03-01T12:00:00Z"},
		{"typical/weekdays", "0 9 * * 1-5", "UTC", "2026-03-01T12:00:00Z"},
		{"typical/weekdays-zone", "0 9 * * 1-5", "Europe/Prague", "2026-03-01T12:00:00Z"},
		{"typical/monthly-zone", "30 2 1 * *", "America/New_York", "2026-03-01T12:00:00Z"},
		{"typical/yearly", "@yearly", "UTC", "2026-03-01T12:00:00Z"},
		{"typical/after-tables", "0 9 * * 1-5", "America/New_York", "2060-03-01T12:00:00Z"},
		{"worst/impossible", "0 0 30 2 *", "America/New_York", "2026-03-01T12:00:00Z"},
		{"worst/leap-day-sunday", "0 0 29 2 */7", "America/New_York", "2072-03-01T12:00:00Z"},
		{"worst/always-in-gap", "*/5 2 8-14 3 */7", "America/New_York", "2026-03-01T12:00:00Z"},
		{"worst/skipped-day", "0 9 30 12 *", "Pacific/Apia", "2011-12-29T12:00:00Z"},
		{"worst/morocco", "*/7 2 29 2 */7", "Africa/Casablanca", "2026-03-01T12:00:00Z"},
	}
	for _, c := range cases {
		rule, err := Spec{Cron: c.expr, Zone: c.zone}.Rule(time.Time{})
		if err != nil {
			b.Fatal(err)
		}
		after, err := time.Parse(time.RFC3339, c.after)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rule.Next(after)
			}
		})
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
