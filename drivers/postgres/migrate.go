package postgres

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

const looking = "begin isolation level read committed read only"

// Migrations returns all steps; see store.Migrator. Run one after the other in
// a transaction each, they do what MigrateUp does.
func (b *Backend) Migrations() []store.Migration {
	steps := slices.Clone(b.steps)
	steps[0].SQL = "CREATE SCHEMA IF NOT EXISTS " + pgx.Identifier{b.schema}.Sanitize() + ";\n\n" + steps[0].SQL
	return steps
}

// MigrateStatus reads where the schema is; see store.Migrator.
func (b *Backend) MigrateStatus(ctx context.Context) ([]store.MigrationStatus, error) {
	have, err := b.appliedSteps(ctx)
	if err != nil {
		return nil, err
	}
	var out []store.MigrationStatus
	for _, step := range b.Migrations() {
		applied := slices.ContainsFunc(have, func(one store.Migration) bool { return one.Version == step.Version })
		out = append(out, store.MigrationStatus{Migration: step, Applied: applied})
	}
	return out, nil
}

// CheckSchema checks that the schema in the database matches this release; the
// error wraps store.ErrSchema. It only needs the right to read.
func (b *Backend) CheckSchema(ctx context.Context) error {
	have, err := b.appliedSteps(ctx)
	if err != nil {
		return err
	}
	if err := store.CheckSchema(store.Newest(have), len(b.steps)); err != nil {
		return fmt.Errorf("check schema %q: %w", b.schema, err)
	}
	return nil
}

// appliedSteps reads the versions and names of the steps that the database has.
func (b *Backend) appliedSteps(ctx context.Context) ([]store.Migration, error) {
	return rowwise.InTx(b.transact(ctx, programConns, "read the state of the schema", looking), func(tx pgx.Tx) (have []store.Migration, err error) {
		if have, err = b.readSteps(ctx, tx); err != nil || len(have) == 0 {
			return have, err
		}
		if err := b.checkUndistributed(ctx, tx); err != nil {
			return have, fmt.Errorf("schema %q: %w", b.schema, err)
		}
		return have, nil
	})
}

// readSteps reads the versions and names of the applied steps. Steps that are no steps
// of this release or of a later release are an error. It asks the catalogs by a query,
// because to_regclass may answer from a cache that has not heard yet what another
// process committed.
func (b *Backend) readSteps(ctx context.Context, tx pgx.Tx) ([]store.Migration, error) {
	const exists = `select exists (select from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
		where n.nspname = $1::text and c.relname = 'migration')`
	var there bool
	if err := tx.QueryRow(ctx, exists, b.schema).Scan(&there); err != nil || !there {
		return nil, err
	}
	have, err := collect(ctx, tx, func(r pgx.CollectableRow) (step store.Migration, err error) {
		err = r.Scan(&step.Version, &step.Name)
		return step, err
	}, "select version, name from "+pgx.Identifier{b.schema, "migration"}.Sanitize()+" order by version")
	if err != nil {
		return nil, err
	}
	schema := pgx.Identifier{b.schema}.Sanitize()
	if err := store.CheckSteps(have, b.steps, "drop the schema (DROP SCHEMA "+schema+" CASCADE)"); err != nil {
		return nil, fmt.Errorf("schema %q: %w", b.schema, err)
	}
	return have, nil
}

// MigrateUp applies what is missing; see store.Migrator. Where nothing is
// missing it only reads, so that it needs no rights to change the schema.
func (b *Backend) MigrateUp(ctx context.Context) ([]store.Migration, error) {
	have, err := b.appliedSteps(ctx)
	if err != nil {
		return nil, err
	}
	if newest := store.Newest(have); newest > len(b.steps) { // perhaps too new for this release
		if err := store.CheckSchema(newest, len(b.steps)); err != nil {
			return nil, fmt.Errorf("migrate schema %q: %w", b.schema, err)
		}
	}
	var applied []store.Migration
	for _, step := range b.steps {
		if step.Version <= store.Newest(have) {
			continue
		}
		did, err := b.migrate(ctx, step)
		if err != nil {
			return applied, err
		}
		if did {
			applied = append(applied, b.Migrations()[step.Version-1])
		}
	}
	return applied, nil
}

// migrate applies one step and reports true, unless another process has applied
// it concurrently. The lock, which ends with the transaction, lets one process
// work at a time.
func (b *Backend) migrate(ctx context.Context, step store.Migration) (did bool, err error) {
	what := fmt.Sprintf("migrate schema %q to step %d (%s)", b.schema, step.Version, step.Name)
	did, err = rowwise.InTx(b.transact(ctx, programConns, what, writing), func(tx pgx.Tx) (did bool, err error) {
		if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock(hashtextextended($1::text, 0))", "hourbell migrate "+b.schema); err != nil {
			return did, err
		}
		have, err := b.readSteps(ctx, tx)
		if err != nil || step.Version <= store.Newest(have) {
			return did, err
		}
		if err := b.createSchema(ctx, tx); err != nil {
			return did, err
		}
		did = true
		_, err = tx.Exec(ctx, step.SQL)
		return did, err
	})
	return did && err == nil, err
}

// createSchema makes the schema if it is missing. CREATE SCHEMA IF NOT EXISTS
// would ask for the right to create one even where it is there.
func (b *Backend) createSchema(ctx context.Context, tx pgx.Tx) error {
	var there bool
	var encoding string
	err := tx.QueryRow(ctx, "select exists (select from pg_catalog.pg_namespace where nspname = $1::text), "+
		"current_setting('server_encoding')", b.schema).Scan(&there, &encoding)
	if err != nil {
		return err
	}
	if encoding != "UTF8" {
		return fmt.Errorf("the database's encoding is %s; use a database with encoding UTF8", encoding)
	}
	if there {
		return nil
	}
	_, err = tx.Exec(ctx, "CREATE SCHEMA "+pgx.Identifier{b.schema}.Sanitize())
	return err
}

// withSchema fills in the words in braces.
func withSchema(text, schema string) string {
	for word, is := range schemaWords(schema) {
		text = strings.ReplaceAll(text, "{"+word+"}", is)
	}
	return text
}

// readMigrations reads the migrations. Each ends by noting that it was applied.
func readMigrations(schema string) []store.Migration {
	steps, err := store.ReadMigrations(migrationFiles, "migrations")
	if err != nil {
		panic(err)
	}
	for i := range steps {
		note := fmt.Sprintf("\nINSERT INTO {schema}.migration (version, name) VALUES (%d, '%s');\n", steps[i].Version, steps[i].Name)
		steps[i].SQL = withSchema(steps[i].SQL+note, schema)
	}
	return steps
}
