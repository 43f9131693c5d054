// Package fugit reads rules as the Ruby library of that name reads them, which sidekiq-cron and Solid Queue use: cron fields
// with a time zone behind them, and words such as "every day at 9am in Europe/Prague". Words that are not understood, and
// words that ring at other instants than they say ("every 90 minutes" rings each hour there), are refused.
package fugit

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/recur"
)

const remedy = "write it as cron fields, such as 0 9 * * 1-5 Europe/Prague, or as words such as every day at 9am"

// Rule returns the rule of a text, or what is wrong with it and the remedy. Both day fields of cron are alternatives, a time in
// a gap of the clock does not ring, and a time that the clock shows twice rings both times.
func Rule(text string) (rule recur.Spec, problem, help string) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return rule, "is empty", remedy
	}
	var zone string
	if last := words[len(words)-1]; len(words) > 1 && isZone(last) {
		zone, words = last, words[:len(words)-1]
	}
	if strings.IndexByte("aefo", words[0][0]) >= 0 {
		if last := len(words) - 1; zone != "" && (words[last] == "in" || words[last] == "on") {
			words = words[:last]
		}
		fields, problem := phrase(words)
		if problem != "" {
			return rule, problem, remedy
		}
		words = fields
	}
	rule = recur.Spec{Cron: strings.Join(words, " "), Zone: zone, Dialect: recur.Kubernetes}
	err := rule.Validate()
	if err == nil {
		return rule, "", ""
	}
	if other, ok := beyond(rule, words); ok {
		return other, "", ""
	}
	for _, f := range declared.Fields(err) {
		return rule, "cannot be read: " + f.Problem, f.Remedy
	}
	return rule, "", ""
}

// beyond returns a rule with fields that robfig/cron, whose days and clock changes are the same, does not have: Sunday as 7,
// the last day of the month, and the first Monday.
func beyond(rule recur.Spec, fields []string) (recur.Spec, bool) {
	if len(fields) != 5 && len(fields) != 6 {
		return rule, false
	}
	fields = slices.Clone(fields)
	day, week := fields[len(fields)-3], &fields[len(fields)-1]
	switch {
	case *week == "7":
		*week = "0"
	case *week == "1-7":
		*week = "*"
	case day == "*" && !strings.ContainsAny(*week, "-%&") || *week == "*" && !strings.ContainsAny(day, "-&"):
		rule.Dialect, rule.Gap, rule.Fold = "", recur.GapSkip, recur.FoldBoth
	}
	rule.Cron = strings.Join(fields, " ")
	return rule, rule.Validate() == nil
}

// isZone reports whether a word is the name of a time zone.
func isZone(word string) bool {
	named := strings.Contains(word, "/") && !strings.ContainsAny(word[:1], "*0123456789") || word == "UTC"
	return named && recur.Spec{Cron: "@daily", Zone: word}.Validate() == nil
}

// rule is the fields that words set; empty: not set.
type rule struct{ second, minute, hour, day, month, weekday string }

func (r rule) fields() []string {
	or := func(text, other string) string {
		if text == "" {
			return other
		}
		return text
	}
	fields := []string{or(r.minute, "0"), or(r.hour, "0"), or(r.day, "*"), or(r.month, "*"), or(r.weekday, "*")}
	if r.second != "" {
		fields = append([]string{r.second}, fields...)
	}
	return fields
}

// words is what is left of a phrase.
type words []string

// next removes the first word, if it is one of these.
func (w *words) next(choices ...string) bool {
	if len(*w) > 0 && slices.Contains(choices, (*w)[0]) {
		*w = (*w)[1:]
		return true
	}
	return false
}

