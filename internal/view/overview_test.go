package view

import (
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// TestFirst adds to an overview, one after the other, what an operator has to look at,
// the least urgent first: each addition must come before the additions made earlier.
func TestFirst(t *testing.T) {
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	o := Overview{Now: now, Nodes: []store.NodeInfo{{Name: "a", SeenAt: now, Lease: time.Second}}, Queues: []store.QueueInfo{{Name: "q", Ready: 2, Oldest: now}, {Name: "p"}}}
	if first := o.First(); first != (Attention{}) {
		t.Errorf("nothing is wrong, but got %+v", first)
	}
	o.Failed = []store.JobInfo{{ID: 8, FinishedAt: now.Add(-2 * time.Hour)}}
	if first := o.First(); first != (Attention{}) {
		t.Errorf("an old failure: got %+v", first)
	}
	for _, test := range []struct {
		add         func()
		want, about string
	}{
		{func() { o.Failed = []store.JobInfo{{ID: 9, FinishedAt: now}} }, "1 job failed", "jobs"},
		{func() {
			o.Nodes = append(o.Nodes, store.NodeInfo{Name: "b", Died: true, EndedAt: now.Add(-time.Minute)})
		}, "Node b died", "nodes"},
		{func() {
			o.Missed = []store.SlotInfo{{ScheduleName: "s", SlotRecord: store.SlotRecord{Count: 3, Reason: "late"}}}
		}, "Schedule s missed 3 slots: late", "slots"},
		{func() { o.Queues[1].Oldest = now.Add(-2 * time.Minute) }, "Queue p is behind: its oldest due job has waited for 2m0s", "queues"},
		{func() { o.Untaken, o.Why = store.JobInfo{ID: 7}, "no code" }, "Job 7 waits although it is due: no code", "jobs"},
		{func() {
			o.Nodes = append(o.Nodes, store.NodeInfo{Name: "c", SeenAt: now.Add(-time.Minute), Lease: time.Second})
		}, "Node c was last heard 1m0s ago", "nodes"},
		{func() { o.Nodes = nil }, "No node is alive", "nodes"},
		{func() { o.Suspended = true }, "went back in time", "nodes"},
	} {
		test.add()
		if first := o.First(); !strings.Contains(first.Text, test.want) || first.About != test.about {
			t.Errorf("got %+v, want %q about %s", first, test.want, test.about)
		}
	}
}
