package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

func (p *program) queuesCommand() *cobra.Command {
	return countsCommand(p, "queues", "Counts the jobs of each queue that have not finished, and pauses queues", view.QueueListing,
		func(ctx context.Context, client *hourbell.Client) ([]hourbell.QueueInfo, error) {
			return client.Queues.List(ctx)
		},
		pausable{
			noun: "queue", effect: "its jobs wait", example: "exports",
			long: "no node takes its jobs, also jobs and nodes that come later, so that the queue need not exist\n" +
				"yet. Slots fire, and their jobs wait in the queue.",
			service: func(client *hourbell.Client) pauser { return client.Queues },
			find: func(ctx context.Context, client *hourbell.Client, name string) error {
				return second(client.Queues.Get(ctx, name))
			},
		})
}

func (p *program) kindsCommand() *cobra.Command {
	return countsCommand(p, "kinds", "Counts the jobs of each kind that have not finished, and pauses kinds", view.KindListing,
		func(ctx context.Context, client *hourbell.Client) ([]hourbell.KindInfo, error) {
			return client.Kinds.List(ctx)
		},
		pausable{
			noun: "kind", effect: "its jobs wait, in all queues", example: "invoice",
			long: "no node takes its jobs from any queue, also jobs and nodes that come later, so that the kind need\n" +
				"not exist yet. Slots fire, and their jobs wait.",
			service: func(client *hourbell.Client) pauser { return client.Kinds },
			find: func(ctx context.Context, client *hourbell.Client, name string) error {
				return second(client.Kinds.Get(ctx, name))
			},
		})
}

func (p *program) keysCommand() *cobra.Command {
	f := &storeFlags{}
	keys := pausable{
		noun: "key", effect: "the jobs that have it wait, in all queues", example: "customer-42",
		long: "no node takes jobs with this key from any queue, also jobs and nodes that come later, so that no job\n" +
			"need have the key yet.",
		service: func(client *hourbell.Client) pauser { return client.Keys },
		find: func(ctx context.Context, client *hourbell.Client, name string) error {
			return second(client.Keys.Get(ctx, name))
		},
	}
	var l listFlags
	list := &cobra.Command{
		Use: "list", Short: "Lists the keys of jobs that are paused", Args: takes(false), Example: "  hourbell keys list",
		RunE: listsAll(p, f, &l, view.KeyListing, func(ctx context.Context, client *hourbell.Client) ([]store.Pause, error) {
			return client.Keys.List(ctx)
		}),
	}
	l.addTo(list)
	c := p.group("keys", "Pauses the jobs that have a key", list, p.pauseCommand(f, keys), p.resumeCommand(f, keys))
	f.addTo(c)
	return c
}

// countsCommand is a command that lists what it counts, also without the word list, and pauses it.
func countsCommand[Info any](p *program, name, short string, listing func() view.Listing[Info],
	count func(context.Context, *hourbell.Client) ([]Info, error), s pausable,
) *cobra.Command {
	f := &storeFlags{}
	lists := func(use, example string) *cobra.Command {
		var l listFlags
		c := &cobra.Command{
			Use: use, Short: short, Args: takes(false), Example: example,
			RunE: listsAll(p, f, &l, listing, count),
		}
		l.addTo(c)
		return c
	}
	c := lists(name, "  hourbell "+name+"\n  hourbell "+name+" --output json")
	list := lists("list", "  hourbell "+name+" list")
	list.Short = "Counts the jobs of each " + s.noun + " that have not finished"
	c.AddCommand(list, p.pauseCommand(f, s), p.resumeCommand(f, s))
	f.addTo(c)
	return c
}
