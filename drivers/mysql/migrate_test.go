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
// and begins it again.
func TestMigrationGoesOn(t *testing.T) {
	url, db := newDatabase(t, "")
	b := openStore(t, url)
	var texts []string
	for _, step := range b.steps {
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
	if len(applied) != len(b.steps) {
		t.Errorf("the migration applied %d steps", len(applied))
	}
	var counters, timelines int
	must(t, db.QueryRowContext(t.Context(), "SELECT (SELECT COUNT(*) FROM hourbell_counter), (SELECT COUNT(*) FROM hourbell_timeline)").Scan(&counters, &timelines))
	if counters != 7 || timelines != 1 {
		t.Errorf("%d counters and %d rows of the timeline", counters, timelines)
	}
	must(t, b.CheckSchema(t.Context()))
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
	if want := len(openStore(t, url).steps); all != want {
		t.Errorf("%d steps were applied, want %d", all, want)
	}
}

// TestRareJobsAreMigrated brings jobs of an older schema to the newest, also jobs with rare fields: a row of hourbell_job_rare is a
// copy of each of these jobs.
func TestRareJobsAreMigrated(t *testing.T) {
	url, db := newDatabase(t, "")
	b := openStore(t, url)
	const older = 4
	for _, step := range b.steps[:older] {
		for _, text := range statementsOf(step.SQL) {
			if _, err := db.ExecContext(t.Context(), text); !doneBefore(err) {
				must(t, err)
			}
		}
	}
	for _, rare := range []string{"batch = batch", "schedule_id = 1", "batch = 1", "lane = 1", "losses = 2", "group_name = 'g'", "job_key = 'k'", "unique_key = 'u'"} {
		_, err := db.ExecContext(t.Context(), "INSERT INTO hourbell_job SET run_at = UTC_TIMESTAMP(6), created_at = UTC_TIMESTAMP(6), kind = 'k', args = '{}', "+rare)
		must(t, err)
	}
	migrate(t, b)
	checkRares(t, b)
	var jobs, rares int
	must(t, db.QueryRowContext(t.Context(), "SELECT (SELECT COUNT(*) FROM hourbell_job), (SELECT COUNT(*) FROM hourbell_job_rare)").Scan(&jobs, &rares))
	if jobs != 8 || rares != 7 {
		t.Errorf("there are %d jobs, and rows for %d of them, want 8 and 7", jobs, rares)
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
	change("ALTER TABLE hourbell_job ENGINE = MyISAM")
	_, err := b.MigrateUp(t.Context())
	for _, err := range []error{err, b.CheckSchema(t.Context())} {
		if wantInError(t, err, "ALTER TABLE `hourbell_job` ENGINE = InnoDB"); !errors.Is(err, store.ErrSchema) {
			t.Errorf("%v, want ErrSchema", err)
		}
	}
	change("ALTER TABLE hourbell_job ENGINE = InnoDB")
	must(t, b.CheckSchema(t.Context()))
	migrate(t, b)
}
