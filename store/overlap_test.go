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
		"due":       {ID: 5, Due: true},
		"backfills": {ID: 6, Running: true, Origin: OriginBackfill},
		"dueRetry":  {ID: 7, Attempt: 1, Due: true},
		"later":     {ID: 8, StartsAt: time.Unix(9, 0)},
		"backfill":  {ID: 9, Origin: OriginBackfill, Due: true},
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
		{OverlapSkip, "dueRetry", 1, "fires supersede 7"},
		{OverlapSkip, "due", 2, "skipped skipped"},
		{OverlapSkip, "due retry", 1, "skipped"},
		{OverlapSkip, "later", 1, "fires"},
		{OverlapSkip, "backfills backfill", 1, "fires"},
		{OverlapQueue, "", 3, "fires waits waits"},
		{OverlapQueue, "running", 1, "waits"},
		{OverlapQueue, "running", 3, "skipped skipped waits"},
		{OverlapQueue, "running waiting", 2, "skipped skipped"},
		{OverlapQueue, "waiting", 1, "skipped"},
		{OverlapQueue, "due", 2, "waits waits"},
		{OverlapQueue, "retry", 1, "fires supersede 3"},
		{OverlapQueue, "later", 1, "waits"},
		{OverlapQueue, "backfills", 1, "fires"},
		{OverlapReplace, "", 2, "fires waits"},
		{OverlapReplace, "running", 1, "waits cancel 1"},
		{OverlapReplace, "running waiting", 3, "skipped skipped waits replace 2 cancel 1"},
		{OverlapReplace, "waiting", 1, "fires replace 2"},
		{OverlapReplace, "running retry snoozed", 1, "waits supersede 3 4 cancel 1"},
		{OverlapReplace, "due", 1, "waits"},
		{OverlapReplace, "backfills", 1, "fires"},
		{OverlapAllow, "running waiting retry due", 2, "fires fires"},
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
		if got := settledWords(f.Jobs, f.Settle(jobs, Delays{})); got != test.want {
			t.Errorf("overlap %d, live %q, %d slots: %q, want %q", test.overlap, test.live, test.slots, got, test.want)
		}
	}
}

// TestDelays has the reasons why a due job of a schedule has not started, as slots are skipped because of it.
func TestDelays(t *testing.T) {
	job := LiveJob{ID: 12, Due: true, JobSpec: JobSpec{Queue: "reports@web1", Kind: "k", Group: "g", Key: "y"}}
	node := NodeInfo{Host: "web1", Queues: []string{"reports"}, Kinds: []string{"k"}}
	change := func(n NodeInfo, to func(*NodeInfo)) NodeInfo {
		to(&n)
		return n
	}
	others := []NodeInfo{
		change(node, func(n *NodeInfo) { n.Queues = []string{"q", "report"} }),
		change(node, func(n *NodeInfo) { n.Host, n.Labels = "web2", []string{"zone=b"} }),
	}
	other := change(node, func(n *NodeInfo) { n.Kinds = []string{"l"} })
	limited, later := job, job
	limited.Limited, later.StartsAt = true, time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		job    LiveJob
		delays Delays
		want   string
	}{
		{job, Delays{}, `no living node serves queue "reports@web1"`},
		{job, Delays{Nodes: others}, `no living node serves queue "reports@web1"`},
		{job, Delays{Nodes: append(others, other)}, `no living node of queue "reports@web1" has code for kind "k"`},
		{job, Delays{Nodes: []NodeInfo{other, node}}, "the queue is behind"},
		{job, Delays{Nodes: []NodeInfo{change(other, func(n *NodeInfo) { n.Kinds = []string{"k" + Restricted} })}}, "the queue is behind"},
		{limited, Delays{Nodes: []NodeInfo{node}}, "a limit lets it wait"},
		{limited, Delays{}, `no living node serves queue "reports@web1"`},
		{later, Delays{}, "it starts at 2027-03-01T12:00:00Z"},
		{job, Delays{Nodes: []NodeInfo{node}, Pauses: []Pause{{Subject: SubjectQueue, Name: "report"}, {Subject: SubjectQueue, Name: "reports"}}}, "queue reports is paused"},
		{later, Delays{Pauses: []Pause{{Subject: SubjectGroup, Name: "g"}}}, "group g is paused"},
		{job, Delays{Pauses: []Pause{{Subject: SubjectKind, Name: "k"}, {Subject: SubjectKey, Name: "y"}}}, "kind k is paused"},
		{job, Delays{Pauses: []Pause{{Subject: SubjectKey, Name: "y"}}}, "key y is paused"},
	} {
		f := Firing{Jobs: []NewJob{{Slot: time.Unix(1, 0)}}}
		settled := f.Settle([]LiveJob{{ID: 13, Due: true}, test.job}, test.delays)
		if got, want := settled.Slots[0].Reason, "overlap: job 12 has not started: "+test.want; got != want {
			t.Errorf("%+v, %+v: %s, want %s", test.job, test.delays, got, want)
		}
	}
}

// TestAsksWhy: a store reads what delays jobs only for a firing whose reason names it.
func TestAsksWhy(t *testing.T) {
	due, running := LiveJob{ID: 1, Due: true}, LiveJob{ID: 2, Running: true}
	for _, test := range []struct {
		overlap Overlap
		jobs    int
		live    []LiveJob
		want    bool
	}{
		{OverlapSkip, 1, []LiveJob{due}, true},
		{OverlapSkip, 0, []LiveJob{due}, false},
		{OverlapSkip, 1, []LiveJob{{ID: 1}}, false},
		{OverlapSkip, 1, []LiveJob{due, running}, false},
		{OverlapSkip, 1, []LiveJob{due, {ID: 3, Waiting: true}}, false},
		{OverlapSkip, 1, []LiveJob{due, {ID: 3, Attempt: 1}}, true},
		{OverlapAllow, 1, []LiveJob{due}, false},
		{OverlapQueue, 1, []LiveJob{due}, false},
	} {
		if got := (Firing{Overlap: test.overlap, Jobs: make([]NewJob, test.jobs)}).AsksWhy(test.live); got != test.want {
			t.Errorf("overlap %d, %d jobs, %+v: %v", test.overlap, test.jobs, test.live, got)
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
