package main

import (
	"bufio"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
)

func (p *program) jobsShowCommand(f *storeFlags) *cobra.Command {
	var o format
	var secrets bool
	c := &cobra.Command{
		Use: "show ID", Short: "Shows a job with its arguments, attempts and output", Args: takes(false, "ID"),
		Example: "  hourbell jobs show 17\n  hourbell jobs show 17 --output json",
		RunE: func(c *cobra.Command, args []string) error {
			ids, err := parseIDs(args)
			if err != nil {
				return err
			}
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error { return p.jobsShow(c.Context(), client, o, secrets, ids[0]) })
		},
	}
	addSecrets(c, &secrets)
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
	views, err := viewJobs(ctx, client, secrets, job)
	if err != nil {
		return err
	}
	return p.show(f, newJobRecord(views[0]), func(out *bufio.Writer) { printJob(out, views[0], now) })
}

func printAttempt(out *bufio.Writer, a hourbell.Attempt) {
	fmt.Fprintf(out, "\nattempt %d, %s to %s on %s\n", a.Attempt, plain.Stamp(a.StartedAt), plain.Stamp(a.FinishedAt), plain.Dash(plain.Clean(a.Node)))
	for _, part := range []fact{{"error", a.Error}, {"trace", a.Trace}, {"output", string(a.Output)}} {
		if part.value != "" {
			fmt.Fprintf(out, "  %s:\n%s", part.name, plain.CleanLines(part.value, "    "))
		}
	}
}
