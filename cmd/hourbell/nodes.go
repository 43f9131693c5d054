package main

import (
	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/view"
)

func (p *program) nodesCommand() *cobra.Command {
	var (
		f storeFlags
		l listFlags
	)
	c := &cobra.Command{
		Use: "nodes", Short: "Lists living nodes, and nodes that ended recently", Args: takes(false),
		Example: "  hourbell nodes\n  hourbell nodes --output ndjson",
		RunE: func(c *cobra.Command, _ []string) error {
			return p.list(c, f, l, func(p *program, client *hourbell.Client) error {
				nodes, err := client.Nodes.List(c.Context())
				if err != nil {
					return err
				}
				now, err := client.Now(c.Context())
				if err != nil {
					return err
				}
				history, err := client.Nodes.Position(c.Context())
				if err != nil {
					return err
				}
				return printList(p, view.NodeListing(now, history.Suspended()), l.format, all(nodes))
			})
		},
	}
	l.addTo(c)
	f.addTo(c)
	c.AddCommand(p.acceptHistoryCommand(&f))
	return c
}
