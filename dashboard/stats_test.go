package dashboard

import (
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
)

// TestCharts draws counts and times at their places.
func TestCharts(t *testing.T) {
	from := time.Date(2027, 3, 1, 10, 0, 0, 0, time.UTC)
	s := hourbell.Stats{From: from, To: from.Add(10 * time.Minute), Span: time.Minute, Rows: []hourbell.StatsRow{
		{At: from, Jobs: map[string]int64{"completed": 3, "failed": 1}, RunTime: hourbell.StatsTimes{Count: 4, P50: time.Second, P99: 4 * time.Second}},
		{At: from.Add(5 * time.Minute), Jobs: map[string]int64{"completed": 8}, Sampled: true, Depth: 2, Nodes: 3},
		{At: from.Add(9 * time.Minute), Slots: map[string]int64{"not_started": 1}, Sampled: true, Depth: 1},
	}}
	charts := map[string]chart{}
	for _, c := range chartsOf(s) {
		charts[c.Title] = c
	}
	jobs := charts["Jobs a minute, by outcome"]
	want := []chartBar{
		{"0", "62.5", "9", "37.5", "completed", "2027-03-01T10:00:00Z: 3 completed, 3 a minute"},
		{"0", "50", "9", "12.5", "failed", "2027-03-01T10:00:00Z: 1 failed, 1 a minute"},
		{"50", "0", "9", "100", "completed", "2027-03-01T10:05:00Z: 8 completed, 8 a minute"},
	}
	if len(jobs.Bars) != 3 || jobs.Bars[0] != want[0] || jobs.Bars[1] != want[1] || jobs.Bars[2] != want[2] ||
		jobs.Top != "at most 8 a minute" || len(jobs.Legend) != 2 {
		t.Errorf("jobs: %+v", jobs)
	}
	if l := charts["Run time"].Lines; len(l) != 3 || l[0] != (chartLine{"p50", "M0 75H10"}) || l[2] != (chartLine{"p99", "M0 0H10"}) {
		t.Errorf("run time: %+v", l)
	}
	if l := charts["Due jobs, on average"].Lines; len(l) != 1 || l[0].Path != "M50 0H60L90 50H100" {
		t.Errorf("due jobs: %+v", l)
	}
	if c := charts["Slots a minute, by outcome"]; len(c.Bars) != 1 || c.Legend[0].Text != "not started" {
		t.Errorf("slots: %+v", c)
	}
	if c := charts["Start delay"]; len(c.Lines)+len(c.Legend) != 0 {
		t.Errorf("start delays that nothing has: %+v", c)
	}
}

// TestPageOfStatistics shows an empty store, filters, and mistakes.
func TestPageOfStatistics(t *testing.T) {
	b := newBench(t)
	shown := b.ok("stats?since=1d&queue=%3Cb%3E")
	b.contains("statistics", shown, "Jobs a minute, by outcome", "Living nodes", "Nothing was counted by queue.", `value="&lt;b&gt;"`,
		`<a href="stats?queue=%3Cb%3E&amp;since=1d" aria-current="true">Last day</a>`)
	for _, bad := range []string{"style=", "NaN", "Inf"} {
		if strings.Contains(shown, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if status, body := b.get("stats?since=99d"); status != 400 && status != 422 || !strings.Contains(body, "too long ago") {
		t.Errorf("99 days: %d", status)
	}
}
