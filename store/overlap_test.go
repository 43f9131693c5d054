package store

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestFiringSettle has the rule of overlaps as a table: the live jobs of a schedule, how many slots are due, and what becomes
// of the slots and the jobs.
func TestFiringSettle(t *testing.T) {
	live := map[string]LiveJob{
		"running":   {ID: 1, Running: true, Attempt: 1},
		"waiting":   {ID: 2, Waiting: true},
		"retry":     {ID: 3, Attempt: 1},
		"snoozed":   {ID: 4, Snoozed: true},
		"fresh":     {ID: 5},
		"backfills": {ID: 6, Running: true, Origin: OriginBackfill},
	}
	for i := range int64(MostUnstarted) {
		live[fmt.Sprint("fresh", i)] = LiveJob{ID: 10 + i}
	}
	many := make([]string, MostUnstarted)
	for i := range many {
		many[i] = fmt.Sprint("fresh", i)
	}
	for _, test := range []struct {
		overlap Overlap
		live    string
		slots   int
		want    string // for each slot "fires", "waits" or "skipped", then what happens to live jobs
	}{
		{OverlapSkip, "", 1, "fires"},
		{OverlapSkip, "", 3, "fires waits waits"},
		{OverlapSkip, "running", 2, "skipped skipped"},
		{OverlapSkip, "waiting", 1, "skipped"},
		{OverlapSkip, "retry", 1, "fires supersede 3"},
		{OverlapSkip, "snoozed", 2, "fires waits supersede 4"},
		{OverlapSkip, "fresh", 1, "fires"},
		{OverlapSkip, strings.Join(many[1:], " "), 1, "fires"},
		{OverlapSkip, strings.Join(many, " "), 1, "skipped"},
		{OverlapSkip, "backfills", 1, "fires"},
		{OverlapQueue, "", 3, "fires waits waits"},
		{OverlapQueue, "running", 1, "waits"},
		{OverlapQueue, "running", 3, "skipped skipped waits"},
		{OverlapQueue, "running waiting", 2, "skipped skipped"},
		{OverlapQueue, "waiting", 1, "skipped"},
		{OverlapQueue, "fresh", 2, "waits waits"},
		{OverlapQueue, "retry", 1, "fires supersede 3"},
		{OverlapQueue, strings.Join(many, " "), 1, "waits"},
		{OverlapQueue, "backfills", 1, "fires"},
		{OverlapReplace, "", 2, "fires waits"},
		{OverlapReplace, "running", 1, "waits cancel 1"},
		{OverlapReplace, "running waiting", 3, "skipped skipped waits replace 2 cancel 1"},
		{OverlapReplace, "waiting", 1, "fires replace 2"},
		{OverlapReplace, "running retry snoozed", 1, "waits supersede 3 4 cancel 1"},
		{OverlapReplace, "fresh", 1, "waits"},
		{OverlapReplace, "backfills", 1, "fires"},
		{OverlapAllow, "running waiting retry fresh", 2, "fires fires"},
		{OverlapSkip, "running", 0, ""},
	} {
		f := Firing{Overlap: test.overlap}
		for i := range test.slots {
			f.Jobs = append(f.Jobs, NewJob{Slot: time.Unix(int64(i+1), 0)})
		}
		var jobs []LiveJob
		for _, name := range strings.Fields(test.live) {
			jobs = append(jobs, live[name])
		}
		if got := settledWords(f.Jobs, f.Settle(jobs)); got != test.want {
			t.Errorf("overlap %d, live %q, %d slots: %q, want %q", test.overlap, test.live, test.slots, got, test.want)
		}
	}
}

// settledWords describes what became of the slots of jobs.
func settledWords(jobs []NewJob, s Settled) string {
	became := map[time.Time][]string{}
	for _, slot := range s.Slots {
		became[slot.Slot] = append(became[slot.Slot], slot.Outcome.String())
	}
	for _, job := range s.Jobs {
		became[job.Slot] = append(became[job.Slot], map[bool]string{true: "waits", false: "fires"}[job.Waiting])
	}
	var words []string
	for _, job := range jobs {
		words = append(words, became[job.Slot]...)
	}
	for _, change := range []struct {
		what string
		ids  []int64
	}{{"supersede", s.Supersede}, {"replace", s.Replace}, {"cancel", s.Cancel}} {
		if len(change.ids) > 0 {
			words = append(words, change.what, strings.Trim(fmt.Sprint(change.ids), "[]"))
		}
	}
	return strings.Join(words, " ")
}
