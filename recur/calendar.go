package recur

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxDates is how many dates a [CalendarSpec] may have, and MaxRules is how
// many rules it may have.
const (
	MaxDates = 2000
	MaxRules = 20
)

// CalendarSpec is an exclusion calendar as users write it: times at which
// schedules that use the calendar do not run. It is plain data for JSON and
// YAML.
type CalendarSpec struct {
	// Dates are whole days: one day (2026-12-24), a span that includes both
	// ends (2026-12-24..2027-01-01), or a day or span without the year, which
	// holds in every year (12-25, 12-24..01-01). A name may follow behind a
	// space, as in "12-25 Christmas Day"; it is shown as the reason.
	Dates []string `json:"dates,omitempty"`

	// Weekdays are days of the week: Saturday, sat, or 0-7, where 0 and 7 are
	// Sunday.
	Weekdays []string `json:"weekdays,omitempty"`

	// Rules exclude the instants at which they ring. A cron rule excludes the
	// whole minute that begins when it rings, or the second if the rule has a
	// field of seconds. "* 0-6 * * *" excludes the hours from midnight to
	// seven. Intervals need a start.
	Rules []Spec `json:"rules,omitempty"`

	// Zone is the IANA name of the zone in which all fields are read. If Zone
	// is empty, dates and weekdays are read in the zone of the rule to which
	// the calendar is applied, so that one calendar serves several countries,
	// and Rules that name no zone are in UTC.
	Zone string `json:"tz,omitempty"`
}

// Calendar is a parsed exclusion calendar. It is immutable and safe for
// concurrent use.
type Calendar struct {
	loc      *time.Location // nil: the location of the instant that is checked
	weekdays uint64
	dates    []dateSpan
	rules    []exclusion
}

// dateSpan is a span of dates that includes both ends, as numbers of
// dateNumber.
type dateSpan struct {
	from, to int
	yearly   bool // the numbers have no year
	text     string
}

// exclusion is a rule and the length of time that is excluded each time it
// rings.
type exclusion struct {
	rule   Rule
	length time.Duration
}

// Calendar returns the calendar that s describes. The error is an [*Error] of
// the field "dates", "weekdays" or "tz", or of a field of the rule that is
// wrong.
func (s CalendarSpec) Calendar() (*Calendar, error) {
	return (*Zones)(nil).Calendar(s)
}

// Validate returns the [*Error] that Calendar would return, or nil.
func (s CalendarSpec) Validate() error {
	_, err := s.Calendar()
	return err
}

