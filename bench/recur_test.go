package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/adhocore/gronx"
	"github.com/hashicorp/cronexpr"
	"github.com/robfig/cron/v3"

	"github.com/hourbell/hourbell/recur"
)

// cronCases are rules that all libraries can read. The typical rules are usual
// ones; the worst rules make a search long. (Samoa's skipped day is not
// included, because some libraries do not return.)
var cronCases = []struct{ name, expr, zone, after string }{
	{"typical/minutely", "* * * * *", "UTC", "2026-03-01T12:00:00Z"},
	{"typical/minutely-zone", "*/5 * * * *", "Europe/Prague", "2026-03-01T12:00:00Z"},
	{"typical/hourly", "0 * * * *", "UTC", "2026-03-01T12:00:00Z"},
	{"typical/daily", "30 2 * * *", "UTC", "2026-03-01T12:00:00Z"},
	{"typical/weekdays", "0 9 * * 1-5", "UTC", "2026-03-01T12:00:00Z"},
	{"typical/weekdays-zone", "0 9 * * 1-5", "Europe/Prague", "2026-03-01T12:00:00Z"},
	{"typical/monthly-zone", "30 2 1 * *", "America/New_York", "2026-03-01T12:00:00Z"},
	{"typical/yearly", "0 0 1 1 *", "UTC", "2026-03-01T12:00:00Z"},
	{"worst/leap-day", "0 0 29 2 *", "UTC", "2026-03-01T12:00:00Z"},
	{"worst/leap-day-far", "0 0 29 2 *", "America/New_York", "2096-03-01T12:00:00Z"},
	{"worst/last-second", "59 23 31 12 *", "America/New_York", "2026-01-01T05:00:00Z"},
	{"worst/impossible", "0 0 30 2 *", "America/New_York", "2026-03-01T12:00:00Z"},
}

// BenchmarkNext measures one computation of the next instant, in Hourbell and
// in other Go libraries. Rules are parsed before the measurement, except by
// gronx, which parses a rule on each call.
func BenchmarkNext(b *testing.B) {
	for _, c := range cronCases {
		loc, err := time.LoadLocation(c.zone)
		noError(b, err)
		after, err := time.Parse(time.RFC3339, c.after)
		noError(b, err)
		after = after.In(loc)
		for _, library := range cronLibraries(b, c.expr, loc) {
			b.Run(c.name+"/"+library.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					library.next(after)
				}
			})
		}
	}
}

// TestNextAgrees checks that all libraries compute the same instant. Some have
// no result for the worst cases: robfig and cronexpr give up after five and
// eight years, and gronx returns the given day for 30 February.
func TestNextAgrees(t *testing.T) {
	for _, c := range cronCases {
		if !strings.HasPrefix(c.name, "typical/") {
			continue
		}
		loc, err := time.LoadLocation(c.zone)
		noError(t, err)
		after, err := time.Parse(time.RFC3339, c.after)
		noError(t, err)
		libraries := cronLibraries(t, c.expr, loc)
		want := libraries[0].next(after.In(loc))
		for _, library := range libraries[1:] {
			if got := library.next(after.In(loc)); !got.Equal(want) {
				t.Errorf("%s: %s answers %s, Hourbell %s", c.name, library.name, got, want)
			}
		}
	}
}

// cronLibrary is a call of a library for one rule, to be measured.
type cronLibrary struct {
	name string
	next func(after time.Time) time.Time
}

// cronLibraries returns the libraries, Hourbell first.
func cronLibraries(tb testing.TB, expr string, loc *time.Location) []cronLibrary {
	ours, err := recur.ParseCron(expr, loc)
	noError(tb, err)
	robfig, err := cron.ParseStandard("CRON_TZ=" + loc.String() + " " + expr)
	noError(tb, err)
	hashicorp, err := cronexpr.Parse(expr)
	noError(tb, err)
	return []cronLibrary{
		{"hourbell", ours.Next},
		{"robfig", robfig.Next},
		{"cronexpr", hashicorp.Next},
		{"gronx", func(after time.Time) time.Time {
			next, _ := gronx.NextTickAfter(expr, after, false)
			return next
		}},
	}
}

func noError(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
