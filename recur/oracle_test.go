package recur

import (
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The oracle computes the same results as Next, Prev and Count in the slowest,
// most obvious way: it walks through a few days in small steps and reads the
// date and time that the time package shows for each step. It shares no code
// with the package.

// oracleRule is a rule with each field as the list of its values.
type oracleRule struct {
	second, minute, hour, month [60]bool
	day, weekday                []string // items of a list
	sunday                      int      // the number of Sunday
	shortened                   bool     // whether 31W is the last working day of a shorter month
	eitherDay                   bool
	year                        map[int]bool // nil: all
	gap, fold                   string

	interval *oracleInterval // instead of the fields
}

// oracleInterval is a number of days or months, counted from a start.
type oracleInterval struct {
	days, months int
	start        time.Time
	wall         time.Time // the wall time of the start, as if in UTC
}

// newOracleRule reads a valid cron rule of numbers.
func newOracleRule(spec Spec) oracleRule {
	words := strings.Fields(spec.Cron)
	if len(words) == 5 {
		words = append([]string{"0"}, words...)
	}
	r := oracleRule{
		second: oracleField(words[0], 0, 59), minute: oracleField(words[1], 0, 59), hour: oracleField(words[2], 0, 23),
		month: oracleField(words[4], 1, 12), day: strings.Split(words[3], ","), weekday: strings.Split(words[5], ","),
		eitherDay: !strings.ContainsAny(words[3][:1]+words[5][:1], "*?"),
		gap:       spec.Gap, fold: spec.Fold,
	}
	switch spec.Dialect {
	case Quartz:
		r.sunday, r.shortened = 1, true
		r.clockOf(GapSkip, FoldLast)
	case Spring:
		r.eitherDay = false
		r.clockOf(GapSkip, FoldBoth)
	case Kubernetes:
		r.eitherDay = !oracleOpen(r.day) && !oracleOpen(r.weekday)
		r.clockOf(GapSkip, FoldBoth)
	}
	if len(words) == 7 {
		r.year = map[int]bool{}
		for _, word := range strings.Split(words[6], ",") {
			year, _ := strconv.Atoi(word)
			r.year[year] = true
		}
	}
	fixed := words[0][0] != '*' && words[1][0] != '*' && words[2][0] != '*'
	r.choose(fixed)
	return r
}

// clockOf sets what a dialect does at clock changes if the rule does not select it.
func (r *oracleRule) clockOf(gap, fold string) {
	if r.gap == "" {
		r.gap = gap
	}
	if r.fold == "" {
		r.fold = fold
	}
}

// oracleOpen reports whether robfig/cron sees a star in a field.
func oracleOpen(items []string) bool {
	return slices.Contains(items, "*") || slices.Contains(items, "*/1")
}

// choose sets the behaviour at clock changes if the rule does not select it.
func (r *oracleRule) choose(fixed bool) {
	gap, fold := GapSkip, FoldBoth
	if fixed {
		gap, fold = GapShift, FoldFirst
	}
	r.clockOf(gap, fold)
}

func oracleField(text string, low, high int) (set [60]bool) {
	for _, item := range strings.Split(text, ",") {
		for v := low; v <= high; v++ {
			set[v] = set[v] || oracleItem(item, v, low, high)
		}
	}
	return set
}

// oracleItem reports whether a value, a range or a step has the value v.
func oracleItem(item string, v, low, high int) bool {
	span, stepText, stepped := strings.Cut(item, "/")
	from, to, step := low, high, 1
	if stepped {
		step, _ = strconv.Atoi(stepText)
	}
	if span != "*" {
		a, b, isRange := strings.Cut(span, "-")
		from, _ = strconv.Atoi(a)
		if isRange {
			to, _ = strconv.Atoi(b)
		} else if !stepped {
			to = from
		}
	}
	if from > to { // a range over the end
		to += high - low + 1
		if v < from {
			v += high - low + 1
		}
	}
	return v >= from && v <= to && (v-from)%step == 0
}

// matchesDate reports whether the rule matches a date, given as its midnight.
func (r oracleRule) matchesDate(date time.Time) bool {
	if r.interval != nil {
		return r.interval.matchesDate(date)
	}
	if !r.month[int(date.Month())] || r.year != nil && !r.year[date.Year()] {
		return false
	}
	day := slices.ContainsFunc(r.day, func(item string) bool { return oracleDay(item, date, r.shortened) })
	weekday := slices.ContainsFunc(r.weekday, func(item string) bool { return oracleWeekday(item, date, r.sunday) })
	if r.eitherDay {
		return day || weekday
	}
	return day && weekday
}

func oracleDay(item string, date time.Time, shortened bool) bool {
	lastDay := date.AddDate(0, 1, -date.Day()).Day()
	if item == "?" {
		return true
	}
	rest, working := strings.CutSuffix(item, "W")
	target, _ := strconv.Atoi(rest)
	if back, ok := strings.CutPrefix(rest, "L"); ok {
		n, _ := strconv.Atoi(back) // negative
		target = lastDay + n
	} else if !working {
		return oracleItem(item, date.Day(), 1, 31)
	}
	if working && shortened && target > lastDay {
		target = lastDay
	}
	if target < 1 || target > lastDay {
		return false
	}
	if working {
		target = oracleWorkingDay(date.AddDate(0, 0, target-date.Day()))
	}
	return date.Day() == target
}

// oracleWorkingDay searches all days of the month for the nearest working day.
func oracleWorkingDay(date time.Time) int {
	best := 100
	for day := 1; day <= 31; day++ {
		other := time.Date(date.Year(), date.Month(), day, 0, 0, 0, 0, time.UTC)
		workday := other.Weekday() != time.Saturday && other.Weekday() != time.Sunday
		if other.Month() == date.Month() && workday && distance(day, date.Day()) < distance(best, date.Day()) {
			best = day
		}
	}
	return best
}

func distance(a, b int) int { return max(a-b, b-a) }

func oracleWeekday(item string, date time.Time, sunday int) bool {
	v := int(date.Weekday()) + sunday
	same := func(text string) bool {
		n, _ := strconv.Atoi(text)
		return n%7 == v%7
	}
	if item == "?" {
		return true
	}
	if name, ok := strings.CutSuffix(item, "L"); ok {
		return same(name) && date.AddDate(0, 0, 7).Month() != date.Month()
	}
	if name, digits, ok := strings.Cut(item, "#"); ok {
		n, _ := strconv.Atoi(digits)
		return same(name) && date.AddDate(0, 0, -7*(n-1)).Month() == date.Month() && date.AddDate(0, 0, -7*n).Month() != date.Month()
	}
	if sunday == 0 && v == 0 && oracleItem(item, 7, 0, 7) {
		return true
	}
	return oracleItem(item, v, sunday, 7)
}

func (i oracleInterval) matchesDate(date time.Time) bool {
	start := i.wall.Truncate(24 * time.Hour)
	if date.Before(start) {
		return false
	}
	if i.days > 0 {
		return int(date.Sub(start)/(24*time.Hour))%i.days == 0
	}
	months := (date.Year()-start.Year())*12 + int(date.Month()) - int(start.Month())
	lastDay := date.AddDate(0, 1, -date.Day()).Day()
	return months%i.months == 0 && date.Day() == min(start.Day(), lastDay)
}

// isStart reports whether a wall time is the wall time of an interval's start.
// The start is the first slot whatever Fold selects, and rings only once unless
// Fold is FoldBoth.
func (r oracleRule) isStart(wall int64) bool {
	return r.interval != nil && r.fold != FoldBoth && wall == r.interval.wall.Unix()
}

// matchesTime reports whether the rule matches a time of day.
func (r oracleRule) matchesTime(second int) bool {
	if r.interval != nil {
		h, m, s := r.interval.wall.Clock()
		return second == h*3600+m*60+s
	}
	return r.hour[second/3600] && r.minute[second/60%60] && r.second[second%60]
}

// oracleWindow holds the time that the clock of a zone shows in each step of a
// span. Wall times are Unix times of the same calendar in UTC.
type oracleWindow struct {
	zone    string
	zones   *Zones
	start   time.Time
	step    int64 // in seconds
	wall    []int64
	low     int64          // the earliest wall time
	showing [][]int        // for each wall time from low on, in steps: the steps that show it
	dates   map[int64]bool // all dates that the clock shows, by their number
}

// newOracleWindow reads the clock for the days around an instant: two days
// before it, and two days after it.
func newOracleWindow(t *testing.T, zones *Zones, zone string, around time.Time, step int64) oracleWindow {
	t.Helper()
	loc, err := zones.Load(zone)
	if err != nil {
		t.Fatal(err)
	}
	const span = 4 * 86400
	w := oracleWindow{zone: zone, zones: zones, start: around.Add(-48 * time.Hour), step: step, wall: make([]int64, span/step), dates: map[int64]bool{}}
	for i := range w.wall {
		t := w.at(i).In(loc)
		y, mo, d := t.Date()
		h, mi, s := t.Clock()
		w.wall[i] = time.Date(y, mo, d, h, mi, s, 0, time.UTC).Unix()
		w.dates[oracleDate(w.wall[i])] = true
	}
	w.low = slices.Min(w.wall)
	steps := make([]int, len(w.wall)) // the storage of most of the lists below
	w.showing = make([][]int, (slices.Max(w.wall)-w.low)/step+1)
	for i, wall := range w.wall {
		steps[i] = i
		list := &w.showing[(wall-w.low)/step]
		if *list == nil {
			*list = steps[i : i+1 : i+1]
		} else {
			*list = append(*list, i)
		}
	}
	return w
}

// shownAt returns the steps that show a wall time.
func (w oracleWindow) shownAt(wall int64) []int {
	if i := (wall - w.low) / w.step; wall >= w.low && i < int64(len(w.showing)) {
		return w.showing[i]
	}
	return nil
}

// at returns the instant of a step.
func (w oracleWindow) at(i int) time.Time {
	return w.start.Add(time.Duration(int64(i)*w.step) * time.Second)
}

// rings returns the steps at which the rule rings. The first and the last day
// only complete the view of the days between.
func (w oracleWindow) rings(r oracleRule) []bool {
	rings := make([]bool, len(w.wall))
	low, high := slices.Min(w.wall), slices.Max(w.wall)
	for date := oracleDate(low); date <= oracleDate(high); date++ {
		midnight := oracleMidnight(date)
		if !r.matchesDate(time.Unix(midnight, 0).UTC()) {
			continue
		}
		for second := int64(0); second < 86400; second += w.step {
			if r.matchesTime(int(second)) && !r.isStart(midnight+second) {
				w.ring(r, midnight+second, rings)
			}
		}
	}
	if r.interval != nil {
		for i := range rings {
			rings[i] = rings[i] && !w.at(i).Before(r.interval.start) || w.at(i).Equal(r.interval.start)
		}
	}
	return rings
}

// ring records when a wall time rings.
func (w oracleWindow) ring(r oracleRule, wall int64, rings []bool) {
	switch shown := w.shownAt(wall); {
	case len(shown) == 0:
		if r.gap == GapSkip || !w.dates[oracleDate(wall)] {
			return
		}
		for i := 1; i < len(w.wall); i++ {
			if w.wall[i-1] < wall && wall < w.wall[i] {
				rings[i] = true // the first instant after the gap
			}
		}
	case r.fold == FoldFirst:
		rings[shown[0]] = true
	case r.fold == FoldLast:
		rings[shown[len(shown)-1]] = true
	default:
		for _, i := range shown {
			rings[i] = true
		}
	}
}

// oracleDate numbers the dates, from a date so early that no number is
// negative.
func oracleDate(wall int64) int64 {
	return (wall + 62_091*86400) / 86400
}

func oracleMidnight(date int64) int64 {
	return (date - 62_091) * 86400
}

// compare checks Next, Prev and Count from random instants of the two days in
// the middle of the window.
func (w oracleWindow) compare(t *testing.T, rng *rand.Rand, rule Rule, oracle oracleRule, instants int) {
	t.Helper()
	rings := w.rings(oracle)
	day := int(86400 / w.step)
	edges := w.edges(rings)
	for range instants {
		i := day + rng.Intn(2*day)
		if len(edges) > 0 && rng.Intn(2) == 0 {
			i = min(max(edges[rng.Intn(len(edges))]+rng.Intn(3)-1, day), 3*day-1)
		}
		from := w.at(i).Add(time.Duration(rng.Intn(2)) * time.Millisecond)
		next := i + 1
		for next < 3*day && !rings[next] {
			next++
		}
		w.check(t, rule, "after", from, rule.Next(from), next, next < 3*day)
		prev := i
		if from.Equal(w.at(i)) {
			prev--
		}
		for prev >= day && !rings[prev] {
			prev--
		}
		w.check(t, rule, "before", from, rule.Prev(from), prev, prev >= day)
	}
	from, to := day+rng.Intn(2*day), day+rng.Intn(2*day)
	want := 0
	for i := from + 1; i <= to; i++ {
		if rings[i] {
			want++
		}
	}
	if got, more := Count(rule, w.at(from), w.at(to), 1e6); got != int64(want) || more {
		t.Fatalf("%s, %s: %d instants after %s to %s, want %d", rule, w.zone, got, w.at(from), w.at(to), want)
	}
}

// edges returns the most important steps: the steps that ring, and the steps at
// which the clock changed.
func (w oracleWindow) edges(rings []bool) (steps []int) {
	for i := 1; i < len(rings); i++ {
		if rings[i] && len(steps) < 100 || w.wall[i] != w.wall[i-1]+w.step {
			steps = append(steps, i)
		}
	}
	return steps
}

// check compares a result with the step at which the oracle found a ring. If
// the oracle found none, the result must lie outside the window.
func (w oracleWindow) check(t *testing.T, rule Rule, word string, from, got time.Time, step int, found bool) {
	t.Helper()
	day := int(86400 / w.step)
	outside := got.IsZero() || !got.Before(w.at(3*day)) || got.Before(w.at(day))
	if found && !got.Equal(w.at(step)) || !found && !outside {
		want := "none here"
		if found {
			want = w.at(step).In(got.Location()).String()
		}
		t.Fatalf("%s, %s: %s %s got %s, want %s", rule, w.zone, word, from.In(got.Location()), got, want)
	}
}

// oracleSeconds are clock changes that are not at whole minutes, or end local
// mean time. For them the oracle examines each second. The years are early
// enough that zone data of any age agree.
var oracleSeconds = []struct{ zone, at string }{
	{"America/New_York", "1883-11-18T17:00:00Z"},
	{"America/Juneau", "1867-10-18T23:00:00Z"},
	{"Africa/Monrovia", "1972-01-07T00:44:30Z"},
	{"Europe/Amsterdam", "1937-07-01T00:00:00Z"},
	{"America/New_York", "2024-03-10T07:00:00Z"},
	{"America/New_York", "2060-11-07T06:00:00Z"},
}

// TestSecondsAgainstOracle compares random rules second by second, around two
// of the changes in oracleSeconds.
func TestSecondsAgainstOracle(t *testing.T) {
	rng, zones := rand.New(rand.NewSource(testSeed(t))), &Zones{}
	for _, i := range rng.Perm(len(oracleSeconds))[:2] {
		c := oracleSeconds[i]
		window := newOracleWindow(t, zones, c.zone, mustTime(t, c.at).Add(time.Duration(rng.Intn(7200)-3600)*time.Second), 1)
		for range 4 {
			spec := randomSpec(rng, window.start.Add(48*time.Hour), c.zone)
			if len(strings.Fields(spec.Cron)) == 5 {
				spec.Cron = randomField(rng, 0, 59, 0) + " " + spec.Cron
			}
			window.compareSpec(t, rng, spec, 200)
		}
	}
}

// TestAgainstOracle compares random rules minute by minute around random clock
// changes of zones with unusual changes. RECUR_ORACLE is how many (rule, zone,
// instant) it compares.
func TestAgainstOracle(t *testing.T) {
	rng, zones := rand.New(rand.NewSource(testSeed(t))), &Zones{}
	triples := envInt(t, "RECUR_ORACLE", 20_000)
	const rules, instants = 20, 25
	for done := 0; done < triples; done += rules * instants {
		zone := changingZones[rng.Intn(len(changingZones))]
		window := newOracleWindow(t, zones, zone, randomChange(t, rng, zones, zone), 60)
		for range rules {
			window.compareSpec(t, rng, randomSpec(rng, window.start.Add(48*time.Hour), zone), instants)
		}
	}
}

// compareSpec compares the rule of a Spec.
func (w oracleWindow) compareSpec(t *testing.T, rng *rand.Rand, spec Spec, instants int) {
	t.Helper()
	anchor := time.Unix(0, 0)
	rule, err := w.zones.Rule(spec, anchor)
	if err != nil {
		t.Fatal(err)
	}
	checkDescribes(t, rule)
	if spec.Cron != "" {
		w.compare(t, rng, rule, newOracleRule(spec), instants)
		return
	}
	start := mustTime(t, spec.Start).In(locationOf(rule))
	oracle := oracleRule{gap: spec.Gap, fold: spec.Fold, interval: &oracleInterval{start: start}}
	oracle.choose(true)
	y, mo, d := start.Date()
	h, mi, s := start.Clock()
	oracle.interval.wall = time.Date(y, mo, d, h, mi, s, 0, time.UTC)
	n, unit, _ := strings.Cut(spec.Every, " ")
	number, _ := strconv.Atoi(n)
	switch unit {
	case "days":
		oracle.interval.days = number
	case "weeks":
		oracle.interval.days = 7 * number
	case "months":
		oracle.interval.months = number
	}
	w.compare(t, rng, rule, oracle, instants)
}

// randomChange returns an hour near a clock change of a zone, at a whole
// minute, in a random year; sometimes it returns any hour.
func randomChange(t *testing.T, rng *rand.Rand, zones *Zones, zone string) time.Time {
	loc, err := zones.Load(zone)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		hour := time.Date(1975+rng.Intn(80), 1, 1, 0, 0, 0, 0, time.UTC)
		var changes []time.Time
		_, before := hour.In(loc).Zone()
		for range 366 * 8 {
			hour = hour.Add(3 * time.Hour)
			_, offset := hour.In(loc).Zone()
			if offset%60 != 0 || before%60 != 0 {
				changes = nil
				break
			}
			if offset != before {
				changes = append(changes, hour)
			}
			before = offset
		}
		if len(changes) > 0 {
			return changes[rng.Intn(len(changes))].Add(time.Duration(rng.Intn(240)-120) * time.Minute)
		}
	}
	return time.Date(2028, 12, 31, rng.Intn(24), 0, 0, 0, time.UTC) // such as UTC
}

