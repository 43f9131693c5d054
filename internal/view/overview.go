package view

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/findings"
	"github.com/hourbell/hourbell/store"
)

// Overview is what is known of a cluster at one instant.
type Overview struct {
	findings.Facts
	// Findings are what is wrong, the most urgent first.
	Findings []store.Finding
	// The jobs that run, and the jobs that wait for another attempt, newest first.
	Running, Retrying []store.JobInfo
	// Failures are the jobs that failed in the last day, in groups; FailuresCut: there may be older ones, which are not counted.
	Failures    []Failures
	FailuresCut bool
	// Expected is how long the running jobs should take, by their numbers.
	Expected map[int64]time.Duration
	// Rates has for each queue about how many jobs a second ended lately.
	Rates map[string]float64
	// Starts is how late the jobs began from which the rates are computed.
	Starts Starts
}

const (
	lately     = time.Hour // deaths before that are left to the listing
	searchTime = hourbell.EstimateTime / 2
	rateAmong  = 500         // jobs that ended, from which rates are computed
	rateWindow = time.Minute // rates are of the last minute, or of as much of it as rateAmong jobs took
)

// ReadOverview reads an overview whose lists of jobs and slots have at most the given
// number of rows. A list that takes too long is left out, and named in Unread.
func ReadOverview(ctx context.Context, client *hourbell.Client, rows int) (o Overview, err error) {
	if o.Facts, err = findings.Read(ctx, client); err != nil {
		return o, err
	}
	jobs := func(name string, to *[]store.JobInfo, filter hourbell.JobFilter) findings.List {
		return findings.List{Name: name, Read: func(ctx context.Context) error {
			filter.Limit, filter.Within = rows, searchTime
			page, err := client.Jobs.Page(ctx, filter)
			if *to = page.Jobs; page.Partial {
				o.Unread = append(o.Unread, name)
			}
			return err
		}}
	}
	var ended []store.JobInfo
	err = o.ReadLists(ctx, []findings.List{
		{Name: "rates", Read: func(ctx context.Context) (err error) {
			// The newest jobs are read. Jobs that ended long after they were made are not among them.
			ended, err = client.Jobs.List(ctx, hourbell.JobFilter{States: []store.State{store.StateCompleted, store.StateFailed}, Limit: rateAmong})
			o.Rates, o.Starts = rates(ended, o.Now), starts(ended, o.Now)
			return err
		}},
		jobs("running jobs", &o.Running, hourbell.JobFilter{States: []store.State{store.StateRunning}}),
		jobs("retrying jobs", &o.Retrying, hourbell.JobFilter{Retrying: true}),
		{Name: "expected run times", Read: func(ctx context.Context) (err error) {
			o.Expected, err = expected(ctx, client, o.Running, ended)
			return err
		}},
	})
	o.Failures, o.FailuresCut = FailureGroups(o.Failed, o.Now), len(o.Failed) >= findings.Rows
	o.Findings = findings.Find(o.Facts)
	o.Failed, o.Missed = o.Failed[:min(rows, len(o.Failed))], o.Missed[:min(rows, len(o.Missed))]
	return o, err
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
