package recur

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxCronText bounds a cron rule in bytes, its zone apart. Every value of
// every field written out takes less.
const maxCronText = 1000

// ParseCron reads a cron rule. The fields, separated by any white space, are
//
//	second        0-59 (only where there are six fields, then first)
//	minute        0-59
//	hour          0-23
//	day of month  1-31
//	month         1-12 or JAN-DEC
//	day of week   0-7 or SUN-SAT (0 and 7 are Sunday)
//
// A field is a list of values (5), ranges (1-5), and steps (*/10, 5/10 from 5
// on, 1-30/10), with * for all values; ? means * in the two day fields. Names
// are three letters in any case. If day of month and day of week are both
// restricted, a date matches when either does; a field that starts with * is
// not restricted in this sense, and both must match.
//
// Instead of fields there may be one of @yearly, @annually, @monthly,
// @weekly, @daily, @midnight, @hourly, or "@every 90s", which counts from
// 1970-01-01T00:00:00Z ([Spec.Rule] lets it count from an anchor).
//
// The zone is loc, or the one named before the fields as in
// "CRON_TZ=Europe/Prague 0 9 * * *" (TZ= means the same); if both are given
// they must agree. A nil loc gives none; with no zone at all the rule is in
// UTC. loc must be the zone of its IANA name, so that the rule's text says
// everything; time.Local is refused.
//
// A rule that matches no date, such as 30 February, is accepted and never
// rings. The error is an [*Error] that names the field and the remedy.
func ParseCron(expr string, loc *time.Location) (Rule, error) {
	if loc != nil {
		if err := checkNamed(loc); err != nil {
			return nil, err
		}
	}
	return parseCron(expr, loc, time.Unix(0, 0))
}

// parseCron is ParseCron for a location already checked, and with an anchor
// for @every.
func parseCron(expr string, loc *time.Location, anchor time.Time) (Rule, error) {
	rest, loc, err := cutZone(expr, loc)
	if err != nil {
		return nil, err
	}
	if len(rest) > maxCronText {
		return nil, newError("cron", expr, fmt.Sprintf("the rule is longer than %d bytes", maxCronText), "write ranges and steps instead of lists")
	}
	words := strings.Fields(rest)
	if len(words) > 0 && strings.EqualFold(words[0], "@every") {
		return parseCronEvery(expr, words[1:], anchor)
	}
	c := &cron{zone: zone{orUTC(loc)}, text: strings.Join(words, " ")}
	if len(words) > 0 && strings.HasPrefix(words[0], "@") {
		c.text = strings.ToLower(c.text)
		words, err = expandMacro(expr, words)
		if err != nil {
			return nil, err
		}
	}
	if err := c.parseFields(words); err != nil {
		return nil, newError("cron", expr, err.Problem, err.Remedy)
	}
	c.never = c.matchesNoDate()
	return c, nil
}

// cutZone takes CRON_TZ=name or TZ=name off the front of expr and settles
// which zone holds.
func cutZone(expr string, loc *time.Location) (string, *time.Location, error) {
	word, rest := cutWord(expr)
	name, ok := strings.CutPrefix(strings.TrimPrefix(word, "CRON_"), "TZ=")
	if !ok {
		return expr, loc, nil
	}
	if loc != nil && name != loc.String() {
		return "", nil, newError("tz", name, "the cron rule names this zone, but "+loc.String()+" is given beside it",
			"give the zone in one place only")
	}
	if again, _ := cutWord(rest); strings.HasPrefix(again, "TZ=") || strings.HasPrefix(again, "CRON_TZ=") {
		return "", nil, newError("tz", again, "the cron rule names a zone twice", "give the zone once")
	}
	loc, err := loadZone(name)
	return rest, loc, err
}

