package main

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/schedulefile"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/recur"
)

func (p *program) calendarsCommand() *cobra.Command {
	f := &storeFlags{}
	c := p.group("calendars", "Lists, shows, puts and deletes calendars of exclusions that schedules share",
		p.calendarsListCommand(f),
		p.calendarsShowCommand(f),
		p.calendarsPutCommand(f),
		p.calendarsDeleteCommand(f),
	)
	f.addTo(c)
	return c
}

func (p *program) calendarsListCommand(f *storeFlags) *cobra.Command {
	var (
		after string
		limit int
		l     listFlags
	)
	c := &cobra.Command{
		Use: "list", Short: "Lists calendars by name", Args: takes(false),
		Example: "  hourbell calendars list\n  hourbell calendars list --output ndjson",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := errors.Join(checkLimit(limit), nameFlags(c, "after")); err != nil {
				return err
			}
			return p.list(c, *f, l, func(p *program, client *hourbell.Client) error {
				return printList(p, view.CalendarListing(), l.format,
					paged(p, c, l.format, limit, func(size int, last *hourbell.CalendarInfo) ([]hourbell.CalendarInfo, error) {
						page := hourbell.CalendarFilter{After: after, Limit: size}
						if last != nil {
							page.After = last.Name
						}
						return client.Calendars.List(c.Context(), page)
					}))
			})
		},
	}
	c.Flags().StringVar(&after, "after", "", "only names after this one, in byte order")
	addLimit(c, &limit)
	l.addTo(c)
	return c
}

func (p *program) calendarsShowCommand(f *storeFlags) *cobra.Command {
	var o format
	c := &cobra.Command{
		Use: "show NAME", Short: "Shows a calendar and the schedules that exclude it", Args: takes(false, "NAME"),
		Long: fmt.Sprintf("Shows what a calendar excludes, and the first %d schedules that exclude it; `hourbell "+
			"schedules list\n--calendar NAME` lists all.", view.MostCalendarUsers),
		Example: "  hourbell calendars show holidays\n  hourbell calendars show holidays --output json",
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkNames(args); err != nil {
				return err
			}
			return p.withReader(c.Context(), *f, func(client *hourbell.Client) error {
				info, err := client.Calendars.Get(c.Context(), args[0])
				if err != nil {
					return err
				}
				users, err := client.Schedules.List(c.Context(), hourbell.ScheduleFilter{Calendar: info.Name, Limit: view.MostCalendarUsers})
				if err != nil {
					return err
				}
				record := view.CalendarUsersRecord{CalendarRecord: view.NewCalendarRecord(info), Schedules: []string{}}
				for _, s := range users {
					record.Schedules = append(record.Schedules, s.Name)
				}
				return p.show(o, record, func(out *bufio.Writer) { p.printFacts(out, view.CalendarFacts(info, record.Schedules)) })
			})
		},
	}
	o.addTo(c)
	return c
}

// calendarPutFlags are the flags that define a calendar.
type calendarPutFlags struct {
	spec       recur.CalendarSpec
	ranges     []string
	rules      []string
	file       string
	ifRevision int64
	format     format
}

func (p *program) calendarsPutCommand(f *storeFlags) *cobra.Command {
	var l calendarPutFlags
	c := &cobra.Command{
		Use:   "put (NAME [--dates D,…] [--ranges A..B,…] [--weekdays D,…] [--rule RULE] [--tz ZONE] | [NAME] --file FILE)",
		Short: "Creates or replaces a calendar",
		Long: "Creates or replaces a calendar of the store. A change is in effect at once for all schedules that exclude it,\n" +
			"on every node: slots that are due already are accounted for under the old calendar. With --file the\n" +
			"calendars of a schedule file (YAML; - for standard input) are put, all or none, or only NAME.",
		Example: "  hourbell calendars put holidays --dates 12-25,2027-04-05 --ranges 12-31..01-01\n" +
			"  hourbell calendars put weekends --weekdays sat,sun --tz Europe/Prague\n" +
			"  hourbell calendars put nights --rule '* 0-6 * * *'\n" +
			"  hourbell calendars put --file holidays.yaml",
		DisableFlagsInUseLine: true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && c.Flags().Changed("file") {
				return nil
			}
			return takes(false, "NAME")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error { return p.calendarsPut(c, *f, l, args) },
	}
	flags := c.Flags()
	flags.StringSliceVar(&l.spec.Dates, "dates", nil, "dates such as 2026-12-25, or 12-25 for every year")
	flags.StringSliceVar(&l.ranges, "ranges", nil, "spans of dates such as 2026-12-24..2027-01-01, both ends included")
	flags.StringSliceVar(&l.spec.Weekdays, "weekdays", nil, "days of the week such as sat,sun")
	flags.StringArrayVar(&l.rules, "rule", nil, `a rule at whose instants nothing runs, such as "* 0-6 * * *"; may be repeated`)
	flags.StringVar(&l.spec.Zone, "tz", "", "the zone of these times (default: the zone of each schedule's rule)")
	flags.StringVar(&l.file, "file", "", "read calendars from this file")
	flags.Int64Var(&l.ifRevision, "if-revision", 0, "only if it still has this revision, which calendars show prints")
	l.format.addTo(c)
	return c
}

