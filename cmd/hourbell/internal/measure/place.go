package measure

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/cmd/hourbell/internal/stores"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/internal/view"
)

// Place is the place of a run: a new schema, a new database or a new file. Its name contains the
// latest end of the run, so that a later run recognises the places of killed runs,
// without a connection that lasts as long as the run.
type Place struct {
	backend  stores.Backend
	store    string      // the store, without its password
	name     string      // of the schema, the database or the file
	settings []view.Fact // settings of the server that determine when a commit returns
	drop     func(ctx context.Context) error
}

const (
	prefix    = "hourbell_bench_"
	cleanTime = 30 * time.Second // for removing the place
	// synchronous is the setting of SQLite that this program uses for its
	// stores.
	synchronous = "FULL"
)

// placeNames matches the places of runs; in SQLite, with the endings of its
// files.
var placeNames = regexp.MustCompile(`^` + prefix + `([0-9]{9,12})_[a-z0-9]{8}(\.db(-wal|-shm|-journal)?)?$`)

// NewName makes the name of a place that is in use until an instant at the
// latest.
func NewName(until time.Time) string {
	return prefix + strconv.FormatInt(until.Unix(), 10) + "_" + strings.ToLower(rand.Text()[:8])
}

// leftBehind returns the names of places that killed runs have left. It reports
// places that may still be in use to note.
func leftBehind(names []string, now time.Time, note func(text string)) (left []string) {
	for _, name := range names {
		m := placeNames.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		seconds, err := strconv.ParseInt(m[1], 10, 64)
		until := time.Unix(seconds, 0)
		switch {
		case err != nil:
		case until.Before(now):
			left = append(left, name)
		case m[2] == "" || m[2] == ".db":
			note(fmt.Sprintf("%s is there: another run is under way, or was killed; a run after %s removes it", name, until.UTC().Format(time.RFC3339)))
		}
	}
	return left
}

// NewPlace removes the places that killed runs have left in a store, and prepares
// a place for a run that lasts no longer than limit. It calls note for places that
// may still be in use.
func NewPlace(ctx context.Context, l stores.Location, limit time.Duration, note func(text string)) (*Place, error) {
	limit += cleanTime
	prepare := newSchema
	switch {
	case l.File() != "":
		prepare = newFile
	case l.MySQL() != "":
		prepare = newDatabase
	}
	place, err := prepare(ctx, l, limit, note)
	if err != nil {
		return nil, err
	}
	place.store = l.String()
	if _, err := place.backend.MigrateUp(ctx); err != nil {
		return nil, errors.Join(err, place.Remove())
	}
	return place, nil
}

// String returns the name of the schema or of the database, or the path of the file.
func (p *Place) String() string { return p.name }

// Describe returns the settings that determine when a commit returns, as text.
func (p *Place) Describe() string {
	words := make([]string, len(p.settings))
	for i, s := range p.settings {
		words[i] = s.Name + " " + s.Value
	}
	return strings.Join(words, ", ")
}

// Remove closes and removes the place, even if a signal ended the run.
func (p *Place) Remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanTime)
	defer cancel()
	return errors.Join(p.backend.Close(), p.drop(ctx))
}

// newFile prepares a file in the directory of the store, so that both are
// on the same disk. The store itself need not exist.
func newFile(ctx context.Context, l stores.Location, limit time.Duration, note func(text string)) (*Place, error) {
	dir := filepath.Dir(l.File())
	path := filepath.Join(dir, NewName(time.Now().Add(limit))+".db")
	b, err := sqlite.Open(ctx, path, sqlite.Synchronous(synchronous))
	if err != nil {
		return nil, err
	}
	if err := removeLeftFiles(dir, note); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return &Place{
		backend: b, name: path,
		settings: []view.Fact{{Name: "database", Value: "SQLite"}, {Name: "journal_mode", Value: "WAL"}, {Name: "synchronous", Value: synchronous}},
		drop: func(context.Context) error {
			var errs []error
			for _, end := range []string{"", "-wal", "-shm", "-journal"} {
				if err := os.Remove(path + end); !errors.Is(err, os.ErrNotExist) {
					errs = append(errs, err)
				}
			}
			return errors.Join(errs...)
		},
	}, nil
}

