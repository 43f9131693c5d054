package sqlite

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hourbell/hourbell/store"
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

// A step that fails leaves nothing behind.
func TestMigrationIsATransaction(t *testing.T) {
	b := openFile(t, newFile(t))
	last := len(b.steps)
	b.steps = append(b.Migrations(), store.Migration{Version: last + 1, Name: "bad", SQL: "CREATE TABLE hourbell_new (x INTEGER); SELECT nonsense;"})
	_, err := b.MigrateUp(t.Context())
	wantError(t, err, "migrate", "(bad)", "nonsense")
	var n int
	if err := b.reader.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name = 'hourbell_new'").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d tables of the failed step, %v", n, err)
	}
	if have, err := b.haveVersion(t.Context()); have != last || err != nil {
		t.Errorf("version %d, %v; want %d", have, err, last)
	}
	b.steps[last].SQL = "CREATE TABLE hourbell_new (x INTEGER)"
	if applied, err := b.MigrateUp(t.Context()); err != nil || len(applied) != 1 {
		t.Errorf("the mended step: %v, %v", applied, err)
	}
}

func TestMigrationsArePrefixed(t *testing.T) {
	b := openFile(t, newFile(t))
	rows, err := b.reader.QueryContext(t.Context(), "SELECT name FROM sqlite_schema")
	if err := eachRow(rows, err, func(r row) error {
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
