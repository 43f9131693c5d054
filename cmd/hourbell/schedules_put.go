package main

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/kinds"
)

// putFlags define a schedule.
type putFlags struct {
	rule       ruleFlags
	after      afterFlag
	exclude    excludeFlag
	work       workFlags
	kind       string
	group      string
	key        string
	paused     bool
	ifRevision int64
	format     format
}

func (p *program) schedulesPutCommand(f *storeFlags) *cobra.Command {
	var s putFlags
	c := &cobra.Command{
		Use:   "put NAME (--cron EXPR | --every D | --at T | --after NAME[:OUTCOME[:DELAY]]) [flags] (--kind K [--args JSON] | --shell LINE | -- PROGRAM [ARG…])",
		Short: "Creates or replaces a schedule",
		Long: "Creates or replaces a schedule. It is in effect on every node within a second. A schedule that is\n" +
			"replaced keeps its mark: no slot fires twice.",
		Example: "  hourbell schedules put nightly --cron '30 2 * * *' --tz Europe/Prague -- pg_dump --file app.sql app\n" +
			"  hourbell schedules put billing --cron '0 8 * * *' --exclude holidays --exclude sat,sun -- bill\n" +
			"  hourbell schedules put pulse --every 90s --shell 'curl -fsS https://example.org/pulse'\n" +
			"  hourbell schedules put publish --after nightly:success:5m -- publish app.sql\n" +
			"  hourbell schedules put report --cron '@monthly' --kind report --args @report.json --if-revision 7",
		DisableFlagsInUseLine: true,
		Args:                  takesBeforeArgv("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			words, argv := splitArgv(c, args)
			return p.schedulesPut(c, *f, s, words[0], argv)
		},
	}
	s.rule.addTo(c)
	s.after.addTo(c)
	s.exclude.addTo(c)
	s.work.addTo(c)
	flags := c.Flags()
	flags.StringVar(&s.kind, "kind", kinds.CommandKind, "the kind of the jobs")
	allPolicies.addTo(c)
	flags.StringVar(&s.group, "group", "", "its group, and the group of its jobs: a label by which they are selected")
	flags.StringVar(&s.key, "key", "", "the key of its jobs: what they are for, such as a customer")
	flags.BoolVar(&s.paused, "paused", false, "start paused")
	flags.Int64Var(&s.ifRevision, "if-revision", 0, "only if it still has this revision, which schedules show prints")
	s.format.addTo(c)
	return c
}

func (p *program) schedulesPut(c *cobra.Command, f storeFlags, s putFlags, name string, argv []string) error {
	schedule, err := p.newSchedule(c, s, name, argv)
	if err != nil {
		return err
	}
	return p.withClient(c.Context(), f, func(client *hourbell.Client) error {
		put, err := client.Schedules.Put(c.Context(), schedule)
		if err != nil {
			return err
		}
		info, err := client.Schedules.Get(c.Context(), name)
		if err != nil {
			return err
		}
		p.warnRule(info.Rule)
		p.warnEnded(info)
		p.warnWaits(info)
		p.warnLateFailures(c.Context(), client, info)
		p.warnLeft(c.Context(), client, info)
		p.noteRefused(c.Context(), client, f, info.Job.Kind())
		return p.show(s.format, view.NewScheduleRecord(view.NewSchedule(info, false)), func(out *bufio.Writer) {
			fmt.Fprintf(out, "schedule %q: revision %d, %s\n", name, put.Revision, view.NextOfSchedule(info))
		})
	})
}

// newSchedule reads the flags and reports all mistakes.
func (p *program) newSchedule(c *cobra.Command, s putFlags, name string, argv []string) (hourbell.Schedule, error) {
	after, afterErr := s.after.read()
	schedule := hourbell.Schedule{
		Name: name, Rule: s.rule.Spec, After: after,
		Group: s.group, Key: s.key, Paused: s.paused, Revision: s.ifRevision,
	}
	workErr := s.work.setSchedule(&schedule, p, c, s.kind, argv)
	errs := []error{check.Name("NAME", name), afterErr, workErr, allPolicies.apply(c, &schedule, false), s.exclude.apply(c, &schedule, false)}
	if len(after) == 0 {
		errs = append(errs, s.rule.check(c))
	}
	errs = append(errs, checkRevision(c, s.ifRevision, "schedules"), notEmpty(c, "group"), notEmpty(c, "key"))
	if err := errors.Join(errs...); err != nil {
		return hourbell.Schedule{}, err
	}
	return schedule, schedule.Validate()
}
