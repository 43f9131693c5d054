package dashboard

import (
	"context"
	"fmt"
	"net/http"
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
		{&d.Running, o.Running, "Running now", "No job is running.", "jobs?state=running"},
		{&d.Retrying, o.Retrying, "Waiting for another attempt", "No job waits for another attempt.", "jobs?state=retrying"},
		{&d.Failed, o.Failed, "Failed in the last day", "No job has failed in the last day.", "jobs?state=failed"},
	} {
		if *list.to, err = p.jobTable(ctx, list.jobs, o.Now); err != nil {
			return d, err
		}
		list.to.Caption, list.to.Empty = list.caption, list.empty
		if len(list.jobs) == glance {
			list.to.Older = list.older
		}
	}
	d.Missed = slotTable(o.Missed)
	d.Missed.Caption, d.Missed.Empty = "Missed slots of the last day", "No slot was missed in the last day."
	d.Queues = queueTable(o.Queues)
	d.Nodes = nodeTable(o.Nodes, view.NodeListing(o.Now, o.Suspended()))
	return d, nil
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
