package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
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
				owners, err := ownersOf(c.Context(), client)
				if err != nil {
					return err
				}
				return printList(p, view.NodeListingWithCopies(now, history.Suspended(), owners), l.format, all(nodes))
			})
		},
	}
	l.addTo(c)
	f.addTo(c)
	c.AddCommand(p.acceptHistoryCommand(&f))
	return c
}

// ownersOf returns the owners with copies on hosts: all, or those with the given names.
func ownersOf(ctx context.Context, client *hourbell.Client, names ...string) (owners []store.Owner, err error) {
	filter := hourbell.OwnerFilter{Names: names, Limit: 1000}
	for {
		page, err := client.Schedules.Owners(ctx, filter)
		if err != nil {
			return nil, err
		}
		if owners = append(owners, page...); len(page) < filter.Limit {
			return owners, nil
		}
		filter.After = page[len(page)-1].Name
	}
}