// removeLeftFiles removes the files of killed runs.
func removeLeftFiles(dir string, note func(text string)) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look for the places of earlier runs: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	var errs []error
	for _, name := range leftBehind(names, time.Now(), note) {
		errs = append(errs, os.Remove(filepath.Join(dir, name)))
	}
	return errors.Join(errs...)
}

// newSchema prepares a schema.
func newSchema(ctx context.Context, l stores.Location, limit time.Duration, note func(text string)) (*Place, error) {
	probe, err := postgres.Open(ctx, l.URL()) // errors of Open contain no password
	if err != nil {
		return nil, err
	}
	probe.Close()
	var place *Place
	err = withAdmin(ctx, l, func(conn *pgx.Conn) error {
		now, err := removeLeftSchemas(ctx, conn, note)
		if err != nil {
			return err
		}
		name := NewName(now.Add(limit))
		place = &Place{name: name, drop: func(ctx context.Context) error {
			return withAdmin(ctx, l, func(conn *pgx.Conn) error {
				_, err := conn.Exec(ctx, "drop schema if exists "+name+" cascade")
				return err
			})
		}}
		if _, err := conn.Exec(ctx, "create schema "+name); err != nil {
			return explain(conn, err)
		}
		place.settings, err = commitSettings(ctx, conn)
		return err
	})
	if err == nil {
		place.backend, err = postgres.Open(ctx, l.URL(), postgres.Schema(place.name))
	}
	if err != nil && place != nil {
		clean, cancel := context.WithTimeout(context.Background(), cleanTime)
		defer cancel()
		err = errors.Join(err, place.drop(clean))
	}
	return place, err
}

// withAdmin gives do a separate connection, in a mode that works through every
// pooler.
func withAdmin(ctx context.Context, l stores.Location, do func(conn *pgx.Conn) error) error {
	config, err := pgxpool.ParseConfig(l.URL())
	if err != nil {
		return errors.New("the store URL is not valid") // the driver has read the URL before
	}
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return do(conn)
}

// removeLeftSchemas removes the schemas of killed runs that the role may
// remove, and returns the time of the database's clock, which decides which
// runs have ended.
func removeLeftSchemas(ctx context.Context, conn *pgx.Conn, note func(text string)) (now time.Time, err error) {
	var names []string
	err = conn.QueryRow(ctx, `select now(), coalesce(array_agg(nspname::text), '{}') from pg_namespace
		where starts_with(nspname::text, $1) and pg_has_role(nspowner, 'usage')`, prefix).Scan(&now, &names)
	if err != nil {
		return now, fmt.Errorf("look for the places of earlier runs: %w", err)
	}
	for _, name := range leftBehind(names, now, note) {
		if _, err := conn.Exec(ctx, "drop schema if exists "+pgx.Identifier{name}.Sanitize()+" cascade"); err != nil {
			return now, fmt.Errorf("remove the schema %s, which an earlier run has left: %w", name, err)
		}
	}
	return now, nil
}

// commitSettings returns the server's version and the settings that determine
// when a commit returns.
func commitSettings(ctx context.Context, conn *pgx.Conn) ([]view.Fact, error) {
	facts := []view.Fact{{Name: "database", Value: "PostgreSQL " + conn.PgConn().ParameterStatus("server_version")}}
	for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes", "synchronous_standby_names"} {
		var value string
		if err := conn.QueryRow(ctx, "select current_setting($1)", name).Scan(&value); err != nil {
			return nil, fmt.Errorf("read the setting %s: %w", name, err)
		}
		if value != "" {
			facts = append(facts, view.Fact{Name: name, Value: value})
		}
	}
	return facts, nil
}

// explain adds the remedy if the role lacks a right.
func explain(conn *pgx.Conn, err error) error {
	var server *pgconn.PgError
	if errors.As(err, &server) && server.Code == "42501" {
		return fmt.Errorf("the role %q may not create a schema; grant it CREATE on database %q, or give --store a role that "+
			"may: %w", conn.Config().User, conn.Config().Database, err)
	}
	return err
}
