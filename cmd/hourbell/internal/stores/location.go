// Package stores opens the stores that the program knows, by their URLs: stores of
// jobs and schedules in SQLite, PostgreSQL, MySQL and MariaDB, and stores of locks in
// these, Redis and MongoDB. It is the only package that imports every driver.
// Parsing opens nothing. No message contains a password.
package stores

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/drivers/mysql"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/internal/bound"
	"github.com/hourbell/hourbell/internal/redact"
	"github.com/hourbell/hourbell/store"
)

const remedy = "write sqlite:path/to/file.db, postgres://user@host/database or mysql://user@host/database"

// DefaultSchema is the schema of the tables in PostgreSQL if none is named.
const DefaultSchema = postgres.DefaultSchema

// Location is a parsed store URL.
type Location struct {
	path   string // of a SQLite file, or empty
	url    string // of PostgreSQL; may contain a password
	mysql  string // the URL of MySQL or MariaDB; may contain a password
	schema string // of PostgreSQL; empty: the driver's default
	notify string // of PostgreSQL, for wake-ups; may contain a password; empty: url
	file   string // contains the URL, and is read again for each connection; empty: there is none
}

// maxURL is the greatest size of a file with a URL.
const maxURL = 64 << 10

// ReadURL reads a file that contains the URL of a store. Lines that are empty or begin with # do not
// count. The error never repeats the URL.
func ReadURL(file string) (string, error) {
	bad := func(problem string) error {
		return &check.FieldError{
			Field: "store-file", Value: check.Shorten(file), Problem: problem,
			Remedy: "write the URL of the store into the file, in one line, and let only this user read it",
		}
	}
	f, err := os.Open(filepath.Clean(file))
	if err != nil {
		return "", bad("cannot be read: " + errors.Unwrap(err).Error())
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxURL))
	if err != nil {
		return "", bad("cannot be read: " + err.Error())
	}
	found := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case found != "":
			return "", bad("has more than one line")
		default:
			found = line
		}
	}
	if found == "" {
		return "", bad("has no URL")
	}
	return found, nil
}

// ParseFile is Parse for a URL in a file, which is read again for each connection to a server, so that
// a password may be changed while the store is open.
func ParseFile(file, schema string) (Location, error) {
	text, err := ReadURL(file)
	if err != nil {
		return Location{}, err
	}
	l, err := Parse(text, schema)
	l.file = file
	return l, err
}

// readAgain returns the URL in the file, as the driver of the store reads it.
func (l Location) readAgain() (string, error) {
	fresh, err := ParseFile(l.file, "")
	switch {
	case err != nil:
		return "", err
	case (fresh.url == "") != (l.url == "") || (fresh.mysql == "") != (l.mysql == ""):
		return "", &check.FieldError{
			Field: "store-file", Value: check.Shorten(l.file),
			Problem: "names another kind of store now", Remedy: "start again to use another store",
		}
	}
	return fresh.url + fresh.mysql, nil
}

// Parse reads a store URL. schema is the schema of the tables in PostgreSQL; if
// it is empty, the URL (?schema=NAME) or DefaultSchema decides. The error is a
// *check.FieldError; it never repeats a URL that could contain a password.
func Parse(text, schema string) (Location, error) {
	l, err := parse(text)
	if err != nil || schema == "" {
		return l, err
	}
	if l.url == "" {
		return Location{}, &check.FieldError{Field: "schema", Value: check.Shorten(schema), Problem: "is given for a store that has none", Remedy: "leave it out"}
	}
	l.schema = schema
	return l, checkSchemaName(schema)
}

