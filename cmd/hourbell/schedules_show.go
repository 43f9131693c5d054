package main

import (
	"bufio"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

func (p *program) schedulesShowCommand(f *storeFlags) *cobra.Command {
	var o format
	var secrets bool
	c := &cobra.Command{
		Use: "show NAME", Short: "Shows a schedule and where it stands", Args: takes(false, "NAME"),
		Example: "  hourbell schedules show nightly\n  hourbell schedules show nightly --output json",
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkNames(args); err != nil {
				return err
			}
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
				s, err := client.Schedules.Get(c.Context(), args[0])
				if err != nil {
					return err
				}
				var owner store.Owner
				if s.Owner != "" {
					owners, err := ownersOf(c.Context(), client, s.Owner)
					if err != nil {
						return err
					}
					if len(owners) > 0 {
						owner = owners[0]
					}
				}
				shown := view.NewSchedule(s, secrets)
				return p.show(o, view.NewScheduleWithCopiesRecord(shown, owner), func(out *bufio.Writer) {
					p.printFacts(out, append(view.ScheduleFacts(shown), view.CopyFacts(owner)...))
				})
			})
		},
	}
	addSecrets(c, &secrets)
	o.addTo(c)
	return c
}
