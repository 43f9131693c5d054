package main

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
)

// editFlags change a schedule.
type editFlags struct {
	rule       ruleFlags
	after      afterFlag
	exclude    excludeFlag
	ifRevision int64
	format     format
}

func (p *program) schedulesEditCommand(f *storeFlags) *cobra.Command {
	var e editFlags
	c := &cobra.Command{
		Use:   "edit NAME [--cron EXPR | --every D | --at T | --after NAME[:OUTCOME[:DELAY]]] [flags]",
		Short: "Changes only the given parts of a schedule",
		Long: "Changes when a schedule rings and its policies, and leaves everything else as it is. A policy or option\n" +
			"with an empty value, as in --window '', has its default again. No slot fires twice, and slots that are due\n" +
			"already are accounted for as before the change. If the schedule was changed by another client in between,\n" +
			"nothing is changed.",
		Example: "  hourbell schedules edit nightly --tz America/New_York --gap skip\n  hourbell schedules " +
			"edit report --misfire once --window 24h --if-revision 7",
		Args:                  takes(false, "NAME"),
		DisableFlagsInUseLine: true,
		RunE:                  func(c *cobra.Command, args []string) error { return p.schedulesEdit(c, *f, e, args[0]) },
	}
	e.rule.addTo(c)
	e.after.addTo(c)
	e.exclude.addTo(c)
	allPolicies.addTo(c)
	c.Flags().Int64Var(&e.ifRevision, "if-revision", 0, "only if it still has this revision, which schedules show prints")
	e.format.addTo(c)
	return c
}

func (p *program) schedulesEdit(c *cobra.Command, f storeFlags, e editFlags, name string) error {
	if err := errors.Join(check.Name("NAME", name), allPolicies.apply(c, &hourbell.Schedule{}, true), e.exclude.apply(c, &hourbell.Schedule{}, true)); err != nil {
		return err
	}
	return p.withClient(c.Context(), f, func(client *hourbell.Client) error {
		info, err := client.Schedules.Get(c.Context(), name)
		if err != nil {
			return err
		}
		switch {
		case info.Problem != "":
			return fmt.Errorf("edit schedule %q: %s", name, info.Problem)
		case info.Owner != "":
			return fmt.Errorf("edit schedule %q: it belongs to %q, which would undo the change; change it there", name, info.Owner)
		}
		edited := info.Schedule
		if c.Flags().Changed("if-revision") {
			edited.Revision = e.ifRevision
		}
		if err := errors.Join(e.after.edit(c, &edited), allPolicies.apply(c, &edited, true), e.exclude.apply(c, &edited, true)); err != nil {
			return err
		}
		e.rule.edit(c, &edited.Rule)
		put, err := client.Schedules.Put(c.Context(), edited)
		if err != nil {
			return err
		}
		if info, err = client.Schedules.Get(c.Context(), name); err != nil {
			return err
		}
		p.warnRule(info.Rule)
		p.warnEnded(info)
		p.warnWaits(info)
		p.warnLateFailures(c.Context(), client, info)
		p.warnLeft(c.Context(), client, info)
		return p.show(e.format, view.NewScheduleRecord(view.NewSchedule(info, false)), func(out *bufio.Writer) {
			fmt.Fprintf(out, "schedule %q: revision %d, %s\n", name, put.Revision, view.NextOfSchedule(info))
		})
	})
}
