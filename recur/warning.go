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
	text := s.Cron
	if namesZone(text) {
		_, text = cutWord(text)
	}
	if call, ok := cutCall(text); ok {
		text = call.inner
	}
	words, d := strings.Fields(text), dialects[s.Dialect]
	if len(words) == 0 || words[0][0] == '@' || s.Dialect == Systemd {
		return warnings
	}
	all, err := d.arrange(words)
	if err != nil {
		return warnings // a rate
	}
	for at, word := range all {
		if kind := d.kinds[at]; !kind.strict && at != atYear {
			warnings = append(warnings, kind.warnSteps(s.Cron, word)...)
		}
	}
	day, weekday := all[atDay], all[atWeekday]
	if d == standard {
		marked := day == "?" || weekday == "?" || len(words) == 6 && strings.ContainsAny(weekday, "L#")
		if problem := looksLikeQuartz(weekday); marked && problem != "" {
			warnings = append(warnings, newError("cron", s.Cron, problem, "choose the dialect of the rule, or write names of days"))
		}
	}
	if problem, remedy := d.doubt(day, weekday); problem != "" {
		warnings = append(warnings, newError("cron", s.Cron, problem, remedy))
	}
	return warnings
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
	const write = "write one rule for each item of the list, and combine the rules with any"
	letters := func(field, letters string) bool {
		return strings.Contains(field, ",") && strings.ContainsAny(strings.ToUpper(field), letters)
	}
	f := &fields{}
	if d.parseDays(f, day, weekday) != nil {
		return "", ""
	}
	late := "day of month " + quote(day) + " is in some months only; "
	switch quartz := d == dialects[Quartz]; {
	case quartz && letters(day, "W"):
		return "day of month " + quote(day) + " is a list with W; Quartz up to 2.3 reads one day of it", write
	case quartz && f.special && strings.Contains(weekday, ","):
		return "day of week " + quote(weekday) + " is a list with L or #; Quartz reads one letter for the whole list", write
	case quartz && strings.Contains(weekday, "/") && strings.ToUpper(weekday) != strings.ToLower(weekday):
		return "day of week " + quote(weekday) + " has a step after a name, which Quartz leaves out", "write the days in a list"
	case quartz && f.nearest>>29 != 0:
		return late + "in a shorter month it is the last working day, as in Quartz 2.3, but Quartz 2.5 leaves that month out",
			"write LW if the last working day is meant"
	case d == dialects[Spring] && f.nearest>>29 != 0:
		return late + "Spring leaves out some of them", "write LW if the last working day is meant"
	case (quartz || d == dialects[Spring]) && (f.last|f.lastNearest)>>28 != 0:
		return late + d.title + " does not ring on the right days", "write L-1 to L-27"
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
