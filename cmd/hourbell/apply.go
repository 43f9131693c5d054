package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/plain"
)

func (p *program) applyCommand() *cobra.Command {
	var (
		f     storeFlags
		prune bool
	)
	c := &cobra.Command{
		Use: "apply FILE", Short: "Puts the schedules of a file into the store", Args: takes(false, "FILE"),
		Long: "Puts the schedules and limits of a file (YAML; - for standard input) into the store, all or none, under the\n" +
			"owner of the file. A file with an older revision than the last one is refused. With --prune the owner's\n" +
			"other schedules and limits are deleted.",
		Example: "  hourbell apply schedules.yaml\n  hourbell apply --prune --store postgres://user@host/database schedules.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			file, err := p.loader().Load(files.Source{Path: args[0], Form: files.YAML})
			if err != nil {
				return err
			}
			set := file.Set
			files.WarnAtStart(args[0], set)
			files.WarnLateFailures(args[0], set)
			p.printWarnings(set)
			return p.withClient(c.Context(), f, func(client *hourbell.Client) error {
				done, err := files.Apply(c.Context(), client, set, prune)
				if errors.Is(err, hourbell.ErrStale) && prune && set.Revision == 0 {
					err = fmt.Errorf("%w; apply it without --prune", err) // a file without a revision is not compared then
				}
				if err != nil {
					return err
				}
				fmt.Fprintf(p.stdout, "owner %q: %d changed, %d unchanged, %d deleted\n", set.Owner, done.Changed, done.Unchanged, done.Deleted)
				if n := len(set.Limits); n+done.Limits.Deleted > 0 {
					fmt.Fprintf(p.stdout, "limits: %d changed, %d unchanged, %d deleted\n", done.Limits.Changed, n-done.Limits.Changed, done.Limits.Deleted)
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&prune, "prune", false, "delete the owner's schedules and limits that are not in the file")
	f.addTo(c)
	return c
}

// printWarnings prints the parts of a file that have no effect.
func (p *program) printWarnings(set *declared.File) {
	for _, warning := range set.Warnings {
		fmt.Fprintln(p.stderr, "hourbell: "+plain.Clean(warning.Error()))
	}
}
