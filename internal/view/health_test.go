package view

import (
	"slices"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// TestHealthIsShown checks that a schedule whose jobs fail is not shown as well, and that the strip can be read without colours.
func TestHealthIsShown(t *testing.T) {
	h := &hourbell.ScheduleHealth{Failures: 3, Slots: []store.SlotInfo{
		{Job: 9, JobKept: true, JobState: store.StateRunning},
		{Job: 8, JobKept: true, JobState: store.StateFailed},
		{Job: 7, JobKept: true, JobState: store.StateCancelled},
		{Job: 6, JobKept: true, JobState: store.StateCompleted},
		{SlotRecord: store.SlotRecord{Outcome: store.SlotMissed}},
		{SlotRecord: store.SlotRecord{Outcome: store.SlotSkipped}},
		{Job: 5},
	}}
	if got := Strip(*h); got != "?-!✓⊘✗·" {
		t.Errorf("the strip is %s", got)
	}
	s := Schedule{Health: h}
	s.Job, s.NextAt = hourbell.RawArgs{Name: "k"}, time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	row := ScheduleListing().Row(s)
	if row[2] != "failing" || row[3] != "?-!✓⊘✗·" || Tone(row[2]) != Bad {
		t.Errorf("the row is %q", row)
	}
	if s.Health = nil; ScheduleListing().Row(s)[2] != "active" || NewScheduleRecord(s).Health != nil {
		t.Error("a health that was not read is shown")
	}
	s.Overdue.Slots = 3
	if state := ScheduleListing().Row(s)[2]; state != "overdue" || Tone(state) != Bad {
		t.Errorf("a schedule whose slots have passed without a node is %s", state)
	}
	record := newHealthRecord(h)
	if want := []string{"running", "failed", "cancelled", "completed", "missed", "skipped", "not kept"}; !slices.Equal(record.Outcomes, want) || !record.Failing {
		t.Errorf("the record is %+v", record)
	}
	if fired := SlotListing().Row(h.Slots[1]); fired[3] != "fired" || fired[5] != "failed" || Tone("fired") == Good {
		t.Errorf("the row of a fired slot whose job failed is %q", fired)
	}
}
