package recur

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxCronText is the greatest length of a cron rule in bytes, without its zone.
// A rule that lists every value of every field is shorter.
const maxCronText = 1000

// ParseCron reads a cron rule. The fields, separated by any white space, are
//
//	second        0-59 (only where there are six fields, then first)
//	minute        0-59
//	hour          0-23
//	day of month  1-31, L (the last), L-3 (three days before it), 15W (the
//	              working day nearest to it in the same month), LW, L-3W
//	month         1-12 or JAN-DEC
//	day of week   0-7 or SUN-SAT (0 and 7 are Sunday), 5L (the last Friday of
//	              the month), 5#3 (the third)
//
// A field is a list of values (5), ranges (1-5), and steps (*/10, 5/10 from 5
// on, 1-30/10), with * for all values; ? means * in the two day fields. Names
// are three letters in any case. A step beyond the field, such as */90 minutes, leaves the first
// value alone; [Spec.Warnings] warns about it. If day of month and day of week
// are both restricted, a date matches if either field matches. A field that
// starts with * counts as not restricted; then both fields must match. Months
// that do not have the day (31, 31W, 5#5, L-30) are left out.
//
// Instead of fields the rule may be one of @yearly, @annually, @monthly,
// @weekly, @daily, @midnight, @hourly, or "@every 90s", which accepts the same
// intervals as [Spec.Every] and counts from 1970-01-01T00:00:00Z ([Spec.Rule]
// lets it count from an anchor).
//
// The zone is loc, or the zone named before the fields as in
// "CRON_TZ=Europe/Prague 0 9 * * *" (TZ= means the same); if both are given
// they must be equal. A nil loc means that loc gives no zone; without any zone
// the rule is in UTC. loc must be the zone of its IANA name, so that the rule's
// text is complete; time.Local is refused.
//
// A rule that matches no date, such as 30 February, is accepted and never
// rings. The error is an [*Error] that names the field and the remedy. [Spec]
// has more choices: the dialects of other schedulers, bounds, and the behaviour at clock
// changes.
func ParseCron(expr string, loc *time.Location) (Rule, error) {
	if loc != nil {
		if err := checkNamed(loc); err != nil {
			return nil, err
		}
	}
	rest, loc, err := cutZone(nil, expr, loc)
	if err != nil {
		return nil, err
	}
	return parseCron(expr, rest, orUTC(loc), time.Unix(0, 0), options{})
}

// parseCron reads a cron rule without its zone, which is given as loc; expr is
// the rule as the user wrote it.
func parseCron(expr, text string, loc *time.Location, anchor time.Time, opts options) (Rule, error) {
	if len(text) > maxCronText {
		return nil, newError("cron", expr, fmt.Sprintf("the rule is longer than %d bytes", maxCronText), "write ranges and steps instead of lists")
	}
	if inner, isCall := cutCall(text); isCall {
		rule, rate, err := eventBridge(expr, inner, opts)
		if err != nil {
			return nil, err
		}
		if rate != "" {
			opts.dialect = ""
			return parseEvery(rate, loc, anchor, opts)
		}
		text = rule
	}
	words := strings.Fields(text)
	if opts.dialect == Systemd {
		return parseOnCalendar(expr, words, loc, opts)
	}
	if len(words) > 0 && strings.EqualFold(words[0], "@every") {
		return parseCronEvery(expr, words[1:], loc, anchor, opts)
	}
	return parseFields(expr, words, loc, opts)
}

// parseFields reads a rule of fields, or a macro such as @daily.
func parseFields(expr string, words []string, loc *time.Location, opts options) (Rule, error) {
	c := &cron{fields: &fields{}, text: strings.Join(words, " "), options: opts}
	d := dialects[opts.dialect]
	if len(words) > 0 && strings.HasPrefix(words[0], "@") {
		var err error
		if words, err = expandMacro(expr, words); err != nil {
			return nil, err
		}
		c.text, d = strings.ToLower(c.text), standard
	}
	c.seconds = d.first[len(words)] == atSecond
	fixed, err := d.parse(c.fields, words)
	if err != nil {
		if len(words) > 0 {
			err = d.led(words, err)
		}
		return nil, newError("cron", expr, err.Problem, err.Remedy)
	}
	c.clock = opts.clock(loc, fixed)
	c.never = c.matchesNoDate()
	return c, nil
}

