package view

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// Overview is what is known of a cluster at one instant.
type Overview struct {
	Now       time.Time // of the store's clock
	Suspended bool      // the store went back in time, and this is not accepted yet
	Nodes     []store.NodeInfo
	Queues    []hourbell.QueueInfo
	// Untaken is a due job that no living node takes, and Why the reason; zero: none
	// was found.
	Untaken store.JobInfo
	Why     string
	Missed  []store.SlotInfo // records of missed slots of the last day, newest first
	Failed  []store.JobInfo  // jobs that failed in the last day, newest first
	// The jobs that run, and the jobs that wait for another attempt, newest first.
	Running, Retrying []store.JobInfo
	// Rates has for each queue about how many jobs a second ended lately.
	Rates map[string]float64
	// Starts is how late the jobs began from which the rates are computed.
	Starts Starts
	Slow   []string // the lists above that the store did not answer in time; they are empty
}

// Attention is what an operator should look at first. About is the listing that shows
// it: nodes, queues, jobs or slots. The zero value: nothing needs attention.
type Attention struct {
	Text, About string
	Job         int64  // the job that it is about, or 0
	Schedule    string // the schedule that it is about, or empty
}

const (
	behindAfter = time.Minute // a queue whose oldest due job waits longer is behind
	lately      = time.Hour   // deaths and failures before that are left to the listings
)

const (
	sectionTime = 2 * time.Second // in which a list of the overview must be read
	searchTime  = hourbell.PageTime / 2
	missedAmong = 500              // newest records of slots, among which missed slots are looked for
	lastDay     = 24 * time.Hour   // how far the overview looks back
	dueFirst    = 10 * time.Second // a job that is due longer is looked at: does any node take it?
	dueAmong    = 50               // due jobs of a queue, among which a job is looked for that no node takes
	rateAmong   = 500              // jobs that ended, from which rates are computed
	rateWindow  = time.Minute      // rates are of the last minute, or of as much of it as rateAmong jobs took
)

// ReadOverview reads an overview whose lists of jobs and slots have at most the given
// number of rows. A list that takes too long is left out, and named in Slow.
func ReadOverview(ctx context.Context, client *hourbell.Client, rows int) (o Overview, err error) {
	if o.Now, err = client.Now(ctx); err != nil {
		return o, err
	}
	if o.Nodes, err = client.Nodes.List(ctx); err != nil {
		return o, err
	}
	position, err := client.Nodes.Position(ctx)
	if err != nil {
		return o, err
	}
	o.Suspended = position.Suspended()
	jobs := func(name string, to *[]store.JobInfo, filter hourbell.JobFilter) func(context.Context) error {
		return func(ctx context.Context) error {
			filter.Limit, filter.Within = rows, searchTime
			page, err := client.Jobs.Page(ctx, filter)
			if *to = page.Jobs; page.Partial {
				o.Slow = append(o.Slow, name)
			}
			return err
		}
	}
	for _, section := range []struct {
		name string
		read func(context.Context) error
	}{
		{"queues", func(ctx context.Context) (err error) { o.Queues, err = client.Queues.Estimate(ctx); return err }},
		{"rates", func(ctx context.Context) error { return o.readRates(ctx, client) }},
		{"running jobs", jobs("running jobs", &o.Running, hourbell.JobFilter{States: []store.State{store.StateRunning}})},
		{"retrying jobs", jobs("retrying jobs", &o.Retrying, hourbell.JobFilter{Retrying: true})},
		{"failed jobs", jobs("failed jobs", &o.Failed, hourbell.JobFilter{States: []store.State{store.StateFailed}, FinishedSince: o.Now.Add(-lastDay)})},
		{"missed slots", func(ctx context.Context) error { return o.readMissed(ctx, client, rows) }},
		{"due jobs", func(ctx context.Context) error { return o.readUntaken(ctx, client) }},
	} {
		limited, cancel := context.WithTimeout(ctx, sectionTime)
		err := section.read(limited)
		late := limited.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil || err != nil && !late:
			return o, err
		case err != nil:
			o.Slow = append(o.Slow, section.name)
		}
	}
	return o, nil
}

