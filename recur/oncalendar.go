package recur

import (
	"fmt"
	"strings"
	"time"
)

// Systemd is the value of [Spec.Dialect] for a calendar event of systemd, as OnCalendar= of a timer has it:
// "Mon..Fri *-*-1..7 09:30:00 Europe/Prague". Each part may be left out. The parts are days of the week, a date and
// a time of day, which is midnight by default; a zone may be the last word. A component is *, or a list of values,
// ranges (1..5) and repetitions (0/15); *-*~1 counts the days from the last day of the month. Instead of the parts there
// may be minutely, hourly, daily, weekly, monthly, quarterly, semiannually or yearly. A date must match the days of the
// week and the date. A time in a gap does not ring, and a time that the clock shows twice rings the first time. Fractions of
// a second (12:00:00.5) and a number of seconds since 1970 (@1800000000) are refused.
const Systemd = "systemd"

// OnCalendar returns the rule of a calendar event of systemd; see [Systemd]. [Spec.Validate] refuses other texts.
func OnCalendar(event string) Spec { return Spec{Cron: event, Dialect: Systemd} }

// eventWords are the calendar events that have a name.
var eventWords = map[string]string{
	"minutely": "*-*-* *:*:00", "hourly": "*-*-* *:00:00", "daily": "*-*-* 00:00:00", "weekly": "Mon *-*-* 00:00:00",
	"monthly": "*-*-01 00:00:00", "quarterly": "*-01,04,07,10-01 00:00:00", "semiannually": "*-01,07-01 00:00:00",
	"semi-annually": "*-01,07-01 00:00:00", "biannually": "*-01,07-01 00:00:00", "bi-annually": "*-01,07-01 00:00:00",
	"yearly": "*-01-01 00:00:00", "annually": "*-01-01 00:00:00", "anually": "*-01-01 00:00:00",
}

// parseOnCalendar reads a calendar event without its zone; expr is the event as the user wrote it.
func parseOnCalendar(expr string, words []string, loc *time.Location, opts options) (Rule, error) {
	c := &cron{fields: &fields{hour: 1, minute: 1, second: 1}, text: strings.Join(words, " "), options: opts}
	if event, named := eventWords[strings.ToLower(c.text)]; named {
		words = strings.Fields(event)
	}
	if err := c.parseEvent(words); err != nil {
		return nil, newError("cron", expr, err.Problem, err.Remedy)
	}
	c.clock = opts.clock(loc, true)
	c.never = c.matchesNoDate()
	return c, nil
}

// parseEvent reads days of the week, a date and a time, in this order.
func (c *cron) parseEvent(words []string) *Error {
	if len(words) == 0 {
		return &Error{Problem: "the event is empty", Remedy: eventRemedy}
	}
	c.weekday, c.month, c.day = allWeek, allMonths, allDays
	for _, part := range [...]struct {
		begins func(word string) bool
		parse  func(word string) *Error
	}{
		{func(word string) bool { return word[0]|0x20 >= 'a' && word[0]|0x20 <= 'z' }, c.parseEventWeek},
		{func(word string) bool { return strings.ContainsAny(word, "-~") }, c.parseEventDate},
		{func(word string) bool { return strings.Contains(word, ":") }, c.parseEventTime},
	} {
		if len(words) == 0 || !part.begins(words[0]) {
			continue
		}
		if err := part.parse(words[0]); err != nil {
			return err
		}
		words = words[1:]
	}
	if len(words) > 0 {
		return &Error{Problem: quote(words[0]) + " is not a part of a calendar event", Remedy: eventRemedy}
	}
	return nil
}

const eventRemedy = "write days of the week, a date and a time, as in Mon..Fri *-*-* 09:30:00, and a zone as the last word"

// parseEventWeek reads days of the week.
func (f *fields) parseEventWeek(text string) *Error {
	f.weekday = 0
	for item := range strings.SplitSeq(strings.TrimSuffix(text, ","), ",") {
		first, last, isRange := strings.Cut(item, "..")
		if !isRange {
			first, last, isRange = strings.Cut(item, "-")
		}
		if !isRange {
			last = first
		}
		from, err := parseWeekdayName(first)
		to, errTo := parseWeekdayName(last)
		from, to = (from+6)%7, (to+6)%7 // from Monday on
		if err != nil || errTo != nil || from > to {
			return &Error{Problem: quote(item) + " is not a day or range of days of the week, which begins with Monday", Remedy: "write them like Mon..Wed,Sat"}
		}
		for day := from; day <= to; day++ {
			f.weekday |= 1 << ((day + 1) % 7)
		}
	}
	return nil
}

