package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/drivers/mongodb"
	"github.com/hourbell/hourbell/drivers/mysql"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/drivers/redis"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/lock"
)

const lockStoreRemedy = "write postgres://user@host/database, mysql://user@host/database, redis://host:6379, mongodb://host/database or sqlite:path/to/file.db"

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
	flags.Var((*givenText)(&f.store.url), "store", "where locks are kept: postgres://…, mysql://…, redis://…, mongodb://… or sqlite:path (default $"+storeVariable+"; there is no other)")
	flags.Var((*givenText)(&f.store.schema), "schema", "the database schema of the tables in PostgreSQL (default \""+postgres.DefaultSchema+"\")")
	flags.BoolVar(&f.store.noMigrate, "no-migrate", false, "leave the database schema as it is, and fail if it is behind")
	flags.Var((*givenText)(&f.table), "table", "another table or collection, such as the shedlock table of Java programs, to share locks with them")
	flags.Var((*givenText)(&f.environment), "environment", "Redis: the middle part of the keys, as Java programs name it (default \"default\")")
}

// lockStore is the set of methods that the locks of every driver have.
type lockStore interface {
	lock.Provider
	lock.Inspector
	Close() error
}

// lockLocation is the parsed place of a store of locks.
type lockLocation struct {
	location           // of SQLite or PostgreSQL; not used for other stores
	other       string // the URL of another store; may contain a password
	table       string
	environment string
	migrate     bool
}

// locateLocks reads the flags and the environment. It opens nothing.
func (p *program) locateLocks(f lockFlags) (lockLocation, error) {
	text := f.store.url
	if text == "" {
		text = p.getenv(storeVariable)
	}
	if text == "" {
		return lockLocation{}, &check.FieldError{Field: "store", Problem: "is not given, and $" + storeVariable + " is not set; locks have no default store", Remedy: lockStoreRemedy}
	}
	l := lockLocation{table: f.table, environment: f.environment, migrate: !f.store.noMigrate}
	scheme, _, _ := strings.Cut(text, ":")
	switch scheme {
	case "mysql", "mariadb", "redis", "rediss", "mongodb", "mongodb+srv":
		if u, err := url.Parse(text); (err != nil || u.Host == "") && !strings.HasPrefix(scheme, "mongodb") { // a MongoDB URL may name several hosts
			return lockLocation{}, &check.FieldError{Field: "store", Value: scheme + ":…", Problem: "is not a URL that names a host (characters like / ? # in a user or password must be written as %2F %3F %23)", Remedy: lockStoreRemedy}
		}
		l.other = text
	default:
		var err error
		if l.location, err = p.locate(storeFlags{url: text, schema: f.store.schema}); err != nil {
			return lockLocation{}, lockStoreError(err)
		}
	}
	return l, l.check(f, scheme)
}

// lockStoreError adds the remedy for locks, which have more stores than jobs.
func lockStoreError(err error) error {
	var field *check.FieldError
	if errors.As(err, &field) && field.Remedy == storeRemedy {
		better := *field
		better.Remedy = lockStoreRemedy
		return &better
	}
	return err
}

// check refuses flags that do not apply to the store.
func (l lockLocation) check(f lockFlags, scheme string) error {
	redis := scheme == "redis" || scheme == "rediss"
	switch {
	case f.store.schema != "" && l.other != "":
		return &check.FieldError{Field: "schema", Value: plain.Shorten(f.store.schema), Problem: "is given for a store that has none", Remedy: "leave it out"}
	case f.environment != "" && !redis:
		return &check.FieldError{Field: "environment", Value: plain.Shorten(f.environment), Problem: "is given for a store that has none", Remedy: "leave it out, or name a table with --table"}
	case f.table != "" && redis:
		return &check.FieldError{Field: "table", Value: plain.Shorten(f.table), Problem: "is given for Redis, which has none", Remedy: "leave it out; --environment is part of its keys"}
	}
	return nil
}

// String returns the store without its password and parameters.
func (l lockLocation) String() string {
	if l.other == "" {
		return l.location.String()
	}
	u, err := url.Parse(l.other)
	if err != nil {
		scheme, _, _ := strings.Cut(l.other, ":")
		return scheme + ":"
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.User != nil {
		shown.User = url.User(u.User.Username())
	}
	return shown.String()
}

// open opens the store, and creates its tables unless another program owns
// them.
func (l lockLocation) open(ctx context.Context) (lockStore, error) {
	locks, create, err := l.connectLocks(ctx)
	if err != nil || create == nil || !l.migrate || l.table != "" {
		return locks, err
	}
	if err := create(ctx); err != nil {
		return nil, errors.Join(err, locks.Close())
	}
	return locks, nil
}

// closing is a provider together with its connection.
type closing struct {
	lock.Provider
	lock.Inspector
	close func() error
}

func (c closing) Close() error { return c.close() }

// connectLocks opens the store and returns the function that creates its
// tables; nil if the store has none to create.
func (l lockLocation) connectLocks(ctx context.Context) (lockStore, func(context.Context) error, error) {
	scheme, _, _ := strings.Cut(l.other, ":")
	switch {
	case l.path != "":
		b, err := sqlite.Open(ctx, l.path)
		if err != nil {
			return nil, nil, err
		}
		locks := b.Locks(tableOption(l.table, sqlite.Table)...)
		return closing{locks, locks, b.Close}, func(ctx context.Context) error {
			_, err := b.MigrateUp(ctx) // this also creates the file
			if err == nil && l.table != "" {
				err = locks.CreateTables(ctx)
			}
			return err
		}, nil
	case l.other == "":
		b, err := postgres.Open(ctx, l.url, l.options()...)
		if err != nil {
			return nil, nil, err
		}
		locks := b.Locks(tableOption(l.table, postgres.Table)...)
		// The jobs' tables are not created: a role that may only use locks does
		// not need them.
		return closing{locks, locks, b.Close}, locks.CreateTables, nil
	case strings.HasPrefix(scheme, "redis"):
		locks, err := redis.Open(ctx, l.other, tableOption(l.environment, redis.Environment)...)
		return locks, nil, err
	case strings.HasPrefix(scheme, "mongodb"):
		locks, err := mongodb.Open(ctx, l.other, tableOption(l.table, mongodb.Collection)...)
		return locks, nil, err
	}
	locks, err := mysql.OpenLocks(l.other, tableOption(l.table, mysql.Table)...)
	if err != nil {
		return nil, nil, err
	}
	return locks, locks.CreateTables, nil
}

// tableOption returns an option if a value is given.
func tableOption[O any](value string, option func(string) O) []O {
	if value == "" {
		return nil
	}
	return []O{option(value)}
}

// findCommand finds the file of a program in the same way as a shell.
func findCommand(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return "", fmt.Errorf("command %q: %w; install it on this machine or give its full path", name, errors.Unwrap(err))
	}
	return path, nil
}
