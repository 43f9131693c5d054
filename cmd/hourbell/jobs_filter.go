package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
)

// jobFilterFlags are the flags that select jobs, for all commands that list, count or
// change them.
type jobFilterFlags struct {
	states                       []string
	queue, kind, schedule        string
	since, until                 string
	finishedSince, finishedUntil string
	errorText, unique            string
}

// jobFilterNames are the names of these flags.
var jobFilterNames = []string{"state", "queue", "kind", "schedule", "since", "until", "finished-since", "finished-until", "error", "unique"}

func (l *jobFilterFlags) addTo(c *cobra.Command) {
	flags := c.Flags()
	flags.StringSliceVar(&l.states, "state", nil, "only these states: waiting, ready, running, completed, failed, cancelled, not_started; or, of the ready jobs, only scheduled or retrying")
	flags.StringVar(&l.queue, "queue", "", "only jobs of this queue")
	flags.StringVar(&l.kind, "kind", "", "only jobs of this kind")
	flags.StringVar(&l.schedule, "schedule", "", "only jobs made for this schedule")
	flags.StringVar(&l.since, "since", "", "only jobs enqueued at or after this instant, such as 2027-03-01T09:00:00Z, or this long ago, such as 2h or 7d")
	flags.StringVar(&l.until, "until", "", "only jobs enqueued before this instant, or longer ago than this")
	flags.StringVar(&l.finishedSince, "finished-since", "", "only jobs that ended at or after this instant, or this long ago")
	flags.StringVar(&l.finishedUntil, "finished-until", "", "only jobs that ended before this instant, or longer ago than this")
	flags.StringVar(&l.errorText, "error", "", "only jobs whose last error contains this text")
	flags.StringVar(&l.unique, "unique", "", "only jobs with this unique key, also jobs that have ended")
}

// jobFilterGiven reports whether a command was given any of the flags.
func jobFilterGiven(c *cobra.Command) bool {
	return slices.ContainsFunc(jobFilterNames, func(name string) bool { return c.Flags().Changed(name) })
}

// jobFilter is a filter whose instants may be relative to the time of the store.
type jobFilter struct {
	hourbell.JobFilter
	ago map[*time.Time]time.Duration // instants of the filter, and how long ago they are
}

// read returns the filter that the flags of a command describe.
func (l *jobFilterFlags) read(c *cobra.Command) (*jobFilter, error) {
	states, err := view.ParseJobStates(l.states, c.Flags().Changed("state"))
	f := &jobFilter{JobFilter: states, ago: map[*time.Time]time.Duration{}}
	f.Queue, f.Kind, f.Schedule, f.Unique, f.Error = l.queue, l.kind, l.schedule, l.unique, l.errorText
	err = errors.Join(
		err, nameFlags(c, "queue", "kind", "schedule", "unique"), notEmpty(c, "error"),
		f.instant(c, "since", l.since, &f.CreatedSince), f.instant(c, "until", l.until, &f.CreatedUntil),
		f.instant(c, "finished-since", l.finishedSince, &f.FinishedSince), f.instant(c, "finished-until", l.finishedUntil, &f.FinishedUntil),
	)
	if err == nil {
		err = errors.Join(f.Validate(), f.order(&f.CreatedSince, "until", &f.CreatedUntil), f.order(&f.FinishedSince, "finished-until", &f.FinishedUntil))
	}
	return f, err
}

// order checks two instants that are both relative to the time of the store.
func (f *jobFilter) order(since *time.Time, name string, until *time.Time) error {
	from, first := f.ago[since]
	to, second := f.ago[until]
	if !first || !second || from > to {
		return nil
	}
	return &check.FieldError{Field: name, Value: to.String(), Problem: fmt.Sprintf("is not after %v ago", from), Remedy: "use a shorter time than that of the other flag, or leave one of them out"}
}

// instant reads a flag that is an instant, or a duration before the time of the store.
func (f *jobFilter) instant(c *cobra.Command, name, text string, to *time.Time) error {
	if !c.Flags().Changed(name) {
		return nil
	}
	if err := notEmpty(c, name); err != nil {
		return err
	}
	if ago, ok := view.ParseAgo(text); ok {
		f.ago[to] = ago
		return nil
	}
	at, err := view.ParseInstant(name, text, "")
	if err != nil {
		return &check.FieldError{Field: name, Value: check.Shorten(text), Problem: "is neither a duration nor an instant", Remedy: "use a duration such as 2h or 7d, or an instant such as 2027-03-01T09:00:00Z"}
	}
	*to = at
	return nil
}

// at returns the filter, with instants by the clock of the store.
func (f *jobFilter) at(ctx context.Context, client *hourbell.Client) (hourbell.JobFilter, error) {
	if len(f.ago) == 0 {
		return f.JobFilter, nil
	}
	now, err := client.Now(ctx)
	if err != nil {
		return f.JobFilter, err
	}
	for to, ago := range f.ago {
		*to = now.Add(-ago)
	}
	return f.JobFilter, nil
}
