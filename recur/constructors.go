package recur

import (
	"fmt"
	"time"
)

// Every returns the rule that rings at its start and then after each whole
// multiple of d, which is elapsed time: clock changes do not affect it. d is
// whole microseconds from [MinEvery] to [MaxEvery]; [Spec.Validate] refuses
// other values.
func Every(d time.Duration) Spec {
	if d <= 0 || d%time.Microsecond != 0 {
		return Spec{Every: d.String()} // not valid
	}
	return Spec{Every: formatInterval(d.Microseconds())}
}

// Days returns the rule that rings every n days at the time of day of its
// start, n ≥ 1, on the clock of its zone. The interval is at most [MaxEvery].
func Days(n int) Spec { return calendarInterval(n, "day") }

// Weeks returns the rule that rings every n weeks, as [Days] does.
func Weeks(n int) Spec { return calendarInterval(n, "week") }

// Months returns the rule that rings every n months, as [Days] does, on the day
// of the month of its start, or on the last day of a month that is shorter.
func Months(n int) Spec { return calendarInterval(n, "month") }

// Years returns the rule that rings every n years, as [Months] does.
func Years(n int) Spec { return calendarInterval(n, "year") }

func calendarInterval(n int, unit string) Spec {
	if n != 1 {
		unit += "s"
	}
	return Spec{Every: fmt.Sprintf("%d %s", n, unit)}
}

// Cron returns the rule of a cron expression, as [ParseCron] reads it;
// [Spec.Validate] refuses other texts.
func Cron(expr string) Spec { return Spec{Cron: expr} }

// At returns the rule that rings once, at t rounded up to a microsecond.
// [Spec.Validate] refuses a t outside the years 1 to 9999.
func At(t time.Time) Spec { return Spec{At: formatInstant(t)} }

// Any returns the union of rules, at most [MaxAny]: it rings when any of them
// rings.
func Any(rules ...Spec) Spec { return Spec{Any: rules} }

// In returns s on the wall clock of a zone, an IANA name such as Europe/Prague.
func (s Spec) In(zone string) Spec {
	s.Zone = zone
	return s
}

// From returns s with a start: it does not ring before t, and an interval
// counts from t. The zero time removes the start.
func (s Spec) From(t time.Time) Spec {
	s.Start = formatInstant(t)
	return s
}

// Until returns s with an end: it does not ring after t. The zero time removes
// the end.
func (s Spec) Until(t time.Time) Spec {
	s.Stop = formatInstant(t)
	return s
}

// formatInstant writes an instant as the fields of a Spec have it; the zero
// time is the empty text.
func formatInstant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
