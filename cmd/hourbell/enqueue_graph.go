package main

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/schedulefile"
	"github.com/hourbell/hourbell/internal/plain"
)

// graphFlags are the flags of enqueue that may be given together with --graph.
var graphFlags = []string{"graph", "batch", "store", "output", "queue", "priority", "max-attempts", "on-loss", "timeout", "backoff", "group", "key"}

// enqueueGraph enqueues the jobs of a file. Flags of jobs are defaults of all of them.
func (p *program) enqueueGraph(c *cobra.Command, f enqueueFlags) error {
	var refused error
	c.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains(graphFlags, flag.Name) {
			refused = cmp.Or(refused, error(&check.FieldError{Field: flag.Name, Problem: "is given together with --graph", Remedy: "write it into the graph"}))
		}
	})
	if refused != nil {
		return refused
	}
	options, err := f.options(c)
	if err != nil {
		return err
	}
	text, err := p.loader().Text(f.graph)
	if err != nil {
		return err
	}
	graph, err := schedulefile.ReadGraph(f.graph, text)
	if err != nil {
		return files.MistakesError{Err: err}
	}
	if err := graph.Validate(); err != nil { // before the store is opened, because opening may create it
		return err
	}
	return p.withClient(c.Context(), f.store, func(client *hourbell.Client) error {
		enqueued, err := client.EnqueueGraph(c.Context(), graph, options...)
		if err != nil {
			return err
		}
		p.warnLateJobs(c.Context(), client, slices.Collect(maps.Values(enqueued.IDs))...)
		numbers := enqueued.IDs
		if enqueued.Finally != 0 {
			numbers[hourbell.FinallyName] = enqueued.Finally
		}
		return p.show(f.format, map[string]any{"batch": enqueued.Batch, "jobs": numbers}, func(out *bufio.Writer) {
			for _, name := range slices.SortedFunc(maps.Keys(numbers), func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) }) {
				fmt.Fprintf(out, "%s %d\n", plain.Clean(name), numbers[name])
			}
		})
	})
}
