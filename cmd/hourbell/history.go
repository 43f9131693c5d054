package main

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/view"
)

func (p *program) acceptHistoryCommand(f *storeFlags) *cobra.Command {
	var (
		req hourbell.AcceptHistoryRequest
		o   format
	)
	c := &cobra.Command{
		Use: "accept-history [--refire]", Short: "Confirms that the store went back in time, and lets the nodes continue", Args: takes(false),
		Long: "Nodes that find the store behind the state they have seen (a backup was restored, or a failover lost committed\n" +
			"changes) log an error, and claim and fire nothing. This command lets them continue, within a heartbeat.\n\n" +
			"It raises the store's token above every token that any node has seen. Slots that were due since the point to\n" +
			"which the store went back are recorded as missed, because they may have fired; --refire lets them fire again, as\n" +
			"with the policy misfire all. Jobs are in the state of the store: jobs that had ended since then run again.",
		Example:               "  hourbell nodes accept-history\n  hourbell nodes accept-history --refire",
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
				done, err := client.Nodes.AcceptHistory(c.Context(), req)
				if errors.Is(err, hourbell.ErrNothingLost) {
					return fmt.Errorf("%w; nothing was changed (start a node that has seen the later state, or give --force)", err)
				}
				if err != nil {
					return err
				}
				return p.show(o, view.NewAcceptedRecord(done), func(out *bufio.Writer) { p.printFacts(out, view.AcceptedFacts(done)) })
			})
		},
	}
	flags := c.Flags()
	flags.BoolVar(&req.Refire, "refire", false, "let slots that were due since then fire again, instead of recording them as missed")
	flags.BoolVar(&req.Force, "force", false, "continue even if no node has reported that the store went back in time")
	o.addTo(c)
	return c
}
