package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

func TestMigrateAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.db")
	var wait sync.WaitGroup
	var mu sync.Mutex
	applied := 0
	for range 8 {
		b := openFile(t, path)
		wait.Go(func() {
			steps, err := b.MigrateUp(t.Context())
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			applied += len(steps)
			mu.Unlock()
		})
	}
	wait.Wait()
	b := openFile(t, path)
	if want := len(b.Migrations()); applied != want {
		t.Errorf("%d steps were applied by all, want each of %d once", applied, want)
	}
	status, err := b.MigrateStatus(t.Context())
	if err != nil || !status[len(status)-1].Applied {
		t.Errorf("status %+v, %v", status, err)
	}
	if err := b.CheckSchema(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestMigrateAheadOfRelease(t *testing.T) {
	b := openFile(t, newFile(t))
	last := len(b.Migrations())
	for ahead, want := range []error{nil, nil, store.ErrSchema} {
		if ahead > 0 {
			if _, err := b.writer.Exec("INSERT INTO hourbell_schema_version VALUES (?, 'later', 0)", last+ahead); err != nil {
				t.Fatal(err)
			}
		}
		_, up := b.MigrateUp(t.Context())
		check := b.CheckSchema(t.Context())
		if !errors.Is(up, want) || !errors.Is(check, want) {
			t.Errorf("%d steps ahead: MigrateUp %v, CheckSchema %v, want %v", ahead, up, check, want)
		}
	}
}

// TestUpgrade brings the schema of this release to one step more, as the next release
// will; this release runs concurrently with the next release.
func TestUpgrade(t *testing.T) {
	path := newFile(t)
	b, next := openFile(t, path), openFile(t, path)
	last := len(b.Steps)
	next.Steps = append(next.Migrations(), store.Migration{Version: last + 1, Name: "more", SQL: "CREATE TABLE hourbell_more (x INTEGER)"})
	insertPlain(t, b, 2)
	if err := next.CheckSchema(t.Context()); !errors.Is(err, store.ErrSchema) {
		t.Errorf("CheckSchema at step %d: %v", last, err)
	}
	if applied, err := next.MigrateUp(t.Context()); err != nil || len(applied) != 1 || applied[0].Name != "more" {
		t.Errorf("MigrateUp from step %d applied %v, %v", last, applied, err)
	}
	for _, one := range []*Backend{b, next} {
		if err := one.CheckSchema(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if got := len(claimPlain(t, next, register(t, next, time.Hour), 1)) + len(claimPlain(t, b, register(t, b, time.Hour), 5)); got != 2 {
		t.Errorf("claimed %d jobs of the release before, want 2", got)
	}
}

// TestStepsBeforeTheFirstRelease refuses a file of steps that were replaced, and leaves
// it as it is, in its journal mode too.
func TestStepsBeforeTheFirstRelease(t *testing.T) {
	for _, steps := range [][]string{
		{"first"},
		{"first", "failing", "locks", "policies", "calendars", "unique", "ready_by_kind", "timeline", "history_key", "losses", "exact_jobs"},
		{"schema"},
		{
			"schema", "snoozes", "attempt_outcome", "result", "key_holds", "progress", "history_keep", "edges", "groups", "pauses", "events", "chain", "batches",
			"output", "audit", "reopenings", "handlers", "hosts", "listings", "copies", "limits", "key_pauses", "starts", "stuck", "zones", "problems",
		},
	} {
		path := filepath.Join(t.TempDir(), "old.db")
		db := usersDB(t, path, "&_pragma=journal_mode(delete)")
		exec := func(text string, args ...any) {
			if _, err := db.Exec(text, args...); err != nil {
				t.Fatal(err)
			}
		}
		exec("CREATE TABLE hourbell_schema_version (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT")
		exec("CREATE TABLE hourbell_job (id INTEGER PRIMARY KEY)")
		for i, name := range steps {
			exec("INSERT INTO hourbell_schema_version VALUES (?, ?, 0)", i+1, name)
		}
		db.Close()
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b := openFile(t, path)
		_, up := b.MigrateUp(t.Context())
		_, status := b.MigrateStatus(t.Context())
		for what, err := range map[string]error{"CheckSchema": b.CheckSchema(t.Context()), "MigrateUp": up, "MigrateStatus": status} {
			if !errors.Is(err, store.ErrSchema) {
				t.Errorf("%s of %d old steps: %v", what, len(steps), err)
			}
			wantError(t, err, fmt.Sprintf("step 1 is %q", steps[0]), "drop the tables whose names begin with hourbell_")
		}
		b.Close()
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("the file of %d old steps changed, %v", len(steps), err)
		}
	}
}

// A step that fails leaves nothing behind.
func TestMigrationIsATransaction(t *testing.T) {
	b := openFile(t, newFile(t))
	last := len(b.Steps)
	b.Steps = append(b.Migrations(), store.Migration{Version: last + 1, Name: "bad", SQL: "CREATE TABLE hourbell_new (x INTEGER); SELECT nonsense;"})
	_, err := b.MigrateUp(t.Context())
	wantError(t, err, "migrate", "(bad)", "nonsense")
	var n int
	if err := b.reader.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name = 'hourbell_new'").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d tables of the failed step, %v", n, err)
	}
	if have, err := b.newestStep(t.Context(), "look"); have != last || err != nil {
		t.Errorf("version %d, %v; want %d", have, err, last)
	}
	b.Steps[last].SQL = "CREATE TABLE hourbell_new (x INTEGER)"
	if applied, err := b.MigrateUp(t.Context()); err != nil || len(applied) != 1 {
		t.Errorf("the mended step: %v, %v", applied, err)
	}
}

func TestMigrationsArePrefixed(t *testing.T) {
	b := openFile(t, newFile(t))
	rows, err := b.reader.QueryContext(t.Context(), "SELECT name FROM sqlite_schema") //nolint:rowserrcheck // EachRow returns rows.Err
	if err := sqlrows.EachRow(rows, err, func(r row) error {
		var name string
		err := r.Scan(&name)
		if !strings.HasPrefix(name, "hourbell_") && !strings.HasPrefix(name, "sqlite_") {
			t.Errorf("%q could be a name of the application's own", name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestCheckSchemaSeesJournalMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	first := openFile(t, path)
	if _, err := first.MigrateUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	first.Close() // the mode cannot be changed while others have the file open
	db := usersDB(t, path, "&_pragma=journal_mode(delete)")
	if err := db.Ping(); err != nil {
		t.Fatal(err)
	}
	db.Close()
	b := openFile(t, path)
	err := b.CheckSchema(t.Context())
	wantError(t, err, "journal mode delete", "migrate up")
	if _, err := b.MigrateUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.CheckSchema(t.Context()); err != nil {
		t.Error(err)
	}
}
