package recur

import (
	"math/rand"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The oracle answers the same question as Next in the slowest, most obvious
// way: it looks at every second of a few days and at the calendar that the
// time package shows for it. It shares no code with the package.

// oracleRule is a cron rule with each field as the list of its values.
type oracleRule struct {
	second, minute, hour, day, month, weekday [60]bool
	dayStar, weekdayStar, fixed               bool
}

// newOracleRule reads numbers, ranges, lists and steps; fields must be valid.
func newOracleRule(expr string) oracleRule {
	words := strings.Fields(expr)
	if len(words) == 5 {
		words = append([]string{"0"}, words...)
	}
	r := oracleRule{
		second: oracleField(words[0], 0, 59), minute: oracleField(words[1], 0, 59), hour: oracleField(words[2], 0, 23),
		day: oracleField(words[3], 1, 31), month: oracleField(words[4], 1, 12), weekday: oracleField(words[5], 0, 7),
		dayStar: words[3][0] == '*', weekdayStar: words[5][0] == '*',
		fixed: words[1][0] != '*' && words[2][0] != '*',
	}
	if r.weekday[7] {
		r.weekday[0] = true
	}
	return r
}

func oracleField(text string, low, high int) (set [60]bool) {
	for _, item := range strings.Split(text, ",") {
		span, stepText, stepped := strings.Cut(item, "/")
		from, to := low, high
		if span != "*" {
			a, b, isRange := strings.Cut(span, "-")
			from, _ = strconv.Atoi(a)
			if isRange {
				to, _ = strconv.Atoi(b)
			} else if !stepped {
				to = from
			}
		}
		step := 1
		if stepped {
			step, _ = strconv.Atoi(stepText)
		}
		for v := low; v <= high; v++ {
			if v >= from && v <= to && (v-from)%step == 0 {
				set[v] = true
			}
		}
	}
	return set
}

// matches tells whether the rule names the wall time that t shows.
func (r oracleRule) matches(t time.Time) bool {
	if !r.second[t.Second()] || !r.minute[t.Minute()] || !r.hour[t.Hour()] || !r.month[int(t.Month())] {
		return false
	}
	day, weekday := r.day[t.Day()], r.weekday[int(t.Weekday())]
	if r.dayStar || r.weekdayStar {
		return day && weekday
	}
	return day || weekday
}

// oracleWindow is what the clock of a zone shows in each second of a span.
// Wall times are Unix times of the same calendar in UTC.
type oracleWindow struct {
	start   time.Time
	wall    []int64
	shownAt map[int64]int  // wall time -> the second at which it is shown first
	dates   map[int64]bool // the dates shown at all, in days since 1970
}

func newOracleWindow(loc *time.Location, start time.Time, seconds int) oracleWindow {
	w := oracleWindow{start, make([]int64, seconds), make(map[int64]int, seconds), map[int64]bool{}}
	for i := range w.wall {
		t := start.Add(time.Duration(i) * time.Second).In(loc)
		y, mo, d := t.Date()
		h, mi, s := t.Clock()
		wall := time.Date(y, mo, d, h, mi, s, 0, time.UTC).Unix()
		w.wall[i] = wall
		w.dates[oracleDate(wall)] = true
		if _, ok := w.shownAt[wall]; !ok {
			w.shownAt[wall] = i
		}
	}
	return w
}

// rings returns the seconds of the window at which the rule rings. The first
// and the last day are only there to be looked at.
func (w oracleWindow) rings(r oracleRule) []bool {
	rings := make([]bool, len(w.wall))
	if !r.fixed {
		for i, wall := range w.wall {
			rings[i] = r.matches(time.Unix(wall, 0).UTC())
		}
		return rings
	}
	for wall := w.wall[0]; wall <= w.wall[len(w.wall)-1]; wall++ {
		if !r.matches(time.Unix(wall, 0).UTC()) {
			continue
		}
		if i, ok := w.shownAt[wall]; ok {
			rings[i] = true
			continue
		}
		if !w.dates[oracleDate(wall)] {
			continue // the whole date does not exist
		}
		for i := 1; i < len(w.wall); i++ {
			if w.wall[i-1] < wall && wall < w.wall[i] {
				rings[i] = true // the first instant after the gap
			}
		}
	}
	return rings
}

// oracleDate counts the days from 1 January 1800, so that it divides no
// negative numbers.
func oracleDate(wall int64) int64 {
	return (wall + 62_091*86400) / 86400
}

// oracleTransitions are instants around which clocks change, and a few at
// which they do not. The years are far enough back that zone data of any age
// agree; what is compared is only this package with the time package.
var oracleTransitions = []struct{ zone, at string }{
	{"America/New_York", "2024-03-10T07:00:00Z"},
	{"America/New_York", "2024-11-03T06:00:00Z"},
	{"America/New_York", "2060-03-14T07:00:00Z"},
	{"America/New_York", "1883-11-18T17:00:00Z"},
	{"Europe/London", "2024-03-31T01:00:00Z"},
	{"Europe/London", "2024-10-27T01:00:00Z"},
	{"Europe/Dublin", "2024-03-31T01:00:00Z"},
	{"Europe/Dublin", "2024-10-27T01:00:00Z"},
	{"Australia/Lord_Howe", "2024-04-06T15:00:00Z"},
	{"Australia/Lord_Howe", "2024-10-05T15:30:00Z"},
	{"America/Sao_Paulo", "2018-11-04T03:00:00Z"},
	{"America/Sao_Paulo", "2018-02-18T02:00:00Z"},
	{"Asia/Tehran", "2022-03-21T20:30:00Z"},
	{"Asia/Tehran", "2022-09-21T19:30:00Z"},
	{"Africa/Casablanca", "2024-03-10T02:00:00Z"},
	{"Africa/Casablanca", "2024-04-14T02:00:00Z"},
	{"Pacific/Apia", "2011-12-30T10:00:00Z"},
	{"Pacific/Apia", "2012-03-31T14:00:00Z"},
	{"Asia/Amman", "2021-03-25T22:00:00Z"},
	{"Asia/Amman", "2021-10-28T22:00:00Z"},
	{"Asia/Amman", "2022-10-27T22:00:00Z"},
	{"Antarctica/Troll", "2024-03-31T01:00:00Z"},
	{"Antarctica/Troll", "2024-10-27T01:00:00Z"},
	{"Africa/Cairo", "2024-04-25T22:00:00Z"},
	{"Africa/Cairo", "2024-10-31T21:00:00Z"},
	{"America/Toronto", "1919-03-31T04:30:00Z"},
	{"America/Ciudad_Juarez", "2022-11-30T06:00:00Z"},
	{"Pacific/Kwajalein", "1993-08-21T12:00:00Z"},
	{"Pacific/Kwajalein", "1969-09-30T13:00:00Z"},
	{"America/Juneau", "1867-10-18T23:00:00Z"},
	{"Africa/Monrovia", "1972-01-07T00:44:30Z"},
	{"Asia/Pyongyang", "2018-05-04T15:00:00Z"},
	{"Europe/Amsterdam", "1937-07-01T00:00:00Z"},
	{"UTC", "2024-02-29T00:00:00Z"},
	{"Europe/Warsaw", "2028-12-31T12:00:00Z"},
	{"America/New_York", "2040-12-31T12:00:00Z"},
}

// TestNextAgainstOracle compares random rules in the two days around each
// transition with what the oracle finds there.
func TestNextAgainstOracle(t *testing.T) {
	rng := rand.New(rand.NewSource(testSeed(t)))
	rules := envInt(t, "RECUR_ORACLE_RULES", 3)
	for _, tr := range oracleTransitions {
		loc, err := time.LoadLocation(tr.zone)
		if err != nil {
			t.Fatal(err)
		}
		const day = 86400
		start := mustTime(t, tr.at).Add(-2*day*time.Second + time.Duration(rng.Intn(7200)-3600)*time.Second)
		window := newOracleWindow(loc, start, 4*day)
		for range rules {
			expr := randomExpr(rng, start)
			compareWindow(t, rng, window, expr, tr.zone)
		}
	}
}

// compareWindow checks every ring from a random instant of the second day to
// the end of the third.
func compareWindow(t *testing.T, rng *rand.Rand, window oracleWindow, expr, zone string) {
	t.Helper()
	rule, err := Spec{Cron: expr, Zone: zone}.Rule(time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	rings := window.rings(newOracleRule(expr))
	const day = 86400
	i := day + rng.Intn(day)
	for i < 3*day {
		from := i
		for i++; i < 3*day && !rings[i]; i++ {
		}
		after := window.start.Add(time.Duration(from)*time.Second + time.Duration(rng.Intn(2))*time.Millisecond)
		got := rule.Next(after)
		want := window.start.Add(time.Duration(i) * time.Second)
		switch {
		case i == 3*day && (got.IsZero() || !got.Before(want)):
		case i < 3*day && got.Equal(want):
		default:
			t.Fatalf("%s: after %s got %s, want %s", rule, after.In(got.Location()), got, want.In(got.Location()))
		}
	}
}

// randomExpr makes a rule that rings now and then around the given time.
func randomExpr(rng *rand.Rand, near time.Time) string {
	expr := randomField(rng, 0, 59, 0) + " " + randomField(rng, 0, 23, 2)
	if rng.Intn(4) == 0 {
		expr = randomField(rng, 0, 59, 0) + " " + expr
	}
	switch rng.Intn(5) {
	case 0:
		return expr + " " + randomField(rng, 1, 31, near.Day()) + " * " + randomField(rng, 0, 7, 0)
	case 1:
		return expr + " * " + randomField(rng, 1, 12, int(near.Month())) + " *"
	default:
		return expr + " * * *"
	}
}

// randomField makes any field, half the time with a value near the given one.
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
			return "*/" + strconv.Itoa(1+rng.Intn(high+2))
		case 1:
			return strconv.Itoa(min(a, b)) + "-" + strconv.Itoa(max(a, b))
		case 2:
			return strconv.Itoa(min(a, b)) + "-" + strconv.Itoa(max(a, b)) + "/" + strconv.Itoa(1+rng.Intn(7))
		case 3:
			return strconv.Itoa(a) + "/" + strconv.Itoa(1+rng.Intn(20))
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

// TestNextAgainstCalendar compares the jump over days, months and years with
// a walk over every date.
func TestNextAgainstCalendar(t *testing.T) {
	rng := rand.New(rand.NewSource(testSeed(t)))
	for range 300 {
		expr := "0 12 " + randomField(rng, 1, 31, 29) + " " + randomField(rng, 1, 12, 2) + " " + randomField(rng, 0, 7, 0)
		rule, oracle := mustRule(t, expr), newOracleRule(expr)
		date := time.Date(1890+rng.Intn(220), time.Month(1+rng.Intn(12)), 1+rng.Intn(28), 12, 0, 0, 0, time.UTC)
		got := rule.Next(date)
		want := date.AddDate(0, 0, 1)
		for !oracle.matches(want) && want.Year() < date.Year()+45 {
			want = want.AddDate(0, 0, 1)
		}
		if !oracle.matches(want) {
			want = time.Time{}
		}
		if !got.Equal(want) {
			t.Fatalf("%s: after %s got %s, want %s", expr, date, got, want)
		}
	}
}

// testSeed returns a fresh seed, or the one in RECUR_SEED to repeat a run,
// and prints it.
func testSeed(t *testing.T) int64 {
	seed := envInt(t, "RECUR_SEED", int(time.Now().UnixNano()))
	t.Logf("RECUR_SEED=%d", seed)
	return int64(seed)
}

// envInt returns a number from the environment. RECUR_ORACLE_RULES is how
// many rules are compared around each transition; more take longer.
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
