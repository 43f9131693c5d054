package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/declared"
	"github.com/hourbell/hourbell/cmd/hourbell/schedulefile"
)

func (p *program) applyCommand() *cobra.Command {
	var (
		f     storeFlags
		prune bool
	)
	c := &cobra.Command{
		Use: "apply FILE", Short: "Puts the schedules of a file into the store", Args: takes(false, "FILE"),
		Long: "Puts the schedules of a file (YAML; - for standard input) into the store, all or none, under the owner of\n" +
			"the file. A file with an older revision than the last one is refused. With --prune the owner's other\n" +
			"schedules are deleted.",
		Example: "  hourbell apply schedules.yaml\n  hourbell apply --prune --store postgres://user@host/database schedules.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			set, err := p.loadOrStdin(source{args[0], schedulefile.Read})
			if err != nil {
				return err
			}
			return p.withClient(c.Context(), f, func(client *hourbell.Client) error {
				done, err := applySet(c.Context(), client, set, prune)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(p.stdout, "owner %q: %d changed, %d unchanged, %d deleted\n", set.Owner, done.Changed, done.Unchanged, done.Deleted)
				return err
			})
		},
	}
	c.Flags().BoolVar(&prune, "prune", false, "delete the owner's schedules that are not in the file")
	f.addTo(c)
	return c
}

func applySet(ctx context.Context, client *hourbell.Client, set *declared.File, prune bool) (hourbell.SyncResult, error) {
	if prune {
		return client.Sync(ctx, set.Owner, set.Revision, set.Schedules())
	}
	return client.PutSchedules(ctx, set.Owner, set.Revision, set.Schedules())
}
