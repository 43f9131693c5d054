package recur

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// ParseExclude reads what people write of the times at which something does not
// run, all in one text:
//
//	2026-12-25                        a date, 12-25 for that of every year,
//	12-24..12-26 Christmas            several in a row, with a name
//	sat,sun or sat-sun                days of the week
//	* 0-6 * * *                       a rule, as Parse reads it
//	holidays                          anything else is the name of a calendar
//
// Commas separate them, but for a rule with commas of its own, which a | separates
// from the others. The names are returned apart; what they stand for is for the caller to know. The error is an
// [*Error].
func ParseExclude(text string) (own CalendarSpec, names []string, err error) {
	for part := range strings.SplitSeq(text, strings.TrimSpace(unionMark)) {
		part = strings.TrimSpace(part)
		several := strings.Split(part, ",")
		if readsAsRule(part) {
			several = []string{part} // its commas are its own
		}
		for _, one := range several {
			one = strings.TrimSpace(one)
			switch {
			case one == "":
				return CalendarSpec{}, nil, newError("exclude", text, "something is empty", "write a date, a day of the week, a rule or the name of a calendar, with a comma between two")
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

// Exclude returns the text that [ParseExclude] reads as s; ok says whether there
// is one: there is none for a calendar with a zone of its own, or without anything.
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

// readsAsRule says whether a text is meant for a rule.
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
	s, err := parseSpec(text) // "12-25 0 9 * *"; a date with a name of four words is no rule
	return err == nil && s.Validate() == nil
}

// readsAsDate says whether a text is meant for dates.
func readsAsDate(text string) bool {
	first, _ := cutWord(text)
	from, _, _ := strings.Cut(first, "..")
	return strings.Contains(from, "-") && strings.Trim(from, "0123456789-") == ""
}

// readWeekdays reads a day of the week by its name, or several in a row; nil: it
// is none.
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
