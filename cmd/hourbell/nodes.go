package main

import (
	"bufio"

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
				owners, err := view.ReadOwners(c.Context(), client)
				if err != nil {
					return err
				}
				return printList(p, view.NodeListingWithCopies(now, history.Suspended(), owners), l.format, all(nodes))
			})
		},
	}
	l.addTo(c)
	f.addTo(c)
	c.AddCommand(p.acceptHistoryCommand(&f), p.forgetHostCommand(&f))
	return c
}

func (p *program) forgetHostCommand(f *storeFlags) *cobra.Command {
	var o format
	c := &cobra.Command{
		Use: "forget HOST", Short: "Ends what is expected of a host that is gone for good", Args: takes(false, "HOST"),
		Long: "Ends what the cluster expects of a host whose nodes have all ended, before the eight days after which it is\n" +
			"forgotten: the host has no slots any more, and schedules that only its own files declare end. A host with a living\n" +
			"node is refused. Jobs that wait for the host go on waiting; see `hourbell jobs list --queue default@HOST`.",
		Example: "  hourbell nodes forget web3",
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
				done, err := client.Nodes.Forget(c.Context(), args[0])
				if err != nil {
					return err
				}
				return p.show(o, view.NewForgottenRecord(args[0], done), func(out *bufio.Writer) { p.printFacts(out, view.ForgottenFacts(args[0], done)) })
			})
		},
	}
	o.addTo(c)
	return c
}
