package mysql

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/locktest"
)

func TestLockTables(t *testing.T) {
	t.Parallel()
	create := func(columns string) string { return "CREATE TABLE {table} (" + columns + ")" }
	times := func(kind string) string {
		return create("name VARCHAR(64) PRIMARY KEY, lock_until " + kind + " NOT NULL, locked_at " + kind + " NOT NULL, locked_by VARCHAR(255)")
	}
	locktest.RunSQL(t, locktest.SQL{
		Tables: func(t testing.TB, create string) locktest.SQLTables {
			_, db := newDatabase(t, "") // under whose default collation "a" and "A" are equal
			if create == "" {
				return sqlTables(db, NewLocks(db), "hourbell_lock")
			}
			_, err := db.Exec(strings.ReplaceAll(create, "{table}", "shedlock"))
			must(t, err)
			return sqlTables(db, NewLocks(db, Table("shedlock")), "shedlock")
		},
		Levels: []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead},
		Loose:  times("TIMESTAMP(3)"),
		Unfit: map[string]string{
			create("name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP(3) NULL, locked_at TIMESTAMP(3) NULL"):                          "no column locked_by",
			create("name VARCHAR(64), lock_until DATETIME, locked_at DATETIME, locked_by VARCHAR(255)"):                                "no unique index",
			create("name VARCHAR(64), lock_until DATETIME, locked_at DATETIME, locked_by VARCHAR(255), UNIQUE (name(10))"):             "no unique index",
			create("name VARCHAR(64), lock_until DATETIME, locked_at DATETIME, locked_by VARCHAR(255), PRIMARY KEY (name, locked_by)"): "no unique index",
			create("name VARCHAR(64) PRIMARY KEY, lock_until BIGINT, locked_at DATETIME, locked_by VARCHAR(255)"):                      "lock_until is of type bigint",
			create("name VARCHAR(64) PRIMARY KEY, lock_until DATE, locked_at DATETIME, locked_by VARCHAR(255)"):                        "lock_until is of type date",
			create("name CHAR(64) PRIMARY KEY, lock_until DATETIME, locked_at DATETIME, locked_by VARCHAR(255)"):                       "name is of type char",
		},
		Rounded: map[string]time.Duration{
			times("TIMESTAMP"): time.Second, times("DATETIME(2)"): 10 * time.Millisecond, times("TIMESTAMP(3)"): time.Millisecond, times("DATETIME(6)"): time.Microsecond,
		},
		Java: map[string]func(testing.TB) (locktest.SQLTables, locktest.Java){
			"in the same zone": func(t testing.TB) (locktest.SQLTables, locktest.Java) { return beside(t, "", "", "") },
			"ours in another zone": func(t testing.TB) (locktest.SQLTables, locktest.Java) {
				return beside(t, "", "time_zone=%27-08%3A00%27", "")
			},
			"sessions in other zones": func(t testing.TB) (locktest.SQLTables, locktest.Java) {
				return beside(t, "time_zone=%27%2B05%3A30%27", "time_zone=%27-08%3A00%27", "+05:30")
			},
		},
	})
}

// sqlTables returns lock tables in the database of a pool.
func sqlTables(db *sql.DB, locks *Locks, table string) locktest.SQLTables {
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
		Begin: func(ctx context.Context, level sql.IsolationLevel) (*locktest.SQLTx, error) {
			tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: level})
			return &locktest.SQLTx{Tx: ownTx(locks, table, tx), End: ending(tx), Own: tx}, err
		},
		Waiting: func(ctx context.Context) (waiting bool, err error) {
			waiting, err = waits(ctx, db)
			return waiting, err
		},
	}
}

// waits reports whether a statement waits for a row of a table of the pool's database.
func waits(ctx context.Context, db *sql.DB) (waiting bool, err error) {
	err = db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM performance_schema.data_lock_waits AS w
		JOIN performance_schema.data_locks AS l ON l.engine_lock_id = w.requesting_engine_lock_id WHERE l.object_schema = DATABASE())`).Scan(&waiting)
	if numberOf(err) == errNoTable { // MariaDB
		time.Sleep(150 * time.Millisecond) // it keeps a table open for 100 ms after each use
		err = db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM information_schema.innodb_lock_waits AS w
			JOIN information_schema.innodb_locks AS l ON l.lock_id = w.requested_lock_id
			WHERE l.lock_table LIKE CONCAT('%', SUBSTRING_INDEX(DATABASE(), ' ', -1), '%'))`).Scan(&waiting)
	}
	return waiting, err
}

// ownTx uses the package's Tx for the default tables.
func ownTx(locks *Locks, table string, tx *sql.Tx) lock.Tx {
	if table == "hourbell_lock" {
		return Tx(tx)
	}
	return locks.Tx(tx)
}

// beside opens tables beside Java's statements with usingDbTime. The parameters
// are the time zones of Java's sessions and of ours, and the option TimeZone.
func beside(t testing.TB, theirs, ours, zone string) (locktest.SQLTables, locktest.Java) {
	url, java := newDatabase(t, theirs)
	_, err := java.Exec(`CREATE TABLE shedlock (name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL,
		locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))`)
	must(t, err)
	base, _, _ := strings.Cut(url, "?")
	target := lockTarget{base + "?" + ours, "shedlock", zone}
	db := openDB(t, target.URL)
	locks := NewLocks(db, target.options()...)
	must(t, locks.CreateTables(t.Context()))
	run := func(text string) func() bool {
		return func() bool {
			result, err := java.Exec(text)
			must(t, err)
			n, err := result.RowsAffected()
			must(t, err)
			return n == 1
		}
	}
	return sqlTables(db, locks, "shedlock"), locktest.Java{
		Takes: run(`UPDATE shedlock SET lock_until = TIMESTAMPADD(MICROSECOND, 3600000000, UTC_TIMESTAMP(3)),
			locked_at = UTC_TIMESTAMP(3), locked_by = 'java-host' WHERE name = 'a' AND lock_until <= UTC_TIMESTAMP(3)`),
		Frees: run("UPDATE shedlock SET lock_until = UTC_TIMESTAMP(3) WHERE name = 'a' AND locked_by = 'java-host'"),
		AddTriggers: func(t testing.TB) {
			for text := range strings.SplitSeq(strings.TrimSpace(locks.TriggerSQL()), ";\n\n") {
				_, err := java.Exec(text)
				must(t, err)
			}
		},
	}
}
