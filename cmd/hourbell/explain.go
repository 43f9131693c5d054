package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/view"
)

// explainFlags are the flags of explain.
type explainFlags struct {
	store   storeFlags
	rule    ruleFlags
	exclude excludeFlag
	down    []string
	request hourbell.ExplainRequest
	format  format
}

func (p *program) explainCommand() *cobra.Command {
	var e explainFlags
	var from, to string
	c := &cobra.Command{
		Use:   "explain (NAME | --cron EXPR | --every D | --at T) [--from T] [--to T] [--down FROM..TO] [--run-time D] [flags]",
		Short: "Shows the outcome that every slot would have, and why",
		Long: "Simulates the time from --from up to, but not including, --to with the rules by which nodes decide, and\n" +
			"shows the outcome that every slot would have: when the clock changes, when no node lives for some time\n" +
			"(--down), and when jobs take long (--run-time). Each slot is found at the instant it is due, unless no node\n" +
			"lives; no job fails. With NAME a schedule of the store is explained, with the changes that the flags make; with a\n" +
			"rule a store is opened only to read the calendars that --exclude names. Without --from the time begins now, and\n" +
			"without --to the first 20 slots of a year are shown. Instants are on the clock of the rule.",
		Example: "  hourbell explain --cron '30 2 * * *' --tz America/New_York --from 2027-03-13T00:00:00 --to 2027-03-16T00:00:00\n" +
			"  hourbell explain --every 1h --from 2027-03-01T00:00:00Z --to 2027-03-01T12:00:00Z --down 2027-03-01T02:30:00Z..2027-03-01T06:30:00Z --misfire once\n" +
			"  hourbell explain nightly\n" +
			"  hourbell explain nightly --from 2027-03-01T00:00:00Z --to 2027-04-01T00:00:00Z --run-time 30h --overlap queue",
		DisableFlagsInUseLine: true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && e.rule.given(c) {
				return nil
			}
			return takes(false, "NAME")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error { return p.explain(c, e, args) },
	}
	e.rule.addTo(c)
	e.exclude.addTo(c)
	allPolicies.addTo(c)
	flags := c.Flags()
	flags.StringVar(&from, "from", "", "the first instant, or a date and time on the clock of --tz (default now)")
	flags.StringVar(&to, "to", "", "the instant after the last (default a year after --from)")
	flags.StringArrayVar(&e.down, "down", nil, "FROM..TO: no node lives in this time; may be repeated")
	flags.DurationVar(&e.request.RunTime, "run-time", 0, "how long each job runs")
	flags.IntVar(&e.request.Limit, "limit", 1000, "how many slots are shown at most, 1 to 100000; without --to 20 unless it is given")
	e.format.addTo(c)
	e.store.addTo(c)
	return c
}

func (p *program) explain(c *cobra.Command, e explainFlags, args []string) error {
	var wanted hourbell.Schedule
	if err := errors.Join(checkNames(args), e.exclude.apply(c, &wanted, true)); err != nil {
		return err
	}
	if len(args) == 0 && !namesStored(wanted.Exclude) {
		return p.explainSchedule(c, e, hourbell.ScheduleInfo{Schedule: hourbell.Schedule{Name: "NAME", Exclude: wanted.Exclude}}, p.now())
	}
	return p.withReader(c.Context(), e.store, func(client *hourbell.Client) error {
		exclude, err := readStored(c.Context(), client, wanted.Exclude)
		if err != nil {
			return err
		}
		if len(args) == 0 {
			return p.explainSchedule(c, e, hourbell.ScheduleInfo{Schedule: hourbell.Schedule{Name: "NAME", Exclude: exclude}}, p.now())
		}
		info, err := client.Schedules.Get(c.Context(), args[0])
		if err != nil {
			return err
		}
		if c.Flags().Changed(declared.ExcludeKey) {
			info.Exclude = exclude
		}
		if info.Problem != "" {
			return fmt.Errorf("explain schedule %q: %s", info.Name, info.Problem)
		}
		now, err := client.Now(c.Context())
		if err != nil {
			return err
		}
		return p.explainSchedule(c, e, info, now)
	})
}

// explainedSlots is how many slots are explained without --to and --limit.
const explainedSlots = 20

// explainSchedule explains a stored schedule with the changes that the flags
// make. now is the default of --from.
func (p *program) explainSchedule(c *cobra.Command, e explainFlags, info hourbell.ScheduleInfo, now time.Time) error {
	e.rule.edit(c, &info.Rule)
	zone := info.Rule.Zone
	var errs [3]error
	e.request.From, errs[0] = instantFlag(c, "from", zone)
	e.request.To, errs[1] = instantFlag(c, "to", zone)
	e.request.Down, errs[2] = parseSpans(e.down, zone)
	if err := errors.Join(append(errs[:], allPolicies.apply(c, &info.Schedule, true))...); err != nil {
		return err
	}
	e.setDefaults(c, now)
	explained, err := info.Explain(e.request)
	if err != nil {
		return err
	}
	items := all(view.ExplainRecords(explained, zone))
	if explained.More && e.format != asTable {
		printError(p.stderr, fmt.Errorf("there are more slots; --limit shows more than %d", e.request.Limit))
	}
	if err := printList(p, view.ExplainListing(), e.format, items); err != nil {
		return err
	}
	if explained.More && e.format == asTable {
		printError(p.stderr, fmt.Errorf("there are more slots; --limit shows more than %d", e.request.Limit))
	}
	return nil
}

// setDefaults sets what the flags do not give: a year from now on, and explainedSlots slots of it.
func (e *explainFlags) setDefaults(c *cobra.Command, now time.Time) {
	if !c.Flags().Changed("from") {
		e.request.From = now
	}
	if c.Flags().Changed("to") {
		return
	}
	e.request.To = e.request.From.AddDate(1, 0, 0)
	if !c.Flags().Changed("limit") {
		e.request.Limit = explainedSlots
	}
}

// parseSpans reads the values of --down.
func parseSpans(texts []string, zone string) ([]hourbell.Span, error) {
	var spans []hourbell.Span
	for _, text := range texts {
		from, to, found := strings.Cut(text, "..")
		if !found {
			return nil, &check.FieldError{Field: "down", Value: check.Shorten(text), Problem: "is not FROM..TO", Remedy: "write two instants with two dots between them"}
		}
		var span hourbell.Span
		var err error
		if span.From, err = view.ParseInstant("down", from, zone); err != nil {
			return nil, err
		}
		if span.To, err = view.ParseInstant("down", to, zone); err != nil {
			return nil, err
		}
		spans = append(spans, span)
	}
	return spans, nil
}
