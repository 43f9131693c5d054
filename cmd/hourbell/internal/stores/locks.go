package stores

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/drivers/mysql"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/internal/redact"
	"github.com/hourbell/hourbell/lock"
)

// LockRemedy describes how the URL of a store of locks is written.
const LockRemedy = "write postgres://user@host/database, mysql://user@host/database, redis://host:6379, mongodb://host/database or sqlite:path/to/file.db"

// Locks is the set of methods that the locks of every driver have.
type Locks interface {
	lock.Provider
	lock.Inspector
	Close() error
}

// LockSpec describes a store of locks as a user writes it. Every field but URL may
// be empty.
type LockSpec struct {
	URL         string
	File        string // contains the URL, if it is not empty
	Schema      string // of PostgreSQL
	Table       string // another table or collection, which another program owns
	Environment string // of Redis: the middle part of the keys
}

// LockLocation is a parsed LockSpec.
type LockLocation struct {
	jobs        Location // SQLite or PostgreSQL; not used for other stores
	other       string   // the URL of another store; may contain a password
	table       string
	environment string
}

// ParseLocks reads a LockSpec. The error is a *check.FieldError; it never
// repeats a URL that could contain a password.
func ParseLocks(spec LockSpec) (LockLocation, error) {
	l := LockLocation{table: spec.Table, environment: spec.Environment}
	if spec.File != "" {
		var err error
		if spec.URL, err = ReadURL(spec.File); err != nil {
			return LockLocation{}, err
		}
	}
	scheme, _, _ := strings.Cut(spec.URL, ":")
	switch scheme {
	case "mysql", "mariadb", "redis", "rediss", "mongodb", "mongodb+srv":
		if u, err := url.Parse(spec.URL); (err != nil || u.Host == "") && !strings.HasPrefix(scheme, "mongodb") { // a MongoDB URL may name several hosts
			return LockLocation{}, &check.FieldError{
				Field: "store", Value: scheme + ":…",
				Problem: "is not a URL that names a host (characters like / ? # in a user or password must be written as %2F %3F " +
					"%23)", Remedy: LockRemedy,
			}
		}
		l.other = spec.URL
	default:
		var err error
		if l.jobs, err = Parse(spec.URL, spec.Schema); err != nil {
			return LockLocation{}, lockError(err)
		}
		l.jobs.file = spec.File
	}
	return l, l.check(spec, scheme)
}

// lockError adds the remedy for locks, which have more stores than jobs.
func lockError(err error) error {
	var field *check.FieldError
	if errors.As(err, &field) && field.Remedy == remedy {
		better := *field
		better.Remedy = LockRemedy
		return &better
	}
	return err
}

// check refuses parts of a spec that do not apply to the store.
func (l LockLocation) check(spec LockSpec, scheme string) error {
	redis := scheme == "redis" || scheme == "rediss"
	switch {
	case spec.Schema != "" && l.other != "":
		return &check.FieldError{Field: "schema", Value: check.Shorten(spec.Schema), Problem: "is given for a store that has none", Remedy: "leave it out"}
	case spec.Environment != "" && !redis:
		return &check.FieldError{
			Field: "environment", Value: check.Shorten(spec.Environment),
			Problem: "is given for a store that has none", Remedy: "leave it out, or name a table with --table",
		}
	case spec.Table != "" && redis:
		return &check.FieldError{
			Field: "table", Value: check.Shorten(spec.Table),
			Problem: "is given for Redis, which has none", Remedy: "leave it out; --environment is part of its keys",
		}
	}
	return nil
}

// String returns the store without its password and parameters.
func (l LockLocation) String() string {
	if l.other == "" {
		return l.jobs.String()
	}
	u, err := url.Parse(l.other)
	if err != nil {
		scheme, _, _ := strings.Cut(l.other, ":")
		return scheme + ":"
	}
	return redact.URL(u)
}

// Open opens the store. With create it creates missing tables, unless another
// program owns them.
func (l LockLocation) Open(ctx context.Context, create bool) (Locks, error) {
	locks, createTables, err := l.Connect(ctx)
	if err != nil || createTables == nil || !create || l.table != "" {
		return locks, err
	}
	if err := createTables(ctx); err != nil {
		return nil, errors.Join(err, locks.Close())
	}
	return locks, nil
}

// LocksIn returns how the locks in an open store of jobs are listed and freed; nil: the store
// has no locks. If their tables are missing, the error of a call is store.ErrSchema.
func LocksIn(b Backend) lock.Inspector {
	switch b := b.(type) {
	case *sqlite.Backend:
		return b.Locks()
	case *postgres.Backend:
		return b.Locks()
	case *mysql.Backend:
		return b.Locks()
	}
	return nil
}

// closing is a provider together with its connection.
type closing struct {
	lock.Provider
	lock.Inspector
	close func() error
}

func (c closing) Close() error { return c.close() }

// Connect opens the store and returns the function that creates its tables; nil if
// the store has none to create.
func (l LockLocation) Connect(ctx context.Context) (Locks, func(context.Context) error, error) {
	scheme, _, _ := strings.Cut(l.other, ":")
	switch {
	case l.jobs.path != "":
		b, err := sqlite.Open(ctx, l.jobs.path)
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
		b, err := postgres.Open(ctx, l.jobs.url, l.jobs.options()...)
		if err != nil {
			return nil, nil, err
		}
		locks := b.Locks(tableOption(l.table, postgres.Table)...)
		// The jobs' tables are not created: a role that may only use locks does
		// not need them.
		return closing{locks, locks, b.Close}, locks.CreateTables, nil
	case strings.HasPrefix(scheme, "redis"):
		locks, err := l.openRedis(ctx)
		return locks, nil, err
	case strings.HasPrefix(scheme, "mongodb"):
		locks, err := l.openMongoDB(ctx)
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
