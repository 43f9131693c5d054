package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

func (p *program) jobsCommand() *cobra.Command {
	f := &storeFlags{}
	c := p.group("jobs", "Lists, counts, shows and changes jobs",
		p.jobsListCommand(f),
		p.jobsCountCommand(f),
		p.jobsShowCommand(f),
		p.jobsTreeCommand(f),
	)
	for _, change := range jobChanges() {
		c.AddCommand(p.jobsChangeCommand(f, change))
	}
	f.addTo(c)
	return c
}

// jobsListFlags are the flags of a list of jobs.
type jobsListFlags struct {
	jobFilterFlags
	before  int64
	limit   int
	secrets bool
	listFlags
}

func (p *program) jobsListCommand(f *storeFlags) *cobra.Command {
	var l jobsListFlags
	c := &cobra.Command{
		Use: "list", Short: "Lists jobs, alive and finished, newest first", Args: takes(false),
		Example: "  hourbell jobs list --state running\n" +
			"  hourbell jobs list --schedule nightly --state failed,cancelled\n" +
			"  hourbell jobs list --kind mail --since 2h --error 'connection refused'\n" +
			"  hourbell jobs list --queue mail --output ndjson",
		RunE: func(c *cobra.Command, _ []string) error { return p.jobsList(c, *f, l) },
	}
	l.jobFilterFlags.addTo(c)
	c.Flags().Int64Var(&l.before, "before", 0, "only jobs with a number below this")
	addLimit(c, &l.limit)
	addSecrets(c, &l.secrets)
	l.listFlags.addTo(c)
	return c
}

func (p *program) jobsList(c *cobra.Command, f storeFlags, l jobsListFlags) error {
	selection, err := l.read(c)
	err = errors.Join(err, checkLimit(l.limit))
	if c.Flags().Changed("before") && l.before < 1 {
		err = errors.Join(err, &check.FieldError{
			Field: "before", Value: fmt.Sprint(l.before),
			Problem: "is not the number of a job", Remedy: "use a positive whole number",
		})
	}
	if err != nil {
		return err
	}
	return p.list(c, f, l.listFlags, func(p *program, client *hourbell.Client) error {
		filter, err := selection.At(c.Context(), client)
		if err != nil {
			return err
		}
		now, err := client.Now(c.Context())
		if err != nil {
			return err
		}
		filter.Before, filter.Details = l.before, true
		return printList(p, view.FilteredJobListing(filter, now), l.format, paged(p, c, l.format, l.limit, func(size int, last *view.Job) ([]view.Job, error) {
			page := filter
			page.Limit = size
			if last != nil {
				page.Before = last.ID
			}
			jobs, err := p.search(c.Context(), client, page)
			if err != nil {
				return nil, err
			}
			return view.Jobs(c.Context(), client, l.secrets, jobs...)
		}))
	})
}

// searchTime is for how long a search goes on before it is named: most of it by one statement, because the parts of a search take longer.
const searchTime = 6 * time.Second

// search returns a full page of jobs, or all jobs that match. The store searches for a short
// time at once; a search that needs more is continued, and named once.
func (p *program) search(ctx context.Context, client *hourbell.Client, f hourbell.JobFilter) (jobs []store.JobInfo, err error) {
	noted := false
	f.Within = searchTime
	for size := f.Limit; ; {
		f.Limit = size - len(jobs)
		page, err := client.Jobs.Page(ctx, f)
		if err != nil {
			return nil, err
		}
		if jobs, f.Before = append(jobs, page.Jobs...), page.Next; !page.Partial {
			return jobs, nil
		}
		if !noted {
			fmt.Fprintf(p.stderr, "hourbell: few of very many jobs match; the search goes on below job %d\n", page.Next)
			noted, f.Within = true, 5*time.Second
		}
	}
}

func (p *program) jobsCountCommand(f *storeFlags) *cobra.Command {
	var l jobFilterFlags
	var o listFlags
	var by string
	c := &cobra.Command{
		Use: "count", Short: "Counts jobs, alive and finished", Args: takes(false),
		Long: "Counts the jobs that `hourbell jobs list` lists with the same flags. The number is exact, so that all jobs may be\n" +
			"read: a second or so for a million. With --by it counts them for each state, kind and so on, the most first, and reads\n" +
			"each job that it counts.",
		Example: "  hourbell jobs count --state failed --since 2h\n  hourbell jobs count --queue mail --state ready --output json\n" +
			"  hourbell jobs count --by kind --since 1d",
		RunE: func(c *cobra.Command, _ []string) error {
			selection, err := l.read(c)
			err = errors.Join(err, view.CheckCountedBy(by, c.Flags().Changed("by")))
			if err != nil {
				return err
			}
			return p.list(c, *f, o, func(p *program, client *hourbell.Client) error {
				filter, err := selection.At(c.Context(), client)
				if err != nil {
					return err
				}
				if by != "" {
					tally, err := view.ReadTally(c.Context(), client, filter, by)
					if err != nil {
						return err
					}
					return printList(p, view.TallyListing(by), o.format, all(tally))
				}
				n, err := client.Jobs.Count(c.Context(), filter)
				if err != nil {
					return err
				}
				p.empty = n == 0
				return p.show(o.format, view.CountRecord{Count: n}, func(out *bufio.Writer) { fmt.Fprintln(out, n) })
			})
		},
	}
	l.addTo(c)
	o.addTo(c)
	c.Flags().StringVar(&by, "by", "", "count them apart: by "+strings.Join(view.CountedBy(), ", "))
	// RegisterFlagCompletionFunc fails only for an unknown flag
	_ = c.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(view.CountedBy(), cobra.ShellCompDirectiveNoFileComp))
	return c
}