// randomSpec makes a rule that rings sometimes around the given time.
func randomSpec(rng *rand.Rand, near time.Time, zone string) Spec {
	spec := Spec{Zone: zone}
	if rng.Intn(3) == 0 {
		spec.Gap = []string{GapShift, GapSkip}[rng.Intn(2)]
	}
	if rng.Intn(3) == 0 {
		spec.Fold = []string{FoldFirst, FoldLast, FoldBoth}[rng.Intn(3)]
	}
	switch rng.Intn(6) {
	case 0:
		spec.Every = strconv.Itoa(1+rng.Intn(3)) + " " + []string{"days", "weeks", "months"}[rng.Intn(3)]
		back := time.Duration(rng.Intn(40*24*60)) * time.Minute
		if rng.Intn(2) == 0 { // at the time of day of the change
			back = time.Duration(rng.Intn(40)*24*60+rng.Intn(240)-120) * time.Minute
		}
		spec.Start = near.Add(-back).Truncate(time.Minute).Format(time.RFC3339)
	case 1:
		spec.Dialect = Quartz
		day, weekday := randomDay(rng, near), "?"
		if rng.Intn(2) == 0 {
			day, weekday = "?", randomWeekday(rng, 1)
		}
		spec.Cron = fmt.Sprintf("0 %s %s %s * %s", randomField(rng, 0, 59, 0), randomField(rng, 0, 23, 2), day, weekday)
		if rng.Intn(2) == 0 {
			spec.Cron += fmt.Sprintf(" %d,%d", near.Year(), near.Year()+rng.Intn(2))
		}
		if rng.Intn(4) == 0 {
			spec.Cron = strings.Replace(spec.Cron, "?", "?", 1)
		}
	default:
		spec.Cron = randomExpr(rng, near)
		plain := !strings.ContainsAny(spec.Cron, "LW#7") // Sunday is 0 only
		switch words := strings.Fields(spec.Cron); rng.Intn(6) {
		case 0:
			if strings.Trim(words[4], "0123456789-,#L") == "" || words[4] == "*" { // no star with a step
				spec.Dialect, spec.Cron = Spring, "0 "+spec.Cron
			}
		case 1:
			if plain && (words[4][0] == '*' || !strings.Contains(words[4], "/")) {
				spec.Dialect = Kubernetes
			}
		}
	}
	if year := near.Year(); spec.Dialect == Quartz && (year < firstYear || year >= lastYear) {
		spec.Cron = strings.Join(strings.Fields(spec.Cron)[:6], " ")
	}
	return spec
}

