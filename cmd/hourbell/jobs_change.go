package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

// jobChange is a command that changes jobs.
type jobChange struct {
	verb, short string
	do          func(*hourbell.JobService, context.Context, []int64, ...hourbell.Option) ([]store.JobChange, error)
	said        map[store.Change]string // the text for each result of a change
	left        string                  // the error for a job that was not changed
}

func (p *program) jobsChangeCommand(f *storeFlags, change jobChange) *cobra.Command {
	var o format
	c := &cobra.Command{
		Use: change.verb + " ID…", Short: change.short, Args: takes(true, "ID"),
		Example:               fmt.Sprintf("  hourbell jobs %[1]s 17 18 19\n  hourbell jobs %[1]s 17 --output ndjson", change.verb),
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			ids, err := parseIDs(args)
			if err != nil {
				return err
			}
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
				changes, err := change.do(client.Jobs, c.Context(), ids)
				if err != nil {
					return err
				}
				return p.tellChanges(o, change, changes)
			})
		},
	}
	o.addTo(c)
	return c
}

// tellChanges prints a line for each job: for people a sentence, which goes to
// standard error if the change failed; for programs a record, also of a failure. After
// all lines, jobs that could not be changed are an error.
func (p *program) tellChanges(f format, change jobChange, changes []store.JobChange) error {
	if f != asTable {
		records := view.Listing[store.JobChange]{Record: func(c store.JobChange) any {
			return view.NewChangeRecord(c)
		}}
		if err := printList(p, records, f, all(changes)); err != nil {
			return err
		}
	}
	failed := false
	for _, one := range changes {
		said, done := change.said[one.Change]
		switch {
		case done && f != asTable:
			continue
		case done:
			fmt.Fprintf(p.stdout, "job %d: %s\n", one.ID, said)
			continue
		case one.Change == store.Missing:
			printError(p.stderr, fmt.Errorf("%s job %d: %w; it never existed, or it has been pruned", change.verb, one.ID, hourbell.ErrNotFound))
		case one.Change == store.KeyTaken:
			printError(p.stderr, fmt.Errorf("%s job %d: job %d holds its unique key; wait until the key is free, or cancel or delete that job", change.verb, one.ID, one.Holder))
		default:
			printError(p.stderr, fmt.Errorf("%s job %d: it %s", change.verb, one.ID, change.left))
		}
		failed = true
	}
	if failed {
		return errReported
	}
	return nil
}

func (p *program) jobsCancelCommand(f *storeFlags) *cobra.Command {
	change := jobChange{verb: "cancel", said: map[store.Change]string{
		store.Changed:   "cancelled",
		store.Requested: "is running; its node has been asked to cancel it",
		store.Unchanged: "had finished already",
	}}
	var schedule string
	var o format
	c := &cobra.Command{
		Use: "cancel ID… | --schedule NAME", Short: "Cancels jobs, also jobs that run on any node",
		Long: "Cancels jobs that do not run, and asks the nodes of running jobs to stop them. A running job that completes\n" +
			"before it stops has completed.",
		Example:               "  hourbell jobs cancel 17 18\n  hourbell jobs cancel --schedule nightly --output ndjson",
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			ids, err := cancelTarget(c, args)
			if err != nil {
				return err
			}
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
				changes, err := cancelJobs(c.Context(), client, schedule, ids)
				if err != nil {
					return err
				}
				return p.tellChanges(o, change, changes)
			})
		},
	}
	o.addTo(c)
	c.Flags().StringVar(&schedule, "schedule", "", "all jobs of this schedule that have not finished")
	return c
}

// cancelTarget reads the numbers of jobs; no numbers are allowed if --schedule
// is given.
func cancelTarget(c *cobra.Command, args []string) ([]int64, error) {
	switch given := c.Flags().Changed("schedule"); {
	case given && len(args) > 0:
		return nil, &check.FieldError{Field: "ID", Value: check.Shorten(args[0]), Problem: "is given together with --schedule", Remedy: "use one of them"}
	case given:
		return nil, nameFlags(c, "schedule")
	}
	if err := takes(true, "ID")(c, args); err != nil {
		return nil, err
	}
	return parseIDs(args)
}

func cancelJobs(ctx context.Context, client *hourbell.Client, schedule string, ids []int64) ([]store.JobChange, error) {
	if len(ids) > 0 {
		return client.Jobs.Cancel(ctx, ids)
	}
	changes, err := client.Schedules.CancelJobs(ctx, schedule)
	if err == nil && len(changes) == 0 {
		_, err = client.Schedules.Get(ctx, schedule) // a misspelt name is an error, a schedule without jobs is not
	}
	return changes, err
}
