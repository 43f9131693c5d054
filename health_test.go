package hourbell

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// TestHealthOf checks what follows from the newest slots of a schedule. Each letter is a slot, the newest first: c completed,
// f failed, x cancelled, r running, g a job that is not kept, m a missed slot.
func TestHealthOf(t *testing.T) {
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	states := map[rune]store.State{'c': store.StateCompleted, 'f': store.StateFailed, 'x': store.StateCancelled, 'r': store.StateRunning}
	for _, test := range []struct {
		slots    string
		failures int
		first    int // the place of the first failure
		success  int // the place of the newest slot that completed; -1: none
		failing  bool
	}{
		{"", 0, 0, -1, false},
		{"cccf", 0, 0, 0, false},
		{"ffc", 2, 1, 2, false},
		{"fffc", 3, 2, 3, true},
		{"rfxmfgfcf", 3, 6, 7, true},
		{"ffffffffffffffffffff", 20, 19, -1, true},
		{"ggmmxr", 0, 0, -1, false},
	} {
		var slots []store.SlotInfo
		at := func(place int) time.Time { return now.Add(-time.Duration(place) * time.Minute) }
		for i, letter := range test.slots {
			s := store.SlotInfo{SlotRecord: store.SlotRecord{Slot: at(i), Outcome: store.SlotFired}, Job: int64(100 - i)}
			switch state, kept := states[letter]; {
			case kept:
				s.JobKept, s.JobState = true, state
			case letter == 'm':
				s.Outcome, s.Job = store.SlotMissed, 0
			}
			slots = append(slots, s)
		}
		h := healthOf(slots)
		if h.Failures != test.failures || h.Failing() != test.failing || test.success < 0 != h.LastSuccess.IsZero() || test.success >= 0 && !h.LastSuccess.Equal(at(test.success)) {
			t.Errorf("%s: %+v", test.slots, h)
		}
		if test.failures > 0 && !h.FailedFirst.Equal(at(test.first)) || (h.FailedLast != 0) != (test.failures > 0) {
			t.Errorf("%s: the first failure is %v, the last job %d", test.slots, h.FailedFirst, h.FailedLast)
		}
	}
}
