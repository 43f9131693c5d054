package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/view"
)

func (p *program) schedulesCommand() *cobra.Command {
	f := &storeFlags{}
	c := p.group("schedules", "Lists, shows, puts and changes schedules",
		p.schedulesListCommand(f),
		p.schedulesShowCommand(f),
		p.schedulesTreeCommand(f),
		p.schedulesPutCommand(f),
		p.schedulesEditCommand(f),
		p.schedulesPauseCommand(f),
		p.schedulesChangeCommand(f, scheduleChange{"resume", "Ends a pause", "resumed", (*hourbell.ScheduleService).Resume}),
		p.schedulesTriggerCommand(f),
		p.schedulesBackfillCommand(f),
		p.schedulesChangeCommand(f, scheduleChange{"delete", "Deletes schedules; jobs already made are left alone", "deleted", (*hourbell.ScheduleService).Delete}),
		p.schedulesResetCommand(f),
	)
	f.addTo(c)
	return c
}

// schedulesListFlags select schedules.
type schedulesListFlags struct {
	owner    string
	calendar string
	group    string
	after    string
	limit    int
	deleted  bool
	secrets  bool
	listFlags
}

func (p *program) schedulesListCommand(f *storeFlags) *cobra.Command {
	var l schedulesListFlags
	c := &cobra.Command{
		Use: "list", Short: "Lists schedules by name", Args: takes(false),
		Example: "  hourbell schedules list\n  hourbell schedules list --owner '' --output ndjson",
		RunE:    func(c *cobra.Command, _ []string) error { return p.schedulesList(c, *f, l) },
	}
	flags := c.Flags()
	flags.StringVar(&l.owner, "owner", "", "only schedules of this owner; '' for schedules put by hand")
	flags.StringVar(&l.calendar, "calendar", "", "only schedules that exclude this stored calendar")
	flags.StringVar(&l.group, "group", "", "only schedules of this group")
	flags.StringVar(&l.after, "after", "", "only names after this one, in byte order")
	addLimit(c, &l.limit)
	flags.BoolVar(&l.deleted, "deleted", false, "deleted schedules too")
	addSecrets(c, &l.secrets)
	l.listFlags.addTo(c)
	return c
}

func (p *program) schedulesList(c *cobra.Command, f storeFlags, l schedulesListFlags) error {
	filter := hourbell.ScheduleFilter{Calendar: l.calendar, Group: l.group, After: l.after, Deleted: l.deleted}
	err := errors.Join(checkLimit(l.limit), nameFlags(c, "after", "calendar", "group"))
	if c.Flags().Changed("owner") {
		filter.Owner = &l.owner
		if l.owner != "" {
			err = errors.Join(err, nameFlags(c, "owner"))
		}
	}
	if err != nil {
		return err
	}
	return p.list(c, f, l.listFlags, func(p *program, client *hourbell.Client) error {
		return printList(p, view.ScheduleListing(), l.format, paged(p, c, l.format, l.limit, func(size int, last *view.Schedule) ([]view.Schedule, error) {
			page := filter
			page.Limit = size
			if last != nil {
				page.After = last.Name
			}
			found, err := client.Schedules.List(c.Context(), page)
			views := make([]view.Schedule, len(found))
			for i, one := range found {
				views[i] = view.NewSchedule(one, l.secrets)
			}
			if err == nil {
				err = view.ReadHealth(c.Context(), client, views)
			}
			return views, err
		}))
	})
}
