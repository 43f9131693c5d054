package main

import (
	"bufio"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell/cmd/hourbell/declared"
)

func (p *program) checkCommand() *cobra.Command {
	var crontabs []string
	c := &cobra.Command{
		Use: "check FILE… [--crontab FILE]", Short: "Reads schedule files, names their mistakes, and changes nothing",
		Long: "Reads schedule files (YAML) and crontabs and prints each schedule with its rule and its next three\n" +
			"instants, or every mistake with file and line. FILE may be - for standard input. No store is opened.",
		Example:               "  hourbell check schedules.yaml\n  hourbell check --crontab /var/spool/cron/crontabs/ops",
		DisableFlagsInUseLine: true,
		Args: func(c *cobra.Command, args []string) error {
			if len(crontabs) > 0 {
				return nil
			}
			return takes(true, "FILE")(c, args)
		},
		RunE: func(_ *cobra.Command, args []string) error { return p.check(sources(args, crontabs)) },
	}
	c.Flags().StringArrayVar(&crontabs, "crontab", nil, "a user's crontab; may be repeated")
	return c
}

func (p *program) check(list []source) error {
	var errs []error
	sets := make([]*declared.File, len(list))
	for i, s := range list {
		set, err := p.loadOrStdin(s)
		errs = append(errs, err)
		sets[i] = set
	}
	errs = append(errs, checkTogether(list, sets))
	if err := errors.Join(errs...); err != nil {
		return mistakes{err}
	}
	out := bufio.NewWriter(p.stdout)
	for i, set := range sets {
		printSet(out, list[i].path, set, p.now())
	}
	return out.Flush()
}

// loadOrStdin is load, where - means standard input.
func (p *program) loadOrStdin(s source) (*declared.File, error) {
	if s.path == "-" {
		return s.loadFrom(p.stdin)
	}
	return s.load()
}

func printSet(out *bufio.Writer, path string, set *declared.File, now time.Time) {
	fmt.Fprintf(out, "%s: %s of owner %q\n", clean(path), plural(len(set.Entries), "schedule"), set.Owner)
	for _, entry := range set.Entries {
		fmt.Fprintf(out, "\n  %s\n    %s\n", clean(entry.Name), clean(entry.Rule.String()))
		next := upcoming(entry, now)
		for _, t := range next {
			fmt.Fprintf(out, "    %s\n", inZone(t, entry.Rule.Zone))
		}
		if len(next) == 0 {
			fmt.Fprintln(out, "    never from now on")
		}
	}
}

// upcoming are the next three instants. An interval counts from now, as it
// would if the schedule were put now.
func upcoming(entry declared.Entry, now time.Time) []time.Time {
	now = now.Truncate(time.Second)
	rule, err := entry.Rule.Rule(now)
	if err != nil { // the file was checked
		return nil
	}
	var next []time.Time
	for t := rule.Next(now); len(next) < 3 && !t.IsZero(); t = rule.Next(t) {
		next = append(next, t)
	}
	return next
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
