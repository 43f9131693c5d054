package recur

import (
	"testing"
	"time"
)

// FuzzParse: any text is either refused with a proper message or is a rule
// whose own text makes an equal rule.
func FuzzParse(f *testing.F) {
	for _, text := range sampleRules {
		f.Add(text)
	}
	for _, text := range []string{
		"", "*/5 9-17 1,15 JAN-JUN mon", "0 22-2 * * *", "@reboot", "@every 1h30m", "TZ=UTC @daily", "0 0 L * 5#3",
		"every 1d from 2026-01-01T00:00:00Z", "at 2026-03-01T09:00:00", "\x00\xff", "CRON_TZ=../x * * * * *", "* * ? * ?",
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
		for _, spec := range []Spec{{Cron: text}, {Every: text}, {At: text, Zone: "America/New_York"}, {Cron: "@daily", Zone: text}} {
			rule, err := spec.Rule(anchor)
			if err != nil {
				checkMessage(t, err)
			} else {
				checkParsesBack(t, rule)
			}
		}
	})
}

// FuzzNext: what Next returns is later than what it was asked, and from
// anywhere between the two it is still the next.
func FuzzNext(f *testing.F) {
	zones := []string{
		"UTC", "America/New_York", "Europe/London", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Tehran", "Africa/Casablanca",
		"Pacific/Apia", "Asia/Amman", "Antarctica/Troll", "Europe/Dublin", "Africa/Cairo", "America/Juneau", "Pacific/Kwajalein",
	}
	for i, expr := range []string{
		"* * * * *", "30 2 * * *", "*/30 1 * * *", "*/7 15 2 * * *", "0 0 * * 7", "0 0 29 2 *", "59 23 31 12 5", "*/5 2 8-14 3 */7", "* * * * * *",
	} {
		f.Add(expr, uint8(i), int64(1_710_000_000), uint32(1<<31))
	}
	f.Fuzz(func(t *testing.T, expr string, zone uint8, second int64, part uint32) {
		rule, err := Spec{Cron: expr, Zone: zones[int(zone)%len(zones)]}.Rule(anchor)
		if err != nil {
			return
		}
		after := time.Unix(second, int64(part))
		next := rule.Next(after)
		if next.IsZero() {
			return
		}
		if !next.After(after) || next.After(lastMicro) {
			t.Fatalf("%s: after %s got %s", rule, after, next)
		}
		// Any instant in between, the very last one before, and the start.
		from := max(after.Unix(), minSecond)
		within := time.Unix(from+int64(float64(next.Unix()-from)*float64(part)/(1<<32)), 0)
		for _, between := range []time.Time{within, next.Add(-1)} {
			if between.Before(after) || !between.Before(next) {
				continue
			}
			if again := rule.Next(between); !again.Equal(next) {
				t.Fatalf("%s: after %s got %s, but after %s got %s", rule, after, next, between, again)
			}
		}
	})
}
