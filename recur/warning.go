package recur

import (
	"fmt"
	"strings"
	"time"
)

// Warnings returns the parts of the rule that are valid but probably a
// mistake, each with a remedy. A Spec that is not valid has no warnings;
// [Spec.Validate] returns its error.
//
// There are three kinds of warning. A step beyond its field: */90 minutes rings
// at minute 0 of each hour. A rule without a dialect that looks like a rule of
// Quartz, which counts the days of the week from 1. And a rule of a dialect
// that releases of its scheduler read in different ways.
func (s Spec) Warnings() (warnings []*Error) {
	if s.Validate() != nil {
		return nil
	}
	for _, one := range s.Any {
		warnings = append(warnings, one.Warnings()...)
	}
	words := cronWords(s.Cron)
	if len(words) == 0 || words[0][0] == '@' || s.Dialect == Systemd {
		return warnings
	}
	return append(warnings, dialects[s.Dialect].warn(s.Cron, words)...)
}

// warn returns the warnings about the fields of a rule.
func (d *dialect) warn(expr string, words []string) (warnings []*Error) {
	all, err := d.arrange(words)
	if err != nil {
		return nil // a rate
	}
	for at, word := range all {
		if kind := d.kinds[at]; !kind.strict && at != atYear {
			warnings = append(warnings, kind.warnSteps(expr, word)...)
		}
	}
	day, weekday := all[atDay], all[atWeekday]
	if d == standard {
		if problem := ofQuartz(day, weekday, len(words)); problem != "" {
			warnings = append(warnings, newError("cron", expr, problem, "choose the dialect of the rule, or write names of days"))
		}
	}
	if problem, remedy := d.doubt(day, weekday); problem != "" {
		warnings = append(warnings, newError("cron", expr, problem, remedy))
	}
	return warnings
}

// cronWords returns the fields of a cron rule, without its zone.
func cronWords(text string) []string {
	if namesZone(text) {
		_, text = cutWord(text)
	}
	if call, ok := cutCall(text); ok {
		text = call.inner
	}
	return strings.Fields(text)
}

// ofQuartz returns why a rule without a dialect is probably a rule of Quartz; empty: it is not.
func ofQuartz(day, weekday string, words int) (problem string) {
	if day == "?" || weekday == "?" || words == 6 && strings.ContainsAny(weekday, "L#") {
		return looksLikeQuartz(weekday)
	}
	return ""
}

// looksLikeQuartz returns what a field of days of the week means here and in Quartz, if both accept the field and it
// means different days.
func looksLikeQuartz(weekday string) (problem string) {
	text := func(d *dialect) string {
		f := &fields{}
		if d.parseDays(f, "?", weekday) != nil {
			return ""
		}
		if f.special {
			return strings.TrimPrefix(f.describeWeekdays("the month"), "on ")
		}
		return listing(values(f.weekday), func(day int) string { return time.Weekday(day).String() })
	}
	here, there := text(standard), text(dialects[Quartz])
	if there == "" || here == there {
		return ""
	}
	return fmt.Sprintf("day of week %s is %s here; in Quartz it is %s", quote(weekday), here, there)
}

// doubt returns what releases of the dialect's scheduler read in different ways, or none reads as it is documented, and
// what to write instead. TestDialects finds such rules.
func (d *dialect) doubt(day, weekday string) (problem, remedy string) {
	f := &fields{}
	if d.parseDays(f, day, weekday) != nil {
		return "", ""
	}
	late := "day of month " + quote(day) + " is in some months only; "
	switch d {
	case dialects[Quartz]:
		if problem, remedy = f.doubtQuartz(day, weekday); problem != "" {
			return problem, remedy
		}
		if f.nearest>>29 != 0 {
			return late + "in a shorter month it is the last working day, as in Quartz 2.3, but Quartz 2.5 leaves that month out",
				"write LW if the last working day is meant"
		}
	case dialects[Spring]:
		if f.nearest>>29 != 0 {
			return late + "Spring leaves out some of them", "write LW if the last working day is meant"
		}
	default:
		return "", ""
	}
	if (f.last|f.lastNearest)>>28 != 0 {
		return late + d.title + " does not ring on the right days", "write L-1 to L-27"
	}
	return "", ""
}

// doubtQuartz is doubt about what only Quartz reads in different ways: letters in lists, and steps after names.
func (f *fields) doubtQuartz(day, weekday string) (problem, remedy string) {
	const write = "write one rule for each item of the list, and combine the rules with any"
	isList := func(field string) bool { return strings.Contains(field, ",") }
	switch {
	case isList(day) && strings.ContainsAny(day, "Ww"):
		return "day of month " + quote(day) + " is a list with W; Quartz up to 2.3 reads one day of it", write
	case f.special && isList(weekday):
		return "day of week " + quote(weekday) + " is a list with L or #; Quartz reads one letter for the whole list", write
	case strings.Contains(weekday, "/") && strings.ToUpper(weekday) != strings.ToLower(weekday):
		return "day of week " + quote(weekday) + " has a step after a name, which Quartz leaves out", "write the days in a list"
	}
	return "", ""
}

// warnSteps returns warnings about steps beyond the field in a valid field of
// the rule cron.
func (k fieldKind) warnSteps(cron, text string) (warnings []*Error) {
	for item := range strings.SplitSeq(text, ",") {
		low, _, step, err := k.parseSpan(item)
		if err != nil || step <= k.max {
			continue // an item that is not a span, such as 15W, has no step
		}
		remedy := "write the value without a step"
		if k.every != "" {
			remedy = fmt.Sprintf("write every: %d%s in place of cron, or the value without a step if it is meant", step, k.every)
		}
		warnings = append(warnings, newError("cron", cron,
			fmt.Sprintf("%s %s has a step beyond the field, which leaves the value %d alone", k.name, quote(item), low), remedy))
	}
	return warnings
}
