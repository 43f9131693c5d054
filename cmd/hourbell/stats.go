package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/view"
)

func (p *program) statsCommand() *cobra.Command {
	var (
		f         storeFlags
		l         listFlags
		filter    hourbell.StatsFilter
		by, since string
	)
	c := &cobra.Command{
		Use: "stats", Short: "Shows how many jobs ended how, how late they began and how long they took", Args: takes(false),
		Long: "Adds up what the nodes have counted: jobs by outcome, start delays, run times, slots, due jobs and nodes. Counts are\n" +
			"kept by the minute for 2 hours, by 15 minutes for 2 days and by 6 hours for 32 days; the present minute is missing.\n" +
			"Quantiles are right within a factor of two.",
		Example: "  hourbell stats --since 1d --by queue\n" +
			"  hourbell stats --since 30d --by outcome\n" +
			"  hourbell stats --since 2026-03-01T00:00:00Z --series --schedule nightly --output ndjson",
		RunE: func(c *cobra.Command, _ []string) error {
			filter.By = hourbell.StatsBy(by)
			err := errors.Join(notEmpty(c, "by"), notEmpty(c, "queue"), notEmpty(c, "kind"), notEmpty(c, "schedule"), checkSince(c, "since"), filter.Validate())
			if err != nil {
				return err
			}
			return p.list(c, f, l, func(p *program, client *hourbell.Client) (err error) {
				if filter.Since, err = view.Since(c.Context(), client, since); err != nil {
					return err
				}
				s, err := client.Stats.Read(c.Context(), filter)
				if err != nil {
					return err
				}
				return printList(p, view.StatsListing(s, filter.By), l.format, all(s.Rows))
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&since, "since", "1h", "counts from this long ago on, such as 2h or 30d, or from an instant on, such as 2027-03-01T00:00:00Z")
	flags.StringVar(&by, "by", "", "a row for each queue, kind, schedule or outcome")
	flags.BoolVar(&filter.Series, "series", false, "a row for each minute, 15 minutes or 6 hours, depending on --since")
	flags.StringVar(&filter.Queue, "queue", "", "only jobs of this queue and of its places")
	flags.StringVar(&filter.Kind, "kind", "", "only jobs of this kind")
	flags.StringVar(&filter.Schedule, "schedule", "", "only jobs and slots of this schedule")
	l.addTo(c)
	f.addTo(c)
	return c
}
