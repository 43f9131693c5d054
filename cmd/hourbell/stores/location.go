package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/internal/bound"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

const (
	storeVariable = "HOURBELL_STORE"
	defaultStore  = "sqlite:hourbell.db"
	storeRemedy   = "write sqlite:path/to/file.db or postgres://user@host/database"
)

// storeFlags are the flags of every command that opens a store.
type storeFlags struct {
	url       string
	schema    string
	noMigrate bool
}

// addTo adds the flags to a command and all commands below it.
func (f *storeFlags) addTo(c *cobra.Command) {
	flags := c.PersistentFlags()
	flags.Var((*givenText)(&f.url), "store", "where jobs and schedules are kept: sqlite:path/to/file.db or postgres://… (default $"+storeVariable+", else "+defaultStore+")")
	flags.Var((*givenText)(&f.schema), "schema", "the database schema of the tables in PostgreSQL (default \""+postgres.DefaultSchema+"\")")
	flags.BoolVar(&f.noMigrate, "no-migrate", false, "leave the database schema as it is, and fail if it is behind")
}

// givenText is a text flag whose value must not be empty. In scripts an empty
// value comes from a variable that is not set; with the default instead, the
// command would work on another store.
type givenText string

func (g *givenText) String() string { return string(*g) }
func (g *givenText) Type() string   { return "string" }

func (g *givenText) Set(value string) error {
	if value == "" {
		return errEmptyText
	}
	*g = givenText(value)
	return nil
}

var errEmptyText = errors.New("is empty")

// location is a parsed store URL.
type location struct {
	path   string // of a SQLite file, or empty
	url    string // of PostgreSQL; may contain a password
	schema string // of PostgreSQL; empty: the driver's default
}

// locate reads the flags and the environment. It opens nothing.
func (p *program) locate(f storeFlags) (location, error) {
	text := f.url
	if text == "" {
		text = p.getenv(storeVariable)
	}
	if text == "" {
		text = defaultStore
	}
	l, err := parseStore(text)
	if err != nil {
		return location{}, err
	}
	if f.schema == "" {
		return l, nil
	}
	if l.path != "" {
		return location{}, &check.FieldError{Field: "schema", Value: plain.Shorten(f.schema), Problem: "is given for a SQLite file, which has none", Remedy: "leave it out"}
	}
	l.schema = f.schema
	return l, checkSchemaName(l.schema)
}

// parseStore reads a store URL. Its messages never repeat a URL that could
// contain a password.
func parseStore(text string) (location, error) {
	scheme, rest, found := strings.Cut(text, ":")
	switch {
	case found && scheme == "sqlite":
		return parseSQLite(rest)
	case found && (scheme == "postgres" || scheme == "postgresql"):
		if !strings.HasPrefix(rest, "//") {
			return location{}, badStore(scheme+":…", "has no // after "+scheme+":")
		}
		return parsePostgres(text)
	case found && strings.HasPrefix(rest, "//"):
		return location{}, badStore(scheme+"://…", "is not a store that this release knows")
	case strings.ContainsAny(text, "@=:"):
		return location{}, badStore("", "is not a store URL")
	}
	return location{}, badStore(text, "is not a store URL")
}

func badStore(value, problem string) error {
	return &check.FieldError{Field: "store", Value: plain.Shorten(value), Problem: problem, Remedy: storeRemedy}
}

// parseSQLite reads the text behind "sqlite:": a path, also as
// ///absolute/path.
func parseSQLite(path string) (location, error) {
	full := "sqlite:" + path
	if strings.HasPrefix(path, "//") {
		path = strings.TrimPrefix(path, "//")
		if !strings.HasPrefix(path, "/") {
			return location{}, badStore("sqlite://…", "has a host where a path is expected")
		}
	}
	switch {
	case path == "" || strings.HasSuffix(path, "/"):
		return location{}, badStore(full, "names no file")
	case strings.HasPrefix(path, ":") || strings.HasPrefix(path, "file:"):
		return location{}, badStore(full, "is not the path of a file")
	case strings.ContainsAny(path, "?\x00"):
		return location{}, badStore(full, "has a character that no path of a store may have (? or NUL)")
	}
	return location{path: path}, nil
}

// parsePostgres removes ?schema=NAME from the URL; everything else is for the
// driver.
func parsePostgres(text string) (location, error) {
	u, err := url.Parse(text)
	if err != nil { // the error repeats the URL with its password
		return location{}, badStore("", "is not a PostgreSQL URL (characters like / ? # in a user or password must be written as %2F %3F %23)")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return location{}, badStore("", "has parameters after the ? that cannot be read")
	}
	l := location{schema: query.Get("schema")}
	if query.Has("schema") {
		if err := checkSchemaName(l.schema); err != nil {
			return location{}, err
		}
		query.Del("schema")
		u.RawQuery = query.Encode()
	}
	l.url = u.String()
	return l, nil
}

func checkSchemaName(name string) error {
	if err := check.Name("schema", name); err != nil {
		return err
	}
	if len(name) > 63 || strings.HasPrefix(name, "pg_") {
		return &check.FieldError{Field: "schema", Value: plain.Shorten(name), Problem: "is not a name that PostgreSQL allows", Remedy: "use at most 63 bytes, not beginning with pg_"}
	}
	return nil
}

// String returns the store without its password and parameters.
func (l location) String() string {
	if l.path != "" {
		return "sqlite:" + l.path
	}
	u, err := url.Parse(l.url)
	if err != nil {
		return "postgres:"
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.User != nil {
		shown.User = url.User(u.User.Username())
	}
	return shown.String()
}

// backend is the set of methods that every driver of this program has.
type backend interface {
	store.Backend
	store.Migrator
	CheckSchema(ctx context.Context) error
	Close() error
}

// connect opens the store without reading its schema.
func (l location) connect(ctx context.Context) (backend, error) {
	if l.path != "" {
		return sqlite.Open(ctx, l.path)
	}
	return postgres.Open(ctx, l.url, l.options()...)
}

func (l location) options() []postgres.Option {
	if l.schema == "" {
		return nil
	}
	return []postgres.Option{postgres.Schema(l.schema)}
}

// migrations lists the steps of the schema without a database.
func (l location) migrations(ctx context.Context) ([]store.Migration, error) {
	if l.path == "" {
		return postgres.New(nil, l.options()...).Migrations(), nil
	}
	// Opening a file that does not exist does not create it.
	b, err := sqlite.Open(ctx, filepath.Join(os.TempDir(), "hourbell-"+rand.Text()+".db"))
	if err != nil {
		return nil, err
	}
	defer b.Close()
	return b.Migrations(), nil
}

// openBackend opens the store and migrates its schema if necessary.
func (f storeFlags) openBackend(ctx context.Context, l location) (backend, error) {
	b, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}
	if f.noMigrate {
		check, stop := context.WithTimeout(ctx, bound.Limit)
		defer stop()
		err = b.CheckSchema(check)
	} else {
		_, err = bound.New(b, bound.Limit).MigrateUp(ctx)
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// withClient opens the store while one command runs.
func (p *program) withClient(ctx context.Context, f storeFlags, use func(*hourbell.Client) error) error {
	l, err := p.locate(f)
	if err != nil {
		return err
	}
	b, err := f.openBackend(ctx, l)
	if err != nil {
		return fmt.Errorf("open the store %s: %w", l, err)
	}
	defer b.Close()
	client, err := hourbell.New(b, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	return use(client)
}
