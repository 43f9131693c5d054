package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/locktest"
)

// openLocks opens the locks of a file: the locks of a Backend, or, with "db:"
// before the file, the locks of a program's own pool in a table of Java's.
func openLocks(ctx context.Context, target string) (lock.Provider, func(), error) {
	if path, ok := strings.CutPrefix(target, "db:"); ok {
		db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)&_pragma=synchronous(off)")
		if err != nil {
			return nil, nil, err
		}
		return NewLocks(db, Table("shedlock")), func() { db.Close() }, nil
	}
	b, err := Open(ctx, target, Synchronous("NORMAL"))
	if err != nil {
		return nil, nil, err
	}
	return b.Locks(), func() { b.Close() }, nil
}

func TestLocks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a file.db")
	b := openFile(t, path)
	if _, err := b.MigrateUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	db := usersDB(t, path, goodPragmas)
	s := lockStore(path, db, "hourbell_lock")
	s.Begin = func(ctx context.Context) (func() error, error) {
		tx, err := usersDB(t, path, "").BeginTx(ctx, nil)
		if err != nil {
			return nil, err
		}
		var n int
		return tx.Rollback, tx.QueryRowContext(ctx, "SELECT count(*) FROM hourbell_lock").Scan(&n)
	}
	locktest.Run(t, s)
}

// TestLocksInJavasTable uses Java's own table, in a file without a write-ahead
// log, where readers and writers block each other.
func TestLocksInJavasTable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "java.db")
	db := usersDB(t, path, "&_txlock=immediate")
	_, err := db.Exec(`CREATE TABLE shedlock (name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL,
		locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))`)
	if err != nil {
		t.Fatal(err)
	}
	if err := NewLocks(db, Table("shedlock")).CreateTables(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := lockStore("db:"+path, db, "shedlock")
	s.InProcess = true // processes contend in TestLocks
	locktest.Run(t, s)
}

// TestLockTablesWithMigrations checks that migrations accept tables that
// CreateTables made.
func TestLockTablesWithMigrations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.db")
	for range 2 {
		if err := NewLocks(usersDB(t, path, "")).CreateTables(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := openFile(t, path).MigrateUp(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestLockStatements checks that every statement is complete, and that
// migrations make the same lock tables as CreateTables.
func TestLockStatements(t *testing.T) {
	if err := lockDialect().Validate(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "locks.db")
	if _, err := openFile(t, path).MigrateUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	db := usersDB(t, path, "")
	want := lockTables(t, db)
	if _, err := db.Exec("DROP TABLE hourbell_lock; DROP TABLE hourbell_lock_state"); err != nil {
		t.Fatal(err)
	}
	if err := NewLocks(db).CreateTables(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := lockTables(t, db); got != want || !strings.Contains(got, "granted_at") {
		t.Errorf("CreateTables makes %s\nmigrations make %s", got, want)
	}
}

// lockTables describes the columns of the lock tables.
func lockTables(t *testing.T, db *sql.DB) (text string) {
	t.Helper()
	const columns = `SELECT coalesce(group_concat(t.name || ' ' || t.strict || ' ' || c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || c.pk, ', ' ORDER BY t.name, c.cid), '')
		FROM pragma_table_list AS t, pragma_table_info(t.name) AS c WHERE t.name LIKE 'hourbell_lock%'`
	if err := db.QueryRow(columns).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

func lockStore(target string, db *sql.DB, table string) locktest.Store {
	path := strings.TrimPrefix(target, "db:")
	return locktest.Store{
		Target: target, Open: openLocks,
		DeleteRow: func(ctx context.Context, name string) (bool, error) {
			result, err := db.ExecContext(ctx, "DELETE FROM "+table+" WHERE name = ? COLLATE BINARY", name)
			if err != nil {
				return false, err
			}
			n, err := result.RowsAffected()
			return n == 1, err
		},
		Tx: func(ctx context.Context) (lock.Tx, func(bool) error, error) {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return nil, nil, err
			}
			end := func(commit bool) error {
				if commit {
					return tx.Commit()
				}
				return tx.Rollback()
			}
			return NewLocks(db, Table(table)).Tx(tx), end, nil
		},
		Exhausted: func(t testing.TB) lock.Provider {
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { tx.Rollback() })
			return NewLocks(usersDB(t, path, ""), Table(table))
		},
	}
}
