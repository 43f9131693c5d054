package postgres

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/lock/locktest"
)

func TestLockTables(t *testing.T) {
	t.Parallel()
	columns := func(until, at string) string {
		return "create table {table} (name text primary key, lock_until " + until + ", locked_at " + at + ", locked_by text)"
	}
	locktest.RunSQL(t, locktest.SQL{
		Tables: func(t testing.TB, create string) locktest.SQLTables {
			if create == "" {
				return sqlTables(t, newPool(t), "lock", "")
			}
			return sqlTables(t, newPool(t), "shedlock", create)
		},
		Refused: func(err error) bool { return codeOf(err) == "55P03" },
		Levels:  []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable},
		Loose: `create collation {schema}.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
			create table {table} (name text collate {schema}.loose primary key, lock_until timestamptz, locked_at timestamptz, locked_by text)`,
		Unfit: map[string]string{
			"create table {table} (name text primary key, lock_until timestamp, locked_at timestamp)":                               "no column locked_by",
			"create table {table} (name text, lock_until timestamp, locked_at timestamp, locked_by text)":                           "no unique index",
			"create table {table} (name text primary key, lock_until bigint, locked_at timestamp, locked_by text)":                  "lock_until is of type int8",
			"create table {table} (name text primary key, lock_until date, locked_at timestamp, locked_by text)":                    "lock_until is of type date",
			"create table {table} (name char(64) primary key, lock_until timestamp, locked_at timestamp, locked_by text)":           "name is of type bpchar",
			"create table {table} (name text, lock_until timestamp, locked_at timestamp, locked_by text, unique (name, locked_by))": "no unique index",
		},
		Rounded: map[string]time.Duration{
			columns("timestamp(0)", "timestamp(0)"): time.Second, columns("timestamptz(2)", "timestamptz(2)"): 10 * time.Millisecond,
			columns("timestamp(3)", "timestamp(3)"): time.Millisecond, columns("timestamptz", "timestamptz"): time.Microsecond,
		},
		Java: map[string]func(testing.TB) (locktest.SQLTables, locktest.Java){"time zones of their own": beside},
	})
}

// sqlTables opens lock tables in a schema of their own, with a table that is
// created first, if create is given.
func sqlTables(t testing.TB, pool *pgxpool.Pool, table, create string) locktest.SQLTables {
	t.Helper()
	schema := newSchema(t)
	names := strings.NewReplacer("{schema}", pgx.Identifier{schema}.Sanitize(), "{table}", pgx.Identifier{schema, table}.Sanitize(),
		"{state}", pgx.Identifier{schema, table + "_state"}.Sanitize())
	if create != "" {
		execute(t, names.Replace("create schema {schema}; "+create))
	}
	locks := NewLocks(pool, Table(schema+"."+table))
	if table == "lock" {
		locks = openAt(t, urlFrom(t, serverVariable), schema).Locks()
	}
	return locktest.SQLTables{
		Locks: locks,
		Exec: func(ctx context.Context, tx *locktest.SQLTx, text string) (err error) {
			if text = names.Replace(text); tx != nil {
				_, err = tx.Own.(pgx.Tx).Exec(ctx, text)
			} else {
				_, err = pool.Exec(ctx, text)
			}
			return err
		},
		Begin: func(ctx context.Context, level sql.IsolationLevel) (*locktest.SQLTx, error) {
			var options pgx.TxOptions
			if level != sql.LevelDefault {
				options.IsoLevel = pgx.TxIsoLevel(strings.ToLower(level.String()))
			}
			tx, err := pool.BeginTx(ctx, options)
			end := func(commit bool) error {
				return ended(commit, func() error { return tx.Commit(ctx) }, func() error { return tx.Rollback(ctx) })
			}
			return &locktest.SQLTx{Tx: locks.Tx(tx), End: end, Own: tx}, err
		},
		Waiting: func(ctx context.Context) (waiting bool, err error) {
			err = pool.QueryRow(ctx, "select exists (select from pg_stat_activity where wait_event_type = 'Lock' and query like '%' || $1 || '%')", schema).Scan(&waiting)
			return waiting, err
		},
	}
}

// beside opens tables for sessions in America, beside Java's statements with
// usingDbTime, whose sessions are in Asia.
func beside(t testing.TB) (locktest.SQLTables, locktest.Java) {
	config, err := pgxpool.ParseConfig(urlFrom(t, serverVariable))
	must(t, err)
	config.ConnConfig.RuntimeParams["timezone"] = "America/New_York"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	must(t, err)
	t.Cleanup(pool.Close)
	tables := sqlTables(t, pool, "shedlock", "")
	must(t, tables.Locks.CreateTables(t.Context()))
	run := func(text string) func() bool {
		return func() bool {
			conn, err := pgx.Connect(t.Context(), urlFrom(t, serverVariable))
			must(t, err)
			defer conn.Close(t.Context())
			_, err = conn.Exec(t.Context(), "set timezone = 'Asia/Kolkata'")
			must(t, err)
			tag, err := conn.Exec(t.Context(), withSchema(text, tables.Locks.(*Locks).provider.ConfiguredSchema()))
			must(t, err)
			return tag.RowsAffected() == 1
		}
	}
	return tables, locktest.Java{
		Takes: run(`update {schema}.shedlock set lock_until = timezone('utc', CURRENT_TIMESTAMP) + interval '1 hour',
			locked_at = timezone('utc', CURRENT_TIMESTAMP), locked_by = 'java-host' where name = 'a' and lock_until <= timezone('utc', CURRENT_TIMESTAMP)`),
		Frees: run("update {schema}.shedlock set lock_until = timezone('utc', CURRENT_TIMESTAMP) where name = 'a' and locked_by = 'java-host'"),
		AddTriggers: func(t testing.TB) {
			text, err := tables.Locks.(*Locks).TriggerSQL(t.Context())
			must(t, err)
			execute(t, text)
			execute(t, text) // repeating it does no harm
		},
	}
}
