package recur

import (
	"math/rand"
	"testing"
	"time"
)

// FuzzParse checks that any text is either refused with a proper message or is
// a rule whose own text makes an equal rule.
func FuzzParse(f *testing.F) {
	for _, text := range sampleRules {
		f.Add(text)
	}
	for _, text := range []string{
		"", "*/5 9-17 1,15 JAN-JUN mon", "0 22-2 * * *", "@reboot", "@every 1h30m", "TZ=UTC @daily", "0 0 L * 5#3",
		"every 1d from 2026-01-01T00:00:00Z", "1 month", "0 0 9 ? * 6#3 2026-2030", "0 9 L-3W * FRIL | at 2026-03-01T09:00:00Z gap skip", "at 2026-03-01T09:00:00", "\x00\xff", "CRON_TZ=../x * * * * *", "* * ? * ?",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rule, err := Parse(text)
		if err != nil {
			checkMessage(t, err)
		} else {
			checkParsesBack(t, rule)
		}
		for _, spec := range []Spec{
			{Cron: text},
			{Every: text},
			{At: text, Zone: "America/New_York"},
			{Cron: "@daily", Zone: text},
			{Cron: text, Dialect: Quartz},
			{Cron: text, Dialect: Spring},
			{Cron: text, Dialect: Kubernetes},
			{Cron: text, Dialect: EventBridge},
			{Cron: text, Dialect: Systemd},
			{Every: text, Zone: "Pacific/Apia", Fold: FoldLast},
			{Cron: "@daily", Start: text, Stop: text},
		} {
			rule, err := spec.Rule(anchor)
			if err != nil {
				checkMessage(t, err)
			} else {
				checkParsesBack(t, rule)
			}
		}
	})
}

// FuzzNext checks that the results of Next and Prev lie on the right side, and
// that calls from any instant between the two results return the same results.
func FuzzNext(f *testing.F) {
	for i, text := range []string{
		"* * * * *", "30 2 * * *", "*/30 1 * * *", "*/7 15 2 * * *", "0 0 * * 7", "0 0 29 2 *", "59 23 31 12 5", "*/5 2 8-14 3 */7", "* * * * * *",
		"30 2 15W * 5#3 gap skip fold last", "0 30 1 ? * 7L 2026/3 dialect quartz fold both", "every 1 month from 2020-02-29T01:30:00 fold both",
		"every 3 days from 2011-12-27T09:00:00 gap skip", "every 90s from 2026-01-01T00:00:00Z until 2026-01-02T00:00:00Z",
	} {
		f.Add(text, uint8(i), int64(1_710_000_000), uint32(1<<31))
	}
	zones := &Zones{}
	f.Fuzz(func(t *testing.T, text string, zone uint8, second int64, part uint32) {
		rule, err := zones.Parse(text + " tz " + changingZones[int(zone)%len(changingZones)])
		if err == nil {
			checkNext(t, rule, time.Unix(second, int64(part)), float64(part)/(1<<32))
		}
	})
}

// FuzzCalendar checks that any text is either refused with a proper message or
// excludes some date.
func FuzzCalendar(f *testing.F) {
	for _, text := range []string{"2026-12-25 Christmas", "12-24..01-02", "2026-01-01..2026-01-02", "02-29", "sat", "7", "* 0-6 * * *", "2026-02-30", "..", "\xff"} {
		f.Add(text, int64(1_710_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, second int64) {
		for _, spec := range []CalendarSpec{{Dates: []string{text}}, {Weekdays: []string{text}}, {Rules: []Spec{{Cron: text}}}, {Zone: text}} {
			calendar, err := spec.Calendar()
			if err != nil {
				checkMessage(t, err)
				continue
			}
			if why, excluded := calendar.Excludes(time.Unix(second, 0)); excluded != (why != "") {
				t.Fatalf("%+v: excluded: %v, why: %q", spec, excluded, why)
			}
			NextOpen(every{interval: 60e6, anchor: 0}, time.Unix(second, 0), calendar)
		}
	})
}

// TestNextAnywhere checks the same as FuzzNext for random rules at random
// times of some centuries.
func TestNextAnywhere(t *testing.T) {
	rng := rand.New(rand.NewSource(testSeed(t)))
	for range 200 {
		zone := changingZones[rng.Intn(len(changingZones))]
		rule, err := Spec{Cron: randomExpr(rng, anchor), Zone: zone}.Rule(anchor)
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			after := time.Date(1800+rng.Intn(700), 1, 1+rng.Intn(366), 0, 0, rng.Intn(86400), 0, time.UTC)
			checkNext(t, rule, after, rng.Float64())
		}
	}
}

// checkNext calls Next and Prev from an instant between after and the next
// instant, and from the last moment before the next instant; it also compares
// Count.
func checkNext(t *testing.T, rule Rule, after time.Time, part float64) {
	t.Helper()
	next := rule.Next(after)
	if next.IsZero() {
		return
	}
	if !next.After(after) || next.After(lastMicro) {
		t.Fatalf("%s: after %s got %s", rule, after, next)
	}
	from := max(after.Unix(), minSecond)
	within := time.Unix(from+int64(float64(next.Unix()-from)*part), 0)
	for _, between := range []time.Time{within, next.Add(-1)} {
		if between.Before(after) || !between.Before(next) {
			continue
		}
		if again := rule.Next(between); !again.Equal(next) {
			t.Fatalf("%s: after %s got %s, but after %s got %s", rule, after, next, between, again)
		}
	}
	prev := rule.Prev(next)
	if prev.After(after) || !prev.IsZero() && !rule.Next(prev).Equal(next) {
		t.Fatalf("%s: after %s comes %s, before which is %s, after which is %s", rule, after, next, prev, rule.Next(prev))
	}
	if again := rule.Prev(next.Add(1)); !again.Equal(next) {
		t.Fatalf("%s: after %s comes %s, but right before the end of that is %s", rule, after, next, again)
	}
	if n, more := Count(rule, after, next, 10); n != 1 || more {
		t.Fatalf("%s: %d instants after %s up to the next, %s", rule, n, after, next)
	}
}

// changingZones are zones with every kind of clock change.
var changingZones = []string{
	"UTC", "America/New_York", "Europe/London", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Tehran", "Africa/Casablanca",
	"Pacific/Apia", "Asia/Amman", "Antarctica/Troll", "Europe/Dublin", "Africa/Cairo", "America/Juneau", "Pacific/Kwajalein",
	"America/Ciudad_Juarez", "America/Toronto", "Africa/Monrovia", "Pacific/Chatham", "Asia/Manila", "America/Santiago",
}
