package recur

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestOnCalendar compares calendar events with the answers of `systemd-analyze calendar`, which
// testdata/oncalendar/vectors.py makes.
func TestOnCalendar(t *testing.T) {
	data, err := os.ReadFile("testdata/oncalendar/vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	same, refused := 0, 0
	for line := range strings.Lines(string(data)) {
		event, rest, _ := strings.Cut(strings.TrimSpace(line), " | ")
		base, answer, _ := strings.Cut(rest, " | ")
		rule, err := OnCalendar(event).Rule(time.Time{})
		if systemdFaults[event] {
			continue
		}
		if answer == "refused" {
			if err == nil {
				t.Errorf("%s: systemd refuses it", event)
			}
			refused++
			continue
		}
		if err != nil {
			t.Errorf("systemd accepts it: %v", err)
			continue
		}
		checkParsesBack(t, rule)
		checkDescribes(t, rule)
		at, ok := mustTime(t, strings.Replace(base, " ", "T", 1)+"Z"), true
		want := int64(0)
		for word := range strings.FieldsSeq(answer) {
			at = rule.Next(at)
			delta, err := strconv.ParseInt(word, 10, 64)
			if want += delta; err == nil && want >= settled { // a rule with years ends in 2099
				break
			}
			if ok = err != nil && at.IsZero() || err == nil && at.Unix() == want; !ok {
				t.Errorf("%s, after %s: %s, want %s", event, base, at, time.Unix(want, 0).UTC())
				break
			}
		}
		if ok {
			same++
		}
	}
	if same < 1500 || refused < 20 {
		t.Errorf("%d events are the same and %d refused, want more", same, refused)
	}
}

// systemdFaults are events that systemd 252 refuses by accident (lists of days from the end beyond the 25th, "resource
// deadlock avoided"), or whose first hour it leaves out at the end of a month.
var systemdFaults = map[string]bool{
	"11..12/1~28,11 12..13/5:13 Europe/Prague": true, "*-03~08,28 11:* UTC": true, "Wed 2028/2-*~26,1 01:13..44 Asia/Tokyo": true,
	"*-*~28,20 14..15/1:5 UTC": true, "2028/2-10/2~21,28 3:25..28/2 Asia/Tokyo": true,
	"*-06/5-28 23:53 America/New_York": true, "Fri,Sat 01/5-25/3 *:*:* Europe/Prague": true,
	"0/11:10 Asia/Tokyo": true, "01/9:34:0 America/New_York": true,
}
