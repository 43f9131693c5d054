package recur

import (
	"fmt"
	"strconv"
	"strings"
)

// The values of [Spec.Dialect]. docs/schedules.md has a table of what they decide.
const (
	// Quartz is the scheduler of that name, also by way of its job stores. A rule has six fields, with the seconds
	// first, or seven fields, with the year (1970-2099) last. The days of the week are 1-7 from Sunday to Saturday,
	// exactly one of the two day fields is ?, and ranges may run over the end of a field (FRI-MON). 31W is the last
	// working day of a shorter month, as it is up to Quartz 2.3. A time in a gap does not ring, and a time that the
	// clock shows twice rings the last time.
	Quartz = "quartz"

	// Spring is Spring's CronExpression: six fields, with the seconds first. A date must match both day fields:
	// "0 0 0 13 * FRI" is Friday the 13th. A time in a gap does not ring, and a time that the clock shows twice rings
	// both times.
	Spring = "spring"

	// Kubernetes is robfig/cron v3, which Kubernetes and many Go programs use: five fields, or six with the seconds
	// first. If both day fields are restricted, a date matches if either matches; */2 is a restriction, but a field
	// with the item * or ? is none. There are no L, W and #, and Sunday is 0, not 7. A time in a gap does not ring,
	// and a time that the clock shows twice rings both times.
	Kubernetes = "kubernetes"

	// EventBridge is Amazon EventBridge: "cron(0/3 * * * ? *)" with the fields minute, hour, day of month, month, day
	// of week and year, with or without the word and the parentheses, or "rate(5 minutes)", which is an interval of
	// elapsed time that counts as [Spec.Every] does. Days of the week, ? and ranges are as in [Quartz]. A time in a
	// gap does not ring, and a time that the clock shows twice rings the first time.
	EventBridge = "eventbridge"
)

// dialect is what a scheduler means by the fields of a cron rule: decisions that the one parser follows.
type dialect struct {
	title  string       // the scheduler's name in errors
	fields string       // the fields that a rule has, in words
	first  map[int]int  // by how many fields a rule has: the first of them
	kinds  [7]fieldKind // of all fields
	sunday int          // the number of Sunday

	// open reports whether a day field does not restrict dates. If both day fields restrict dates, a date matches if
	// either matches. If open is nil, both must match always.
	open func(field string) bool

	oneMark   bool   // whether exactly one of the day fields must be ?
	plain     bool   // whether there are no L, W and #
	shortened bool   // whether 31W is the last working day of a shorter month
	gap, fold string // empty: Vixie cron's behaviour
}

// The positions of the fields of a rule.
const (
	atSecond = iota
	atMinute
	atHour
	atDay
	atMonth
	atWeekday
	atYear
)

const (
	monthNames   = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"
	weekdayNames = "SUNMONTUEWEDTHUFRISAT"
)

// The fields of cron, Spring, robfig/cron and Quartz.
var (
	cronKinds = [...]fieldKind{
		{name: "second", min: 0, max: 59, every: "s"},
		{name: "minute", min: 0, max: 59, every: "m"},
		{name: "hour", min: 0, max: 23, every: "h"},
		{name: "day of month", min: 1, max: 31, every: " days"},
		{name: "month", min: 1, max: 12, names: monthNames, every: " months"},
		{name: "day of week", min: 0, max: 7, names: weekdayNames},
		{name: "year", min: firstYear, max: lastYear},
	}
	springKinds = [...]fieldKind{
		cronKinds[atSecond], cronKinds[atMinute], cronKinds[atHour], cronKinds[atDay], cronKinds[atMonth],
		{name: "day of week", min: 0, max: 7, names: weekdayNames, monday: 1},
		cronKinds[atYear],
	}
	robfigKinds = [...]fieldKind{
		cronKinds[atSecond], cronKinds[atMinute], cronKinds[atHour], cronKinds[atDay], cronKinds[atMonth],
		{name: "day of week", min: 0, max: 6, names: weekdayNames},
		cronKinds[atYear],
	}
	quartzKinds = [...]fieldKind{
		{name: "second", min: 0, max: 59, strict: true, wraps: true},
		{name: "minute", min: 0, max: 59, strict: true, wraps: true},
		{name: "hour", min: 0, max: 23, strict: true, wraps: true},
		{name: "day of month", min: 1, max: 31, strict: true, wraps: true},
		{name: "month", min: 1, max: 12, names: monthNames, strict: true, wraps: true},
		{name: "day of week", min: 1, max: 7, names: weekdayNames, strict: true, wraps: true},
		{name: "year", min: firstYear, max: lastYear},
	}
)

// standard is the dialect of rules that name none.
var standard = &dialect{
	title: "cron", fields: "5 fields (minute, hour, day of month, month, day of week), or 6 with seconds first",
	first: map[int]int{5: atMinute, 6: atSecond}, kinds: cronKinds, open: isStar,
}