// readRates computes the rates from the jobs that have ended: it reads the newest of them. Jobs that ended long after they
// were made are not among them.
func (o *Overview) readRates(ctx context.Context, client *hourbell.Client) error {
	ended, err := client.Jobs.List(ctx, hourbell.JobFilter{States: []store.State{store.StateCompleted, store.StateFailed}, Limit: rateAmong})
	o.Rates, o.Starts = rates(ended, o.Now), starts(ended, o.Now)
	return err
}

// rates returns how many of the jobs ended a second, by queue: in the last rateWindow, or
// since the first of them ended if there may be more.
func rates(ended []store.JobInfo, now time.Time) map[string]float64 {
	since := now.Add(-rateWindow)
	if len(ended) == rateAmong {
		first := now.Add(-time.Millisecond)
		for _, job := range ended {
			if job.FinishedAt.Before(first) {
				first = job.FinishedAt
			}
		}
		if first.After(since) {
			since = first
		}
	}
	found := map[string]float64{}
	for _, job := range ended {
		if !job.FinishedAt.Before(since) {
			found[job.Queue] += 1 / now.Sub(since).Seconds()
		}
	}
	return found
}

// Starts is how long after they were due jobs began.
type Starts struct {
	Jobs   int           // that ended in the last minute, or the newest of them
	Median time.Duration // within which half of them began
	Slower time.Duration // within which 95 of 100 of them began
}

// starts returns how late the jobs that ended lately began.
func starts(ended []store.JobInfo, now time.Time) Starts {
	var late []time.Duration
	for _, job := range ended {
		if !job.StartedAt.IsZero() && now.Sub(job.FinishedAt) <= rateWindow {
			late = append(late, max(job.StartedAt.Sub(job.RunAt), 0))
		}
	}
	if len(late) == 0 {
		return Starts{}
	}
	slices.Sort(late)
	return Starts{Jobs: len(late), Median: late[len(late)/2], Slower: late[len(late)*95/100]}
}

// readMissed reads the newest records of missed slots of the last day.
func (o *Overview) readMissed(ctx context.Context, client *hourbell.Client, rows int) error {
	slots, err := client.Slots.List(ctx, hourbell.SlotFilter{From: o.Now.Add(-lastDay), Limit: missedAmong})
	for _, slot := range slots {
		if slot.Outcome == store.SlotMissed && len(o.Missed) < rows {
			o.Missed = append(o.Missed, slot)
		}
	}
	return err
}

// readUntaken looks for a due job that no living node takes, in the queues whose oldest
// due job waits for a while.
func (o *Overview) readUntaken(ctx context.Context, client *hourbell.Client) error {
	for _, q := range o.Queues {
		if q.Oldest.IsZero() || o.Now.Sub(q.Oldest) < dueFirst {
			continue
		}
		jobs, err := client.Jobs.List(ctx, hourbell.JobFilter{Queue: q.Name, States: []store.State{store.StateReady}, Limit: dueAmong})
		if err != nil {
			return err
		}
		reasons, err := client.Jobs.Waits(ctx, jobs...)
		if err != nil {
			return err
		}
		for _, job := range jobs {
			if reason := reasons[job.ID]; reason != "" {
				o.Untaken, o.Why = job, reason
				return nil
			}
		}
	}
	return nil
}

// First returns what an operator should look at first: what stops all work, then what
// stops some of it, then what has gone wrong.
func (o Overview) First() Attention {
	for _, find := range []func() Attention{o.stopped, o.unmanned, o.silent, o.untaken, o.behind, o.missed, o.died, o.failed} {
		if found := find(); found.Text != "" {
			return found
		}
	}
	return Attention{}
}

// Living returns how many nodes are alive as far as the store knows.
func (o Overview) Living() (n int) {
	for _, node := range o.Nodes {
		if node.EndedAt.IsZero() && NodeState(node, o.Now, false) == "alive" {
			n++
		}
	}
	return n
}

