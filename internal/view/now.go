package view

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// Only returns the listing with only the named columns, in that order.
func (l Listing[T]) Only(columns ...string) Listing[T] {
	all := l.Row
	at := make([]int, len(columns))
	for i, column := range columns {
		at[i] = slices.Index(l.Columns, column)
	}
	l.Columns = columns
	l.Row = func(item T) []string {
		row, some := all(item), make([]string, len(at))
		for i, from := range at {
			some[i] = row[from]
		}
		return some
	}
	return l
}

// RunningListing shows jobs that run: where, since when, with which token, and how far they
// have come.
func RunningListing() Listing[store.JobInfo] {
	return Listing[store.JobInfo]{
		Columns: []string{"ID", "KIND", "QUEUE", "NODE", "SINCE", "TOKEN", "ATTEMPT", "SCHEDULE", "PROGRESS"},
		Minor:   []string{"TOKEN", "QUEUE", "ATTEMPT", "SCHEDULE"},
		Row: func(j store.JobInfo) []string {
			return []string{
				fmt.Sprint(j.ID), j.Kind, j.Queue, plain.Dash(j.Node), plain.Stamp(j.StartedAt), fmt.Sprint(j.Token), fmt.Sprintf("%d/%d", j.Attempt, j.MaxAttempts),
				plain.Dash(shownSchedule(j)), plain.Dash(cmp.Or(cancelAsked(j), runningProgress(j))),
			}
		},
	}
}

// FailedListing shows jobs that failed: when and why.
func FailedListing() Listing[store.JobInfo] {
	return Listing[store.JobInfo]{
		Columns: []string{"ID", "KIND", "QUEUE", "FINISHED AT", "ATTEMPT", "SCHEDULE", "REASON"},
		Minor:   []string{"QUEUE", "ATTEMPT", "SCHEDULE"},
		Row: func(j store.JobInfo) []string {
			return []string{
				fmt.Sprint(j.ID), j.Kind, j.Queue, plain.Stamp(j.FinishedAt), fmt.Sprintf("%d/%d", j.Attempt, j.MaxAttempts),
				plain.Dash(shownSchedule(j)), plain.Dash(plain.OneLine(j.Reason)),
			}
		},
	}
}

// RateListing shows queues, with about how many jobs a second ended lately.
func (o Overview) RateListing() Listing[hourbell.QueueInfo] {
	l := QueueListing()
	row, at := l.Row, slices.Index(l.Columns, "PAUSED")
	l.Columns = slices.Insert(slices.Clone(l.Columns), at, "RATE/S")
	l.Row = func(q hourbell.QueueInfo) []string {
		rate := "-"
		if r := o.Rates[q.Name]; r > 0 {
			rate = fmt.Sprintf("%.3g", r)
		}
		return slices.Insert(row(q), at, rate)
	}
	return l
}

// Present returns the nodes that are alive as far as the store knows, and the nodes that died
// lately.
func (o Overview) Present() []store.NodeInfo {
	return slices.DeleteFunc(slices.Clone(o.Nodes), func(n store.NodeInfo) bool {
		return !n.EndedAt.IsZero() && (!n.Died || o.Now.Sub(n.EndedAt) > lately)
	})
}

// Rate returns about how many jobs a second ended lately, in all queues.
func (o Overview) Rate() (sum float64) {
	for _, rate := range o.Rates {
		sum += rate
	}
	return sum
}

// Longest returns the running jobs that the overview has read, the longest running first.
func (o Overview) Longest() []store.JobInfo {
	jobs := slices.Clone(o.Running)
	slices.SortStableFunc(jobs, func(a, b store.JobInfo) int { return a.StartedAt.Compare(b.StartedAt) })
	return jobs
}
