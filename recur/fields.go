package recur

import (
	"math/bits"
	"time"
)

// fields holds the values of each field of a cron rule as a set of bits: bit
// n stands for the value n. It is a set of wall times.
type fields struct {
	second, minute, hour, month uint64
	days
	years

	// eitherDay is set if day of month and day of week are both restricted:
	// then a date matches if it matches either of them.
	eitherDay bool

	never bool // no date matches, such as 30 February
}

// days are the two fields that select dates within a month.
type days struct {
	day     uint64 // days of the month
	weekday uint64 // days of the week, 0 = Sunday

	special     bool   // whether any of the sets below has a value
	last        uint64 // L-n: the day n days before the last day of the month
	nearest     uint64 // nW: the working day nearest to day n, in the same month
	lastNearest uint64 // L-nW: the working day nearest to the day L-n
	ordinal     uint64 // d#n: bit 7(n-1)+d
	lastWeekday uint64 // dL: the last such day of the week
	shortened   bool   // whether 31W is the last working day of a shorter month, which other rules leave out
}

// The years that a rule can name. The first year begins at the wall
// time 0, the last year ends at settled.
const (
	firstYear = 1970
	lastYear  = 2099
)

// years is a set of years; nil is the set of all years.
type years []bool // the first one is firstYear

func (y years) has(year int) bool {
	return y == nil || year >= firstYear && year <= lastYear && y[year-firstYear]
}

// nextWall returns the first matching wall time that is not before the given
// wall time. It goes from field to field and does not visit each second, minute
// or day. ok is false after the year 9999.
func (f *fields) nextWall(wall int64) (int64, bool) {
	end := maxYear
	if f.years != nil {
		wall, end = max(wall, 0), lastYear
	}
	sinceMidnight := floorMod(wall, secondsPerDay)
	year, month, day := time.Unix(wall, 0).UTC().Date()
	m := monthAround(wall-sinceMidnight, year, int(month), day)
	if t, ok := f.nextTime(int(sinceMidnight)); ok && year <= end && has(f.dates(&m), day) {
		return wall - sinceMidnight + t, true
	}
	for from := day + 1; m.year <= end; from = 1 {
		if day := next(f.dates(&m), from); day != none {
			return m.midnight + int64(day-1)*secondsPerDay + f.firstTime(), true
		}
		m.advance()
	}
	return 0, false
}

// prevWall returns the last matching wall time that is not after the given wall
// time. ok is false before the year 1.
func (f *fields) prevWall(wall int64) (int64, bool) {
	begin := 1
	if f.years != nil {
		wall, begin = min(wall, settled-1), firstYear
	}
	sinceMidnight := floorMod(wall, secondsPerDay)
	year, month, day := time.Unix(wall, 0).UTC().Date()
	m := monthAround(wall-sinceMidnight, year, int(month), day)
	if t, ok := f.prevTime(int(sinceMidnight)); ok && year >= begin && has(f.dates(&m), day) {
		return wall - sinceMidnight + t, true
	}
	for upTo := day - 1; m.year >= begin; upTo = 31 {
		if day := prev(f.dates(&m), upTo); day > 0 {
			return m.midnight + int64(day-1)*secondsPerDay + f.lastTime(), true
		}
		m.retreat()
	}
	return 0, false
}

// countWalls returns how many matching wall times lie from the first given wall
// time up to, but not including, the second. It may stop as soon as there are
// more than most.
func (f *fields) countWalls(from, to, most int64) (n int64) {
	sinceMidnight := floorMod(from, secondsPerDay)
	year, month, day := time.Unix(from, 0).UTC().Date()
	m := monthAround(from-sinceMidnight, year, int(month), day)
	if has(f.dates(&m), day) {
		n -= f.timesBefore(int(sinceMidnight)) // the loop below counts them again with the whole day
	}
	for first := day; m.midnight < to && n <= most; first = 1 {
		dates := f.dates(&m) >> first << first
		if whole := (to - m.midnight) / secondsPerDay; whole < int64(m.days) { // `to` lies in this month
			if has(dates, int(whole)+1) {
				n += f.timesBefore(int(floorMod(to, secondsPerDay)))
			}
			dates &= 1<<(whole+1) - 1
		}
		n += int64(bits.OnesCount64(dates)) * f.timesBefore(secondsPerDay)
		m.advance()
	}
	return n
}

