package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/kinds"
)

func (p *program) handlersCommand() *cobra.Command {
	f := &storeFlags{}
	c := p.group("handlers", "Lists, puts and deletes handlers, which make jobs from what happens",
		p.handlersListCommand(f),
		p.handlersPutCommand(f),
		p.handlersDeleteCommand(f),
	)
	f.addTo(c)
	return c
}

func (p *program) handlersListCommand(f *storeFlags) *cobra.Command {
	var l listFlags
	var secrets bool
	c := &cobra.Command{
		Use: "list", Short: "Lists handlers by name", Args: takes(false),
		Example: "  hourbell handlers list\n  hourbell handlers list --output ndjson",
		RunE: listsAll(p, f, &l, func() view.Listing[hourbell.EventHandlerInfo] { return view.HandlerListing(secrets) },
			func(ctx context.Context, client *hourbell.Client) ([]hourbell.EventHandlerInfo, error) {
				return client.Handlers.List(ctx)
			}),
	}
	c.Flags().BoolVar(&secrets, "show-secrets", false, "print values that may be secrets, such as passwords in URLs")
	l.addTo(c)
	return c
}

// handlerFlags define a handler.
type handlerFlags struct {
	on     []string
	kind   string
	group  string
	job    string
	work   workFlags
	format format
}

func (p *program) handlersPutCommand(f *storeFlags) *cobra.Command {
	var h handlerFlags
	c := &cobra.Command{
		Use:   "put NAME --on EVENT[,EVENT…] [--kind K] [--group G] [flags] (--job K [--args JSON] | --shell LINE | -- PROGRAM [ARG…])",
		Short: "Creates or replaces a handler",
		Long: "Creates or replaces a handler: it makes a job from each event of all jobs, of the jobs of a kind or of a group.\n" +
			"The job is made in the transaction that records the event. The events are start, success, failure, retry,\n" +
			"missed, not_started and recovery. A command finds the event, as JSON, on its standard input.",
		Example: "  hourbell handlers put page --on failure,missed -- /usr/local/bin/page-ops\n" +
			"  hourbell handlers put reports --on failure --group reports --job mail --args '{\"to\":\"reports\"}'\n" +
			"  hourbell handlers put audit --on start,success,failure --kind payment --shell 'cat >> /var/log/payments'",
		DisableFlagsInUseLine: true,
		Args:                  takesBeforeArgv("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			words, argv := splitArgv(c, args)
			return p.handlersPut(c, *f, h, words[0], argv)
		},
	}
	flags := c.Flags()
	h.work.addTo(c)
	h.work.maxAttempts = 5
	flags.Lookup("max-attempts").DefValue = "5"
	flags.Lookup("timeout").Usage = "bound of each attempt, or none (default five minutes)"
	flags.StringSliceVar(&h.on, "on", nil, "the events: start, success, failure, retry, missed, not_started, recovery")
	flags.StringVar(&h.kind, "kind", "", "only of jobs of this kind (with missed and recovery: of schedules with such jobs)")
	flags.StringVar(&h.group, "group", "", "only of jobs of this group (with missed and recovery: of schedules of this group)")
	flags.StringVar(&h.job, "job", kinds.CommandKind, "the kind of the job that it makes")
	h.format.addTo(c)
	return c
}

func (p *program) handlersPut(c *cobra.Command, f storeFlags, h handlerFlags, name string, argv []string) error {
	handler := hourbell.EventHandler{Name: name, On: h.on, Kind: h.kind, Group: h.group}
	workErr := h.work.setHandler(&handler, p, c, h.job, argv)
	err := errors.Join(check.Name("NAME", name), workErr, notEmpty(c, "kind"), notEmpty(c, "group"))
	if err == nil {
		err = handler.Validate()
	}
	if err != nil {
		return err
	}
	return p.withClient(c.Context(), f, func(client *hourbell.Client) error {
		saved, err := client.Handlers.Put(c.Context(), handler)
		if err != nil {
			return err
		}
		return p.show(h.format, map[string]any{"name": name, "changed": saved.Changed}, func(out *bufio.Writer) {
			word := "unchanged"
			if saved.Changed {
				word = "put"
			}
			fmt.Fprintf(out, "handler %q: %s\n", name, word)
		})
	})
}

func (p *program) handlersDeleteCommand(f *storeFlags) *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME…", Short: "Deletes handlers", Args: takes(true, "NAME"),
		Long:                  "Deletes handlers: all of them, or none if one does not exist. Jobs that they have made stay.",
		Example:               "  hourbell handlers delete page",
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, names []string) error {
			if err := checkNames(names); err != nil {
				return err
			}
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
				if err := client.Handlers.Delete(c.Context(), names...); err != nil {
					return err
				}
				for _, name := range names {
					fmt.Fprintf(p.stdout, "handler %q: deleted\n", name)
				}
				return nil
			})
		},
	}
}
