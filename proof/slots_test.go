package proof

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const bells = `
schedules:
  - name: allow
    every: 1s
    command: ["true"]
    overlap: allow
  - name: skip
    every: 1s
    command: ["true"]
  - name: shared
    every: 1s
    command: ["true"]
    overlap: allow
    exclude: shared
`

// TestEverySlotOnceWhileNodesDie (P1, P2, P7): two, then five nodes on one
// store, killed and started at random, while a calendar that one schedule
// excludes is edited; every second is recorded exactly once, and every slot
// that fired has one job.
func TestEverySlotOnceWhileNodesDie(t *testing.T) {
	t.Parallel()
	onEachStore(t, allStores, func(t *testing.T, store string) {
		file := filepath.Join(t.TempDir(), "bells.yaml")
		if err := os.WriteFile(file, []byte(bells), 0o600); err != nil {
			t.Fatal(err)
		}
		rnd := random(t)
		rules := []string{"*/2 * * * * *", "1-59/3 * * * * *", "0 0 1 1 *"}
		putCalendar := func(n int) { run(t, store, "calendars", "put", "shared", "--rule", rules[n%len(rules)]) }
		putCalendar(0)
		nodes := []*process{serve(t, store, "--file", file), serve(t, store, "--file", file)}
		until(t, 20*time.Second, "the first slot", func() bool { return nodes[0].logged("slot fired")+nodes[1].logged("slot fired") > 0 })
		kills, edits := 0, 0
		half := time.Now().Add(duration(t) / 2)
		end := time.Now().Add(duration(t))
		for time.Now().Before(end) {
			time.Sleep(time.Duration(300+rnd.IntN(1200)) * time.Millisecond)
			edits++
			putCalendar(edits)
			most := 2
			if time.Now().After(half) {
				most = 5
			}
			if len(nodes) > 1 && rnd.IntN(2) == 0 {
				victim := rnd.IntN(len(nodes))
				nodes[victim].kill()
				nodes = slices.Delete(nodes, victim, victim+1)
				kills++
			}
			for len(nodes) < most {
				nodes = append(nodes, serve(t, store, "--file", file))
			}
		}
		for _, node := range nodes { // a process that has only just started does not handle signals yet
			until(t, 20*time.Second, "the node's start", func() bool { return node.logged("node started") > 0 })
			node.stop()
		}
		t.Logf("%d nodes were killed, and the calendar was edited %d times", kills, edits)
		for _, schedule := range []string{"allow", "skip", "shared"} {
			checkSlots(t, store, schedule)
		}
	})
}

// checkSlots expects every second from the first slot to the last exactly once.
func checkSlots(t *testing.T, store, schedule string) {
	t.Helper()
	rows := list[slotRow](t, store, "slots", "--schedule", schedule)
	slices.Reverse(rows) // oldest first
	jobs := map[int64]jobRow{}
	for _, job := range list[jobRow](t, store, "jobs", "list", "--schedule", schedule) {
		jobs[job.ID] = job
	}
	fired, seen := 0, map[int64]bool{}
	for i, row := range rows {
		if i > 0 && !row.Slot.Equal(rows[i-1].Last.Add(time.Second)) {
			t.Errorf("%s: %v comes after %v", schedule, row.Slot, rows[i-1].Last)
		}
		if row.Outcome != "fired" {
			allowed := map[string][]string{"skip": {"overlap", "late"}, "tick": {"late", "misfire"}, "shared": {"calendar: shared excludes rule"}}[schedule]
			if !slices.ContainsFunc(allowed, func(why string) bool { return strings.HasPrefix(row.Reason, why) }) {
				t.Errorf("%s: slot %v is %s: %s", schedule, row.Slot, row.Outcome, row.Reason)
			}
			continue
		}
		fired++
		switch {
		case row.JobID == nil:
			t.Errorf("%s: slot %v fired without a job", schedule, row.Slot)
		case seen[*row.JobID]:
			t.Errorf("%s: job %d serves two slots", schedule, *row.JobID)
		case jobs[*row.JobID].Schedule != schedule:
			t.Errorf("%s: job %d of slot %v is not there", schedule, *row.JobID, row.Slot)
		default:
			seen[*row.JobID] = true
		}
	}
	if len(jobs) != fired {
		t.Errorf("%s: %d jobs for %d slots that fired", schedule, len(jobs), fired)
	}
	if fired < 3 {
		t.Errorf("%s: only %d slots fired; this proves nothing", schedule, fired)
	}
	t.Logf("%s: %d slots on record, %d fired", schedule, len(rows), fired)
}
