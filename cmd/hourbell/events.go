package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
)

// eventsFlags are the flags of the command events.
type eventsFlags struct {
	since  string
	follow bool
	limit  int
	listFlags
}

func (p *program) eventsCommand() *cobra.Command {
	f := &storeFlags{}
	var l eventsFlags
	c := &cobra.Command{
		Use: "events", Short: "Shows what happened to jobs and schedules in the whole cluster, and follows it", Args: cobra.ArbitraryArgs,
		Long: "Shows the feed: jobs that completed, failed, were cancelled or not started, attempts that are tried again or were\n" +
			"lost with a node, slots that were missed or skipped, and schedules that recovered. Without --since it shows the\n" +
			"newest events. With --since and the cursor of an event it shows the events after it, so that a reader that was\n" +
			"away misses nothing within the time for which events are kept (24h; `events keep` changes it); where events are\n" +
			"missing it shows the event gap. --follow waits for further events, until it is interrupted.",
		Example: "  hourbell events\n  hourbell events --follow\n  hourbell events --since 7213-41-0 --follow --output ndjson\n" +
			"  hourbell events keep 72h",
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(c, args[0])
			}
			return p.events(c, *f, l)
		},
	}
	flags := c.Flags()
	flags.StringVar(&l.since, "since", "", "only events after the event with this cursor")
	flags.BoolVar(&l.follow, "follow", false, "wait for further events")
	flags.IntVar(&l.limit, "limit", 0, fmt.Sprintf("at most this many events (default %d; with --since in the formats for machines, all)", tableRows))
	l.listFlags.addTo(c)
	c.AddCommand(p.eventsKeepCommand(f))
	f.addTo(c)
	return c
}

// mostNewest is how many of the newest events can be shown.
const mostNewest = 1000

func (p *program) events(c *cobra.Command, f storeFlags, l eventsFlags) error {
	errs := []error{notEmpty(c, "since"), checkLimit(l.limit)}
	if l.since == "" && l.limit > mostNewest {
		errs = append(errs, &check.FieldError{
			Field: "limit", Value: fmt.Sprint(l.limit),
			Problem: "is too large without --since", Remedy: fmt.Sprintf("use at most %d, or --since 0-0-0 for all events", mostNewest),
		})
	}
	if l.follow {
		errs = append(errs, l.checkFollow(c)...)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return p.list(c, f, l.listFlags, func(p *program, client *hourbell.Client) error {
		if l.follow {
			return p.followEvents(c.Context(), client, l)
		}
		return p.listEvents(c, client, l)
	})
}

// checkFollow returns which flags cannot be used with --follow.
func (l eventsFlags) checkFollow(c *cobra.Command) (errs []error) {
	if l.format == asJSON {
		errs = append(errs, &check.FieldError{Field: "output", Value: "json", Problem: "is one array, which never ends with --follow", Remedy: "use --output ndjson"})
	}
	if l.watch != 0 {
		errs = append(errs, &check.FieldError{Field: "watch", Problem: "is given together with --follow", Remedy: "use --follow alone, which shows each event once"})
	}
	if c.Flags().Changed("limit") {
		errs = append(errs, &check.FieldError{Field: "limit", Problem: "is given together with --follow", Remedy: "leave one of them out"})
	}
	return errs
}

// listEvents shows events, and reports why later events are not shown.
func (p *program) listEvents(c *cobra.Command, client *hourbell.Client, l eventsFlags) error {
	var held time.Time
	since := l.since
	if since == "" {
		page, err := client.Events.List(c.Context(), hourbell.EventFilter{Limit: l.limit}) // the newest events are one page
		if err != nil {
			return err
		}
		held = page.Held
		if err := printList(p, view.EventListing(), l.format, all(page.Events)); err != nil {
			return err
		}
	} else {
		err := printList(p, view.EventListing(), l.format, paged(p, c, l.format, l.limit, func(size int, _ *hourbell.FeedEvent) ([]hourbell.FeedEvent, error) {
			var events []hourbell.FeedEvent
			for more := true; more && len(events) < size; {
				page, err := client.Events.List(c.Context(), hourbell.EventFilter{Since: since, Limit: size - len(events)})
				if err != nil {
					return nil, err
				}
				since, more, held = page.Next, page.More, page.Held
				events = append(events, page.Events...)
			}
			return events, nil
		}))
		if err != nil {
			return err
		}
	}
	if !held.IsZero() {
		fmt.Fprintf(p.stderr, "hourbell: events since %s are not shown yet: a transaction that began before theirs is still open\n", plain.Stamp(held))
	}
	return nil
}

// followEvents shows events as they come, until ctx has ended.
func (p *program) followEvents(ctx context.Context, client *hourbell.Client, l eventsFlags) error {
	listing, failing := view.EventListing(), false
	for e, err := range client.Events.Follow(ctx, l.since) {
		var bad *check.FieldError
		switch {
		case errors.As(err, &bad):
			return err
		case err != nil:
			if !failing {
				fmt.Fprintf(p.stderr, "hourbell: %v; trying again\n", err)
			}
			failing = true
			continue
		}
		failing = false
		if l.format == asTable {
			if err := p.printLine(plain.Clean(view.EventLine(e))); err != nil {
				return err
			}
			continue
		}
		if err := printLinesNow(p, listing, e); err != nil {
			return err
		}
	}
	return nil
}

// printLinesNow prints the record of an item as a line at once.
func printLinesNow[T any](p *program, l view.Listing[T], item T) error {
	out := bufio.NewWriter(p.stdout)
	if err := printLines(out, l, all([]T{item})); err != nil {
		return err
	}
	return out.Flush()
}

func (p *program) eventsKeepCommand(f *storeFlags) *cobra.Command {
	return &cobra.Command{
		Use: "keep DURATION|off", Short: "Sets for how long the store keeps events", Args: takes(false, "DURATION"),
		Long: "Sets for how long the store keeps events, for the whole cluster: at least 1m. With off no " +
			"events are stored from\nnow on, and stored events are deleted.",
		Example:               "  hourbell events keep 72h\n  hourbell events keep off",
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			var d time.Duration
			if args[0] != "off" {
				var err error
				if d, err = time.ParseDuration(args[0]); err != nil || d == 0 {
					return &check.FieldError{Field: "DURATION", Value: check.Shorten(args[0]), Problem: "is not a duration", Remedy: "write it like 72h, or write off"}
				}
			}
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
				if err := client.Events.Keep(c.Context(), d); err != nil {
					return err
				}
				if d == 0 {
					fmt.Fprintln(p.stdout, "events: none are stored from now on")
					return nil
				}
				fmt.Fprintf(p.stdout, "events: kept for %s\n", plain.Brief(d))
				return nil
			})
		},
	}
}
