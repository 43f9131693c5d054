package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

//go:embed migrations/*.sql
var migrations embed.FS

// MigrateUp applies what is missing; see store.Migrator. It creates the file if
// it is missing and puts it into WAL mode. Where nothing is missing it writes
// nothing. A schema of a newer release is left alone; if this release cannot use that
// schema, the error is store.ErrSchema.
func (b *Backend) MigrateUp(ctx context.Context) ([]store.Migration, error) {
	doing := fmt.Sprintf("migrate SQLite file %q", b.path)
	if err := b.createFile(); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	var conn *sql.Conn
	err := patiently(ctx, func() (err error) { // a new connection sets pragmas, for which SQLite does not always wait
		conn, err = b.writer.Conn(ctx)
		return err
	})
	if err != nil {
		return nil, b.explain(ctx, doing, err)
	}
	defer conn.Close()
	if err := patiently(ctx, func() error { _, err := b.version(ctx, conn); return err }); err != nil {
		return nil, b.explain(ctx, doing, err) // before the journal mode is changed
	}
	if err := enterWAL(ctx, conn); err != nil {
		return nil, b.explain(ctx, doing, err)
	}
	var applied []store.Migration
	for {
		step, err := b.migrateOnce(ctx, conn)
		if err != nil {
			return applied, b.explain(ctx, doing, err)
		}
		if step == nil {
			return applied, nil
		}
		applied = append(applied, *step)
	}
}

// createFile creates an empty file, readable by its owner alone, where there is
// none. SQLite gives the files beside it the same rights.
func (b *Backend) createFile() error {
	file, err := os.OpenFile(b.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: choose a folder that this user may write to", err)
	}
	return file.Close()
}

// enterWAL puts the file into WAL mode, where it stays. SQLite does not always
// wait by itself for others who do the same at this moment.
func enterWAL(ctx context.Context, conn *sql.Conn) error {
	return patiently(ctx, func() error {
		mode, err := pragma(ctx, conn, "journal_mode = wal")
		if err == nil && mode != "wal" {
			return fmt.Errorf("the file cannot be put into WAL mode, it stays in mode %s; put it on a local disk", mode)
		}
		return err
	})
}

// migrateOnce applies the next step in a transaction of its own and returns it;
// nil if there is none. The write lock lets one of several processes work.
func (b *Backend) migrateOnce(ctx context.Context, conn *sql.Conn) (step *store.Migration, err error) {
	if step, err = b.nextStep(ctx, conn); step == nil || err != nil {
		return nil, err
	}
	if err := patiently(ctx, func() error { _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); return err }); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil || step == nil {
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // the answer to an error already in hand
		}
	}()
	if step, err = b.nextStep(ctx, conn); step == nil || err != nil {
		return nil, err
	}
	if err := b.applyStep(ctx, conn, *step); err != nil {
		return nil, fmt.Errorf("step %d (%s): %w", step.Version, step.Name, err)
	}
	_, err = conn.ExecContext(context.WithoutCancel(ctx), "COMMIT")
	return step, err
}

// nextStep returns the first step that the database does not have, or nil.
func (b *Backend) nextStep(ctx context.Context, conn *sql.Conn) (*store.Migration, error) {
	var have int
	err := patiently(ctx, func() (err error) {
		have, err = b.version(ctx, conn)
		return err
	})
	if err != nil {
		return nil, err
	}
	if have >= len(b.Steps) {
		return nil, store.CheckSchema(have, len(b.Steps))
	}
	return &b.Steps[have], nil
}

// applyStep runs a step and enters it into the books.
func (b *Backend) applyStep(ctx context.Context, conn *sql.Conn, step store.Migration) error {
	const table = "CREATE TABLE IF NOT EXISTS hourbell_schema_version (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT"
	for _, text := range []string{table, step.SQL} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	var now int64
	if err := conn.QueryRowContext(ctx, b.texts[sqlrows.ReadClock].SQL).Scan(&now); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, "INSERT INTO hourbell_schema_version (version, name, applied_at) VALUES (?, ?, ?)", step.Version, step.Name, now)
	return err
}

// version reads the newest step that the database has; 0 where there is no schema.
// Steps that are no steps of this release or of a later release are an error.
func (b *Backend) version(ctx context.Context, q querier) (int, error) {
	have, err := sqlrows.ReadVersion(ctx, q, b.Steps, "drop the tables whose names begin with hourbell_, or remove the file with its -wal and -shm files")
	if err != nil && strings.Contains(err.Error(), "no such table: hourbell_schema_version") {
		return 0, nil
	}
	return have, err
}

// newestStep is Version of sqlrows.Calls; 0 also for a file that does not exist, which is not created.
func (b *Backend) newestStep(ctx context.Context, doing string) (int, error) {
	if _, err := os.Stat(b.path); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	have, err := b.version(ctx, b.reader)
	return have, b.explain(ctx, doing, err)
}

// CheckSchema checks that this release can use the schema in the file, and that
// the file is in WAL mode; its error wraps store.ErrSchema. It only reads.
func (b *Backend) CheckSchema(ctx context.Context) error {
	if err := b.calls.CheckSchema(ctx); err != nil {
		return err
	}
	const doing = "check the schema"
	mode, err := pragma(ctx, b.reader, "journal_mode")
	if err != nil {
		return b.explain(ctx, doing, err)
	}
	if mode != "wal" {
		return fmt.Errorf("%s: %w: the file is in journal mode %s, not wal; run `hourbell migrate up`", doing, store.ErrSchema, mode)
	}
	return nil
}