// phrase returns the cron fields of a phrase.
func phrase(list []string) (fields []string, problem string) {
	var w words
	for _, word := range list { // "monday, friday" as "monday and friday"
		before, comma := strings.CutSuffix(word, ",")
		for i, part := range strings.Split(before, ",") {
			if i > 0 {
				w = append(w, "and")
			}
			w = append(w, part)
		}
		if comma {
			w = append(w, "and")
		}
	}
	if i := slices.IndexFunc(w, beginsPeriod); i > 0 && w[0] == "at" { // "at 5am every day" as "every day at 5am"
		w = slices.Concat(w[i:], w[:i])
	}
	var r rule
	if problem = r.period(&w); problem == "" {
		r.on(&w)
		problem = r.at(&w)
	}
	if problem == "" && len(w) > 0 {
		problem = fmt.Sprintf("has the word %q, which is not understood here", declared.Label(w[0], 60))
	}
	return r.fields(), problem
}

// units are the words for units, with how many of them fit into the next unit.
var units = []struct {
	words []string
	field func(r *rule) *string
	most  int
}{
	{[]string{"second", "seconds", "sec", "s"}, func(r *rule) *string { return &r.second }, 59},
	{[]string{"minute", "minutes", "min", "m"}, func(r *rule) *string { return &r.minute }, 59},
	{[]string{"hour", "hours", "h"}, func(r *rule) *string { return &r.hour }, 23},
	{[]string{"day", "days", "d"}, func(r *rule) *string { return &r.day }, 30},
	{[]string{"month", "months", "M"}, func(r *rule) *string { return &r.month }, 11},
}

var counted = regexp.MustCompile(`^([0-9]+)([a-zA-Z]*)$`)

// beginsPeriod reports whether a period begins with a word.
func beginsPeriod(word string) bool {
	return word == "every" || word == "from" || word == "on"
}

// period reads how often, or on which days of the week, the rule rings.
func (r *rule) period(w *words) (problem string) {
	if w.next("from") || w.next("on") {
		if !r.weekdays(w) {
			return "names no day of the week"
		}
		return ""
	}
	if !w.next("every") {
		return fmt.Sprintf("begins with %q, which is not understood here", declared.Label((*w)[0], 60))
	}
	if r.weekdays(w) || r.ordinals(w) {
		if strings.Contains(r.day, ",") {
			return "has several days of the month, which Fugit takes only after on"
		}
		return ""
	}
	n := 1
	if len(*w) > 0 {
		if m := counted.FindStringSubmatch((*w)[0]); m != nil {
			n, _ = strconv.Atoi(m[1])
			if *w = (*w)[1:]; m[2] != "" {
				*w = append(words{m[2]}, *w...)
			}
		}
	}
	switch {
	case n == 1 && w.next("week"):
		r.weekday = "0"
		return ""
	case n == 1 && w.next("year"):
		r.day, r.month = "1", "1"
		return ""
	}
	for i, unit := range units {
		if !w.next(unit.words...) {
			continue
		}
		if n < 1 || n > unit.most {
			return fmt.Sprintf("rings at other instants there than %d %s apart", n, unit.words[1])
		}
		*unit.field(r) = "*"
		if n > 1 {
			*unit.field(r) = fmt.Sprintf("*/%d", n)
		}
		for _, smaller := range units[:i] { // an hour begins with its minute 0
			if *smaller.field(r) == "" && smaller.words[0] != "second" {
				*smaller.field(r) = "0"
			}
		}
		switch unit.words[0] {
		case "second":
			r.minute, r.hour = "*", "*"
		case "minute":
			r.hour = "*"
		case "month":
			r.day = "1"
		}
		return ""
	}
	return "names no unit of time that is understood here"
}

var weekdayNames = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// weekday returns the number of a day of the week.
func weekday(word string) int {
	for i, name := range weekdayNames {
		if word == name || word == name[:3] {
			return i
		}
	}
	return -1
}

// weekdays reads days of the week.
func (r *rule) weekdays(w *words) bool {
	if w.next("weekday") {
		r.weekday = "1-5"
		return true
	}
	var list []string
	for len(*w) > 0 && weekday((*w)[0]) >= 0 {
		day := weekday((*w)[0])
		*w = (*w)[1:]
		item := strconv.Itoa(day)
		if len(*w) > 1 && ((*w)[0] == "to" || (*w)[0] == "through") && weekday((*w)[1]) > day {
			item += fmt.Sprintf("-%d", weekday((*w)[1]))
			*w = (*w)[2:]
		}
		list = append(list, item)
		if len(*w) < 2 || (*w)[0] != "and" || weekday((*w)[1]) < 0 {
			break
		}
		*w = (*w)[1:]
	}
	r.weekday = strings.Join(list, ",")
	return len(list) > 0
}

