package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
)

func (p *program) limitsCommand() *cobra.Command {
	f := &storeFlags{}
	c := p.group("limits", "Lists, shows, puts and deletes limits of how many jobs run, or start per interval",
		p.limitsListCommand(f),
		p.limitsShowCommand(f),
		p.limitsPutCommand(f),
		p.limitsDeleteCommand(f),
	)
	f.addTo(c)
	return c
}

func (p *program) limitsListCommand(f *storeFlags) *cobra.Command {
	var l listFlags
	c := &cobra.Command{
		Use: "list", Short: "Lists limits by name, with what they hold", Args: takes(false),
		Long: "Lists limits by name: which jobs they concern, how many permits are in use, how many due jobs wait for a permit\n" +
			"(counted up to 10,000), and of limits by key how many keys there are and the key in which most jobs wait.\n" +
			"IN USE of a limit of a whole queue counts the permits that nodes hold, also idle nodes for a short while.",
		Example: "  hourbell limits list\n  hourbell limits list --output ndjson",
		RunE: listsAll(p, f, &l, view.LimitListing, func(ctx context.Context, client *hourbell.Client) ([]hourbell.LimitInfo, error) {
			return client.Limits.List(ctx)
		}),
	}
	l.addTo(c)
	return c
}

func (p *program) limitsShowCommand(f *storeFlags) *cobra.Command {
	var o format
	c := &cobra.Command{
		Use: "show NAME", Short: "Shows a limit and its fullest keys", Args: takes(false, "NAME"),
		Example: "  hourbell limits show exports\n  hourbell limits show exports --output json",
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkNames(args); err != nil {
				return err
			}
			return p.withReader(c.Context(), *f, func(client *hourbell.Client) error {
				info, err := client.Limits.Get(c.Context(), args[0])
				if err != nil {
					return err
				}
				if err := p.show(o, view.NewLimitRecord(info), func(out *bufio.Writer) { p.printFacts(out, view.LimitFacts(info)) }); err != nil {
					return err
				}
				if o != asTable || !info.ByKey || len(info.Fullest) == 0 {
					return nil
				}
				fmt.Fprintln(p.stdout)
				return printList(p, view.KeyUseListing(), o, all(info.Fullest))
			})
		},
	}
	o.addTo(c)
	return c
}

// limitFlags define a limit.
type limitFlags struct {
	limit      hourbell.Limit
	rate       string
	weights    []string
	ifRevision int64
	format     format
}

func (p *program) limitsPutCommand(f *storeFlags) *cobra.Command {
	var l limitFlags
	c := &cobra.Command{
		Use:   "put NAME [--queue Q] [--kind K] [--by-key] [--concurrency N] [--rate N/D] [--burst N]",
		Short: "Creates or replaces a limit",
		Long: "Creates or replaces a limit of the jobs of a queue, of a kind, or of each key: how many run at a time in the whole\n" +
			"cluster (--concurrency), how many start per interval (--rate), or both. No node takes a job by the earlier limit when\n" +
			"the command has ended; jobs that run go on. With --by-key the jobs of each key count for themselves, and jobs without\n" +
			"a key are not limited; a concurrency of 1 runs the jobs of a key one after the other.",
		Example: "  hourbell limits put exports --kind export --by-key --concurrency 1\n" +
			"  hourbell limits put api --queue api --rate 10/s --burst 20\n" +
			"  hourbell limits put tenants --queue work --by-key --concurrency 100 --weight gold=3\n" +
			"  hourbell limits put reports --queue reports --concurrency 7",
		DisableFlagsInUseLine: true,
		Args:                  takes(false, "NAME"),
		RunE:                  func(c *cobra.Command, args []string) error { return p.limitsPut(c, *f, l, args[0]) },
	}
	flags := c.Flags()
	flags.StringVar(&l.limit.Queue, "queue", "", "only jobs of this queue")
	flags.StringVar(&l.limit.Kind, "kind", "", "only jobs of this kind")
	flags.BoolVar(&l.limit.ByKey, "by-key", false, "only jobs with a key, each key for itself")
	flags.IntVar(&l.limit.Concurrency, "concurrency", 0, "how many run at a time")
	flags.StringVar(&l.rate, "rate", "", "how many start per interval, such as 10/s, 100/m or 5000/24h; of each key with --by-key")
	flags.IntVar(&l.limit.Burst, "burst", 1, "how many start at once after a rest, with --rate")
	flags.StringArrayVar(&l.weights, "weight", nil, "`KEY=N`: multiplies --concurrency for this key; may be repeated")
	flags.BoolVar(&l.limit.Strict, "strict", false, "a job whose attempt failed keeps its permit until its next attempt, "+
		"so that no later job of its key overtakes it")
	flags.StringVar(&l.limit.Owner, "owner", "", "the owner of the limit, such as of a schedule file")
	flags.Int64Var(&l.ifRevision, "if-revision", 0, "only if it still has this revision, which limits show prints")
	l.format.addTo(c)
	return c
}