func parse(text string) (Location, error) {
	scheme, rest, found := strings.Cut(text, ":")
	switch {
	case found && scheme == "sqlite":
		return parseSQLite(rest)
	case found && (scheme == "postgres" || scheme == "postgresql"):
		if !strings.HasPrefix(rest, "//") {
			return Location{}, badStore(scheme+":…", "has no // after "+scheme+":")
		}
		return parsePostgres(text)
	case found && (scheme == "mysql" || scheme == "mariadb"):
		return parseMySQL(text)
	case found && strings.HasPrefix(rest, "//"):
		return Location{}, badStore(scheme+"://…", "is not a store that this release knows")
	case strings.ContainsAny(text, "@=:"):
		return Location{}, badStore("", "is not a store URL")
	}
	return Location{}, badStore(text, "is not a store URL")
}

func badStore(value, problem string) error {
	return &check.FieldError{Field: "store", Value: check.Shorten(value), Problem: problem, Remedy: remedy}
}

// parseSQLite reads the text behind "sqlite:": a path, also as
// ///absolute/path.
func parseSQLite(path string) (Location, error) {
	full := "sqlite:" + path
	if strings.HasPrefix(path, "//") {
		path = strings.TrimPrefix(path, "//")
		if !strings.HasPrefix(path, "/") {
			return Location{}, badStore("sqlite://…", "has a host where a path is expected")
		}
	}
	switch {
	case path == "" || strings.HasSuffix(path, "/"):
		return Location{}, badStore(full, "names no file")
	case strings.HasPrefix(path, ":") || strings.HasPrefix(path, "file:"):
		return Location{}, badStore(full, "is not the path of a file")
	case strings.ContainsAny(path, "?\x00"):
		return Location{}, badStore(full, "has a character that no path of a store may have (? or NUL)")
	}
	return Location{path: path}, nil
}

// parsePostgres removes ?schema=NAME from the URL; everything else is for the
// driver.
func parsePostgres(text string) (Location, error) {
	u, err := url.Parse(text)
	if err != nil { // the error repeats the URL with its password
		return Location{}, badStore("", "is not a PostgreSQL URL (characters like / ? # in a user or password must be written as %2F %3F %23)")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Location{}, badStore("", "has parameters after the ? that cannot be read")
	}
	l := Location{schema: query.Get("schema")}
	if query.Has("schema") {
		if err := checkSchemaName(l.schema); err != nil {
			return Location{}, err
		}
		query.Del("schema")
		u.RawQuery = query.Encode()
	}
	l.url = u.String()
	return l, nil
}

// parseMySQL only looks for a host and a database; everything else is for the driver.
func parseMySQL(text string) (Location, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || len(u.Path) < 2 { // the error repeats the URL with its password
		return Location{}, badStore("", "is not a MySQL URL that names a host and a database (characters like / ? # in a "+
			"user or password must be written as %2F %3F %23)")
	}
	return Location{mysql: text}, nil
}

// WithNotify returns the location with another URL for wake-ups: of a direct connection to the
// same database, where a pooler in transaction mode stands before the store. The error is a
// *check.FieldError that never repeats the URL. Only PostgreSQL needs such a URL.
func (l Location) WithNotify(text string) (Location, error) {
	bad := func(problem string) error {
		return &check.FieldError{Field: "notify-url", Problem: problem, Remedy: "write postgres://user@host/database, the store's database without the pooler"}
	}
	if l.url == "" {
		return l, bad("is given for a store that needs none, such as SQLite")
	}
	given, err := parse(text)
	switch {
	case err != nil:
		return l, bad("is not a PostgreSQL URL")
	case given.url == "":
		return l, bad("is the URL of another kind of store")
	case given.schema != "":
		return l, bad("names a schema, which the store's URL does")
	}
	l.notify = given.url
	return l, nil
}

func checkSchemaName(name string) error {
	if err := check.Name("schema", name); err != nil {
		return err
	}
	if len(name) > 63 || strings.HasPrefix(name, "pg_") {
		return &check.FieldError{
			Field: "schema", Value: check.Shorten(name), Problem: "is not a name that PostgreSQL allows",
			Remedy: "use at most 63 bytes, not beginning with pg_",
		}
	}
	return nil
}

// File returns the path of a SQLite file; empty for other stores.
func (l Location) File() string { return l.path }

