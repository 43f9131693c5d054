package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
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

// schedulesResetCommand resets named schedules, or all that are ahead of the store's clock.
func (p *program) schedulesResetCommand(f *storeFlags) *cobra.Command {
	var all, dryRun bool
	c, targets := p.scheduleTargetsCommand("reset", "Accounts for schedules up to now: the cure after the store's clock was wrong")
	c.Use = "reset NAME… | --group NAME | --all [--dry-run]"
	c.Long += "\nWith --all it resets all schedules that are ahead of the store's clock, and prints which and how many."
	c.Example += "\n  hourbell schedules reset --all --dry-run"
	c.Flags().BoolVar(&all, "all", false, "all schedules that are ahead of the store's clock, instead of names")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "with --all: print which schedules would be reset, and change nothing")
	c.Args = func(c *cobra.Command, names []string) error {
		switch {
		case all && (len(names) > 0 || targets.group != ""):
			return &check.FieldError{Field: "--all", Problem: "is given together with schedules", Remedy: "use one of them"}
		case dryRun && !all:
			return &check.FieldError{Field: "--dry-run", Problem: "is given without --all", Remedy: "add --all, or leave it out"}
		case all:
			return nil
		}
		return targets.args(c, names)
	}
	c.RunE = func(c *cobra.Command, names []string) error {
		return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
			if all {
				return p.resetAhead(c.Context(), client, dryRun)
			}
			return p.changeSchedules(c.Context(), client, targets, names, scheduleChange{do: (*hourbell.ScheduleService).Reset, done: "reset"})
		})
	}
	return c
}

// resetAhead resets all schedules that are ahead of the store's clock, and prints them and their number.
func (p *program) resetAhead(ctx context.Context, client *hourbell.Client, dryRun bool) error {
	done, options := "reset", []hourbell.Option(nil)
	if dryRun {
		done, options = "would be reset", []hourbell.Option{hourbell.DryRun()}
	}
	reset, err := client.Schedules.ResetAhead(ctx, options...)
	for _, s := range reset {
		fmt.Fprintf(p.stdout, "schedule %q: %s; it was accounted for up to %s\n", s.Name, done, plain.Stamp(s.Mark))
	}
	fmt.Fprintf(p.stdout, "%s: %s\n", plain.Plural(len(reset), "schedule"), done)
	return err
}

func (p *program) schedulesTriggerCommand(f *storeFlags) *cobra.Command {
	var o format
	var targets scheduleTargets
	c := &cobra.Command{
		Use: "trigger NAME… | --group NAME", Short: "Makes a job as the next slot would, to run now, and prints its number", Args: targets.args,
		Long: "Makes a job as the schedule's next slot would, to run now, and prints its number. No slot is " +
			"changed. A\npaused schedule can be triggered. For a schedule on every host it makes a job for each host.",
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
