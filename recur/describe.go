package recur

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Describe implements [Rule].
func (c *cron) Describe() string {
	if c.never {
		return "never, for there is no such date"
	}
	f := c.fields
	times, asList := f.describeTimes()
	text := times
	dates := f.describeDates()
	if asList && !strings.HasPrefix(dates, "on ") {
		text += " every day"
	}
	if dates != "" {
		text += " " + dates
	}
	if f.years != nil {
		text += " in " + listing(f.years.listed(), strconv.Itoa)
	}
	return text + ", " + c.loc.String() + c.options.describe()
}

// Describe implements [Rule].
func (e every) Describe() string {
	return "every " + describeElapsed(e.interval) + " from " + stamp(time.UnixMicro(e.anchor).UTC()) + ", UTC"
}

// Describe implements [Rule].
func (i *interval) Describe() string {
	start := time.Unix(i.wall, 0).UTC()
	on := ""
	switch i.unit.name {
	case "week":
		on = " on " + start.Weekday().String() + "s"
	case "month":
		on = " on the " + ordinal(i.day)
	case "year":
		on = " on " + start.Format("2 January")
	}
	if i.unit.months > 0 && i.day > 28 {
		on += " (or the last day of the month)"
	}
	length := i.unit.name
	if i.n > 1 {
		length = i.length()
	}
	return "every " + length + on + " at " + clockTime(int(i.timeOfDay)) + ", from " + start.Format(time.DateOnly) + ", " +
		i.loc.String() + i.options.describe()
}

// Describe implements [Rule].
func (a at) Describe() string {
	if int64(a) == minMicro {
		return "never"
	}
	return "once at " + stamp(time.UnixMicro(int64(a)).UTC()) + ", UTC"
}

// Describe implements [Rule].
func (u union) Describe() string {
	texts := make([]string, len(u))
	for i, rule := range u {
		texts[i] = rule.Describe()
	}
	return strings.Join(texts, "; and ")
}

// Describe implements [Rule].
func (b bounded) Describe() string {
	text, loc := b.rule.Describe(), locationOf(b.rule)
	bounds := ""
	if b.start != minMicro {
		bounds += " from " + stamp(time.UnixMicro(b.start).In(loc))
	}
	if b.stop != maxMicro {
		bounds += " until " + stamp(time.UnixMicro(b.stop).In(loc))
	}
	return text + "," + bounds
}

// locationOf returns the zone in which a rule answers.
func locationOf(r Rule) *time.Location {
	switch r := r.(type) {
	case *cron:
		return r.loc
	case *interval:
		return r.loc
	}
	return time.UTC
}

// describe describes the options that differ from the defaults.
func (o options) describe() (text string) {
	switch o.gap {
	case GapShift:
		text += ", right after a gap of the clock that swallows it"
	case GapSkip:
		text += ", never for a time that the clock skips"
	}
	switch o.fold {
	case FoldFirst:
		text += ", the first time if the clock shows it twice"
	case FoldLast:
		text += ", the last time if the clock shows it twice"
	case FoldBoth:
		text += ", both times if the clock shows it twice"
	}
	return text
}

const (
	allHours   = 1<<24 - 1
	allMinutes = 1<<60 - 1
	allDays    = 1<<32 - 2
	allMonths  = 1<<13 - 2
	allWeek    = 1<<7 - 1
)

// describeTimes describes the times of day. asList reports whether the text
// lists each time.
func (f *fields) describeTimes() (text string, asList bool) {
	const mostTimes = 6
	if f.hour != allHours && f.timesBefore(secondsPerDay) <= mostTimes {
		return "at " + sentence(f.clockTimes()), true
	}
	step, hourly := f.describePace()
	switch {
	case f.hour == allHours && hourly:
		return step, false
	case f.hour == allHours:
		return step + " of every hour", false
	}
	return f.describeHours(step, hourly), false
}

