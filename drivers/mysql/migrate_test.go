package mysql

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/hourbell/hourbell/store"
)

// TestMigrationGoesOn interrupts a migration after each of its statements, as a kill of the process does,
// and begins it again. The migration has one step more than this release, which changes a table, as the next release will;
// this release accepts it.
func TestMigrationGoesOn(t *testing.T) {
	url, db := newDatabase(t, "")
	b, before := openStore(t, url), openStore(t, url)
	b.Steps = append(b.Migrations(), store.Migration{Version: len(b.Steps) + 1, Name: "more", SQL: `
		ALTER TABLE hourbell_job ADD COLUMN more BIGINT;
		ALTER TABLE hourbell_job ADD KEY hourbell_job_more (more);
		ALTER TABLE hourbell_audit DROP KEY hourbell_audit_actor;
		ALTER TABLE hourbell_audit DROP COLUMN source;`})
	var texts []string
	for _, step := range b.Steps {
		texts = append(texts, statementsOf(step.SQL)...)
	}
	for _, text := range texts {
		if _, err := db.ExecContext(t.Context(), text); !doneBefore(err) {
			must(t, err)
		}
		if status, err := b.MigrateStatus(t.Context()); err != nil || status[0].Applied {
			t.Fatalf("an interrupted step counts as applied, %v", err)
		}
		if err := b.CheckSchema(t.Context()); !errors.Is(err, store.ErrSchema) {
			t.Fatalf("an interrupted step: %v", err)
		}
		if strings.HasPrefix(text, "CREATE TABLE IF NOT EXISTS hourbell_timeline") || strings.HasPrefix(text, "INSERT") {
			_, err := b.MigrateUp(t.Context()) // to the end; then its book is taken away
			must(t, err)
			_, err = db.ExecContext(t.Context(), "DROP TABLE hourbell_schema_version")
			must(t, err)
		}
	}
	applied, err := b.MigrateUp(t.Context())
	must(t, err)
	if len(applied) != len(b.Steps) {
		t.Errorf("the migration applied %d steps", len(applied))
	}
	var counters, timelines int
	must(t, db.QueryRowContext(t.Context(), "SELECT (SELECT COUNT(*) FROM hourbell_counter), (SELECT COUNT(*) FROM hourbell_timeline)").Scan(&counters, &timelines))
	if counters != 7 || timelines != 1 {
		t.Errorf("%d counters and %d rows of the timeline", counters, timelines)
	}
	must(t, b.CheckSchema(t.Context()))
	must(t, before.CheckSchema(t.Context()))
}

// TestMigrationsWait migrates by several processes concurrently: one of them applies the steps.
func TestMigrationsWait(t *testing.T) {
	url, _ := newDatabase(t, "")
	var mu sync.Mutex
	var all int
	var group sync.WaitGroup
	for range 3 {
		b := openStore(t, url)
		group.Go(func() {
			applied, err := b.MigrateUp(context.WithoutCancel(t.Context()))
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			all += len(applied)
		})
	}
	group.Wait()
	if want := len(openStore(t, url).Steps); all != want {
		t.Errorf("%d steps were applied, want %d", all, want)
	}
}

// TestStepsBeforeTheFirstRelease refuses a database of steps that were replaced, and leaves it as it is.
func TestStepsBeforeTheFirstRelease(t *testing.T) {
	url, db := newDatabase(t, "")
	b := openStore(t, url)
	exec := func(text string, args ...any) {
		t.Helper()
		_, err := db.ExecContext(t.Context(), text, args...)
		must(t, err)
	}
	content := func() (columns, steps string) {
		t.Helper()
		must(t, db.QueryRowContext(t.Context(), `SELECT
			(SELECT GROUP_CONCAT(CONCAT_WS(' ', table_name, column_name, column_type) ORDER BY table_name, column_name) FROM information_schema.columns
				WHERE table_schema = DATABASE()),
			(SELECT GROUP_CONCAT(CONCAT_WS(' ', version, name, applied_at) ORDER BY version) FROM hourbell_schema_version)`).Scan(&columns, &steps))
		return columns, steps
	}
	exec("CREATE TABLE hourbell_schema_version (version INT NOT NULL PRIMARY KEY, name VARCHAR(200) NOT NULL, applied_at DATETIME(6) NOT NULL)")
	exec("CREATE TABLE hourbell_job (id BIGINT NOT NULL PRIMARY KEY)")
	for i, name := range []string{"schema", "unique_kind", "narrow_claims", "usual_jobs", "rare_jobs", "heartbeats", "stuck", "zones", "problems"} {
		exec("INSERT INTO hourbell_schema_version VALUES (?, ?, UTC_TIMESTAMP(6))", i+1, name)
		columns, steps := content()
		_, up := b.MigrateUp(t.Context())
		_, status := b.MigrateStatus(t.Context())
		for what, err := range map[string]error{"CheckSchema": b.CheckSchema(t.Context()), "MigrateUp": up, "MigrateStatus": status} {
			if !errors.Is(err, store.ErrSchema) {
				t.Errorf("%s of %d old steps: %v", what, i+1, err)
			}
			wantInError(t, err, `step 1 is "schema"`)
			wantInError(t, err, "drop the tables whose names begin with hourbell_")
		}
		if c, s := content(); c != columns || s != steps {
			t.Errorf("the database of %d old steps changed from\n%s %s\nto\n%s %s", i+1, columns, steps, c, s)
		}
	}
}

// TestTablesWithoutTransactionsAreRefused at the start of each command, with the remedy. A view is no such table.
func TestTablesWithoutTransactionsAreRefused(t *testing.T) {
	b, db := fresh(t)
	change := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			_, err := db.ExecContext(t.Context(), text)
			must(t, err)
		}
	}
	change("CREATE VIEW hourbell_view AS SELECT id FROM hourbell_job")
	must(t, b.CheckSchema(t.Context()))
	change("ALTER TABLE hourbell_slot ENGINE = MyISAM")
	_, err := b.MigrateUp(t.Context())
	for _, err := range []error{err, b.CheckSchema(t.Context())} {
		if wantInError(t, err, "ALTER TABLE `hourbell_slot` ENGINE = InnoDB"); !errors.Is(err, store.ErrSchema) {
			t.Errorf("%v, want ErrSchema", err)
		}
	}
	change("ALTER TABLE hourbell_slot ENGINE = InnoDB")
	must(t, b.CheckSchema(t.Context()))
	migrate(t, b)
}
