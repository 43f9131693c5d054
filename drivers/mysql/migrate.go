package mysql

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"strings"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

//go:embed migrations/*.sql
var migrations embed.FS

// readSteps reads the steps of the schema, completed for a server.
func readSteps(s server) ([]store.Migration, error) {
	steps, err := store.ReadMigrations(migrations, "migrations")
	for i := range steps {
		steps[i].SQL = strings.ReplaceAll(steps[i].SQL, "{table}", s.tableOptions())
	}
	return steps, err
}

// statementsOf splits a step into its statements. Each ends in ";" at the end of a line.
func statementsOf(step string) (all []string) {
	var code strings.Builder
	for line := range strings.Lines(step) {
		line, _, _ = strings.Cut(line, "--")
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		last := strings.HasSuffix(line, ";")
		code.WriteString(strings.TrimSuffix(line, ";") + "\n")
		if last {
			all = append(all, code.String())
			code.Reset()
		}
	}
	return all
}

// migrateWait is how long a migration waits for a migration of another process, in seconds.
const migrateWait = 60

// MigrateUp applies what is missing; see store.Migrator. The server commits each statement of a step by
// itself: after an interruption the next call begins the step again, and its statements do nothing
// where they were done. A schema of a newer release is left alone, and one too new
// answers store.ErrSchema, as tables without transactions do. In a Galera cluster, where the lock that processes wait for
// is a lock of each server, one process should migrate.
func (b *Backend) MigrateUp(ctx context.Context) ([]store.Migration, error) {
	const doing = "migrate the MySQL schema"
	conn, err := b.db.Conn(ctx)
	if err != nil {
		return nil, b.explain(ctx, doing, err)
	}
	defer conn.Close()
	if err := b.checkTables(ctx, conn); err != nil {
		return nil, b.explain(ctx, doing, err)
	}
	if have, err := b.version(ctx, conn); err != nil || have >= len(b.Steps) {
		if err == nil {
			err = store.CheckSchema(have, len(b.Steps))
		}
		return nil, b.explain(ctx, doing, err)
	}
	name := lockName(b.database)
	var got sql.NullInt64
	if err := conn.QueryRowContext(ctx, fmt.Sprintf("SELECT GET_LOCK(%s, %d)", name, migrateWait)).Scan(&got); err != nil {
		return nil, b.explain(ctx, doing, err)
	}
	if got.Int64 != 1 {
		return nil, fmt.Errorf("%s: another process has been migrating for %d s; see what it does, then try again", doing, migrateWait)
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "DO RELEASE_LOCK("+name+")") }() // else the end of the connection releases the lock
	applied, err := b.migrate(ctx, conn)
	return applied, b.explain(ctx, doing, err)
}

// lockName is a literal: the name of the lock of a database's migration, which has at most 64 characters.
func lockName(database string) string {
	return fmt.Sprintf("CONCAT('hourbell ', LEFT(SHA2(%s, 256), 40))", appendText(nil, database))
}

// migrate applies the missing steps.
func (b *Backend) migrate(ctx context.Context, conn *sql.Conn) (applied []store.Migration, err error) {
	have, err := b.version(ctx, conn) // again, because another process may have migrated
	if err != nil {
		return nil, err
	}
	//nolint:gosec // the options are constants
	table := "CREATE TABLE IF NOT EXISTS hourbell_schema_version (version INT NOT NULL PRIMARY KEY, name VARCHAR(200) NOT " +
		"NULL, applied_at DATETIME(6) NOT NULL) " + b.server.tableOptions()
	if _, err := conn.ExecContext(ctx, table); err != nil {
		return nil, err
	}
	for _, step := range b.Steps[min(have, len(b.Steps)):] {
		for _, text := range statementsOf(step.SQL) {
			if _, err := conn.ExecContext(ctx, text); err != nil && !doneBefore(err) {
				return applied, fmt.Errorf("step %d (%s): %w", step.Version, step.Name, err)
			}
		}
		//nolint:gosec // the values are a number and a literal
		enter := fmt.Sprintf("INSERT IGNORE INTO hourbell_schema_version (version, name, applied_at) VALUES (%d, %s, "+
			"UTC_TIMESTAMP(6))", step.Version, appendText(nil, step.Name))
		if _, err := conn.ExecContext(ctx, enter); err != nil {
			return applied, fmt.Errorf("step %d (%s): %w", step.Version, step.Name, err)
		}
		applied = append(applied, step)
	}
	return applied, nil
}

// doneBefore reports whether the error of a statement of a step means that the statement was done before the step was
// interrupted. MySQL has no IF NOT EXISTS for columns and indexes, so each of them is added or dropped by a statement of its own,
// unless the statement may be repeated.
func doneBefore(err error) bool {
	switch numberOf(err) {
	case errColumnExists, errIndexExists, errNothingToDrop:
		return true
	}
	return false
}

// version reads the newest step that the database has; 0 where there is no schema.
// Steps that are no steps of this release or of a later release are an error.
func (b *Backend) version(ctx context.Context, q sqlrows.Querier) (int, error) {
	have, err := sqlrows.ReadVersion(ctx, q, b.Steps, "drop the tables whose names begin with hourbell_")
	if numberOf(err) == errNoTable {
		return 0, nil
	}
	return have, err
}

// newestStep is Version of sqlrows.Calls.
func (b *Backend) newestStep(ctx context.Context, doing string) (int, error) {
	have, err := b.version(ctx, b.db)
	return have, b.explain(ctx, doing, err)
}

// CheckSchema checks that this release can use the schema, and that all tables have transactions; its error wraps
// store.ErrSchema. It only reads.
func (b *Backend) CheckSchema(ctx context.Context) error {
	if err := b.calls.CheckSchema(ctx); err != nil {
		return err
	}
	return b.explain(ctx, "check the schema", b.checkTables(ctx, b.db))
}

// checkTables returns an error if there are tables without transactions.
func (b *Backend) checkTables(ctx context.Context, q sqlrows.Querier) error {
	wrong, err := b.wrongTables(ctx, q)
	if err != nil || wrong.found == "" {
		return err
	}
	return fmt.Errorf("%w: %s, so that work would be lost and done twice; run %s", store.ErrSchema, wrong.found, wrong.remedy)
}

// wrongTables are the tables of Hourbell that have no transactions: what was found, and the remedy. Both are empty if
// there are none.
type wrongTables struct{ found, remedy string }

// wrongTables looks for tables without transactions.
func (b *Backend) wrongTables(ctx context.Context, q sqlrows.Querier) (wrongTables, error) {
	text, err := b.texts[findWrongTables].complete(findWrongTables, nil)
	if err != nil {
		return wrongTables{}, err
	}
	var names, remedies []string
	rows, err := q.QueryContext(ctx, text) //nolint:rowserrcheck // EachRow returns rows.Err
	err = sqlrows.EachRow(rows, err, func(r row) error {
		var name, engine string
		err := r.Scan(&name, &engine)
		names, remedies = append(names, name+" ("+engine+")"), append(remedies, "ALTER TABLE "+quoted(name)+" ENGINE = InnoDB")
		return err
	})
	if err != nil || len(names) == 0 {
		return wrongTables{}, err
	}
	return wrongTables{
		found:  "there are tables without transactions: " + strings.Join(names, ", "),
		remedy: strings.Join(remedies, "; "),
	}, nil
}