// monthOf is a month on the wall clock.
type monthOf struct {
	year, month int
	days        int   // the number of days of the month
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

// advance moves m to the next month.
func (m *monthOf) advance() {
	m.weekday = (m.weekday + m.days) % 7
	m.midnight += int64(m.days) * secondsPerDay
	if m.month++; m.month > 12 {
		m.year, m.month = m.year+1, 1
	}
	m.days = daysIn(m.year, m.month)
}

// retreat moves m to the previous month.
func (m *monthOf) retreat() {
	if m.month--; m.month < 1 {
		m.year, m.month = m.year-1, 12
	}
	m.days = daysIn(m.year, m.month)
	m.weekday = (m.weekday + 35 - m.days) % 7
	m.midnight -= int64(m.days) * secondsPerDay
}

// dates returns the matching days of a month as a set.
func (f *fields) dates(m *monthOf) uint64 {
	if !has(f.month, m.month) || !f.years.has(m.year) {
		return 0
	}
	// Repeat the week five times, so that the set covers a whole month.
	week := m.turn(f.weekday)
	weekdays := (week | week<<7 | week<<14 | week<<21 | week<<28) << 1
	days := f.day
	if f.special {
		days |= f.specialDays(m)
		weekdays |= f.specialWeekdays(m)
	}
	inMonth := uint64(1)<<(m.days+1) - 2
	if f.eitherDay {
		return (days | weekdays) & inMonth
	}
	return days & weekdays & inMonth
}

// turn rotates a set of days of the week so that the lowest bit is the weekday
// of the first day of the month.
func (m *monthOf) turn(week uint64) uint64 {
	return (week>>m.weekday | week<<(7-m.weekday)) & 0x7f
}

// specialDays returns the days that are counted from the end of the month or
// moved to a working day, as a set.
func (d *days) specialDays(m *monthOf) (set uint64) {
	for n := next(d.last, 0); n < m.days; n = next(d.last, n+1) {
		set |= 1 << (m.days - n)
	}
	for n := next(d.lastNearest, 0); n < m.days; n = next(d.lastNearest, n+1) {
		set |= 1 << m.workingDay(m.days-n)
	}
	for day := next(d.nearest, 1); day <= m.days; day = next(d.nearest, day+1) {
		set |= 1 << m.workingDay(day)
	}
	if d.shortened && d.nearest>>(m.days+1) != 0 {
		set |= 1 << m.workingDay(m.days)
	}
	return set
}

// specialWeekdays returns the n-th and the last weekdays of the month, as a set
// of days.
func (d *days) specialWeekdays(m *monthOf) (set uint64) {
	for n := 0; n < 35; n += 7 { // days 1 to 7 are the first of their weekday, and so on
		set |= m.turn(d.ordinal>>n&0x7f) << (n + 1)
	}
	week := m.turn(d.lastWeekday)
	weekdays := (week | week<<7 | week<<14 | week<<21 | week<<28) << 1
	return set | weekdays>>(m.days-6)<<(m.days-6)
}

// workingDay returns the day from Monday to Friday that is nearest to the given
// day and in the same month.
func (m *monthOf) workingDay(day int) int {
	switch weekday := (m.weekday + day - 1) % 7; {
	case weekday == 6 && day == 1:
		return day + 2
	case weekday == 6:
		return day - 1
	case weekday == 0 && day == m.days:
		return day - 2
	case weekday == 0:
		return day + 1
	}
	return day
}

// nextTime returns the first matching time of day that is not before the given
// time of day, in seconds since midnight.
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

// prevTime returns the last matching time of day that is not after the given
// time of day.
func (f *fields) prevTime(t int) (int64, bool) {
	hour, minute, second := t/3600, t/60%60, t%60
	if has(f.hour, hour) {
		if has(f.minute, minute) {
			if s := prev(f.second, second); s >= 0 {
				return timeOfDay(hour, minute, s), true
			}
		}
		if m := prev(f.minute, minute-1); m >= 0 {
			return timeOfDay(hour, m, prev(f.second, 59)), true
		}
	}
	if h := prev(f.hour, hour-1); h >= 0 {
		return timeOfDay(h, prev(f.minute, 59), prev(f.second, 59)), true
	}
	return 0, false
}

// firstTime returns the first matching time of a day.
func (f *fields) firstTime() int64 {
	return timeOfDay(next(f.hour, 0), next(f.minute, 0), next(f.second, 0))
}

// lastTime returns the last matching time of a day.
func (f *fields) lastTime() int64 {
	return timeOfDay(prev(f.hour, 23), prev(f.minute, 59), prev(f.second, 59))
}

// timesBefore returns how many matching times of a day are before the given
// time of day.
func (f *fields) timesBefore(t int) int64 {
	hour, minute, second := t/3600, t/60%60, t%60
	minutes, seconds := bits.OnesCount64(f.minute), bits.OnesCount64(f.second)
	n := below(f.hour, hour) * minutes * seconds
	if has(f.hour, hour) {
		n += below(f.minute, minute) * seconds
		if has(f.minute, minute) {
			n += below(f.second, second)
		}
	}
	return int64(n)
}

// timeOfDay returns the seconds since midnight.
func timeOfDay(hour, minute, second int) int64 {
	return int64(hour*3600 + minute*60 + second)
}

// has reports whether the set has the value.
func has(set uint64, value int) bool { return set>>value&1 == 1 }

// none is the result of next if the set has no such value.
const none = 64

// next returns the least value of the set that is not less than from.
func next(set uint64, from int) int {
	return bits.TrailingZeros64(set >> from << from)
}

// prev returns the greatest value of the set that is not greater than upTo,
// or a negative number. upTo is -1 to 63.
func prev(set uint64, upTo int) int {
	return upTo - bits.LeadingZeros64(set<<(63-upTo))
}

// below returns how many values of the set are less than the given one.
func below(set uint64, value int) int {
	return bits.OnesCount64(set & (1<<value - 1))
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
