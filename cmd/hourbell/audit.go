package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

func (p *program) auditCommand() *cobra.Command {
	var (
		f              storeFlags
		l              listFlags
		filter         hourbell.AuditFilter
		subject, since string
		limit          int
	)
	c := &cobra.Command{
		Use: "audit", Short: "Shows who changed what, from where and when, newest first", Args: takes(false),
		Long: "Lists the changes that were made by hand, through this program, pages, the API, files and other programs. Each is\n" +
			"recorded in its own transaction and kept for 90 days. Enqueues, outcomes and slots are not among them.",
		Example: "  hourbell audit --since 2027-03-01T00:00:00Z\n" +
			"  hourbell audit --subject schedule:nightly\n" +
			"  hourbell audit --actor ada --action \"jobs cancel\" --output ndjson",
		RunE: func(c *cobra.Command, _ []string) error {
			var subjectErr error
			if c.Flags().Changed("subject") {
				filter.Subject, subjectErr = view.ParseAuditSubject(subject)
			}
			if err := errors.Join(notEmpty(c, "actor"), notEmpty(c, "action"), subjectErr, checkSince(c, "since"), filter.Validate(), checkLimit(limit)); err != nil {
				return err
			}
			return p.list(c, f, l, func(p *program, client *hourbell.Client) (err error) {
				if filter.Since, err = view.Since(c.Context(), client, since); err != nil {
					return err
				}
				return printList(p, view.AuditListing(), l.format, paged(p, c, l.format, limit, func(size int, last *store.AuditEntry) ([]store.AuditEntry, error) {
					page := filter
					page.Limit = size
					if last != nil {
						page.Before = last.Cursor()
					}
					return client.Audit.List(c.Context(), page)
				}))
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&filter.Actor, "actor", "", "only changes of this actor, such as ada or root@host")
	flags.StringVar(&filter.Action, "action", "", "only changes with this action, such as \"jobs cancel\"")
	flags.StringVar(&subject, "subject", "", "only changes of this object, as in job:12 or schedule:nightly: "+strings.Join(store.AuditKinds(), ", "))
	flags.StringVar(&since, "since", "", "only changes at or after this instant, such as 2027-03-01T00:00:00Z, or since this long ago, such as 2h or 7d")
	addLimit(c, &limit)
	l.addTo(c)
	f.addTo(c)
	return c
}

// asActor returns a context for changes that the user of the program makes.
func asActor(ctx context.Context) context.Context {
	return hourbell.WithActor(ctx, hourbell.Actor{Name: actor(), Source: "cli"})
}

// recordRelease records that a lock is about to be released, if the store of the locks has the
// schema of Hourbell, too.
func (p *program) recordRelease(ctx context.Context, f storeFlags, name string) error {
	l, err := p.locate(f)
	if err != nil {
		return nil // a store that has locks only
	}
	b, err := l.Open(ctx, false)
	if errors.Is(err, store.ErrSchema) {
		return nil
	}
	if err != nil {
		return err
	}
	defer b.Close()
	client, err := hourbell.New(b, hourbell.Config{})
	if err != nil {
		return err
	}
	err = client.Audit.RecordRelease(ctx, name)
	if errors.Is(err, store.ErrSchema) {
		return nil
	}
	return err
}
