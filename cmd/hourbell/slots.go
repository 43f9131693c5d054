package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

func (p *program) slotsCommand() *cobra.Command {
	var (
		f        storeFlags
		l        listFlags
		schedule string
		group    string
		from, to string
		limit    int
	)
	c := &cobra.Command{
		Use: "slots", Short: "Shows the outcome of every slot, newest first", Args: takes(false),
		Long: "Lists the slots that are accounted for: fired, with the job; missed or skipped, with the reason. Slots in\n" +
			"succession with the same outcome are one record with a count.",
		Example: "  hourbell slots --schedule nightly --from 2027-03-01T00:00:00Z --to 2027-04-01T00:00:00Z\n" +
			"  hourbell slots --schedule hourly --output ndjson",
		RunE: func(c *cobra.Command, _ []string) error {
			filter := hourbell.SlotFilter{Schedule: schedule, Group: group}
			var fromErr, toErr error
			filter.From, fromErr = instantFlag(c, "from", "")
			filter.To, toErr = instantFlag(c, "to", "")
			if err := errors.Join(nameFlags(c, "schedule", "group"), fromErr, toErr, checkLimit(limit), checkRange(filter)); err != nil {
				return err
			}
			return p.list(c, f, l, func(p *program, client *hourbell.Client) error {
				p.noteLeft(c.Context(), client, schedule)
				return printList(p, view.SlotListing(), l.format, paged(p, c, l.format, limit, func(size int, last *store.SlotInfo) ([]store.SlotInfo, error) {
					page := filter
					page.Limit = size
					if last != nil {
						page.Before = last.Cursor()
					}
					return client.Slots.List(c.Context(), page)
				}))
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&schedule, "schedule", "", "only of this schedule")
	flags.StringVar(&group, "group", "", "only of schedules that are in this group now")
	flags.StringVar(&from, "from", "", "only slots at or after this instant, such as 2027-03-01T00:00:00Z")
	flags.StringVar(&to, "to", "", "only slots before this instant")
	addLimit(c, &limit)
	l.addTo(c)
	f.addTo(c)
	return c
}

// noteLeft prints why no living node fires the slots of the schedule that is listed, if that is so:
// such slots are recorded as missed when their grace is over. A failure to find the reason is
// ignored, because the slots are listed nevertheless.
func (p *program) noteLeft(ctx context.Context, client *hourbell.Client, name string) {
	if name == "" {
		return
	}
	if s, err := client.Schedules.Get(ctx, name); err == nil && s.Waits != "" {
		fmt.Fprintf(p.stderr, "hourbell: schedule %q: %s\n", s.Name, s.Waits)
	}
}

func checkRange(f hourbell.SlotFilter) error {
	if !f.To.IsZero() && f.To.Before(f.From) {
		return &check.FieldError{Field: "to", Value: plain.Stamp(f.To), Problem: "is before from", Remedy: "give the earlier instant as --from"}
	}
	return nil
}
