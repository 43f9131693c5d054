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

// TestUpgrade brings the schema of every release before to this one's; the last
// one goes on beside it.
func TestUpgrade(t *testing.T) {
	last := len(openFile(t, filepath.Join(t.TempDir(), "x.db")).steps)
	for have := 1; have < last; have++ {
		path := filepath.Join(t.TempDir(), "old.db")
		before, b := openFile(t, path), openFile(t, path)
		before.steps = before.steps[:have]
		if applied, err := before.MigrateUp(t.Context()); err != nil || len(applied) != have {
			t.Fatal(applied, err)
		}
		if _, err := before.writer.Exec("INSERT INTO hourbell_owner (name, revision) VALUES ('o', 7)"); err != nil {
			t.Fatal(err)
		}
		if err := b.CheckSchema(t.Context()); !errors.Is(err, store.ErrSchema) {
			t.Errorf("CheckSchema at step %d: %v", have, err)
		}
		if applied, err := b.MigrateUp(t.Context()); err != nil || len(applied) != last-have || applied[0].Version != have+1 {
			t.Errorf("MigrateUp from step %d applied %v, %v", have, applied, err)
		}
		if err := b.CheckSchema(t.Context()); err != nil {
			t.Error(err)
		}
		if err := before.CheckSchema(t.Context()); err != nil && have == last-1 {
			t.Error(err)
		}
		_, err := b.PutSchedules(t.Context(), store.PutSchedulesRequest{Owner: "o", Sync: true, SyncRevision: 6})
		if !errors.Is(err, store.ErrStale) {
			t.Errorf("what the release before wrote is gone: %v", err)
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
