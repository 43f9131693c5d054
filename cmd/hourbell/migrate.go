package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/bound"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

func (p *program) migrateCommand() *cobra.Command {
	f := &storeFlags{}
	c := p.group("migrate", "Creates and updates the database schema, or prints it",
		p.migrateUpCommand(f),
		p.migrateStatusCommand(f),
		p.migratePrintCommand(f),
	)
	f.addTo(c)
	_ = c.PersistentFlags().MarkHidden("no-migrate") // MarkHidden fails only for an unknown flag
	return c
}

func (p *program) migrateUpCommand(f *storeFlags) *cobra.Command {
	return &cobra.Command{
		Use: "up", Short: "Applies the missing steps", Args: takes(false),
		Example: "  hourbell migrate up --store postgres://owner@db/app",
		RunE: func(c *cobra.Command, _ []string) error {
			if f.noMigrate {
				return &check.FieldError{Field: "no-migrate", Problem: "contradicts migrate up", Remedy: "leave it out, or use migrate status"}
			}
			b, err := p.connect(c.Context(), *f)
			if err != nil {
				return err
			}
			defer b.Close()
			steps, err := bound.MigrateUp(c.Context(), b, bound.Limit)
			for _, step := range steps {
				fmt.Fprintf(p.stdout, "applied step %d, %s\n", step.Version, step.Name)
			}
			if err == nil && len(steps) == 0 {
				fmt.Fprintln(p.stdout, "the schema is up to date")
			}
			return err
		},
	}
}

func (p *program) migrateStatusCommand(f *storeFlags) *cobra.Command {
	var o format
	c := &cobra.Command{
		Use: "status", Short: "Lists the steps, and which of them the database has", Args: takes(false),
		Example: "  hourbell migrate status --output json",
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := p.connect(c.Context(), *f)
			if err != nil {
				return err
			}
			defer b.Close()
			steps, err := bound.MigrateStatus(c.Context(), b, bound.Limit)
			if err != nil {
				return err
			}
			return printList(p, view.MigrationListing(), o, all(steps))
		},
	}
	o.addTo(c)
	return c
}

func (p *program) migratePrintCommand(f *storeFlags) *cobra.Command {
	var from int
	c := &cobra.Command{
		Use: "print", Short: "Prints the SQL of the steps, for your own tools", Args: takes(false),
		Long: "Prints the SQL of all steps, or of the steps from --from on. PostgreSQL and SQLite are not read: --store only selects\n" +
			"the kind of database, and --schema alone selects PostgreSQL. The steps of MySQL and MariaDB depend on the server, so\n" +
			"that --store names it. Run each step in a transaction of its own.",
		Example: "  hourbell migrate print --schema jobs > hourbell.sql\n" +
			"  hourbell migrate print --store mysql://app@db.example/app --from 2",
		RunE: func(c *cobra.Command, _ []string) error {
			steps, err := p.stepsFrom(c.Context(), *f, from)
			if err != nil {
				return err
			}
			for _, step := range steps {
				fmt.Fprintf(p.stdout, "-- Step %d, %s.\n\n%s\n\n", step.Version, step.Name, strings.TrimSpace(step.SQL))
			}
			return nil
		},
	}
	c.Flags().IntVar(&from, "from", 1, "only the steps from this number on")
	return c
}

// stepsFrom returns the steps of a store from a number on; --schema alone selects PostgreSQL.
func (p *program) stepsFrom(ctx context.Context, f storeFlags, from int) ([]store.Migration, error) {
	if from < 1 {
		return nil, &check.FieldError{
			Field: "from", Value: fmt.Sprint(from), Problem: "is not the number of a step",
			Remedy: "use 1 or more; `hourbell migrate status` lists the steps",
		}
	}
	url, file, err := p.source(f)
	if err != nil {
		return nil, err
	}
	if url == "" && file == "" && f.schema != "" {
		f.url = "postgres://"
	}
	l, err := p.locate(f)
	if err != nil {
		return nil, err
	}
	steps, err := l.Migrations(ctx)
	if err != nil {
		return nil, err
	}
	if last := steps[len(steps)-1].Version; from > last {
		return nil, &check.FieldError{
			Field: "from", Value: fmt.Sprint(from), Problem: "is beyond the last step", Remedy: fmt.Sprintf("use 1 to %d", last),
		}
	}
	return slices.DeleteFunc(slices.Clone(steps), func(step store.Migration) bool { return step.Version < from }), nil
}
