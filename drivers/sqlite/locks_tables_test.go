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

func TestLockTables(t *testing.T) {
	t.Parallel()
	locktest.RunSQL(t, locktest.SQL{
		Tables: func(t testing.TB, create string) locktest.SQLTables {
			db := usersDB(t, filepath.Join(t.TempDir(), "locks.db"), goodPragmas)
			if create == "" {
				return sqlTables(db, "hourbell_lock")
			}
			if _, err := db.Exec(strings.ReplaceAll(create, "{table}", "shedlock")); err != nil {
				t.Fatal(err)
			}
			return sqlTables(db, "shedlock")
		},
		Loose: "CREATE TABLE {table} (name TEXT COLLATE NOCASE PRIMARY KEY, lock_until, locked_at, locked_by)",
		Java:  map[string]func(testing.TB) (locktest.SQLTables, locktest.Java){"in milliseconds": beside},
	})
}

// sqlTables returns lock tables in a file.
func sqlTables(db *sql.DB, table string) locktest.SQLTables {
	locks := NewLocks(db)
	if table != "hourbell_lock" {
		locks = NewLocks(db, Table(table))
	}
	names := strings.NewReplacer("{table}", table, "{state}", table+"_state")
	return locktest.SQLTables{
		Locks: locks,
		Exec: func(ctx context.Context, tx *locktest.SQLTx, text string) (err error) {
			if text = names.Replace(text); tx != nil {
				_, err = tx.Own.(*sql.Tx).ExecContext(ctx, text)
			} else {
				_, err = db.ExecContext(ctx, text)
			}
			return err
		},
		Begin: func(ctx context.Context, _ sql.IsolationLevel) (*locktest.SQLTx, error) {
			tx, err := db.BeginTx(ctx, nil)
			var checks lock.Tx = Tx(tx) // uses the default tables
			if table != "hourbell_lock" {
				checks = locks.Tx(tx)
			}
			end := func(commit bool) error {
				if commit {
					return tx.Commit()
				}
				return tx.Rollback()
			}
			return &locktest.SQLTx{Tx: checks, End: end, Own: tx}, err
		},
	}
}

// beside opens tables beside Java's statements.
func beside(t testing.TB) (locktest.SQLTables, locktest.Java) {
	db := usersDB(t, filepath.Join(t.TempDir(), "java.db"), goodPragmas)
	tables := sqlTables(db, "shedlock")
	if err := tables.Locks.CreateTables(t.Context()); err != nil {
		t.Fatal(err)
	}
	run := func(text string) func() bool {
		return func() bool {
			result, err := db.Exec(text)
			if err != nil {
				t.Fatal(err)
			}
			n, err := result.RowsAffected()
			return n == 1 && err == nil
		}
	}
	const now = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
	return tables, locktest.Java{
		Takes: run("UPDATE shedlock SET lock_until = " + now + " + 3600000, locked_at = " + now + ", locked_by = 'java-host' WHERE name = 'a' AND lock_until <= " + now),
		Frees: run("UPDATE shedlock SET lock_until = " + now + " WHERE name = 'a' AND locked_by = 'java-host'"),
		AddTriggers: func(t testing.TB) {
			for range 2 { // repeating it does no harm
				if _, err := db.Exec(tables.Locks.(*Locks).TriggerSQL()); err != nil {
					t.Fatal(err)
				}
			}
		},
	}
}