// URL returns the URL of PostgreSQL as its driver reads it, with the password;
// empty for other stores.
func (l Location) URL() string { return l.url }

// MySQL returns the URL of MySQL or MariaDB, with the password; empty for other stores.
func (l Location) MySQL() string { return l.mysql }

// String returns the store without its password and parameters.
func (l Location) String() string {
	if l.path != "" {
		return "sqlite:" + l.path
	}
	text := l.url + l.mysql
	u, err := url.Parse(text)
	if err != nil {
		scheme, _, _ := strings.Cut(text, ":")
		return scheme + ":"
	}
	return redact.URL(u)
}

// Backend is the set of methods that the driver of every store of jobs has.
type Backend interface {
	store.Backend
	store.Migrator
	CheckSchema(ctx context.Context) error
	// Examine looks for what keeps nodes from working on the store, or makes them slow; it changes nothing.
	Examine(ctx context.Context) []store.Finding
	// ExamineLimits is the part of Examine about connections that are left and about timeouts; none: all is well.
	ExamineLimits(ctx context.Context) ([]store.Finding, error)
	Close() error
}

// Open opens the store. It migrates the schema if migrate is set; otherwise it
// fails if the schema is behind.
func (l Location) Open(ctx context.Context, migrate bool) (Backend, error) {
	return l.open(ctx, func(ctx context.Context, b Backend) error { return prepare(ctx, b, migrate) })
}

// OpenExisting is Open for a store that has a schema; otherwise the error is ErrNothingHere, and nothing is created.
func (l Location) OpenExisting(ctx context.Context, migrate bool) (Backend, error) {
	return l.open(ctx, func(ctx context.Context, b Backend) error {
		bounded, stop := context.WithTimeout(ctx, bound.Limit)
		defer stop()
		steps, err := b.MigrateStatus(bounded)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(steps, func(s store.MigrationStatus) bool { return s.Applied }) {
			return ErrNothingHere
		}
		return prepare(ctx, b, migrate)
	})
}

// ErrNothingHere means that the store has no schema.
var ErrNothingHere = errors.New("there is no Hourbell in this store; see that --store names the right store, or run " +
	"`hourbell migrate up` or `hourbell serve` first")

func (l Location) open(ctx context.Context, ready func(context.Context, Backend) error) (Backend, error) {
	b, err := l.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := ready(ctx, b); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// prepare migrates the schema, or checks it.
func prepare(ctx context.Context, b Backend, migrate bool) error {
	if migrate {
		_, err := bound.MigrateUp(ctx, b, bound.Limit)
		return err
	}
	bounded, stop := context.WithTimeout(ctx, bound.Limit)
	defer stop()
	return b.CheckSchema(bounded)
}

// Connect opens the store without reading its schema.
func (l Location) Connect(ctx context.Context) (Backend, error) {
	if l.path != "" {
		return sqlite.Open(ctx, l.path)
	}
	if l.mysql != "" {
		if l.file != "" {
			return mysql.Open(ctx, l.mysql, mysql.ReadURL(l.readAgain))
		}
		return mysql.Open(ctx, l.mysql)
	}
	return postgres.Open(ctx, l.url, l.options()...)
}

func (l Location) options() (options []postgres.Option) {
	if l.schema != "" {
		options = append(options, postgres.Schema(l.schema))
	}
	if l.file != "" {
		options = append(options, postgres.ReadURL(l.readAgain))
	}
	if l.notify != "" {
		options = append(options, postgres.ListenURL(l.notify))
	}
	return options
}

// Migrations lists the steps of the schema. No database is needed, except for MySQL and
// MariaDB, where the steps depend on the server.
func (l Location) Migrations(ctx context.Context) ([]store.Migration, error) {
	if l.mysql != "" {
		b, err := mysql.Open(ctx, l.mysql)
		if err != nil {
			return nil, err
		}
		defer b.Close()
		return b.Migrations(), nil
	}
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
