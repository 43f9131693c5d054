package dashboard

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

const (
	glance      = 10               // how many rows each list of the overview has
	sectionTime = 2 * time.Second  // in which a list of the overview must be read
	missedAmong = 500              // newest records of slots, among which missed slots are looked for
	lastDay     = 24 * time.Hour   // how far the overview looks back
	fresh       = time.Second      // how long all viewers see the same overview
	restShare   = restFactor       // as for streams: reading costs the store at most 1/restShare of its time
	dueFirst    = 10 * time.Second // a job that is due longer is looked at: does any node take it?
)

// overviewData is what the overview shows.
type overviewData struct {
	First    view.Attention
	FirstAt  string // the address of the page about First
	Sum      store.QueueInfo
	Living   int
	Running  table
	Failed   table
	Retrying table
	Missed   table
	Queues   table
	Nodes    table
	Slow     []string // lists that the store did not answer in time
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
	o := view.Overview{}
	if o.Now, err = p.client.Now(ctx); err != nil {
		return d, err
	}
	if o.Nodes, err = p.client.Nodes.List(ctx); err != nil {
		return d, err
	}
	position, err := p.client.Nodes.Position(ctx)
	if err != nil {
		return d, err
	}
	o.Suspended = position.Suspended()
	var running, retrying []store.JobInfo
	for _, section := range []struct {
		name string
		read func(context.Context) error
	}{
		{"queues", func(ctx context.Context) (err error) { o.Queues, err = p.client.Queues.List(ctx); return err }},
		{"running jobs", func(ctx context.Context) (err error) {
			running, err = p.client.Jobs.List(ctx, hourbell.JobFilter{States: []store.State{store.StateRunning}, Limit: glance})
			return err
		}},
		{"retrying jobs", func(ctx context.Context) (err error) {
			retrying, err = p.client.Jobs.List(ctx, hourbell.JobFilter{Retrying: true, Limit: glance})
			return err
		}},
		{"failed jobs", func(ctx context.Context) (err error) {
			o.Failed, err = p.client.Jobs.List(ctx, hourbell.JobFilter{States: []store.State{store.StateFailed}, FinishedSince: o.Now.Add(-lastDay), Limit: glance})
			return err
		}},
		{"missed slots", func(ctx context.Context) (err error) { o.Missed, err = p.missed(ctx, o.Now); return err }},
		{"due jobs", func(ctx context.Context) error { return p.untaken(ctx, &o) }},
	} {
		limited, cancel := context.WithTimeout(ctx, sectionTime)
		err := section.read(limited)
		late := limited.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil || err != nil && !late:
			return d, err
		case err != nil:
			d.Slow = append(d.Slow, section.name)
		}
	}
	d.First, d.Sum, d.Living, d.AsOf = o.First(), o.Sum(), o.Living(), o.Now
	d.FirstAt = pageAbout(d.First)
	for _, list := range []struct {
		to                    *table
		jobs                  []store.JobInfo
		caption, empty, older string
	}{
		{&d.Running, running, "Running now", "No job is running.", "jobs?state=running"},
		{&d.Retrying, retrying, "Waiting for another attempt", "No job waits for another attempt.", "jobs?state=retrying"},
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
	d.Nodes = nodeTable(o.Nodes, o.Now, o.Suspended)
	return d, nil
}

// missed returns the newest records of missed slots of the last day.
func (p *pages) missed(ctx context.Context, now time.Time) ([]store.SlotInfo, error) {
	slots, err := p.client.Slots.List(ctx, hourbell.SlotFilter{From: now.Add(-lastDay), Limit: missedAmong})
	var missed []store.SlotInfo
	for _, slot := range slots {
		if slot.Outcome == store.SlotMissed && len(missed) < glance {
			missed = append(missed, slot)
		}
	}
	return missed, err
}

// untaken looks for a due job that no living node takes, in the queues whose oldest due
// job waits for a while.
func (p *pages) untaken(ctx context.Context, o *view.Overview) error {
	for _, q := range o.Queues {
		if q.Oldest.IsZero() || o.Now.Sub(q.Oldest) < dueFirst {
			continue
		}
		jobs, err := p.client.Jobs.List(ctx, hourbell.JobFilter{Queue: q.Name, States: []store.State{store.StateReady}, Limit: pageSize})
		if err != nil {
			return err
		}
		reasons, err := p.client.Jobs.Waits(ctx, jobs...)
		if err != nil {
			return err
		}
		for _, job := range jobs {
			if reason := reasons[job.ID]; reason != "" {
				o.Untaken, o.Why = job, view.WaitReason(reason)
				return nil
			}
		}
	}
	return nil
}

// pageAbout returns the address of the page about what needs attention.
func pageAbout(a view.Attention) string {
	switch {
	case a.Job != 0:
		return jobLink(a.Job)
	case a.Schedule != "":
		return link("schedule", "name", a.Schedule)
	}
	return a.About
}
