package main

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

func (p *program) batchesCommand() *cobra.Command {
	f := &storeFlags{}
	c := p.group("batches", "Lists and shows batches: jobs that were enqueued together",
		p.batchesListCommand(f),
		p.batchesShowCommand(f),
	)
	f.addTo(c)
	return c
}

func (p *program) batchesListCommand(f *storeFlags) *cobra.Command {
	var l listFlags
	var before int64
	var limit int
	c := &cobra.Command{
		Use: "list", Short: "Lists batches, newest first", Args: takes(false),
		Long: "Lists batches, newest first, with the number of jobs that have ended. A batch is running while one of its jobs\n" +
			"is live; then it is failed if a job failed or was cancelled, and else completed. `hourbell jobs list --batch ID`\n" +
			"lists its jobs.",
		Example: "  hourbell batches list\n  hourbell batches list --output ndjson",
		RunE: func(c *cobra.Command, _ []string) error {
			err := checkLimit(limit)
			if c.Flags().Changed("before") && before < 1 {
				err = errors.Join(err, &check.FieldError{
					Field: "before", Value: fmt.Sprint(before),
					Problem: "is not the number of a batch", Remedy: "use a positive whole number",
				})
			}
			if err != nil {
				return err
			}
			return p.list(c, *f, l, func(p *program, client *hourbell.Client) error {
				return printList(p, view.BatchListing(), l.format, paged(p, c, l.format, limit, func(size int, last *store.Batch) ([]store.Batch, error) {
					page := hourbell.BatchFilter{Before: before, Limit: size}
					if last != nil {
						page.Before = last.ID
					}
					return client.Batches.List(c.Context(), page)
				}))
			})
		},
	}
	c.Flags().Int64Var(&before, "before", 0, "only batches with a number below this")
	addLimit(c, &limit)
	l.addTo(c)
	return c
}

func (p *program) batchesShowCommand(f *storeFlags) *cobra.Command {
	var o format
	c := &cobra.Command{
		Use: "show ID", Short: "Shows a batch: its state, and how many of its jobs are in which state", Args: takes(false, "ID"),
		Example: "  hourbell batches show 3\n  hourbell batches show 3 --output json",
		RunE: func(c *cobra.Command, args []string) error {
			ids, err := parseIDs(args)
			if err != nil {
				return err
			}
			return p.withReader(c.Context(), *f, func(client *hourbell.Client) error {
				b, err := client.Batches.Get(c.Context(), ids[0])
				if err != nil {
					return err
				}
				return p.show(o, view.NewBatchRecord(b), func(out *bufio.Writer) { p.printFacts(out, view.BatchFacts(b)) })
			})
		},
	}
	o.addTo(c)
	return c
}
