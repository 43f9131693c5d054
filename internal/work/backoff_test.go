package work

import (
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	const longest = maxBackoff * 10 / 11
	for attempt, want := range map[int]time.Duration{1: time.Second, 2: 16 * time.Second, 5: 625 * time.Second, 17: longest, 18: longest, 1000: longest} {
		least, most := maxBackoff, time.Duration(0)
		for range 1000 {
			got := backoff(attempt)
			least, most = min(least, got), max(most, got)
		}
		if least < want*9/10 || most > want*11/10 || most > 24*time.Hour {
			t.Errorf("attempt %d: %v to %v, want %v ± 10 %% and at most 24 h", attempt, least, most, want)
		}
		if most-least < want/10 {
			t.Errorf("attempt %d: %v to %v is hardly spread", attempt, least, most)
		}
	}
}