// randomExpr makes a cron rule of five fields.
func randomExpr(rng *rand.Rand, near time.Time) string {
	expr := randomField(rng, 0, 59, 0) + " " + randomField(rng, 0, 23, 2)
	switch rng.Intn(5) {
	case 0:
		return expr + " " + randomDay(rng, near) + " * " + randomWeekday(rng, 0)
	case 1:
		return expr + " * " + randomField(rng, 1, 12, int(near.Month())) + " *"
	case 2:
		return expr + " " + randomDay(rng, near) + " * *"
	default:
		return expr + " * * *"
	}
}

// randomDay makes a day of the month.
func randomDay(rng *rand.Rand, near time.Time) string {
	switch rng.Intn(8) {
	case 0:
		return "L"
	case 1:
		return "L-" + strconv.Itoa(rng.Intn(31))
	case 2:
		return "LW"
	case 3:
		return "L-" + strconv.Itoa(rng.Intn(31)) + "W"
	case 4:
		edges := []string{"1W", "2W", "28W", "30W", "31W"}
		if rng.Intn(2) == 0 {
			return edges[rng.Intn(len(edges))]
		}
		return strconv.Itoa(min(near.Day()+rng.Intn(3), 31)) + "W"
	default:
		return randomField(rng, 1, 31, near.Day())
	}
}

