package recur

import (
	"math/bits"
	"time"
)

// cron rings at wall-clock times that match its fields.
type cron struct {
	fields
	zone
	text  string // the fields as given, separated by single spaces, or the macro
	fixed bool   // names fixed times rather than an interval; see zone.go
	never bool   // no date matches, such as 30 February
}

// fields holds the values of each field as a set of bits: bit n stands for
// the value n.
type fields struct {
	second, minute, hour, day, month, weekday uint64

	// eitherDay is set when day of month and day of week are both
	// restricted: then a date needs to match only one of them.
	eitherDay bool
}

// String implements [Rule].
func (c *cron) String() string {
	if name := c.loc.String(); name != "UTC" {
		return "CRON_TZ=" + name + " " + c.text
	}
	return c.text
}

// Next implements [Rule].
func (c *cron) Next(after time.Time) time.Time {
	second, ok := afterSecond(after)
	if !ok || c.never {
		return time.Time{}
	}
	if c.fixed {
		second, ok = c.nextFixed(second)
	} else {
		second, ok = c.nextInterval(second)
	}
	if !ok || second > maxSecond {
		return time.Time{}
	}
	return time.Unix(second, 0).In(c.loc)
}

// nextFixed returns the first instant after the given one at which a fixed
// time rings.
func (c *cron) nextFixed(after int64) (instant int64, ok bool) {
	wall, offset, end := c.highWater(after)
	for {
		if wall, ok = c.nextWall(wall + 1); !ok {
			return 0, false
		}
		if wall-offset < end { // before the next clock change
			return wall - offset, true
		}
		if instant, ok = c.instantOf(wall); ok {
			return instant, true
		}
		wall += secondsPerDay - 1 - floorMod(wall, secondsPerDay) // the date was skipped: go to its end
	}
}

// Where a search for an interval may stop. From the year 2100 on every zone
// of the IANA database repeats one yearly pattern (its longest table, that of
// Morocco, ends in 2087), and the Gregorian calendar repeats after 400 years,
// days of the week included. What has not matched in one such cycle, for
// instance because every match falls into a gap, never will.
const (
	settled = 4_102_444_800           // 2100-01-01T00:00:00Z
	cycle   = 146_097 * secondsPerDay // 400 years
)

// nextInterval returns the first instant after the given one whose wall time
// matches.
func (c *cron) nextInterval(after int64) (instant int64, ok bool) {
	at := after + 1
	limit := max(at, settled) + cycle
	for at <= limit {
		offset, end := c.stretch(at)
		wall, ok := c.nextWall(at + offset)
		if !ok {
			return 0, false
		}
		if wall-offset < end {
			return wall - offset, true
		}
		// A short stretch may be followed by a fold that shows earlier wall
		// times than this search began with; a long one cannot, and all up
		// to the match found may be left out.
		if end-at < reach {
			at = end
		} else {
			at = max(end, wall-reach)
		}
	}
	return 0, false
}

// nextWall returns the first matching wall time not before the given one. It
// jumps from field to field and never counts seconds, minutes or days. ok is
// false past the year 9999.
func (f *fields) nextWall(wall int64) (int64, bool) {
	sinceMidnight := floorMod(wall, secondsPerDay)
	year, month, day := time.Unix(wall, 0).UTC().Date()
	m := monthAround(wall-sinceMidnight, year, int(month), day)
	if t, ok := f.nextTime(int(sinceMidnight)); ok && year <= maxYear && has(f.dates(&m), day) {
		return wall - sinceMidnight + t, true
	}
	for from := day + 1; m.year <= maxYear; from = 1 {
		if day := next(f.dates(&m), from); day != none {
			return m.midnight + int64(day-1)*secondsPerDay + f.firstTime(), true
		}
		m.advance()
	}
	return 0, false
}

// monthOf is a month on the wall clock.
type monthOf struct {
	year, month int
	days        int   // how many it has
	weekday     int   // of its first day, 0 = Sunday
	midnight    int64 // wall time at which it begins
}

// monthAround returns the month of a date that begins at the given wall time.
func monthAround(midnight int64, year, month, day int) monthOf {
	midnight -= int64(day-1) * secondsPerDay
	const thursday = 4 // 1 January 1970
	weekday := floorMod(midnight/secondsPerDay+thursday, 7)
	return monthOf{year, month, daysIn(year, month), int(weekday), midnight}
}

// advance goes on to the month that follows.
func (m *monthOf) advance() {
	m.weekday = (m.weekday + m.days) % 7
	m.midnight += int64(m.days) * secondsPerDay
	if m.month++; m.month > 12 {
		m.year, m.month = m.year+1, 1
	}
	m.days = daysIn(m.year, m.month)
}

// dates returns the matching days of a month as a set.
func (f *fields) dates(m *monthOf) uint64 {
	if !has(f.month, m.month) {
		return 0
	}
	// Turn the week so that its lowest bit is the weekday of the first, and
	// lay five of them side by side.
	week := (f.weekday>>m.weekday | f.weekday<<(7-m.weekday)) & 0x7f
	weekdays := (week | week<<7 | week<<14 | week<<21 | week<<28) << 1
	inMonth := uint64(1)<<(m.days+1) - 2
	if f.eitherDay {
		return (f.day | weekdays) & inMonth
	}
	return f.day & weekdays & inMonth
}

// nextTime returns the first matching time of day not before the given one,
// in seconds since midnight.
func (f *fields) nextTime(t int) (int64, bool) {
	hour, minute, second := t/3600, t/60%60, t%60
	if has(f.hour, hour) {
		if has(f.minute, minute) {
			if s := next(f.second, second); s != none {
				return timeOfDay(hour, minute, s), true
			}
		}
		if m := next(f.minute, minute+1); m != none {
			return timeOfDay(hour, m, next(f.second, 0)), true
		}
	}
	if h := next(f.hour, hour+1); h != none {
		return timeOfDay(h, next(f.minute, 0), next(f.second, 0)), true
	}
	return 0, false
}

// firstTime returns the first matching time of a day.
func (f *fields) firstTime() int64 {
	return timeOfDay(next(f.hour, 0), next(f.minute, 0), next(f.second, 0))
}

// timeOfDay returns the seconds since midnight.
func timeOfDay(hour, minute, second int) int64 {
	return int64(hour*3600 + minute*60 + second)
}

// has reports whether the set has the value.
func has(set uint64, value int) bool { return set>>value&1 == 1 }

// none is what next returns when the set has no such value.
const none = 64

// next returns the least value of the set that is not less than from.
func next(set uint64, from int) int {
	return bits.TrailingZeros64(set >> from << from)
}

// daysIn returns the number of days of a month in the Gregorian calendar.
func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	default:
		return 31
	}
}
