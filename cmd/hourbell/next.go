package main

import (
	"bufio"
	"fmt"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/recur"
)

const mostInstants = 100_000

// nextFlags are the flags of next.
type nextFlags struct {
	rule    ruleFlags
	exclude excludeFlag
	count   int
	store   storeFlags
	format  format
}

func (p *program) nextCommand() *cobra.Command {
	var (
		n    nextFlags
		from string
	)
	c := &cobra.Command{
		Use:   "next (EXPR | --cron EXPR | --on-calendar EVENT | --every D | --at T) [--tz ZONE] [--exclude …] [--from T] [--count N] [--output FORMAT]",
		Short: "Prints the next instants of a rule",
		Long: "Prints the first instants of a rule strictly after --from that are not excluded, one a line, in the zone of\n" +
			"the rule, and fewer than --count when the rule ends. An interval counts from --from. A store is opened only\n" +
			"to read the calendars that --exclude names. With --output json or ndjson each instant is an object with the\n" +
			"field slot.",
		Example: "  hourbell next '0 9 * * 1-5' --tz Europe/Prague\n" +
			"  hourbell next --cron '30 2 * * *' --tz America/New_York --from 2027-03-13T00:00:00 --count 3\n" +
			"  hourbell next --cron '@daily' --exclude sat,sun --exclude 12-24..12-26\n" +
			"  hourbell next --every 90s --from 2027-01-01T00:00:00Z",
		Args:                  takesRule,
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				if err := c.Flags().Set("cron", args[0]); err != nil {
					return err
				}
			}
			return p.next(c, n)
		},
	}
	n.rule.addTo(c)
	n.exclude.addTo(c)
	c.Flags().StringVar(&from, "from", "", "count from this instant, or this date and time on the clock of --tz (default now)")
	c.Flags().IntVar(&n.count, "count", 5, fmt.Sprintf("how many, 1 to %d", mostInstants))
	n.store.addTo(c)
	n.format.addTo(c)
	return c
}

// takesRule takes a cron rule as an argument, which is short for --cron.
func takesRule(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	for _, name := range []string{"cron", "on-calendar", "every", "at"} {
		if c.Flags().Changed(name) {
			return &check.FieldError{
				Field: "argument", Value: check.Shorten(args[0]),
				Problem: "is a second rule besides --" + name, Remedy: "give one of them; quote a rule, so that the shell passes " +
					"it as one argument",
			}
		}
	}
	if len(args) > 1 {
		return &check.FieldError{
			Field: "argument", Value: check.Shorten(args[1]), Problem: "is one too many",
			Remedy: "quote the rule, so that the shell passes it as one argument",
		}
	}
	return nil
}

func (p *program) next(c *cobra.Command, n nextFlags) error {
	if err := n.rule.check(c); err != nil {
		return err
	}
	if n.count < 1 || n.count > mostInstants {
		return &check.FieldError{Field: "count", Value: fmt.Sprint(n.count), Problem: "is out of range", Remedy: fmt.Sprintf("use 1 to %d", mostInstants)}
	}
	from, err := instantFlag(c, "from", n.rule.Zone)
	if err != nil {
		return err
	}
	calendars, err := p.nextCalendars(c, n)
	if err != nil {
		return err
	}
	if !c.Flags().Changed("from") {
		from = p.now()
	}
	r, err := n.rule.Rule(from)
	if err != nil {
		return err
	}
	p.warnRule(n.rule.Spec)
	if r.Next(from).IsZero() {
		printError(p.stderr, fmt.Errorf("warning: no instant after %s matches the rule", plain.InZone(from, n.rule.Zone)))
	}
	return n.print(p, view.Slots(r, from, n.count, n.rule.Zone, calendars...))
}

// print writes the instants on the clock of the rule; a table has one instant
// per line and no heading.
func (n nextFlags) print(p *program, slots iter.Seq2[time.Time, error]) error {
	var err, ended error
	if n.format == asTable {
		out := bufio.NewWriter(p.stdout)
		for slot, problem := range slots {
			if ended = problem; problem != nil {
				break
			}
			fmt.Fprintln(out, plain.InZone(slot, n.rule.Zone))
		}
		err = out.Flush()
	} else {
		known := func(yield func(string, error) bool) {
			for slot, problem := range slots {
				if ended = problem; problem != nil || !yield(plain.InZone(slot, n.rule.Zone), nil) {
					return
				}
			}
		}
		err = printList(p, view.Listing[string]{Record: func(instant string) any { return view.NextRecord{Slot: instant} }}, n.format, known)
	}
	if err == nil && ended != nil {
		printError(p.stderr, ended)
	}
	return err
}

// nextCalendars returns the calendars that exclude instants.
func (p *program) nextCalendars(c *cobra.Command, n nextFlags) ([]*recur.Calendar, error) {
	var s hourbell.Schedule
	if err := n.exclude.apply(c, &s, false); err != nil {
		return nil, err
	}
	if namesStored(s.Exclude) {
		err := p.withReader(c.Context(), n.store, func(client *hourbell.Client) (err error) {
			s.Exclude, err = readStored(c.Context(), client, s.Exclude)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	calendars := make([]*recur.Calendar, len(s.Exclude))
	for i, one := range s.Exclude {
		calendar, err := one.Calendar()
		if err != nil {
			return nil, err
		}
		calendars[i] = calendar
	}
	return calendars, nil
}
