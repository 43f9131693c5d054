package work

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
)

// TestAgeingDecides checks which claims take aged jobs.
func TestAgeingDecides(t *testing.T) {
	const bound = time.Hour
	var a ageing
	wants := func(want time.Duration, when string) {
		t.Helper()
		if got := a.dueFor(); got != want {
			t.Errorf("%s: a claim of jobs that have been due for %v, want %v", when, got, want)
		}
	}
	a.claimed(0, true, false)
	wants(0, "without a bound")
	a.bound.Store(int64(bound))
	wants(bound, "a claim has left jobs")
	a.claimed(bound, true, false)
	wants(bound, "a claim of aged jobs has left jobs")
	before := loop.Now()
	a.claimed(bound, false, false)
	wants(0, "a claim of aged jobs has left none")
	if pause := a.paused.Sub(before); pause < agedPause || pause > agedPause+time.Minute {
		t.Errorf("claims of aged jobs pause for %v, want %v", pause, agedPause)
	}
	a.claimed(0, true, false)
	wants(0, "in the pause")
	a.paused = loop.Now()
	wants(bound, "after the pause")
	a.claimed(0, false, false)
	wants(0, "a claim has left none")
	a.claimed(0, false, true)
	wants(bound, "a claim has left jobs of a kind with a bound")
	a.claimed(bound, false, true)
	wants(0, "a claim of aged jobs has left jobs of a kind with a bound")

	before = loop.Now()
	a.claimed(2*time.Second, false, false)
	if pause := a.paused.Sub(before); pause < 200*time.Millisecond || pause >= agedPause {
		t.Errorf("with a bound of 2 s, claims of aged jobs pause for %v, want 200 ms", pause)
	}
	a.bound.Store(0)
	a.paused = loop.Now()
	a.claimed(0, true, false)
	wants(0, "the bound was removed")
}
