package declared

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell"
)

func TestDurationText(t *testing.T) {
	for d, want := range map[time.Duration]string{time.Hour: "1h", 90 * time.Minute: "1h30m", 5 * time.Minute: "5m", 10 * time.Second: "10s", time.Hour + time.Second: "1h0m1s", time.Millisecond: "1ms", hourbell.MaxDuration: "876000h"} {
		if got := durationText(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

// Set reads what Text writes, and Text writes nothing after Clear.
func TestKeysWriteWhatTheyRead(t *testing.T) {
	values := map[string]string{
		"queue": "q", "priority": "3", "max_attempts": "7", "on_loss": "fail", "timeout": "none", "backoff": "linear:10s:1h", "group": "g", "key": "c", "paused": "true",
		"overlap": "replace", "misfire": "all", "misfire_cap": "12", "grace": "90s", "window": "48h", "count": "9", "jitter": "30s",
		"on": "label=role=db", "pause_after_failures": "4", "start": "2027-01-01T00:00:00Z", "stop": "2028-01-01T00:00:00Z", "gap": "skip", "fold": "both", "dialect": "quartz",
		"exclude": "holidays | sat, sun | * 0-6 * * *",
	}
	for _, key := range Keys() {
		var s hourbell.Schedule
		if err := key.Set(&s, values[key.Name]); err != nil {
			t.Errorf("%s: %v", key.Name, err)
		}
		var again hourbell.Schedule
		if err := key.Set(&again, key.Text(s)); err != nil || key.Text(again) != key.Text(s) || key.Text(s) == "" {
			t.Errorf("%s: %q is written as %q, then as %q: %v", key.Name, values[key.Name], key.Text(s), key.Text(again), err)
		}
		if key.Clear(&s); key.Text(s) != "" {
			t.Errorf("%s: %q after it was cleared", key.Name, key.Text(s))
		}
	}
}
