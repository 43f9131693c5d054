package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/stores"
)

const (
	storeVariable  = "HOURBELL_STORE"
	fileVariable   = "HOURBELL_STORE_FILE"
	notifyVariable = "HOURBELL_NOTIFY_URL"
	defaultStore   = "sqlite:hourbell.db"
)

// storeFlags are the flags of every command that opens a store.
type storeFlags struct {
	url       string
	file      string
	schema    string
	noMigrate bool
}

// addTo adds the flags to a command and all commands below it.
func (f *storeFlags) addTo(c *cobra.Command) {
	flags := c.PersistentFlags()
	flags.Var((*givenText)(&f.url), "store", "where jobs and schedules are kept: sqlite:path/to/file.db, postgres://… or "+
		"mysql://… (default $"+storeVariable+", else "+defaultStore+")")
	f.addFile(flags)
	flags.Var((*givenText)(&f.schema), "schema", "the database schema of the tables in PostgreSQL (default \""+stores.DefaultSchema+"\")")
	flags.BoolVar(&f.noMigrate, "no-migrate", false, "leave the database schema as it is, and fail if it is behind")
}

// addFile adds the flag for a file that has the store's URL.
func (f *storeFlags) addFile(flags *pflag.FlagSet) {
	flags.Var((*givenText)(&f.file), "store-file", "a file that contains the URL of the store, instead of --store; it is "+
		"read again for each connection, so that a password may be changed (default $"+fileVariable+")")
}

// source returns the URL of the store, or the file that contains it. Flags come before the environment.
func (p *program) source(f storeFlags) (url, file string, err error) {
	if f.url != "" && f.file != "" {
		return "", "", &check.FieldError{Field: "store-file", Value: check.Shorten(f.file), Problem: "is given together with --store", Remedy: "give one of them"}
	}
	if f.url != "" || f.file != "" {
		return f.url, f.file, nil
	}
	url, file = p.getenv(storeVariable), p.getenv(fileVariable)
	if url != "" && file != "" {
		return "", "", &check.FieldError{
			Field: "$" + fileVariable, Problem: "is set together with $" + storeVariable,
			Remedy: "set one of them, or give --store or --store-file",
		}
	}
	return url, file, nil
}

// givenText is a text flag whose value must not be empty. In scripts an empty
// value comes from a variable that is not set; with the default instead, the
// command would work on another store.
type givenText string

func (g *givenText) String() string { return string(*g) }

func (g *givenText) Type() string { return "string" }

func (g *givenText) Set(value string) error {
	if value == "" {
		return errEmptyText
	}
	*g = givenText(value)
	return nil
}

var errEmptyText = errors.New("is empty")

// locate reads the flags and the environment. It opens nothing.
func (p *program) locate(f storeFlags) (stores.Location, error) {
	url, file, err := p.source(f)
	if err != nil {
		return stores.Location{}, err
	}
	if file != "" {
		return stores.ParseFile(file, f.schema)
	}
	return stores.Parse(cmp.Or(url, defaultStore), f.schema)
}

// notifyFlag is the URL of a direct connection for wake-ups, for a node whose store is behind a pooler.
type notifyFlag string

func (n *notifyFlag) addTo(c *cobra.Command) {
	c.Flags().Var((*givenText)(n), "notify-url", "postgres://…: the store's database without the pooler in transaction "+
		"mode that --store goes through, for wake-ups, which such a pooler loses (default $"+notifyVariable+", else --store)")
}

// apply sets the URL of a store. The variable counts for PostgreSQL only, because it may be set for all stores of a machine.
func (n notifyFlag) apply(p *program, l stores.Location) (stores.Location, error) {
	if n == "" && l.URL() != "" {
		n = notifyFlag(p.getenv(notifyVariable))
	}
	if n == "" {
		return l, nil
	}
	return l.WithNotify(string(n))
}

// withClient opens the store while one command runs that may write. It creates the schema if there is none.
func (p *program) withClient(ctx context.Context, f storeFlags, use func(*hourbell.Client) error) error {
	return p.withStore(ctx, f, stores.Location.Open, use)
}

// withReader opens the store while one command runs that only reads. It creates neither a schema nor a file.
func (p *program) withReader(ctx context.Context, f storeFlags, use func(*hourbell.Client) error) error {
	return p.withStore(ctx, f, stores.Location.OpenExisting, use)
}

func (p *program) withStore(ctx context.Context, f storeFlags,
	open func(stores.Location, context.Context, bool) (stores.Backend, error), use func(*hourbell.Client) error,
) error {
	l, err := p.locate(f)
	if err != nil {
		return err
	}
	b, err := open(l, ctx, !f.noMigrate)
	if err != nil {
		return fmt.Errorf("open the store %s: %w", l, err)
	}
	defer b.Close()
	p.where = l.String()
	client, err := hourbell.New(b, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if err := p.readClock(ctx, client); err != nil {
		return err
	}
	return p.suggest(ctx, client, use(client))
}

// connect opens the store without reading its schema.
func (p *program) connect(ctx context.Context, f storeFlags) (stores.Backend, error) {
	l, err := p.locate(f)
	if err != nil {
		return nil, err
	}
	b, err := l.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the store %s: %w", l, err)
	}
	return b, nil
}

// lockFlags select the store of locks. There is no default, unlike in other
// commands, because locks in a file on each server would not exclude the other
// servers.
type lockFlags struct {
	store       storeFlags
	table       string
	environment string
}

func (f *lockFlags) addTo(c *cobra.Command) {
	flags := c.PersistentFlags()
	flags.Var((*givenText)(&f.store.url), "store", "where locks are kept: postgres://…, mysql://…, redis://…, mongodb://… "+
		"or sqlite:path (default $"+storeVariable+"; there is no other)")
	f.store.addFile(flags)
	flags.Var((*givenText)(&f.store.schema), "schema", "the database schema of the tables in PostgreSQL (default \""+stores.DefaultSchema+"\")")
	flags.BoolVar(&f.store.noMigrate, "no-migrate", false, "leave the database schema as it is, and fail if it is behind")
	flags.Var((*givenText)(&f.table), "table", "another table or collection, such as the shedlock table of Java programs, to share locks with them")
	flags.Var((*givenText)(&f.environment), "environment", "Redis: the middle part of the keys, as Java programs name it (default \"default\")")
}

// locateLocks reads the flags and the environment. It opens nothing.
func (p *program) locateLocks(f lockFlags) (stores.LockLocation, error) {
	url, file, err := p.source(f.store)
	if err != nil {
		return stores.LockLocation{}, err
	}
	if url == "" && file == "" {
		return stores.LockLocation{}, &check.FieldError{
			Field:   "store",
			Problem: "is not given, and $" + storeVariable + " is not set; locks have no default store", Remedy: stores.LockRemedy,
		}
	}
	return stores.ParseLocks(stores.LockSpec{URL: url, File: file, Schema: f.store.schema, Table: f.table, Environment: f.environment})
}