// calendarFlagNames are the flags that define a calendar if no file is given.
var calendarFlagNames = []string{"dates", "ranges", "weekdays", "rule", "tz"}

func (p *program) calendarsPut(c *cobra.Command, f storeFlags, l calendarPutFlags, args []string) error {
	calendars, err := p.calendarsToPut(c, l, args)
	if err != nil {
		return err
	}
	return p.withClient(c.Context(), f, func(client *hourbell.Client) error {
		if len(calendars) == 1 {
			_, err = client.Calendars.Put(c.Context(), calendars[0], l.ifRevision)
		} else {
			_, err = client.Calendars.PutAll(c.Context(), calendars)
		}
		if err != nil {
			return err
		}
		infos := make([]hourbell.CalendarInfo, len(calendars))
		for i, calendar := range calendars {
			if infos[i], err = client.Calendars.Get(c.Context(), calendar.Name); err != nil {
				return err
			}
		}
		if l.format != asTable {
			return printList(p, view.CalendarListing(), l.format, all(infos))
		}
		for _, info := range infos {
			fmt.Fprintf(p.stdout, "calendar %q: revision %d\n", info.Name, info.Revision)
		}
		return nil
	})
}

// calendarsToPut reads the flags, or the file, and reports all mistakes.
func (p *program) calendarsToPut(c *cobra.Command, l calendarPutFlags, args []string) ([]hourbell.Calendar, error) {
	errs := []error{checkNames(args)}
	given := slices.DeleteFunc(slices.Clone(calendarFlagNames), func(name string) bool { return !c.Flags().Changed(name) })
	errs = append(errs, notEmpty(c, "tz"), notEmpty(c, "file"))
	errs = append(errs, checkRevision(c, l.ifRevision, "calendars"))
	switch {
	case l.file != "" && len(given) > 0:
		errs = append(errs, &check.FieldError{Field: given[0], Problem: "is given together with --file", Remedy: "write it into the file, or leave --file out"})
	case l.file == "" && len(l.spec.Dates)+len(l.ranges)+len(l.spec.Weekdays)+len(l.rules) == 0:
		errs = append(errs, &check.FieldError{
			Field: "calendar", Problem: "excludes nothing",
			Remedy: "give one of --" + strings.Join(calendarFlagNames[:4], ", --") + " or --file",
		})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if l.file != "" {
		return p.calendarsOfFile(l, args)
	}
	l.spec.Dates = append(l.spec.Dates, l.ranges...)
	for _, text := range l.rules {
		rule, err := recur.ParseSpec(text)
		if err != nil {
			return nil, err
		}
		l.spec.Rules = append(l.spec.Rules, rule)
	}
	calendar := hourbell.Calendar{Name: args[0], CalendarSpec: l.spec}
	return []hourbell.Calendar{calendar}, calendar.Validate()
}

// calendarsOfFile returns the calendars of a file, or only the calendar that
// the command names.
func (p *program) calendarsOfFile(l calendarPutFlags, args []string) ([]hourbell.Calendar, error) {
	text, err := p.loader().Text(l.file)
	if err != nil {
		return nil, err
	}
	calendars, err := schedulefile.ReadCalendars(l.file, text)
	if err != nil {
		return nil, files.MistakesError{Err: err}
	}
	if len(args) > 0 {
		calendars = slices.DeleteFunc(calendars, func(c hourbell.Calendar) bool { return c.Name != args[0] })
		if len(calendars) == 0 {
			return nil, &check.FieldError{
				Field: "NAME", Value: check.Shorten(args[0]), Problem: "is not a calendar of the file",
				Remedy: "name a calendar of the file, or none to put all",
			}
		}
	}
	if l.ifRevision != 0 && len(calendars) != 1 {
		return nil, &check.FieldError{Field: "if-revision", Value: fmt.Sprint(l.ifRevision), Problem: "is given for several calendars", Remedy: "name one calendar"}
	}
	return calendars, nil
}

func (p *program) calendarsDeleteCommand(f *storeFlags) *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME…", Short: "Deletes calendars that no schedule excludes", Args: takes(true, "NAME"),
		Long:                  "Deletes calendars: all of them, or none if one does not exist or a schedule excludes it.",
		Example:               "  hourbell calendars delete holidays",
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, names []string) error {
			if err := checkNames(names); err != nil {
				return err
			}
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
				if err := client.Calendars.Delete(c.Context(), names...); err != nil {
					return err
				}
				for _, name := range names {
					fmt.Fprintf(p.stdout, "calendar %q: deleted\n", name)
				}
				return nil
			})
		},
	}
}