// Calendar is [CalendarSpec.Calendar] with zones that are shared.
func (z *Zones) Calendar(s CalendarSpec) (*Calendar, error) {
	c := &Calendar{}
	var err error
	if s.Zone != "" {
		if c.loc, err = z.Load(s.Zone); err != nil {
			return nil, err
		}
	}
	if len(s.Dates) > MaxDates {
		return nil, newError("dates", "", fmt.Sprintf("there are %d dates", len(s.Dates)), fmt.Sprintf("give at most %d, and write ranges", MaxDates))
	}
	for _, text := range s.Dates {
		span, err := parseDates(text)
		if err != nil {
			return nil, err
		}
		c.dates = append(c.dates, span)
	}
	if c.weekdays, err = parseWeekdays(s.Weekdays); err != nil {
		return nil, err
	}
	if len(s.Rules) > MaxRules {
		return nil, newError("rules", "", fmt.Sprintf("there are %d rules", len(s.Rules)), fmt.Sprintf("give at most %d", MaxRules))
	}
	for _, one := range s.Rules {
		if err := c.addRule(z, one, s.Zone); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// parseWeekdays reads names of days of the week.
func parseWeekdays(names []string) (set uint64, _ error) {
	for _, name := range names {
		day, err := parseWeekdayName(name)
		if err != nil {
			return 0, err
		}
		set |= 1 << day
	}
	return set, nil
}

func (c *Calendar) addRule(z *Zones, s Spec, zone string) error {
	noStart := func(one Spec) bool { return one.Every != "" && one.Start == "" }
	if s.Start == "" && (noStart(s) || slices.ContainsFunc(s.Any, noStart)) {
		return newError("start", "", "an interval in a calendar has no start", "give the instant from which the interval counts")
	}
	if s.Zone == "" && !namesZone(s.Cron) {
		s.Zone = zone
	}
	rule, err := z.Rule(s, time.Unix(0, 0))
	if err != nil {
		return err
	}
	members, ok := rule.(union)
	if !ok {
		members = union{rule}
	}
	for _, rule := range members {
		c.rules = append(c.rules, exclusion{rule, lengthOf(rule)})
	}
	return nil
}

// lengthOf returns how long a time the rule excludes each time it rings.
func lengthOf(r Rule) time.Duration {
	switch r := r.(type) {
	case bounded:
		return lengthOf(r.rule)
	case *cron:
		if r.seconds {
			return time.Second
		}
		return time.Minute
	}
	return time.Microsecond // only the instant itself
}

// Excludes reports whether an instant is excluded, and why: "weekday
// Saturday", "date 12-25 Christmas Day" or "rule * 0-6 * * *".
func (c *Calendar) Excludes(t time.Time) (why string, excluded bool) {
	if why, excluded = c.excludesDate(t); excluded {
		return why, true
	}
	for _, e := range c.rules {
		if ring := e.rule.Prev(t.Add(1)); !ring.IsZero() && t.Before(ring.Add(e.length)) {
			return "rule " + e.rule.String(), true
		}
	}
	return "", false
}

// excludesDate reports whether the whole date of an instant is excluded, and
// why.
func (c *Calendar) excludesDate(t time.Time) (why string, excluded bool) {
	if c.loc != nil {
		t = t.In(c.loc)
	}
	year, month, day := t.Date()
	date := dateNumber(year, int(month), day)
	for _, span := range c.dates {
		if span.has(date) {
			return "date " + span.text, true
		}
	}
	if has(c.weekdays, int(t.Weekday())) {
		return "weekday " + t.Weekday().String(), true
	}
	return "", false
}

// NextOpen returns the first instant of r after the given instant that no
// calendar excludes. If r has no such instant, t is the zero time and found is
// false.
//
// NextOpen examines at most 1,000 excluded instants; all instants of r on one
// excluded date count as one. If it stops at that bound, found is false and t
// is the last instant that it examined: every instant up to t is excluded, and
// the caller may continue after t.
func NextOpen(r Rule, after time.Time, calendars ...*Calendar) (t time.Time, found bool) {
	for range 1000 {
		if t = r.Next(after); t.IsZero() {
			return t, false
		}
		i := slices.IndexFunc(calendars, func(c *Calendar) bool {
			_, excluded := c.Excludes(t)
			return excluded
		})
		if i < 0 {
			return t, true
		}
		after = calendars[i].lastLike(t)
	}
	return t, false
}

// lastLike returns t, which is excluded, or the last moment of t's date if the
// whole date is excluded.
func (c *Calendar) lastLike(t time.Time) time.Time {
	if _, whole := c.excludesDate(t); !whole {
		return t
	}
	loc := t.Location()
	if c.loc != nil {
		loc = c.loc
	}
	z := zone{loc}
	wall := t.Unix() + z.offset(t.Unix())
	end := time.Unix(z.first(wall-floorMod(wall, secondsPerDay)+secondsPerDay), 0).Add(-1)
	if end.Before(t) {
		return t
	}
	return end.In(t.Location())
}

// dateNumber turns a date into a number that can be compared. The year 0 stands
// for every year.
func dateNumber(year, month, day int) int {
	return year*10_000 + month*100 + day
}

func (s dateSpan) has(date int) bool {
	if s.yearly {
		date %= 10_000
		if s.from > s.to { // the span contains New Year
			return date >= s.from || date <= s.to
		}
	}
	return s.from <= date && date <= s.to
}

// parseDates reads a date or a span of dates, and the name behind it.
func parseDates(text string) (dateSpan, error) {
	const remedy = "write 2026-12-25, 12-25 for every year, or both ends of a span as in 2026-12-24..2027-01-01; a name may follow"
	fault := func(problem string) (dateSpan, error) {
		return dateSpan{}, newError("dates", text, problem, remedy)
	}
	if len(text) > 300 {
		return fault("the text is longer than 300 bytes")
	}
	span := dateSpan{text: strings.Join(strings.Fields(text), " ")}
	word, _ := cutWord(text)
	first, last, isSpan := strings.Cut(word, "..")
	if !isSpan {
		last = first
	}
	from, okFrom := parseDate(first)
	to, okTo := parseDate(last)
	span.from, span.to, span.yearly = from, to, from < 10_000
	switch {
	case !okFrom || !okTo:
		return fault("this is not a date")
	case span.yearly != (to < 10_000):
		return fault("one end has a year and the other has none")
	case !span.yearly && from > to:
		return fault("the span runs backwards")
	}
	return span, nil
}

// parseDate reads a date, with or without a year.
func parseDate(text string) (number int, ok bool) {
	if t, err := time.Parse(time.DateOnly, text); err == nil && t.Year() > 0 {
		return dateNumber(t.Year(), int(t.Month()), t.Day()), true
	}
	t, err := time.Parse(time.DateOnly, "2000-"+text) // a leap year
	return dateNumber(0, int(t.Month()), t.Day()), err == nil
}

// parseWeekdayName reads a day of the week.
func parseWeekdayName(text string) (int, error) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		name := day.String()
		if strings.EqualFold(text, name) || strings.EqualFold(text, name[:3]) || text == strconv.Itoa(int(day)) {
			return int(day), nil
		}
	}
	if text == "7" {
		return 0, nil
	}
	return 0, newError("weekdays", text, "there is no such day of the week", "write Monday, mon or 1, and so on")
}