// dialects has each dialect by its name. It is constant.
var dialects = map[string]*dialect{
	"": standard,
	Quartz: {
		title: "Quartz", fields: "6 fields with seconds first, or 7 with the year last",
		first: map[int]int{6: atSecond, 7: atSecond}, kinds: quartzKinds, sunday: 1,
		oneMark: true, shortened: true, gap: GapSkip, fold: FoldLast,
	},
	Spring: {
		title: "Spring", fields: "6 fields with seconds first",
		first: map[int]int{6: atSecond}, kinds: springKinds, gap: GapSkip, fold: FoldBoth,
	},
	Kubernetes: {
		title: "Kubernetes", fields: "5 fields, or 6 with seconds first",
		first: map[int]int{5: atMinute, 6: atSecond}, kinds: robfigKinds, open: hasStar,
		plain: true, gap: GapSkip, fold: FoldBoth,
	},
	EventBridge: {
		title: "EventBridge", fields: "6 fields: minute, hour, day of month, month, day of week, year",
		first: map[int]int{6: atMinute}, kinds: quartzKinds, sunday: 1,
		oneMark: true, gap: GapSkip, fold: FoldFirst,
	},
	Systemd: {title: "systemd", gap: GapSkip, fold: FoldFirst}, // not cron fields: oncalendar.go reads the rule
}

// hasStar reports whether an item of a field is a star without a step, which is what robfig/cron looks at.
func hasStar(field string) bool {
	for item := range strings.SplitSeq(field, ",") {
		span, step, stepped := strings.Cut(item, "/")
		if n, _ := number(step); isStar(span+" ") && (!stepped || n == 1) {
			return true
		}
	}
	return false
}

// miscounted returns the error about a number of fields that the dialect does not have, with the remedy for what the
// words look like.
func (d *dialect) miscounted(words []string) *Error {
	n := len(words)
	err := &Error{Problem: fmt.Sprintf("the rule has %d %s", n, plural("field", int64(n))), Remedy: "write " + d.fields}
	switch last := words[n-1]; {
	case isZone(last):
		return zoneAsField(last)
	case d == standard && n == 7 && last == "*":
		err.Problem = "the rule has 7 fields"
		err.Remedy = "drop the last field, the year: " + strings.Join(words[:6], " ")
	case d == standard && n == 7:
		err.Problem = "the rule has 7 fields, but only the dialect quartz has years"
		err.Remedy = "drop the last field, the year, or choose the dialect quartz"
	}
	return err
}

// led returns err, the error of a rule whose number of fields is right. If the fields look like the fields of another
// scheduler, led returns an error that names this scheduler.
func (d *dialect) led(words []string, err *Error) *Error {
	switch last := words[len(words)-1]; {
	case isZone(last):
		return zoneAsField(last)
	case len(words) == 6 && d.first[6] == atSecond && (words[2] == "?" || words[4] == "?"):
		return &Error{
			Problem: "the rule has the fields of EventBridge, which begins with the minute and ends with the year",
			Remedy:  "choose the dialect eventbridge",
		}
	}
	return err
}

// isZone reports whether a word looks like the name of a time zone: Europe/Prague, but not MON/2.
func isZone(word string) bool {
	area, place, ok := strings.Cut(word, "/")
	letter := func(text string) bool { return text != "" && text[0]|0x20 >= 'a' && text[0]|0x20 <= 'z' }
	return ok && letter(area) && letter(place) || strings.EqualFold(word, "UTC")
}

// zoneAsField returns the error about a time zone among the fields.
func zoneAsField(zone string) *Error {
	return &Error{
		Problem: "the last word is a time zone, not a field",
		Remedy:  "take it out of cron, and give it as tz: " + shorten(zone),
	}
}

// call is a text of EventBridge such as "rate(5 minutes)".
type call struct{ name, inner string }

// cutCall splits a text of EventBridge.
func cutCall(text string) (call, bool) {
	name, rest, ok := strings.Cut(strings.TrimSpace(text), "(")
	inner, closed := strings.CutSuffix(rest, ")")
	ok = ok && closed && (name == "cron" || name == "rate" || name == "at")
	return call{name, inner}, ok
}

// eventBridge returns the fields of a cron rule, or the interval of a rate; expr is the rule as the user wrote it.
func eventBridge(expr string, c call, opts options) (fields, rate string, _ error) {
	switch {
	case opts.dialect != EventBridge:
		return "", "", newError("cron", expr, "this is a rule of EventBridge", "choose the dialect eventbridge")
	case c.name == "at":
		return "", "", newError("cron", expr, "this is one instant", "write at: "+shorten(c.inner)+" in place of cron, without the dialect")
	case c.name == "cron":
		return c.inner, "", nil
	}
	words := strings.Fields(c.inner)
	if len(words) == 2 {
		n, ok := number(words[0])
		unit := strings.TrimSuffix(words[1], "s")
		switch {
		case ok && unit == "day":
			return "", strconv.FormatInt(int64(n)*24, 10) + "h", nil // a day is 24 hours there
		case ok && (unit == "minute" || unit == "hour"):
			return "", words[0] + " " + words[1], nil
		}
	}
	return "", "", newError("cron", expr, "rate takes a number, and minutes, hours or days", "write it like rate(5 minutes)")
}