// clockTimes returns all times of day.
func (f *fields) clockTimes() (times []string) {
	for t, ok := f.nextTime(0); ok; t, ok = f.nextTime(int(t) + 1) {
		times = append(times, clockTime(int(t)))
		if t == secondsPerDay-1 {
			break
		}
	}
	return times
}

// describeHours describes the times of day of some hours from the text about each of them; see describePace.
func (f *fields) describeHours(step string, hourly bool) string {
	switch from, to, ok := run(f.hour); {
	case f.minute == 1 && f.second == 1 && isStep(f.hour, 24):
		return "every " + strconv.Itoa(next(f.hour, 1)) + " hours"
	case ok && bits.OnesCount64(f.minute) == 1 && f.second == 1:
		return "every hour from " + clockTime(int(f.firstTime())) + " to " + clockTime(int(f.lastTime()))
	case ok && hourly:
		return fmt.Sprintf("%s from %02d:00 to %02d:59", step, from, to)
	}
	hours := listing(values(f.hour), strconv.Itoa)
	if bits.OnesCount64(f.hour) == 1 {
		return step + " of the hour " + hours
	}
	return step + " of the hours " + hours
}

// describePace describes what happens within each hour. hourly reports whether
// the text means every hour unless more text follows.
func (f *fields) describePace() (text string, hourly bool) {
	seconds := f.describeSeconds()
	if f.minute == allMinutes {
		switch {
		case seconds == "":
			return "every minute", true
		case seconds[0] == 'e':
			return seconds, true
		}
		return seconds + " of every minute", true
	}
	minutes := listing(values(f.minute), strconv.Itoa)
	if bits.OnesCount64(f.minute) == 1 {
		minutes = "minute " + minutes
	} else {
		minutes = "minutes " + minutes
	}
	switch {
	case seconds != "":
		return seconds + " of " + minutes, false
	case f.minute == 1 && f.hour == allHours:
		return "every hour", true
	case isStep(f.minute, 60):
		return "every " + strconv.Itoa(next(f.minute, 1)) + " minutes", true
	}
	return "at " + minutes, false
}

// describeSeconds describes the seconds of a minute; empty: only second 0.
func (f *fields) describeSeconds() string {
	switch {
	case f.second == 1:
		return ""
	case f.second == allMinutes:
		return "every second"
	case isStep(f.second, 60):
		return "every " + strconv.Itoa(next(f.second, 1)) + " seconds"
	case bits.OnesCount64(f.second) == 1:
		return "at second " + strconv.Itoa(next(f.second, 0))
	}
	return "at seconds " + listing(values(f.second), strconv.Itoa)
}

// describeDates describes the dates; the text is empty for every day.
func (f *fields) describeDates() string {
	of := "the month"
	if f.month != allMonths {
		of = listing(values(f.month), func(m int) string { return time.Month(m).String() })
	}
	days, weekdays := f.describeDays(of), f.describeWeekdays(of)
	text := days + weekdays
	if days != "" && weekdays != "" {
		word := " and only "
		if f.eitherDay {
			word = " or "
		}
		text = days + word + weekdays
	}
	if of != "the month" && !strings.Contains(text, " of "+of) {
		text = strings.TrimSpace(text + " in " + of)
	}
	return text
}

// describeDays describes the days of the month; the text is empty for all days.
func (f *fields) describeDays(of string) string {
	var parts []string
	if f.day == allDays {
		return ""
	}
	if f.day != 0 {
		parts = append(parts, "the "+listing(values(f.day), ordinal))
	}
	for _, day := range values(f.nearest) {
		parts = append(parts, "the working day nearest to the "+ordinal(day))
	}
	for _, n := range values(f.last) {
		parts = append(parts, fromLast(n))
	}
	for _, n := range values(f.lastNearest) {
		if n == 0 {
			parts = append(parts, "the last working day")
		} else {
			parts = append(parts, "the working day nearest to "+fromLast(n))
		}
	}
	return "on " + sentence(parts) + " of " + of
}