// cutWord splits text after its first word.
func cutWord(text string) (word, rest string) {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

func parseCronEvery(expr string, args []string, anchor time.Time) (Rule, error) {
	if len(args) != 1 {
		return nil, newError("cron", expr, "@every takes one duration", "write it like @every 90s")
	}
	return parseEvery(args[0], anchor)
}

// expandMacro returns the five fields that a macro stands for.
func expandMacro(expr string, words []string) ([]string, error) {
	if len(words) > 1 {
		return nil, newError("cron", expr, quote(words[0])+" stands alone, but more follows it", "write either a macro or fields")
	}
	switch strings.ToLower(words[0]) {
	case "@yearly", "@annually":
		return strings.Fields("0 0 1 1 *"), nil
	case "@monthly":
		return strings.Fields("0 0 1 * *"), nil
	case "@weekly":
		return strings.Fields("0 0 * * 0"), nil
	case "@daily", "@midnight":
		return strings.Fields("0 0 * * *"), nil
	case "@hourly":
		return strings.Fields("0 * * * *"), nil
	case "@reboot":
		return nil, newError("cron", expr, "@reboot is a start, not a time, and belongs into a crontab file", "write when the job is to run")
	}
	return nil, newError("cron", expr, "there is no macro "+quote(words[0]),
		"use @yearly, @monthly, @weekly, @daily, @hourly or @every with a duration")
}

// fieldKind describes one position of a cron rule.
type fieldKind struct {
	name     string
	min, max int
	names    string // three letters each; the first one names the value min
	isDay    bool   // takes ?, and later L, W and #
}

// The six positions in the order in which they are written.
var fieldKinds = [...]fieldKind{
	{name: "second", min: 0, max: 59},
	{name: "minute", min: 0, max: 59},
	{name: "hour", min: 0, max: 23},
	{name: "day of month", min: 1, max: 31, isDay: true},
	{name: "month", min: 1, max: 12, names: "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"},
	{name: "day of week", min: 0, max: 7, names: "SUNMONTUEWEDTHUFRISAT", isDay: true},
}

// parseFields fills in what the words say. Its error lacks Field and Value.
func (c *cron) parseFields(words []string) *Error {
	switch len(words) {
	case 5:
		words = append([]string{"0"}, words...)
	case 6:
	case 0:
		return &Error{Problem: "the rule is empty", Remedy: "write five fields: minute, hour, day of month, month, day of week"}
	case 7:
		return &Error{Problem: "the rule has 7 fields; years are not supported yet", Remedy: "write 5 fields, or 6 with seconds first"}
	default:
		return &Error{Problem: fmt.Sprintf("the rule has %d field(s)", len(words)), Remedy: "write 5 fields, or 6 with seconds first"}
	}
	sets := [len(fieldKinds)]*uint64{&c.second, &c.minute, &c.hour, &c.day, &c.month, &c.weekday}
	var star [len(fieldKinds)]bool
	for i, kind := range fieldKinds {
		set, err := kind.parse(words[i])
		if err != nil {
			return err
		}
		*sets[i] = set
		star[i] = words[i][0] == '*' || words[i][0] == '?'
	}
	c.weekday = (c.weekday | c.weekday>>7) & 0x7f // 7 is Sunday
	c.fields.eitherDay = !star[3] && !star[5]
	c.fixed = !star[1] && !star[2]
	return nil
}

// matchesNoDate looks through the last 400 years of the range, in which every
// combination of date and day of the week occurs that ever does.
func (f *fields) matchesNoDate() bool {
	_, ok := f.nextWall(time.Date(maxYear-400, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	return !ok
}

// parse reads a whole field, a list.
func (k fieldKind) parse(text string) (set uint64, _ *Error) {
	if text == "?" && k.isDay {
		text = "*"
	}
	for item := range strings.SplitSeq(text, ",") {
		values, err := k.parseItem(item)
		if err != nil {
			return 0, err
		}
		set |= values
	}
	return set, nil
}

// parseItem reads one item of a list: a value or a range, with or without a
// step.
func (k fieldKind) parseItem(item string) (set uint64, _ *Error) {
	span, stepText, hasStep := strings.Cut(item, "/")
	low, high, err := k.parseSpan(span, hasStep)
	if err != nil {
		return 0, err
	}
	step := 1
	if hasStep {
		var ok bool
		if step, ok = number(stepText); !ok || step == 0 {
			return 0, k.fault(item, "has a step that is not a number from 1 on", "write a step such as */5")
		}
	}
	for v := low; v <= high; v += step {
		set |= 1 << v
	}
	return set, nil
}

// parseSpan reads what stands before a step.
func (k fieldKind) parseSpan(span string, hasStep bool) (low, high int, err *Error) {
	if span == "*" {
		return k.min, k.max, nil
	}
	lowText, highText, isRange := strings.Cut(span, "-")
	if low, err = k.parseValue(lowText, span); err != nil {
		return 0, 0, err
	}
	switch {
	case isRange:
		if high, err = k.parseValue(highText, span); err != nil {
			return 0, 0, err
		}
		if low > high {
			return 0, 0, k.fault(span, "runs backwards", k.unwrap(low, high))
		}
	case hasStep:
		high = k.max
	default:
		high = low
	}
	return low, high, nil
}

// unwrap says how to write a range that runs over the end of the field.
func (k fieldKind) unwrap(low, high int) string {
	const sunday = 7 // and 0
	switch {
	case k.max != sunday:
		return fmt.Sprintf("write %s,%s", span(low, k.max), span(k.min, high))
	case low == sunday:
		return fmt.Sprintf("write %s (0 is Sunday)", span(0, high))
	case high == 0:
		return fmt.Sprintf("write %s (7 is Sunday)", span(low, sunday))
	default:
		return fmt.Sprintf("write %s,%s", span(low, sunday), span(1, high))
	}
}

// span writes a range.
func span(low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	return fmt.Sprintf("%d-%d", low, high)
}

// parseValue reads a number or a name; item is what it is part of.
func (k fieldKind) parseValue(text, item string) (int, *Error) {
	if v, ok := number(text); ok {
		if v < k.min || v > k.max {
			return 0, k.fault(text, "is out of range", fmt.Sprintf("write %d to %d", k.min, k.max))
		}
		return v, nil
	}
	if len(text) == 3 {
		for i := 0; i < len(k.names); i += 3 {
			if strings.EqualFold(text, k.names[i:i+3]) {
				return k.min + i/3, nil
			}
		}
	}
	if k.isSpecialDay(item) {
		return 0, k.fault(item, "uses L, W or #, which are not supported yet", "use numbers, names, *, ranges, lists and steps")
	}
	return 0, k.fault(item, "is not a value of this field", k.example())
}

// isSpecialDay recognizes last days (L, L-3, 5L, FRIL), nearest weekdays (15W,
// LW) and ordinal weekdays (5#3).
func (k fieldKind) isSpecialDay(item string) bool {
	if !k.isDay {
		return false
	}
	item = strings.ToUpper(item)
	switch strings.Trim(item, "0123456789-") {
	case "L", "W", "LW":
		return true
	}
	ofName := len(item) == 4 && item[3] == 'L' && k.names != ""
	return ofName || strings.Contains(item, "#")
}

func (k fieldKind) example() string {
	remedy := fmt.Sprintf("write %d to %d", k.min, k.max)
	if k.names != "" {
		remedy += fmt.Sprintf(" or %s to %s", k.names[:3], k.names[len(k.names)-3:])
	}
	return remedy + ", a range, a list, * or */2"
}

// fault makes an error about a piece of this field.
func (k fieldKind) fault(piece, problem, remedy string) *Error {
	return &Error{Problem: k.name + " " + quote(piece) + " " + problem, Remedy: remedy}
}

// number reads decimal digits and nothing else. A value too great for any
// field stays too great.
func number(text string) (value int, ok bool) {
	if text == "" {
		return 0, false
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		value = min(value*10+int(c-'0'), 1_000_000)
	}
	return value, true
}