func (p *program) limitsPut(c *cobra.Command, f storeFlags, l limitFlags, name string) error {
	limit, err := l.read(c, name)
	if err != nil {
		return err
	}
	return p.withClient(c.Context(), f, func(client *hourbell.Client) error {
		if _, err := client.Limits.Put(c.Context(), limit, l.ifRevision); err != nil {
			return err
		}
		info, err := client.Limits.Get(c.Context(), name)
		if err != nil {
			return err
		}
		return p.show(l.format, view.NewLimitRecord(info), func(out *bufio.Writer) {
			fmt.Fprintf(out, "limit %q: revision %d\n", name, info.Revision)
		})
	})
}

// read reads the flags and reports all mistakes.
func (l limitFlags) read(c *cobra.Command, name string) (hourbell.Limit, error) {
	limit := l.limit
	limit.Name = name
	if !c.Flags().Changed("burst") {
		limit.Burst = 0
	}
	errs := []error{check.Name("NAME", name), notEmpty(c, "queue"), notEmpty(c, "kind"), notEmpty(c, "rate"), notEmpty(c, "owner")}
	for _, flag := range []string{"concurrency", "burst"} {
		if value := c.Flags().Lookup(flag).Value.String(); c.Flags().Changed(flag) && value == "0" {
			errs = append(errs, &check.FieldError{Field: flag, Value: value, Problem: "is out of range", Remedy: "use a number from 1, or leave --" + flag + " out"})
		}
	}
	errs = append(errs, checkRevision(c, l.ifRevision, "limits"))
	if l.rate != "" {
		rate, err := hourbell.ParseRate(l.rate)
		limit.Rate = rate
		errs = append(errs, err)
	}
	weights, weightErrs := parseWeights(l.weights)
	limit.Weights = weights
	if err := errors.Join(append(errs, weightErrs...)...); err != nil {
		return hourbell.Limit{}, err
	}
	return limit, limit.Validate()
}

// parseWeights reads weights such as gold=3. The result is nil if there are none.
func parseWeights(texts []string) (weights map[string]int, errs []error) {
	for _, text := range texts {
		i := strings.LastIndexByte(text, '=')
		n, err := strconv.Atoi(text[i+1:])
		if i < 1 || err != nil {
			errs = append(errs, &check.FieldError{Field: "weight", Value: check.Shorten(text), Problem: "is not a key and its weight", Remedy: "write it as in gold=3"})
			continue
		}
		if weights == nil {
			weights = map[string]int{}
		}
		if _, given := weights[text[:i]]; given {
			errs = append(errs, &check.FieldError{Field: "weight", Value: check.Shorten(text[:i]), Problem: "is given twice", Remedy: "give each key once"})
		}
		weights[text[:i]] = n
	}
	return weights, errs
}

func (p *program) limitsDeleteCommand(f *storeFlags) *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME…", Short: "Deletes limits", Args: takes(true, "NAME"),
		Long:                  "Deletes limits: all of them, or none if one does not exist. Jobs that waited for a permit can start.",
		Example:               "  hourbell limits delete exports",
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, names []string) error {
			if err := checkNames(names); err != nil {
				return err
			}
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
				if err := client.Limits.Delete(c.Context(), names...); err != nil {
					return err
				}
				for _, name := range names {
					fmt.Fprintf(p.stdout, "limit %q: deleted\n", name)
				}
				return nil
			})
		},
	}
}