// Sum returns the counts of all queues together, with the oldest due job of any queue.
func (o Overview) Sum() (sum store.QueueInfo) {
	for _, q := range o.Queues {
		sum.Ready, sum.Scheduled, sum.Running, sum.Waiting = sum.Ready+q.Ready, sum.Scheduled+q.Scheduled, sum.Running+q.Running, sum.Waiting+q.Waiting
		sum.Estimated = sum.Estimated || q.Estimated
		if !q.Oldest.IsZero() && (sum.Oldest.IsZero() || q.Oldest.Before(sum.Oldest)) {
			sum.Oldest, sum.Name = q.Oldest, q.Name
		}
	}
	return sum
}

func (o Overview) stopped() (a Attention) {
	if o.Suspended {
		a = Attention{Text: "The store went back in time, so no node claims or fires: see `hourbell nodes accept-history --help`", About: "nodes"}
	}
	return a
}

func (o Overview) unmanned() (a Attention) {
	if sum := o.Sum(); o.Living() == 0 && sum.Ready > 0 {
		due := plain.Plural(int(sum.Ready), "due job")
		if sum.Estimated {
			due = "about " + due
		}
		a = Attention{Text: "No node is alive, and " + due + " wait: start `hourbell serve`", About: "nodes"}
	}
	return a
}

func (o Overview) silent() (a Attention) {
	for _, node := range o.Nodes {
		if NodeState(node, o.Now, false) == "silent" {
			return Attention{Text: fmt.Sprintf("Node %s was last heard %s", node.Name, ago(o.Now, node.SeenAt)), About: "nodes"}
		}
	}
	return a
}

func (o Overview) untaken() (a Attention) {
	if o.Why != "" {
		a = Attention{Text: fmt.Sprintf("Job %d waits although it is due: %s", o.Untaken.ID, o.Why), About: "jobs", Job: o.Untaken.ID}
	}
	return a
}

// behind leaves out paused queues, because an operator has stopped them.
func (o Overview) behind() (a Attention) {
	o.Queues = slices.DeleteFunc(slices.Clone(o.Queues), func(q hourbell.QueueInfo) bool { return !q.Pause.At.IsZero() })
	if sum := o.Sum(); !sum.Oldest.IsZero() && o.Now.Sub(sum.Oldest) > behindAfter {
		a = Attention{Text: fmt.Sprintf("Queue %s is behind: its oldest due job has waited for %s", sum.Name, plain.Brief(o.Now.Sub(sum.Oldest).Round(time.Second))), About: "queues"}
	}
	return a
}

func (o Overview) missed() (a Attention) {
	if len(o.Missed) > 0 {
		slot := o.Missed[0]
		a = Attention{Text: fmt.Sprintf("Schedule %s missed %s: %s", slot.ScheduleName, plain.Plural(int(slot.Count), "slot"), slot.Reason), About: "slots", Schedule: slot.ScheduleName}
	}
	return a
}

func (o Overview) died() (a Attention) {
	for _, node := range o.Nodes {
		if node.Died && o.Now.Sub(node.EndedAt) < lately {
			return Attention{Text: fmt.Sprintf("Node %s died %s", node.Name, ago(o.Now, node.EndedAt)), About: "nodes"}
		}
	}
	return a
}

func (o Overview) failed() (a Attention) {
	n := 0
	for _, job := range o.Failed {
		if o.Now.Sub(job.FinishedAt) < lately {
			n++
		}
	}
	if n > 0 {
		job := o.Failed[0]
		a = Attention{Text: fmt.Sprintf("%s failed in the last hour; the newest is job %d of kind %s: %s", plain.Plural(n, "job"), job.ID, job.Kind, ShortError(job.Reason)), About: "jobs", Job: job.ID}
	}
	return a
}

// ago returns how long before now an instant was.
func ago(now, at time.Time) string { return plain.Brief(now.Sub(at).Round(time.Second)) + " ago" }
