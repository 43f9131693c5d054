package main

import (
	"context"
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
	c, targets := p.scheduleTargetsCommand(change.verb, change.short)
	c.RunE = func(c *cobra.Command, names []string) error {
		return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
			return p.changeSchedules(c.Context(), client, targets, names, change)
		})
	}
	return c
}

// scheduleTargetsCommand is a command that changes schedules, all or none. RunE is missing.
func (p *program) scheduleTargetsCommand(verb, short string) (*cobra.Command, *scheduleTargets) {
	targets := &scheduleTargets{}
	c := &cobra.Command{
		Use: verb + " NAME… | --group NAME", Short: short, Args: targets.args,
		Long:                  short + ": all of them, or none if one does not exist.",
		Example:               fmt.Sprintf("  hourbell schedules %[1]s nightly hourly\n  hourbell schedules %[1]s --group reports", verb),
		DisableFlagsInUseLine: true,
	}
	targets.addTo(c)
	return c, targets
}

// changeSchedules changes schedules and prints what became of them.
func (p *program) changeSchedules(ctx context.Context, client *hourbell.Client, targets *scheduleTargets, names []string, change scheduleChange) error {
	names, err := targets.names(ctx, client, names)
	if err != nil {
		return err
	}
	if err := change.do(client.Schedules, ctx, names); err != nil {
		return err
	}
	for _, name := range names {
		fmt.Fprintf(p.stdout, "schedule %q: %s\n", name, change.done)
	}
	return nil
}

func (p *program) schedulesPauseCommand(f *storeFlags) *cobra.Command {
	var until string
	c, targets := p.scheduleTargetsCommand("pause", "Pauses schedules: their slots are recorded as skipped")
	c.Flags().StringVar(&until, "until", "", "resume by itself at this instant of the store's clock, such as 2027-03-01T09:00:00Z")
	c.Long += " Without --until they\nare paused until they are resumed."
	c.Example += "\n  hourbell schedules pause nightly --until 2027-03-01T09:00:00Z"
	c.RunE = func(c *cobra.Command, names []string) error {
		end, err := instantFlag(c, "until", "")
		if err != nil {
			return err
		}
		change := scheduleChange{do: (*hourbell.ScheduleService).Pause, done: "paused"}
		if c.Flags().Changed("until") {
			change.do = func(s *hourbell.ScheduleService, ctx context.Context, names []string, options ...hourbell.Option) error {
				return s.PauseUntil(ctx, end, names, options...)
			}
			change.done = "paused until " + plain.Stamp(end)
		}
		return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
			return p.changeSchedules(c.Context(), client, targets, names, change)
		})
	}
	return c
}

func (p *program) schedulesTriggerCommand(f *storeFlags) *cobra.Command {
	var o format
	var targets scheduleTargets
	c := &cobra.Command{
		Use: "trigger NAME… | --group NAME", Short: "Makes a job as the next slot would, to run now, and prints its number", Args: targets.args,
		Long:                  "Makes a job as the schedule's next slot would, to run now, and prints its number. No slot is changed. A\npaused schedule can be triggered. For a schedule on every host it makes a job for each host.",
		Example:               "  hourbell schedules trigger nightly\n  hourbell schedules trigger --group reports",
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, names []string) error {
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
				names, err := targets.names(c.Context(), client, names)
				if err != nil {
					return err
				}
				return p.each(names, func(name string) error {
					ids, err := client.Schedules.TriggerAll(c.Context(), name)
					if err != nil {
						return p.suggest(c.Context(), client, err)
					}
					for _, id := range ids {
						p.notePaused(c.Context(), client, id)
						if err := p.printID(o, id); err != nil {
							return err
						}
					}
					return nil
				})
			})
		},
	}
	targets.addTo(c)
	o.addTo(c)
	return c
}
