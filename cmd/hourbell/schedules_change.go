package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
)

// scheduleChange is a command that changes schedules, all or none.
type scheduleChange struct {
	verb, short, done string
	do                func(*hourbell.ScheduleService, context.Context, []string, ...hourbell.Option) error
}

func (p *program) schedulesChangeCommand(f *storeFlags, change scheduleChange) *cobra.Command {
	return &cobra.Command{
		Use: change.verb + " NAME…", Short: change.short, Args: takes(true, "NAME"),
		Long:                  change.short + ": all of them, or none if one does not exist.",
		Example:               fmt.Sprintf("  hourbell schedules %s nightly hourly", change.verb),
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, names []string) error {
			if err := checkNames(names); err != nil {
				return err
			}
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
				if err := change.do(client.Schedules, c.Context(), names); err != nil {
					return err
				}
				for _, name := range names {
					fmt.Fprintf(p.stdout, "schedule %q: %s\n", name, change.done)
				}
				return nil
			})
		},
	}
}

func (p *program) schedulesPauseCommand(f *storeFlags) *cobra.Command {
	var until string
	c := p.schedulesChangeCommand(f, scheduleChange{verb: "pause", short: "Pauses schedules: their slots are recorded as skipped", done: "paused"})
	c.Flags().StringVar(&until, "until", "", "resume by itself at this instant of the store's clock, such as 2027-03-01T09:00:00Z")
	c.Long += " Without --until they\nare paused until they are resumed."
	c.Example += "\n  hourbell schedules pause nightly --until 2027-03-01T09:00:00Z"
	c.RunE = func(c *cobra.Command, names []string) error {
		end, err := instantFlag(c, "until", "")
		if err := errors.Join(checkNames(names), err); err != nil {
			return err
		}
		return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
			change, done := client.Schedules.Pause, "paused"
			if c.Flags().Changed("until") {
				change = func(ctx context.Context, names []string, _ ...hourbell.Option) error {
					return client.Schedules.PauseUntil(ctx, end, names)
				}
				done = "paused until " + plain.Stamp(end)
			}
			if err := change(c.Context(), names); err != nil {
				return err
			}
			for _, name := range names {
				fmt.Fprintf(p.stdout, "schedule %q: %s\n", name, done)
			}
			return nil
		})
	}
	return c
}

func (p *program) schedulesTriggerCommand(f *storeFlags) *cobra.Command {
	var o format
	c := &cobra.Command{
		Use: "trigger NAME…", Short: "Makes a job as the next slot would, to run now, and prints its number", Args: takes(true, "NAME"),
		Long:                  "Makes a job as the schedule's next slot would, to run now, and prints its number. No slot is changed. A\npaused schedule can be triggered.",
		Example:               "  hourbell schedules trigger nightly",
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, names []string) error {
			if err := checkNames(names); err != nil {
				return err
			}
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
				return p.each(names, func(name string) error {
					id, err := client.Schedules.Trigger(c.Context(), name)
					if err != nil {
						return err
					}
					return p.printID(o, id)
				})
			})
		},
	}
	o.addTo(c)
	return c
}