// fromLast names a day that is counted from the last day of the month.
func fromLast(n int) string {
	if n == 0 {
		return "the last day"
	}
	return fmt.Sprintf("the %s day before the last", ordinal(n))
}

// describeWeekdays describes the days of the week; the text is empty for all
// days.
func (f *fields) describeWeekdays(of string) string {
	var parts []string
	switch f.weekday {
	case allWeek:
		return ""
	case 0:
	case 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5:
		parts = append(parts, "weekdays")
	case 1<<0 | 1<<6:
		parts = append(parts, "weekends")
	default:
		parts = append(parts, listing(values(f.weekday), func(d int) string { return time.Weekday(d).String() + "s" }))
	}
	counted := false
	for n, name := range [...]string{"first", "second", "third", "fourth", "fifth"} {
		for _, d := range values(f.ordinal >> (7 * n) & allWeek) {
			parts, counted = append(parts, "the "+name+" "+time.Weekday(d).String()), true
		}
	}
	for _, d := range values(f.lastWeekday) {
		parts, counted = append(parts, "the last "+time.Weekday(d).String()), true
	}
	text := "on " + sentence(parts)
	if counted {
		text += " of " + of
	}
	return text
}

// listed returns the years of the set.
func (y years) listed() (list []int) {
	for i, in := range y {
		if in {
			list = append(list, firstYear+i)
		}
	}
	return list
}

// values returns the values of a set in order.
func values(set uint64) (list []int) {
	for v := next(set, 0); v != none; v = next(set, v+1) {
		list = append(list, v)
	}
	return list
}

// run returns the first and the last value of a set; ok is false if the set has
// a gap.
func run(set uint64) (from, to int, ok bool) {
	from, to = next(set, 0), prev(set, 63)
	return from, to, bits.OnesCount64(set) == to-from+1
}

// isStep reports whether a set has exactly every n-th value from 0 to below
// end, where n is greater than 1 and divides end, so that the pace continues
// evenly after end.
func isStep(set uint64, end int) bool {
	step := next(set, 1)
	if !has(set, 0) || step == none || step == 1 || end%step != 0 {
		return false
	}
	return bits.OnesCount64(set) == end/step && prev(set, 63) == end-step
}

// listing writes values in order; three or more successive values become a
// range.
func listing(list []int, name func(int) string) string {
	var parts []string
	for i := 0; i < len(list); {
		end := i
		for end+1 < len(list) && list[end+1] == list[end]+1 {
			end++
		}
		if end-i >= 2 {
			parts = append(parts, name(list[i])+" to "+name(list[end]))
			i = end + 1
		} else {
			parts = append(parts, name(list[i]))
			i++
		}
	}
	return sentence(parts)
}

// sentence joins parts with commas and a final "and".
func sentence(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// ordinal writes 1st, 2nd and so on.
func ordinal(n int) string {
	suffix := "th"
	if n/10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// clockTime writes a time of day, with seconds only if they are not zero.
func clockTime(t int) string {
	if t%60 == 0 {
		return fmt.Sprintf("%02d:%02d", t/3600, t/60%60)
	}
	return fmt.Sprintf("%02d:%02d:%02d", t/3600, t/60%60, t%60)
}

// stamp writes an instant on the clock of its zone.
func stamp(t time.Time) string {
	if t.Second() == 0 && t.Nanosecond() == 0 {
		return t.Format("2006-01-02 15:04")
	}
	return t.Format("2006-01-02 15:04:05.999999")
}

// describeElapsed writes microseconds as one number of the largest unit that
// divides them.
func describeElapsed(micros int64) string {
	sizes := [...]struct {
		name string
		size time.Duration
	}{{"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}, {"millisecond", time.Millisecond}, {"microsecond", time.Microsecond}}
	for _, u := range sizes {
		size := u.size.Microseconds()
		switch {
		case micros == size:
			return u.name
		case micros%size == 0:
			return strconv.FormatInt(micros/size, 10) + " " + u.name + "s"
		}
	}
	return ""
}
