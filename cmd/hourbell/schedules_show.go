package main

import (
	"bufio"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/view"
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
			return p.withReader(c.Context(), *f, func(client *hourbell.Client) error {
				s, err := client.Schedules.Get(c.Context(), args[0])
				if err != nil {
					return err
				}
				around, err := view.ReadAround(c.Context(), client, s)
				if err != nil {
					return err
				}
				shown := []view.Schedule{view.NewSchedule(s, secrets)}
				if err := view.ReadHealth(c.Context(), client, shown); err != nil {
					return err
				}
				return p.show(o, view.NewOneScheduleRecord(shown[0], around), func(out *bufio.Writer) {
					p.printFacts(out, append(view.ScheduleFacts(shown[0]), around.Facts()...))
				})
			})
		},
	}
	addSecrets(c, &secrets)
	o.addTo(c)
	return c
}
