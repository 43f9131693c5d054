package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
)

func (p *program) groupsCommand() *cobra.Command {
	f := &storeFlags{}
	groups := pausable{
		noun: "group", effect: "its slots are skipped, and its jobs wait", example: "reports",
		long: "slots of its schedules are recorded as skipped, and no node takes its jobs. Both also hold for\n" +
			"schedules and jobs that come later, so that the group need not exist yet.",
		service: func(client *hourbell.Client) pauser { return client.Groups },
		find: func(ctx context.Context, client *hourbell.Client, name string) error {
			return second(client.Groups.Get(ctx, name))
		},
	}
	c := p.group("groups", "Lists groups of schedules and jobs, and changes all of a group",
		p.groupsListCommand(f),
		p.pauseCommand(f, groups),
		p.resumeCommand(f, groups),
		p.groupsTriggerCommand(f),
	)
	for _, change := range jobChanges() {
		if change.verb == "cancel" || change.verb == "retry" {
			c.AddCommand(p.groupsChangeCommand(f, change))
		}
	}
	f.addTo(c)
	return c
}

func (p *program) groupsListCommand(f *storeFlags) *cobra.Command {
	var l listFlags
	c := &cobra.Command{
		Use: "list", Short: "Lists the groups that a schedule, or a job that has not finished, has", Args: takes(false),
		Example: "  hourbell groups list\n  hourbell groups list --output json",
		RunE: listsAll(p, f, &l, view.GroupListing, func(ctx context.Context, client *hourbell.Client) ([]hourbell.GroupInfo, error) {
			return client.Groups.List(ctx)
		}),
	}
	l.addTo(c)
	return c
}

func (p *program) groupsTriggerCommand(f *storeFlags) *cobra.Command {
	var o format
	c := &cobra.Command{
		Use: "trigger NAME", Short: "Makes a job for each schedule of a group, to run now", Args: takes(false, "NAME"),
		Long: "Makes a job for each schedule of a group, as the schedule's next slot would, to run now, and " +
			"prints the\nschedules and the numbers of the jobs. No slot is changed.",
		Example:               "  hourbell groups trigger reports",
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, names []string) error {
			if err := checkNames(names); err != nil {
				return err
			}
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
				jobs, err := client.Groups.Trigger(c.Context(), names[0])
				listing := view.Listing[hourbell.Triggered]{
					Columns: []string{"SCHEDULE", "JOB"},
					Row:     func(t hourbell.Triggered) []string { return []string{t.Schedule, fmt.Sprint(t.Job)} },
					Record:  func(t hourbell.Triggered) any { return view.TriggeredRecord{Schedule: t.Schedule, ID: t.Job} },
				}
				if len(jobs) > 0 {
					p.notePaused(c.Context(), client, jobs[0].Job)
					if printErr := printList(p, listing, o, all(jobs)); err == nil {
						err = printErr
					}
				}
				return err
			})
		},
	}
	o.addTo(c)
	return c
}

// groupsChangeCommand is a command that changes the jobs of a group.
func (p *program) groupsChangeCommand(f *storeFlags, change jobChange) *cobra.Command {
	var l jobsChangeFlags
	c := &cobra.Command{
		Use: change.verb + " NAME", Args: takes(false, "NAME"),
		Short:                 change.short + ": of a group",
		Long:                  change.long + "\n\nThe command is `jobs " + change.verb + " --group NAME`, which takes further conditions.",
		Example:               fmt.Sprintf("  hourbell groups %[1]s reports\n  hourbell groups %[1]s reports --dry-run", change.verb),
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, names []string) error {
			if err := checkNames(names); err != nil {
				return err
			}
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
				if _, err := client.Groups.Get(c.Context(), names[0]); err != nil {
					return err // a misspelt name is an error, a group without such jobs is not
				}
				return p.jobsChange(c, client, change, hourbell.JobFilter{Group: names[0]}, l)
			})
		},
	}
	c.Flags().BoolVar(&l.dryRun, "dry-run", false, "change nothing, and print what would be changed")
	l.format.addTo(c)
	return c
}

// scheduleTargets select the schedules that a command changes: the names that it is given, or
// all schedules of a group.
type scheduleTargets struct{ group string }

func (s *scheduleTargets) addTo(c *cobra.Command) {
	c.Flags().StringVar(&s.group, "group", "", "all schedules of this group, instead of names")
}

// args checks the arguments of a command: names, or none with --group.
func (s *scheduleTargets) args(c *cobra.Command, names []string) error {
	if !c.Flags().Changed("group") {
		return errors.Join(takes(true, "NAME")(c, names), checkNames(names))
	}
	if len(names) > 0 {
		return &check.FieldError{Field: "NAME", Value: check.Shorten(names[0]), Problem: "is given together with --group", Remedy: "use one of them"}
	}
	return nameFlags(c, "group")
}

// names returns the names of the schedules.
func (s *scheduleTargets) names(ctx context.Context, client *hourbell.Client, names []string) ([]string, error) {
	if s.group == "" {
		return names, nil
	}
	return client.Groups.Schedules(ctx, s.group)
}
