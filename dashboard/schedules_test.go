package dashboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// TestHealthOfSchedules checks that the list shows how the jobs of a schedule have done, and no next slot of a paused schedule.
func TestHealthOfSchedules(t *testing.T) {
	b := newBench(t)
	b.put("breaks", "fails", func(s *hourbell.Schedule) { s.Rule.Every = "1s" })
	b.put("rests", "works", func(s *hourbell.Schedule) { s.Paused = true })
	b.run()
	failed := hourbell.JobFilter{Schedule: "breaks", States: []store.State{store.StateFailed}}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		n, err := b.client.Jobs.Count(b.ctx(), failed)
		b.must(err)
		if n >= 3 || time.Now().After(deadline) {
			break
		}
	}
	list := b.ok("schedules")
	row := func(name string) string {
		_, rest, _ := strings.Cut(list, fmt.Sprintf(`href="schedule?name=%s"`, name))
		found, _, _ := strings.Cut(rest, "</tr>")
		return found
	}
	b.contains("a failing schedule", row("breaks"), ">failing<", `role="img" aria-label="newest slots: `, ` failed"><span class="`, `>✗</span>`, `data-column="Failures" class="number">`)
	for _, column := range []string{"Last run", "Took", "Next"} {
		if cell := part(row("breaks"), column); strings.Contains(cell, ">-<") || cell == "" {
			t.Errorf("a failing schedule has no %s: %s", column, row("breaks"))
		}
	}
	if cell := part(row("breaks"), "Median"); !strings.Contains(cell, ">-<") {
		t.Errorf("no job has completed, but their median is %s", cell)
	}
	if cell := part(row("rests"), "Next"); !strings.Contains(cell, ">-<") {
		t.Errorf("a paused schedule has a next slot: %s", cell)
	}
	if body := b.ok("schedule?name=rests"); strings.Contains(body, "<dt>next at</dt>") {
		t.Error("the page of a paused schedule has a next slot")
	}
	b.contains("the page of a failing schedule", b.ok("schedule?name=breaks"), `<path class="failed"`, "its job: failed", "<dt>last run</dt>", "<dt>took</dt>", "<dt>failures in a row</dt>")
}

// part returns the cell of a column in the text of a row.
func part(row, column string) string {
	_, rest, _ := strings.Cut(row, fmt.Sprintf(`data-column="%s"`, column))
	cell, _, _ := strings.Cut(rest, "/td>")
	return cell
}

// TestMarksShowTheJob checks that a slot that fired looks like its job.
func TestMarksShowTheJob(t *testing.T) {
	at := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	for state, want := range map[store.State]string{
		store.StateCompleted: "fired", store.StateFailed: "failed", store.StateCancelled: "cancelled", store.StateRunning: "open", store.StateReady: "open",
	} {
		slot := store.SlotInfo{SlotRecord: store.SlotRecord{Slot: at, Outcome: store.SlotFired, Count: 1}, Job: 1, JobKept: true, JobState: state}
		drawn := drawSlots(at.Add(-time.Hour), at.Add(time.Hour), at, []store.SlotInfo{slot}, nil, nil)
		if got := drawn.Marks[0].Outcome; got != want {
			t.Errorf("%v: the mark is %q, want %q", state, got, want)
		}
	}
}