var ordinal = regexp.MustCompile(`^([12]?[0-9]|3[01])(st|nd|rd|th)$`)

// ordinals reads days of the month, as in "the 1st and the 15th of the month".
func (r *rule) ordinals(w *words) bool {
	var list []string
	rest := *w
	for rest.next("the"); len(rest) > 0; rest.next("the") {
		m := ordinal.FindStringSubmatch(rest[0])
		if m == nil {
			break
		}
		list = append(list, m[1])
		if rest = rest[1:]; !rest.next("and") {
			break
		}
	}
	if len(list) == 0 {
		return false
	}
	if len(rest) > 2 && rest[0] == "of" && rest[1] == "the" && rest[2] == "month" {
		rest = rest[3:]
	}
	r.day, *w = strings.Join(list, ","), rest
	return true
}

var number = regexp.MustCompile(`^[0-9]+$`)

// on reads days after "on".
func (r *rule) on(w *words) {
	rest := *w
	if !rest.next("on") {
		return
	}
	if rest.next("day", "days") {
		var list []string
		for len(rest) > 0 && number.MatchString(rest[0]) {
			list = append(list, rest[0])
			if rest = rest[1:]; !rest.next("and") {
				break
			}
		}
		if len(list) == 0 {
			return
		}
		r.day = strings.Join(list, ",")
	} else if !r.ordinals(&rest) && (r.day == "1" || !r.weekdays(&rest)) { // "every month on monday" means each Monday there
		return
	}
	*w = rest
}

// at reads times of day, or the minute of an hour.
func (r *rule) at(w *words) (problem string) {
	at := w.next("at")
	if at && w.next("minute") {
		if len(*w) == 0 || !number.MatchString((*w)[0]) || !strings.HasPrefix(r.hour, "*") {
			return "has a minute that is not understood here"
		}
		r.minute, *w = (*w)[0], (*w)[1:]
		return ""
	}
	var hours, minutes []string
	for {
		hour, minute, ok := timeOfDay(w)
		if !ok {
			break
		}
		hours, minutes = append(hours, strconv.Itoa(hour)), append(minutes, strconv.Itoa(minute))
		if len(*w) < 2 || !w.next("and") {
			break
		}
	}
	sameMinute := len(slices.Compact(slices.Clone(minutes))) == 1
	switch {
	case len(hours) == 0 && at:
		return "has a time that is not understood here"
	case len(hours) == 0:
		return ""
	case strings.HasPrefix(r.hour, "*"):
		return "has a time of day, and rings more often than once a day"
	case !sameMinute:
		return "has times with different minutes, which are several rules"
	}
	r.hour, r.minute = strings.Join(hours, ","), minutes[0]
	return ""
}

var clock = regexp.MustCompile(`^(2[0-4]|[01]?[0-9])(?::([0-5][0-9]))?(am|AM|pm|PM)?$`)

// timeOfDay reads one time: noon, 9am, 9:30 pm, 16:00.
func timeOfDay(w *words) (hour, minute int, ok bool) {
	switch {
	case w.next("noon"):
		return 12, 0, true
	case w.next("midnight"):
		return 0, 0, true
	case len(*w) == 0:
		return 0, 0, false
	}
	m := clock.FindStringSubmatch((*w)[0])
	if m == nil {
		return 0, 0, false
	}
	*w = (*w)[1:]
	half := strings.ToLower(m[3])
	if half == "" && w.next("am", "AM") {
		half = "am"
	} else if half == "" && w.next("pm", "PM") {
		half = "pm"
	}
	hour, _ = strconv.Atoi(m[1])
	minute, _ = strconv.Atoi(m[2])
	switch {
	case half != "" && hour > 12:
		return 0, 0, false
	case half == "am" && hour == 12:
		hour = 0
	case half == "pm" && hour < 12:
		hour += 12
	}
	return hour % 24, minute, true
}