// cutZone removes CRON_TZ=name or TZ=name from the front of expr and decides
// which zone the rule has.
func cutZone(zones *Zones, expr string, loc *time.Location) (string, *time.Location, error) {
	word, rest := cutWord(expr)
	name, ok := strings.CutPrefix(strings.TrimPrefix(word, "CRON_"), "TZ=")
	if !ok {
		return expr, loc, nil
	}
	if loc != nil && name != loc.String() {
		return "", nil, newError("tz", name, "the cron rule names this zone, but "+loc.String()+" is given too",
			"give the zone in one place only")
	}
	if again, _ := cutWord(rest); strings.HasPrefix(again, "TZ=") || strings.HasPrefix(again, "CRON_TZ=") {
		return "", nil, newError("tz", again, "the cron rule names a zone twice", "give the zone once")
	}
	loc, err := zones.Load(name)
	return rest, loc, err
}

// namesZone reports whether a cron rule begins with a zone.
func namesZone(expr string) bool {
	word, _ := cutWord(expr)
	return strings.HasPrefix(strings.TrimPrefix(word, "CRON_"), "TZ=")
}

// cutWord splits text after its first word.
func cutWord(text string) (word, rest string) {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

func parseCronEvery(expr string, args []string, loc *time.Location, anchor time.Time, opts options) (Rule, error) {
	if len(args) != 1 && len(args) != 2 {
		return nil, newError("cron", expr, "@every takes one duration", "write it like @every 90s")
	}
	opts.dialect = ""
	return parseEvery(strings.Join(args, " "), loc, anchor, opts)
}

// expandMacro returns the five fields for which a macro stands.
func expandMacro(expr string, words []string) ([]string, error) {
	if len(words) > 1 {
		return nil, newError("cron", expr, quote(words[0])+" must be the whole rule, but more text follows it", "write either a macro or fields")
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
	case "@reboot", "@start":
		return nil, newError("cron", expr, words[0]+" is a start, not a time, and belongs into a crontab file", "write the time at which the job runs")
	}
	return nil, newError("cron", expr, "there is no macro "+quote(words[0]),
		"use @yearly, @monthly, @weekly, @daily, @hourly or @every with a duration")
}

// parse sets the fields from the words, and reports whether they name fixed
// times; see zone.go. Its error lacks Field and Value.
func (d *dialect) parse(f *fields, words []string) (fixed bool, err *Error) {
	if words, err = d.arrange(words); err != nil {
		return false, err
	}
	for at, set := range [...]*uint64{atSecond: &f.second, atMinute: &f.minute, atHour: &f.hour, atMonth: &f.month} {
		if set == nil {
			continue // parseDays reads the day of the month, below
		}
		if *set, err = d.kinds[at].parse(words[at]); err != nil {
			return false, err
		}
	}
	if err = d.parseDays(f, words[atDay], words[atWeekday]); err != nil {
		return false, err
	}
	if f.years, err = d.kinds[atYear].parseYears(words[atYear]); err != nil {
		return false, err
	}
	return !isStar(words[atSecond]) && !isStar(words[atMinute]) && !isStar(words[atHour]), nil
}

// arrange checks the number of fields and returns all seven fields: second 0 and
// every year if the text has none.
func (d *dialect) arrange(words []string) ([]string, *Error) {
	if len(words) == 0 {
		return nil, &Error{Problem: "the rule is empty", Remedy: "write " + d.fields}
	}
	first, ok := d.first[len(words)]
	if !ok {
		return nil, d.miscounted(words)
	}
	all := []string{"0", "*", "*", "*", "*", "*", "*"}
	copy(all[first:], words)
	return all, nil
}

// isStar reports whether a field begins with a star, or with the ? that stands for a star.
func isStar(field string) bool {
	return field[0] == '*' || field[0] == '?'
}

// parseDays reads the two fields that select dates.
func (d *dialect) parseDays(f *fields, day, weekday string) (err *Error) {
	if d.oneMark && (day == "?") == (weekday == "?") {
		return &Error{
			Problem: "day of month and day of week are " + quote(day) + " and " + quote(weekday),
			Remedy:  "write ? in exactly one of the two fields, as " + d.title + " requires",
		}
	}
	day, weekday = starOfMark(day), starOfMark(weekday)
	for item := range strings.SplitSeq(day, ",") {
		if err = d.parseDay(&f.days, item); err != nil {
			return err
		}
	}
	for item := range strings.SplitSeq(weekday, ",") {
		if err = d.parseWeekday(&f.days, item); err != nil {
			return err
		}
	}
	f.weekday = (f.weekday | f.weekday>>7) & 0x7f // 7 is Sunday
	f.special = f.last|f.lastNearest|f.nearest|f.ordinal|f.lastWeekday != 0
	f.shortened = d.shortened
	f.eitherDay = d.open != nil && !d.open(day) && !d.open(weekday)
	return nil
}

// starOfMark returns * for the mark ?, which selects the same, and any other field as it is.
func starOfMark(field string) string {
	if field == "?" {
		return "*"
	}
	return field
}

// parseDay reads one item of the day of month.
func (d *dialect) parseDay(days *days, item string) *Error {
	k := d.kinds[atDay]
	rest, toWorkingDay := cutLast(item, 'W')
	fromEnd := rest != "" && rest[0]|0x20 == 'l'
	switch {
	case d.plain && (fromEnd || toWorkingDay):
		return k.fault(item, "has a letter that "+d.title+" does not have", "write numbers, or leave the dialect out")
	case fromEnd:
		n, ok := daysFromLast(rest[1:])
		if !ok {
			return k.fault(item, "is not a day counted from the last", "write L, or L-1 to L-30, and W behind it for the nearest working day")
		}
		if toWorkingDay {
			days.lastNearest |= 1 << n
		} else {
			days.last |= 1 << n
		}
		return nil
	case toWorkingDay:
		n, ok := dayOfMonth(rest)
		if !ok {
			return k.fault(item, "is not a working day", "write 1W to 31W, or LW")
		}
		days.nearest |= 1 << n
		return nil
	}
	set, err := k.parseItem(item)
	days.day |= set
	return err
}

// dayOfMonth reads 1 to 31.
func dayOfMonth(text string) (n int, ok bool) {
	n, ok = number(text)
	return n, ok && n >= 1 && n <= 31
}

// daysFromLast reads what follows the L of a day: nothing, or -1 to -30.
func daysFromLast(text string) (n int, ok bool) {
	if text == "" {
		return 0, true
	}
	digits, minus := strings.CutPrefix(text, "-")
	n, ok = number(digits)
	return n, minus && ok && n <= 30
}

// parseWeekday reads one item of the day of week.
func (d *dialect) parseWeekday(days *days, item string) *Error {
	k := d.kinds[atWeekday]
	if name, digits, ok := strings.Cut(item, "#"); ok && !d.plain {
		return d.parseOrdinal(days, item, name, digits)
	}
	if name, ok := cutLast(item, 'L'); ok && !d.plain {
		switch {
		case name == "" && d.sunday == 0:
			return k.fault(item, "names no day of the week", "write it like 5L or FRIL, the last Friday of the month, or L as day of month")
		case name == "":
			days.weekday |= 1 << 6
			return nil
		}
		weekday, err := d.weekday(name, item)
		days.lastWeekday |= 1 << weekday
		return err
	}
	set, err := k.parseItem(item)
	days.weekday |= set >> d.sunday
	return err
}

// parseOrdinal reads an item such as FRI#3, the third Friday of the month.
func (d *dialect) parseOrdinal(days *days, item, name, digits string) *Error {
	weekday, err := d.weekday(name, item)
	n, ok := number(digits)
	switch {
	case err != nil:
		return err
	case !ok || n < 1 || n > 5:
		return d.kinds[atWeekday].fault(item, "has no count from 1 to 5 behind #", "write it like FRI#3, the third Friday of the month")
	}
	days.ordinal |= 1 << (7*(n-1) + weekday)
	return nil
}

// cutLast removes a letter, in either case, from the end of an item.
func cutLast(item string, letter byte) (rest string, ok bool) {
	if n := len(item); n > 0 && item[n-1]&^0x20 == letter {
		return item[:n-1], true
	}
	return item, false
}

// weekday reads one day of the week (0 = Sunday), which is a part of the item.
func (d *dialect) weekday(text, item string) (int, *Error) {
	v, err := d.kinds[atWeekday].parseValue(text, item)
	return (v - d.sunday + 7) % 7, err
}

// matchesNoDate searches the years that the rule names, or the last years of
// the range, which contain every kind of year.
func (f *fields) matchesNoDate() bool {
	var from int64
	if f.years == nil {
		from = maxSecond - cronCycle
	}
	_, ok := f.nextWall(from)
	return !ok
}

// fieldKind describes one field of a cron rule.
type fieldKind struct {
	name     string
	min, max int
	names    string // three letters each; the first one names the value min
	wraps    bool   // a range may run over the end: FRI-MON
	monday   int    // the number of Monday in a week from Monday to Sunday, which * is then; 0 if it is from Sunday
	every    string // the unit for an interval as long as a step of this field; empty if there is none
	strict   bool   // a step may not be greater than the field, and a step may lack the star: /5
}

// parse reads a whole field, which is a list.
func (k fieldKind) parse(text string) (set uint64, _ *Error) {
	for item := range strings.SplitSeq(text, ",") {
		values, err := k.parseItem(item)
		if err != nil {
			return 0, err
		}
		set |= values
	}
	return set, nil
}

// parseItem reads one item of a list and returns its values as a set.
func (k fieldKind) parseItem(item string) (set uint64, _ *Error) {
	low, high, step, err := k.parseSpan(item)
	for v := low; v <= high && err == nil; v += step {
		value := v
		if value > k.max {
			value -= k.max - k.min + 1
		}
		set |= 1 << value
	}
	return set, err
}

// parseYears reads the field of the year.
func (k fieldKind) parseYears(text string) (years, *Error) {
	if text == "*" {
		return nil, nil
	}
	set := make(years, k.max-k.min+1)
	for item := range strings.SplitSeq(text, ",") {
		low, high, step, err := k.parseSpan(item)
		if err != nil {
			return nil, err
		}
		for v := low; v <= high; v += step {
			set[v-k.min] = true
		}
	}
	return set, nil
}

// parseSpan reads a value or a range, with or without a step. If a range runs
// over the end of a field that allows it, high is greater than the greatest
// value of the field.
func (k fieldKind) parseSpan(item string) (low, high, step int, err *Error) {
	span, stepText, hasStep := strings.Cut(item, "/")
	step = 1
	if hasStep {
		if step, err = k.parseStep(item, stepText); err != nil {
			return 0, 0, 0, err
		}
	}
	if span == "*" || span == "" && hasStep && k.strict {
		return max(k.min, k.monday), k.max, step, nil
	}
	if strings.Contains(span, "-") {
		low, high, err = k.parseRange(span)
		return low, high, step, err
	}
	if low, err = k.parseValue(span, span); err != nil {
		return 0, 0, 0, err
	}
	if hasStep {
		return low, k.max, step, nil
	}
	return low, low, step, nil
}

// parseStep reads the step of an item.
func (k fieldKind) parseStep(item, text string) (step int, err *Error) {
	step, ok := number(text)
	switch {
	case !ok || step == 0:
		return 0, k.fault(item, "has a step that is not a number from 1 on", "write a step such as */5")
	case step > maxStep:
		return 0, k.fault(item, "has a step greater than an integer", fmt.Sprintf("write a step of at most %d", max(k.max, 1)))
	case k.strict && step > k.max:
		return 0, k.fault(item, "has a step greater than the field", fmt.Sprintf("write a step of at most %d", k.max))
	}
	return step, nil
}

// parseRange reads a range; see parseSpan about high.
func (k fieldKind) parseRange(span string) (low, high int, err *Error) {
	lowText, highText, _ := strings.Cut(span, "-")
	if low, err = k.parseValue(lowText, span); err != nil {
		return 0, 0, err
	}
	if high, err = k.parseValue(highText, span); err != nil {
		return 0, 0, err
	}
	if low > high && k.monday > 0 { // one end is Sunday, which is 0 and 7
		low, high = low%7, cmp.Or(high, 7)
	}
	if low > high && !k.wraps {
		return 0, 0, k.fault(span, "runs backwards", k.unwrap(low, high))
	}
	if low > high {
		high += k.max - k.min + 1
	}
	return low, high, nil
}

// unwrap returns how to write a range that runs over the end of the field.
func (k fieldKind) unwrap(low, high int) string {
	const sunday = 7 // and 0
	switch {
	case k.min == firstYear:
		return fmt.Sprintf("write %s", span(high, low))
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

// parseValue reads a number or a name; item is the item that contains the text.
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
	return 0, k.fault(item, "is not a value of this field", k.example())
}

func (k fieldKind) example() string {
	remedy := fmt.Sprintf("write %d to %d", k.min, k.max)
	if k.names != "" {
		remedy += fmt.Sprintf(" or %s to %s", k.names[:3], k.names[len(k.names)-3:])
	}
	return remedy + ", a range, a list, * or */2"
}

// fault makes an error about a part of this field.
func (k fieldKind) fault(piece, problem, remedy string) *Error {
	return &Error{Problem: k.name + " " + quote(piece) + " " + problem, Remedy: remedy}
}

// maxStep is the greatest step that is accepted. No field has as many values,
// but cron accepts any step that fits an integer.
const maxStep = math.MaxInt32 - lastYear // a value plus a step is an integer too

// number reads decimal digits only. A value that is too great for any field or
// step is returned as a value that is still too great.
func number(text string) (value int, ok bool) {
	if text == "" {
		return 0, false
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		value = int(min(int64(value)*10+int64(c-'0'), math.MaxInt32))
	}
	return value, true
}
