package main

import (
	"bufio"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
)

const mostInstants = 100_000

func (p *program) nextCommand() *cobra.Command {
	var (
		rule  ruleFlags
		from  string
		count int
	)
	c := &cobra.Command{
		Use:   "next (--cron EXPR | --every D | --at T) [--tz ZONE] [--from T] [--count N]",
		Short: "Prints the next instants of a rule",
		Long: "Prints the first instants of a rule strictly after --from, one a line, in the zone of the rule, and fewer\n" +
			"than --count when the rule ends. An interval counts from --from. No store is opened.",
		Example: "  hourbell next --cron '0 9 * * 1-5' --tz Europe/Prague\n" +
			"  hourbell next --cron '30 2 * * *' --tz America/New_York --from 2027-03-13T00:00:00 --count 3\n" +
			"  hourbell next --every 90s --from 2027-01-01T00:00:00Z",
		Args:                  takes(false),
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.next(c, rule, count)
		},
	}
	rule.addTo(c)
	c.Flags().StringVar(&from, "from", "", "count from this instant, or this date and time on the clock of --tz (default now)")
	c.Flags().IntVar(&count, "count", 5, fmt.Sprintf("how many, 1 to %d", mostInstants))
	return c
}

func (p *program) next(c *cobra.Command, rule ruleFlags, count int) error {
	if err := rule.check(c); err != nil {
		return err
	}
	if count < 1 || count > mostInstants {
		return &hourbell.FieldError{Field: "count", Value: fmt.Sprint(count), Problem: "is out of range", Remedy: fmt.Sprintf("use 1 to %d", mostInstants)}
	}
	from, err := instantFlag(c, "from", rule.Zone)
	if err != nil {
		return err
	}
	if !c.Flags().Changed("from") {
		from = p.now()
	}
	r, err := rule.Rule(from)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(p.stdout)
	for t := r.Next(from); count > 0 && !t.IsZero(); t = r.Next(t) {
		fmt.Fprintln(out, inZone(t, rule.Zone))
		count--
	}
	return out.Flush()
}

// inZone writes an instant on the clock of a zone that is known to exist, or
// of the instant's own.
func inZone(t time.Time, zone string) string {
	if zone != "" {
		if loc, err := time.LoadLocation(zone); err == nil {
			t = t.In(loc)
		}
	}
	if _, offset := t.Zone(); offset%60 != 0 { // RFC 3339 has no seconds in offsets
		t = t.UTC()
	}
	return t.Format(time.RFC3339Nano)
}
