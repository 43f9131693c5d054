package main

import (
	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/view"
)

func (p *program) queuesCommand() *cobra.Command {
	var (
		f storeFlags
		l listFlags
	)
	c := &cobra.Command{
		Use: "queues", Short: "Counts the jobs of each queue that have not finished", Args: takes(false),
		Example: "  hourbell queues\n  hourbell queues --output json",
		RunE: func(c *cobra.Command, _ []string) error {
			return p.list(c, f, l, func(p *program, client *hourbell.Client) error {
				queues, err := client.Queues.List(c.Context())
				if err != nil {
					return err
				}
				return printList(p, view.QueueListing(), l.format, all(queues))
			})
		},
	}
	l.addTo(c)
	f.addTo(c)
	return c
}
