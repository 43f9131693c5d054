package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

func (p *program) jobsCommand() *cobra.Command {
	f := &storeFlags{}
	c := p.group("jobs", "Lists, shows, cancels, retries and deletes jobs",
		p.jobsListCommand(f),
		p.jobsShowCommand(f),
		p.jobsCancelCommand(f),
		p.jobsChangeCommand(f, jobChange{
			verb: "retry", short: "Makes finished jobs ready again, and waiting ones due now",
			do:   (*hourbell.JobService).Retry,
			said: map[store.Change]string{store.Changed: "ready to run again"},
			left: "is running; cancel it first",
		}),
		p.jobsChangeCommand(f, jobChange{
			verb: "delete", short: "Deletes jobs that do not run, with all records of them",
			do:   (*hourbell.JobService).Delete,
			said: map[store.Change]string{store.Changed: "deleted"},
			left: "is running; cancel it first",
		}),
	)
	f.addTo(c)
	return c
}

// jobsListFlags select jobs.
type jobsListFlags struct {
	states   []string
	queue    string
	kind     string
	schedule string
	before   int64
	limit    int
	secrets  bool
	format   format
}

func (p *program) jobsListCommand(f *storeFlags) *cobra.Command {
	var l jobsListFlags
	c := &cobra.Command{
		Use: "list", Short: "Lists jobs, alive and finished, newest first", Args: takes(false),
		Example: "  hourbell jobs list --state running\n" +
			"  hourbell jobs list --schedule nightly --state failed,cancelled\n" +
			"  hourbell jobs list --queue mail --output ndjson",
		RunE: func(c *cobra.Command, _ []string) error { return p.jobsList(c, *f, l) },
	}
	flags := c.Flags()
	flags.StringSliceVar(&l.states, "state", nil, "only these states: waiting, ready, running, completed, failed, cancelled; or, of the ready jobs, only scheduled or retrying")
	flags.StringVar(&l.queue, "queue", "", "only jobs of this queue")
	flags.StringVar(&l.kind, "kind", "", "only jobs of this kind")
	flags.StringVar(&l.schedule, "schedule", "", "only jobs made for this schedule")
	flags.Int64Var(&l.before, "before", 0, "only jobs with a number below this")
	addLimit(c, &l.limit)
	addSecrets(c, &l.secrets)
	l.format.addTo(c)
	return c
}

func (p *program) jobsList(c *cobra.Command, f storeFlags, l jobsListFlags) error {
	filter, err := view.ParseJobStates(l.states, c.Flags().Changed("state"))
	err = errors.Join(err, nameFlags(c, "queue", "kind", "schedule"), checkLimit(l.limit))
	if c.Flags().Changed("before") && l.before < 1 {
		err = errors.Join(err, &check.FieldError{Field: "before", Value: fmt.Sprint(l.before), Problem: "is not the number of a job", Remedy: "use a positive whole number"})
	}
	if err != nil {
		return err
	}
	filter.Queue, filter.Kind, filter.Schedule, filter.Before, filter.Details = l.queue, l.kind, l.schedule, l.before, true
	return p.withClient(c.Context(), f, func(client *hourbell.Client) error {
		now, err := client.Now(c.Context())
		if err != nil {
			return err
		}
		return printList(p, view.JobListing(now), l.format, paged(p, c, l.format, l.limit, func(size int, last *view.Job) ([]view.Job, error) {
			page := filter
			page.Limit = size
			if last != nil {
				page.Before = last.ID
			}
			jobs, err := client.Jobs.List(c.Context(), page)
			if err != nil {
				return nil, err
			}
			return view.Jobs(c.Context(), client, l.secrets, jobs...)
		}))
	})
}
