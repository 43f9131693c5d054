package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// ruleFlags are the flags of a time rule: exactly one of three, a zone, and the
// options of a rule.
type ruleFlags struct{ recur.Spec }

func (r *ruleFlags) addTo(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&r.Cron, "cron", "", `a cron rule: "MINUTE HOUR DAY MONTH WEEKDAY", with seconds first if it has six fields, or @daily and the like`)
	flags.Func("on-calendar", `a calendar event of systemd, such as "Mon..Fri *-*-* 09:30": short for --cron with --dialect systemd`, func(event string) error {
		r.Cron, r.Dialect = event, recur.Systemd
		return nil
	})
	flags.StringVar(&r.Every, "every", "", `an interval such as 90s or "1 month"`)
	flags.StringVar(&r.At, "at", "", "one instant, such as 2027-03-01T09:00:00Z, or without the Z on the clock of --tz")
	flags.StringVar(&r.Zone, "tz", "", "a time zone such as Europe/Prague (default UTC)")
	flags.StringVar(&r.Dialect, "dialect", "", "the scheduler whose rule --cron is: quartz, spring, kubernetes, eventbridge or systemd (OnCalendar=)")
	flags.StringVar(&r.Start, "start", "", "no slot before this instant; an interval counts from it")
	flags.StringVar(&r.Stop, "stop", "", "no slot after this instant")
	flags.StringVar(&r.Gap, "gap", "", "a time that the clock jumps over: shift (fire right after) or skip")
	flags.StringVar(&r.Fold, "fold", "", "a time that the clock shows twice: first, last or both")
	c.MarkFlagsMutuallyExclusive("on-calendar", "cron")
	c.MarkFlagsMutuallyExclusive("on-calendar", "dialect")
}

// ruleFlagNames are the flags of a rule.
var ruleFlagNames = []string{"cron", "on-calendar", "every", "at", "tz", "dialect", "start", "stop", "gap", "fold"}

// given reports whether any flag of a rule was given.
func (r *ruleFlags) given(c *cobra.Command) bool {
	return slices.ContainsFunc(ruleFlagNames, func(name string) bool { return c.Flags().Changed(name) })
}

// edit applies the given flags to a rule. A rule of another kind replaces the
// old rule; an empty value removes an option.
func (r *ruleFlags) edit(c *cobra.Command, rule *recur.Spec) {
	changed := c.Flags().Changed
	if changed("cron") || changed("on-calendar") || changed("every") || changed("at") {
		rule.Cron, rule.Every, rule.At, rule.Any = r.Cron, r.Every, r.At, nil
	}
	for _, one := range []struct {
		name string
		to   *string
		from string
	}{
		{"tz", &rule.Zone, r.Zone},
		{"dialect", &rule.Dialect, r.Dialect},
		{"start", &rule.Start, r.Start},
		{"stop", &rule.Stop, r.Stop},
		{"gap", &rule.Gap, r.Gap},
		{"fold", &rule.Fold, r.Fold},
	} {
		if changed(one.name) || one.name == "dialect" && changed("on-calendar") {
			*one.to = one.from
		}
	}
}

// check returns what is wrong, including a flag with an empty value.
func (r *ruleFlags) check(c *cobra.Command) error {
	for _, name := range ruleFlagNames {
		if name == "on-calendar" {
			continue // its value is in Cron, which Validate checks
		}
		if err := notEmpty(c, name); err != nil {
			return err
		}
	}
	return r.Validate()
}

// notEmpty refuses a flag that was given with an empty value.
func notEmpty(c *cobra.Command, name string) error {
	flag := c.Flags().Lookup(name)
	if flag.Changed && flag.Value.String() == "" {
		return &check.FieldError{Field: name, Problem: "is empty", Remedy: "give a value, or leave the flag out"}
	}
	return nil
}

// checkRevision checks the flag --if-revision of a command about schedules, limits or calendars.
func checkRevision(c *cobra.Command, revision int64, about string) error {
	if !c.Flags().Changed("if-revision") || revision >= 1 {
		return nil
	}
	return &check.FieldError{
		Field: "if-revision", Value: fmt.Sprint(revision), Problem: "is not a revision",
		Remedy: "use the revision that `hourbell " + about + " show` prints",
	}
}

// nameFlags checks given flags whose values are names to look up.
func nameFlags(c *cobra.Command, names ...string) error {
	var errs []error
	for _, name := range names {
		if flag := c.Flags().Lookup(name); flag.Changed {
			errs = append(errs, check.StoredName(name, flag.Value.String()))
		}
	}
	return errors.Join(errs...)
}

// checkNames checks the arguments NAME… of commands that look up names.
func checkNames(names []string) error {
	var errs []error
	for _, name := range names {
		errs = append(errs, check.StoredName("NAME", name))
	}
	return errors.Join(errs...)
}

// instantFlag reads a flag whose value is an instant; zero if it was not given.
func instantFlag(c *cobra.Command, name, zone string) (time.Time, error) {
	flag := c.Flags().Lookup(name)
	if !flag.Changed {
		return time.Time{}, nil
	}
	if err := notEmpty(c, name); err != nil {
		return time.Time{}, err
	}
	return view.ParseInstant(name, flag.Value.String(), zone)
}

// checkSince returns what is wrong with a flag whose value is a time ago or an instant. A value that was given must not be empty.
func checkSince(c *cobra.Command, name string) error {
	text := c.Flags().Lookup(name).Value.String()
	if err := notEmpty(c, name); err != nil || text == "" {
		return err
	}
	_, _, err := view.ParseSince(name, text)
	return err
}

// parseIDs reads the numbers of jobs without duplicates.
func parseIDs(args []string) ([]int64, error) {
	ids := make([]int64, 0, len(args))
	seen := make(map[int64]bool, len(args))
	for _, arg := range args {
		id, err := strconv.ParseInt(arg, 10, 64)
		if err != nil || id < 1 {
			return nil, &check.FieldError{
				Field: "ID", Value: check.Shorten(arg), Problem: "is not the number of a job",
				Remedy: "write a positive whole number, as `hourbell jobs list` shows it",
			}
		}
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// parseOnLoss reads the flag --on-loss.
func parseOnLoss(text string) (store.OnLoss, error) {
	switch text {
	case "retry":
		return hourbell.RetryOnLoss, nil
	case "fail":
		return hourbell.FailOnLoss, nil
	}
	return 0, &check.FieldError{Field: "on_loss", Value: check.Shorten(text), Problem: "is unknown", Remedy: "use retry or fail"}
}
