package recur

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// ParseExclude reads the times at which something does not run from a single
// text, with these parts:
//
//	2026-12-25                        a date; 12-25 is that date in every year
//	12-24..12-26 Christmas            a span of dates, with a name
//	sat,sun or sat-sun                days of the week
//	* 0-6 * * *                       a rule, as Parse reads it
//	holidays                          anything else is the name of a calendar
//
// Commas separate the parts, except where a rule contains commas; a |
// separates such a rule from the other parts. The names of calendars are
// returned separately, because only the caller can look them up. The error is
// an [*Error].
func ParseExclude(text string) (own CalendarSpec, names []string, err error) {
	for part := range strings.SplitSeq(text, strings.TrimSpace(unionMark)) {
		part = strings.TrimSpace(part)
		several := strings.Split(part, ",")
		if readsAsRule(part) {
			several = []string{part} // the commas belong to the rule
		}
		for _, one := range several {
			one = strings.TrimSpace(one)
			switch {
			case one == "":
				return CalendarSpec{}, nil, newError("exclude", text, "something is empty",
					"write a date, a day of the week, a rule or the name of a calendar, with a comma between two")
			case readsAsRule(one):
				rule, err := parseSpec(one)
				if err != nil {
					return CalendarSpec{}, nil, err
				}
				own.Rules = append(own.Rules, rule)
			case readsAsDate(one):
				own.Dates = append(own.Dates, one)
			case readWeekdays(one) != nil:
				own.Weekdays = append(own.Weekdays, readWeekdays(one)...)
			default:
				names = append(names, one)
			}
		}
	}
	return own, names, own.Validate()
}

// Exclude returns a text that [ParseExclude] reads as s. ok is false if there
// is no such text, because the calendar has a zone of its own or is empty.
func (s CalendarSpec) Exclude() (text string, ok bool) {
	parts := slices.Concat(s.Dates, s.Weekdays)
	if len(parts) > 0 {
		parts = []string{strings.Join(parts, ", ")}
	}
	for _, rule := range s.Rules {
		parts = append(parts, rule.String())
	}
	text = strings.Join(parts, unionMark)
	back, names, err := ParseExclude(text)
	return text, err == nil && names == nil && reflect.DeepEqual(back, s)
}

// readsAsRule reports whether a text is meant as a rule.
func readsAsRule(text string) bool {
	first, rest := cutWord(text)
	switch {
	case first == "every", first == "at":
		return strings.TrimSpace(rest) != ""
	case namesZone(text), strings.HasPrefix(first, "@"), strings.HasPrefix(first, "*"):
		return true
	case len(strings.Fields(text)) < 5 || strings.Trim(first, "0123456789,-/*") != "":
		return false
	case !readsAsDate(text):
		return true
	}
	s, err := parseSpec(text) // "12-25 0 9 * *"; a date with a name of four words is not a rule
	return err == nil && s.Validate() == nil
}

// readsAsDate reports whether a text is meant as a date or a span of dates.
func readsAsDate(text string) bool {
	first, _ := cutWord(text)
	from, _, _ := strings.Cut(first, "..")
	return strings.Contains(from, "-") && strings.Trim(from, "0123456789-") == ""
}

// readWeekdays reads the name of a day of the week, or a range of such names;
// the result is nil for any other text.
func readWeekdays(text string) (days []string) {
	first, last, several := strings.Cut(text, "-")
	if !several {
		last = first
	}
	from, okFrom := weekdayNamed(first)
	to, okTo := weekdayNamed(last)
	if !okFrom || !okTo {
		return nil
	}
	for day := from; ; day = (day + 1) % 7 {
		days = append(days, strings.ToLower(day.String()[:3]))
		if day == to {
			return days
		}
	}
}

func weekdayNamed(text string) (time.Weekday, bool) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if name := day.String(); strings.EqualFold(text, name) || strings.EqualFold(text, name[:3]) {
			return day, true
		}
	}
	return 0, false
}
