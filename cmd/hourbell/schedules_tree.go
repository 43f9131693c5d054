package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
)

func (p *program) schedulesTreeCommand(f *storeFlags) *cobra.Command {
	var o treeFormat
	var limit int
	c := &cobra.Command{
		Use: "tree NAME", Short: "Draws the graph of a schedule: what it follows, and what follows it", Args: takes(false, "NAME"),
		Long: "Draws the schedules that a schedule is connected with by `after`, each under a schedule that it follows. A\n" +
			"schedule that follows several is drawn under the first, and only named under the others. Edges without a\n" +
			"label wait for success.",
		Example: "  hourbell schedules tree export\n  hourbell schedules tree export --output mermaid",
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkTreeLimit(limit); err != nil {
				return err
			}
			return p.withReader(c.Context(), *f, func(client *hourbell.Client) error {
				graph, err := client.Schedules.Graph(c.Context(), args[0], limit)
				if err != nil {
					return err
				}
				return p.draw(o, view.ScheduleTree(graph, args[0]), view.NewScheduleTreeRecord(graph, args[0]))
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 200, "how many schedules are drawn at most, the nearest first")
	o.addTo(c)
	return c
}

// checkTreeLimit checks how many nodes are drawn at most.
func checkTreeLimit(limit int) error {
	if limit < 1 || limit > 10_000 {
		return &check.FieldError{Field: "limit", Value: fmt.Sprint(limit), Problem: "is out of range", Remedy: "use 1 to 10000"}
	}
	return nil
}
