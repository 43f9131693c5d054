package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/internal/findings"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

const (
	glance    = 10          // how many rows each list of the overview has
	fresh     = time.Second // how long all viewers see the same overview
	restShare = restFactor  // as for streams: reading costs the store at most 1/restShare of its time
)

// overviewData is what the overview shows.
type overviewData struct {
	Findings []finding // what is wrong, the most urgent first
	Sum      store.QueueInfo
	Living   int
	Rate     string // about how many jobs ended a second lately
	Starts   string // how late jobs began lately; empty: none ended
	Running  table
	Failed   table
	Retrying table
	Missed   table
	Queues   table
	Nodes    table
	AsOf     time.Time
}

// shared is the overview that all viewers see, so that many viewers cost what one does.
type shared struct {
	mu   sync.Mutex
	at   time.Time
	took time.Duration
	data overviewData
}

func (p *pages) overview(ctx context.Context, _ *http.Request) (*page, error) {
	p.summary.mu.Lock()
	defer p.summary.mu.Unlock()
	if began := time.Now(); p.summary.at.IsZero() || began.Sub(p.summary.at) > max(fresh, restShare*p.summary.took) {
		data, err := p.readOverview(ctx)
		if err != nil {
			return nil, err
		}
		p.summary.data, p.summary.at, p.summary.took = data, time.Now(), time.Since(began)
	}
	return &page{Title: "Overview", Template: "overview", Live: true, Data: p.summary.data}, nil
}

// readOverview reads the overview. A list that takes too long is left out, and named.
func (p *pages) readOverview(ctx context.Context) (d overviewData, err error) {
	o, err := view.ReadOverview(ctx, p.client, glance)
	if err != nil {
		return d, err
	}
	d.Sum, d.Living, d.AsOf = o.Sum(), o.Living(), o.Now
	for _, one := range o.Findings {
		d.Findings = append(d.Findings, finding{one, pageAbout(one), view.FindingTone(one.Level)})
	}
	d.Rate = fmt.Sprintf("%.3g/s", o.Rate())
	if s := o.Starts; s.Jobs > 0 {
		d.Starts = fmt.Sprintf("Half of the %s that ended lately began within %v after they were due, and 95 %% within %v.",
			plain.Plural(s.Jobs, "job"), plain.Brief(s.Median.Round(time.Millisecond)), plain.Brief(s.Slower.Round(time.Millisecond)))
	}
	for _, list := range []struct {
		to                    *table
		jobs                  []store.JobInfo
		caption, empty, older string
	}{
		{&d.Retrying, o.Retrying, "Waiting for another attempt", "No job waits for another attempt.", "jobs?state=retrying"},
	} {
		if *list.to, err = p.jobTable(ctx, list.jobs, o.Now); err != nil {
			return d, err
		}
		list.to.Caption, list.to.Empty = list.caption, list.empty
		if len(list.jobs) == glance {
			list.to.Older = list.older
		}
	}
	d.Running, d.Failed = runningTable(o), failuresTable(o)
	d.Missed = slotTable(o.Missed)
	d.Missed.Caption, d.Missed.Empty = "Missed slots of the last day", "No slot was missed in the last day."
	d.Queues = queueTable(o.Queues)
	d.Nodes = nodeTable(o.Nodes, view.NodeListing(o.Now, o.Suspended()).Only("ID", "NAME", "HOST", "STATE", "RUNNING", "QUEUES", "SEEN"))
	return d, nil
}

// runningTable shows the jobs that run, the longest running first.
func runningTable(o view.Overview) table {
	l, jobs := o.RunningListing(), o.Longest()
	t := tableOf(l, jobs, func(j store.JobInfo, column string) string {
		switch {
		case column == "ID":
			return jobLink(j.ID)
		case column == "KIND":
			return link("jobs", "kind", j.Kind)
		case column == "SCHEDULE" && j.ScheduleName != "":
			return link("schedule", "name", j.ScheduleName)
		case column == "NODE":
			return "nodes"
		}
		return ""
	})
	for i, elapsed := 0, slices.Index(l.Columns, "ELAPSED"); i < len(jobs); i++ {
		if o.Slow(jobs[i]) {
			t.Rows[i].Cells[elapsed].Class = view.Warn
		}
	}
	t.Caption, t.Empty = "Running now, the longest first", "No job is running."
	if len(jobs) == glance {
		t.Older = "jobs?state=running"
	}
	return t
}

// failuresTable shows the jobs that failed, in groups.
func failuresTable(o view.Overview) table {
	groups := o.Failures[:min(len(o.Failures), glance)]
	t := tableOf(view.FailuresListing(), groups, func(f view.Failures, column string) string {
		switch {
		case column == "COUNT":
			return link("jobs", "state", "failed", "schedule", f.Schedule, "kind", f.Kind, "error", f.Searched(), "finished-since", "1d")
		case column == "SCHEDULE" && f.Schedule != "":
			return link("schedule", "name", f.Schedule)
		case column == "KIND":
			return link("jobs", "kind", f.Kind, "state", "failed")
		case column == "NEWEST":
			return jobLink(f.Newest.ID)
		}
		return ""
	})
	trend := slices.Index(view.FailuresListing().Columns, "LAST 24 HOURS")
	for i, group := range groups {
		t.Rows[i].Cells[trend].Strip = &strip{group.TrendWords(), []stripSign{{Text: group.Trend(), Tone: "trend bad", Title: group.TrendWords()}}}
	}
	t.Caption, t.Empty = "Failed in the last day", "No job has failed in the last day."
	if o.FailuresCut {
		t.Note = fmt.Sprintf("Only the newest %d failed jobs are counted.", findings.Rows)
	}
	if len(o.Failed) > 0 {
		t.Older = "jobs?state=failed"
	}
	return t
}

// finding is a finding as the overview shows it.
type finding struct {
	store.Finding
	At   string // the address of the page about it
	Tone string
}

// pageAbout returns the address of the page about a finding.
func pageAbout(f store.Finding) string {
	switch {
	case f.Job != 0:
		return jobLink(f.Job)
	case f.Schedule != "":
		return link("schedule", "name", f.Schedule)
	}
	return findings.About(f)
}