// parseEventDate reads [year-]month-day, or with ~ before the day.
func (f *fields) parseEventDate(text string) (err *Error) {
	before, day, fromEnd := strings.Cut(text, "~")
	parts := strings.Split(before, "-")
	if !fromEnd {
		day, parts = parts[len(parts)-1], parts[:len(parts)-1]
	}
	if len(parts) == 2 {
		if err = f.parseEventYears(parts[0]); err != nil {
			return err
		}
		parts = parts[1:]
	}
	if len(parts) != 1 {
		return &Error{Problem: quote(text) + " is not a date", Remedy: "write year-month-day or month-day, such as *-*-01, or *-*~01 for the last day of the month"}
	}
	if f.month, err = parseEventSet("month", parts[0], 1, 12, false); err != nil {
		return err
	}
	if fromEnd && day != "*" {
		days, err := parseEventSet("day", day, 1, 28, fromEnd)
		f.day, f.last, f.special = 0, days>>1, true // ~1 is the last day, L-0
		return err
	}
	f.day, err = parseEventSet("day", day, 1, 31, fromEnd)
	return err
}

// parseEventYears reads the year of a date.
func (f *fields) parseEventYears(text string) *Error {
	if text == "*" {
		return nil
	}
	list, err := parseEventField("year", text, firstYear, lastYear, false)
	if err != nil {
		return err
	}
	f.years = make(years, lastYear-firstYear+1)
	for _, year := range list {
		f.years[year-firstYear] = true
	}
	return nil
}

// parseEventTime reads hour:minute[:second].
func (c *cron) parseEventTime(text string) (err *Error) {
	parts := strings.Split(text, ":")
	c.seconds = len(parts) == 3
	if len(parts) > 3 {
		return &Error{Problem: quote(text) + " is not a time of day", Remedy: "write hour:minute or hour:minute:second, such as *:00/15"}
	}
	for i, one := range []struct {
		name string
		high int
		set  *uint64
	}{{"hour", 23, &c.hour}, {"minute", 59, &c.minute}, {"second", 59, &c.second}}[:len(parts)] {
		if *one.set, err = parseEventSet(one.name, parts[i], 0, one.high, false); err != nil {
			return err
		}
	}
	return nil
}

// parseEventSet is parseEventField with the values as a set.
func parseEventSet(name, text string, low, high int, fromEnd bool) (set uint64, _ *Error) {
	list, err := parseEventField(name, text, low, high, fromEnd)
	for _, value := range list {
		set |= 1 << value
	}
	return set, err
}

// parseEventField returns the values of a component of a date or time. fromEnd reports that the values count backwards:
// a repetition goes to lower values then.
func parseEventField(name, text string, low, high int, fromEnd bool) (list []int, _ *Error) {
	if text == "*" {
		text = fmt.Sprintf("%d..%d", low, high)
	}
	for item := range strings.SplitSeq(text, ",") {
		first, last, step, ok := parseEventItem(item, low, high, fromEnd)
		if !ok || first < low || last > high {
			return nil, &Error{
				Problem: name + " " + quote(item) + " is not a value, a range or a repetition",
				Remedy:  fmt.Sprintf("write %d to %d, such as %d..%d or %d/2, without fractions", low, high, low, high, low),
			}
		}
		for v := first; v <= last; v += step {
			list = append(list, v)
		}
	}
	return list, nil
}

// parseEventItem reads a value, a range or a repetition, which goes from low to high; see parseEventField about fromEnd.
func parseEventItem(item string, low, high int, fromEnd bool) (first, last, step int, ok bool) {
	span, stepText, stepped := strings.Cut(item, "/")
	first, last, ok = parseEventRange(span)
	if !stepped {
		return first, last, 1, ok
	}
	step, isNumber := number(stepText)
	if !ok || !isNumber || step == 0 {
		return 0, 0, 0, false
	}
	switch {
	case strings.Contains(span, ".."):
		last -= (last - first) % step
	case fromEnd:
		ok = first-step >= low // one repetition must lie within the field
		first, last = low+(first-low)%step, first
	default:
		ok = step <= high-first
		last = high
	}
	return first, last, step, ok
}

// parseEventRange reads a value, or a range.
func parseEventRange(span string) (first, last int, ok bool) {
	firstText, lastText, isRange := strings.Cut(span, "..")
	first, ok = number(firstText)
	if !isRange {
		return first, first, ok
	}
	last, okLast := number(lastText)
	return first, last, ok && okLast && first <= last
}

// cutEventZone removes the zone from the end of a calendar event.
func cutEventZone(zones *Zones, event string, loc *time.Location) (string, *time.Location, error) {
	before, word := cutLastWord(event)
	if !isZone(word) || before == "" {
		return event, loc, nil
	}
	if loc != nil && word != loc.String() {
		return "", nil, newError("tz", word, "the calendar event names this zone, but "+loc.String()+" is given too", "give the zone in one place only")
	}
	loc, err := zones.Load(word)
	return before, loc, err
}