// randomWeekday makes a day of the week, in Quartz's numbers if Sunday is 1.
func randomWeekday(rng *rand.Rand, sunday int) string {
	day := strconv.Itoa(sunday + rng.Intn(7))
	switch rng.Intn(5) {
	case 0:
		return day + "L"
	case 1:
		return day + "#" + strconv.Itoa(1+rng.Intn(5))
	case 2:
		if sunday == 1 {
			return day + "-" + strconv.Itoa(1+rng.Intn(7)) // may run over Saturday
		}
	}
	field := randomField(rng, sunday, 7, sunday)
	if _, step, _ := strings.Cut(field, "/"); len(step) > 1 || step > "7" {
		return "*" // Quartz refuses such steps
	}
	return field
}

// randomField makes any field; in half the cases with a value near the given
// value.
func randomField(rng *rand.Rand, low, high, near int) string {
	pick := func() int {
		if rng.Intn(2) == 0 {
			return min(max(near+rng.Intn(4)-1, low), high)
		}
		return low + rng.Intn(high-low+1)
	}
	item := func() string {
		a, b := pick(), pick()
		switch rng.Intn(6) {
		case 0:
			return "*/" + strconv.Itoa(1+rng.Intn(high))
		case 1:
			return strconv.Itoa(min(a, b)) + "-" + strconv.Itoa(max(a, b))
		case 2:
			return strconv.Itoa(min(a, b)) + "-" + strconv.Itoa(max(a, b)) + "/" + strconv.Itoa(1+rng.Intn(7))
		case 3:
			return strconv.Itoa(a) + "/" + strconv.Itoa(1+rng.Intn(min(high, 20)))
		default:
			return strconv.Itoa(a)
		}
	}
	switch rng.Intn(6) {
	case 0:
		return "*"
	case 1:
		return item() + "," + item()
	default:
		return item()
	}
}

