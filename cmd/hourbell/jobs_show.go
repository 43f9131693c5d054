package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

func (p *program) jobsShowCommand(f *storeFlags) *cobra.Command {
	var o format
	var secrets, watch, follow bool
	c := &cobra.Command{
		Use: "show ID", Short: "Shows a job with its arguments, attempts and output", Args: takes(false, "ID"),
		Example: "  hourbell jobs show 17\n  hourbell jobs show 17 --output json\n  hourbell jobs show 17 --watch\n  hourbell jobs show 17 --follow",
		RunE: func(c *cobra.Command, args []string) error {
			ids, err := parseIDs(args)
			if watch && follow {
				err = errors.Join(err, &check.FieldError{
					Field: "follow", Problem: "is given together with watch",
					Remedy: "use one of them: --watch shows the progress, --follow the output",
				})
			}
			if err != nil {
				return err
			}
			return p.withReader(c.Context(), *f, func(client *hourbell.Client) error {
				if follow {
					return p.jobsFollow(c.Context(), client, o, ids[0])
				}
				if watch {
					return p.jobsWatch(c.Context(), client, o, secrets, ids[0])
				}
				return p.jobsShow(c.Context(), client, o, secrets, ids[0])
			})
		},
	}
	addSecrets(c, &secrets)
	c.Flags().BoolVar(&watch, "watch", false, "show the progress, on a terminal as a bar, until the job has ended")
	c.Flags().BoolVar(&follow, "follow", false, "print the output of the job as it comes, until the job has ended")
	o.addTo(c)
	return c
}

func (p *program) jobsShow(ctx context.Context, client *hourbell.Client, f format, secrets bool, id int64) error {
	job, err := client.Jobs.Get(ctx, id)
	if err != nil {
		return err
	}
	now, err := client.Now(ctx)
	if err != nil {
		return err
	}
	return p.showJob(ctx, client, f, secrets, job, now)
}

// showJob shows a job. now is the time of the store's clock.
func (p *program) showJob(ctx context.Context, client *hourbell.Client, f format, secrets bool, job store.JobInfo, now time.Time) error {
	views, err := view.Jobs(ctx, client, secrets, job)
	if err != nil {
		return err
	}
	if err := view.AddOutput(ctx, client, &views[0]); err != nil {
		return err
	}
	if err := view.AddSteps(ctx, client, &views[0], secrets); err != nil {
		return err
	}
	return p.show(f, view.NewJobRecord(views[0], now), func(out *bufio.Writer) { p.printJob(out, views[0], now) })
}

// printJob prints a job as text, with a table of its attempts, and then their
// errors and outputs.
func (p *program) printJob(out *bufio.Writer, j view.Job, now time.Time) {
	p.printFacts(out, view.JobFacts(j, now))
	if len(j.Steps) > 0 {
		p.printSteps(out, j.Steps)
	}
	if len(j.Attempts) > 0 {
		p.printAttempts(out, j.Attempts)
	}
	if text := view.KeptOutput(j.Printing); text != "" {
		fmt.Fprintf(out, "\nattempt %d, running\n  output:\n%s", j.Attempt, plain.CleanLines(text, "    "))
	}
}

// printSteps prints a table of what a job remembers.
func (p *program) printSteps(out *bufio.Writer, all []store.Step) {
	listing := view.StepListing()
	var rows []table.Row
	for _, s := range all {
		rows = append(rows, p.cells(listing.Columns, listing.Row(s)))
	}
	shown, _ := p.render(listing.Columns, listing.Minor, rows)
	fmt.Fprintf(out, "\n%s\n", shown)
}

// printAttempts prints a table of attempts, and then their errors and outputs.
func (p *program) printAttempts(out *bufio.Writer, all []store.Attempt) {
	listing := view.AttemptListing()
	var rows []table.Row
	for _, a := range all {
		rows = append(rows, p.cells(listing.Columns, listing.Row(a)))
	}
	shown, _ := p.render(listing.Columns, listing.Minor, rows)
	fmt.Fprintf(out, "\n%s\n", shown)
	for _, a := range all {
		printAttempt(out, a)
	}
}

// printAttempt prints what the table of attempts has no room for.
func printAttempt(out *bufio.Writer, a store.Attempt) {
	if a.Trace == "" && len(a.Output) == 0 && plain.FirstLine(a.Error) == a.Error {
		return
	}
	fmt.Fprintf(out, "\nattempt %d, %s to %s on %s\n", a.Attempt, plain.Stamp(a.StartedAt), plain.Stamp(a.FinishedAt), plain.Dash(plain.Clean(a.Node)))
	for _, part := range []view.Fact{
		{Name: "error", Value: a.Error},
		{Name: "trace", Value: a.Trace},
		{Name: "output", Value: view.KeptOutput(store.PrintedBy(a.Printed, a.Output))},
	} {
		if part.Value != "" {
			fmt.Fprintf(out, "  %s:\n%s", part.Name, plain.CleanLines(part.Value, "    "))
		}
	}
}
