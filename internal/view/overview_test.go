package view

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/findings"
	"github.com/hourbell/hourbell/store"
)

func queuesOf(rows ...store.QueueInfo) (queues []hourbell.QueueInfo) {
	for _, row := range rows {
		queues = append(queues, hourbell.QueueInfo{QueueInfo: row})
	}
	return queues
}

// TestRates checks that rates are of the last minute, or of the time that the newest jobs took if
// there may be more jobs.
func TestRates(t *testing.T) {
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	few := rates([]store.JobInfo{
		{JobSpec: store.JobSpec{Queue: "q"}, FinishedAt: now.Add(-time.Second)},
		{JobSpec: store.JobSpec{Queue: "q"}, FinishedAt: now.Add(-time.Minute)},
		{JobSpec: store.JobSpec{Queue: "q"}, FinishedAt: now.Add(-time.Hour)},
		{JobSpec: store.JobSpec{Queue: "p"}, FinishedAt: now},
	}, now)
	if len(few) != 2 || math.Abs(few["q"]-2.0/60) > 1e-9 || math.Abs(few["p"]-1.0/60) > 1e-9 {
		t.Errorf("rates %v", few)
	}
	many := make([]store.JobInfo, rateAmong)
	for i := range many {
		many[i] = store.JobInfo{JobSpec: store.JobSpec{Queue: "q"}, FinishedAt: now.Add(-time.Duration(i+1) * 2 * time.Second / rateAmong)}
	}
	if rate := rates(many, now)["q"]; math.Abs(rate-rateAmong/2) > 1e-6 {
		t.Errorf("%f jobs a second", rate)
	}
	if all := rates(make([]store.JobInfo, rateAmong), now); len(all) != 0 {
		t.Errorf("jobs that ended long ago: %v", all)
	}
}

// TestPresentAndLongest checks which nodes and in which order the running jobs are shown.
func TestPresentAndLongest(t *testing.T) {
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	o := Overview{
		Facts: findings.Facts{
			Now: now,
			Nodes: []store.NodeInfo{
				{Name: "alive"}, {Name: "left", EndedAt: now}, {Name: "died", EndedAt: now.Add(-time.Minute), Died: true}, {Name: "died long ago", EndedAt: now.Add(-2 * time.Hour), Died: true},
			},
			Queues: queuesOf(store.QueueInfo{Name: "q"}),
		},
		Running: []store.JobInfo{{ID: 3, StartedAt: now}, {ID: 2, StartedAt: now.Add(-time.Hour)}},
		Rates:   map[string]float64{"p": 1, "q": 0.5},
	}
	if nodes := o.Present(); len(nodes) != 2 || nodes[0].Name != "alive" || nodes[1].Name != "died" {
		t.Errorf("nodes %v", nodes)
	}
	if jobs := o.Longest(); jobs[0].ID != 2 || o.Running[0].ID != 3 {
		t.Errorf("running jobs %v", jobs)
	}
	if l := o.RateListing().Only("RATE/S", "QUEUE"); strings.Join(l.Row(o.Queues[0]), " ") != "0.5 q" || o.Rate() != 1.5 {
		t.Errorf("queues %v, all %v", l.Row(o.Queues[0]), o.Rate())
	}
}

// TestStarts checks that the jobs are those that ended lately, and that a job cannot begin
// before it is due.
func TestStarts(t *testing.T) {
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	var ended []store.JobInfo
	for i := range 100 {
		due := now.Add(-30 * time.Second)
		ended = append(ended, store.JobInfo{RunAt: due, StartedAt: due.Add(time.Duration(i-1) * time.Millisecond), FinishedAt: now.Add(-time.Second)})
	}
	ended = append(ended, store.JobInfo{RunAt: now.Add(-time.Hour), StartedAt: now.Add(-2 * time.Minute), FinishedAt: now.Add(-2 * time.Minute)}, store.JobInfo{FinishedAt: now})
	if got, want := starts(ended, now), (Starts{Jobs: 100, Median: 49 * time.Millisecond, Slower: 94 * time.Millisecond}); got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
	if got := starts(nil, now); got != (Starts{}) {
		t.Errorf("of no jobs: %+v", got)
	}
}