// TestAgainstCalendar compares how Next and Prev skip days, months and years
// with a walk over every date.
func TestAgainstCalendar(t *testing.T) {
	rng := rand.New(rand.NewSource(testSeed(t)))
	for range 300 {
		date := time.Date(1890+rng.Intn(220), time.Month(1+rng.Intn(12)), 1+rng.Intn(28), 12, 0, 0, 0, time.UTC)
		if rng.Intn(2) == 0 {
			date = date.AddDate(0, 0, -date.Day()) // near the ends of months
		}
		expr := "0 12 " + randomDay(rng, date) + " " + randomField(rng, 1, 12, 2) + " " + randomWeekday(rng, 0)
		rule, oracle := mustRule(t, expr), newOracleRule(Spec{Cron: expr})
		walk := func(step int) time.Time {
			for at := date.AddDate(0, 0, step); distance(at.Year(), date.Year()) < 45; at = at.AddDate(0, 0, step) {
				if oracle.matchesDate(at.Add(-12 * time.Hour)) {
					return at
				}
			}
			return time.Time{}
		}
		next, prev := walk(1), walk(-1)
		if got := rule.Next(date); !got.Equal(next) {
			t.Fatalf("%s: after %s got %s, want %s", expr, date, got, next)
		}
		if got := rule.Prev(date); !got.Equal(prev) {
			t.Fatalf("%s: before %s got %s, want %s", expr, date, got, prev)
		}
	}
}

// testSeed returns a new seed, or the seed in RECUR_SEED to repeat a run, and
// prints it.
func testSeed(t *testing.T) int64 {
	seed := envInt(t, "RECUR_SEED", int(time.Now().UnixNano()))
	t.Logf("RECUR_SEED=%d", seed)
	return int64(seed)
}

// envInt returns a number from the environment.
func envInt(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
