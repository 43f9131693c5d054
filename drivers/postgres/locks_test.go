package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/locktest"
	"github.com/hourbell/hourbell/store"
)

func TestMain(m *testing.M) {
	locktest.Contend(openLocks)
	dieAfterACommit()
	os.Exit(m.Run())
}

// lockTarget is the store that tests and contending processes open.
type lockTarget struct {
	URL, Table string
	SQL        bool // with database/sql
}

func (l lockTarget) String() string {
	text, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func openLocks(ctx context.Context, target string) (lock.Provider, func(), error) {
	var at lockTarget
	if err := json.Unmarshal([]byte(target), &at); err != nil {
		return nil, nil, err
	}
	if at.SQL {
		db, err := sql.Open("pgx", at.URL)
		if err != nil {
			return nil, nil, err
		}
		return NewSQLLocks(db, Table(at.Table)), func() { db.Close() }, nil
	}
	b, err := Open(ctx, at.URL) // Open recognises a pooler
	if err != nil {
		return nil, nil, err
	}
	return b.Locks(Table(at.Table)), func() { b.Close() }, nil
}

// lockVariants are the tables for locks, made by this package or by Java
// programs, and the ways to connect to them.
var lockVariants = []struct {
	name, table string // with {schema}; empty: the tables of this package
	sql, pooled bool
}{
	{name: "own"},
	{name: "timestamp(3), a pooler", pooled: true, table: `CREATE TABLE {schema}.shedlock (name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL,
		locked_at TIMESTAMP(3) NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))`},
	{name: "timestamptz, database/sql", sql: true, table: `CREATE TABLE {schema}.shedlock (name VARCHAR(64) NOT NULL, lock_until TIMESTAMPTZ(3) NOT NULL,
		locked_at TIMESTAMPTZ NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))`},
}

func TestLocks(t *testing.T) {
	t.Parallel()
	for _, v := range lockVariants {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel() // they sleep most of the time
			url := urlFrom(t, serverVariable)
			if v.pooled {
				url = urlFrom(t, bouncerVariable)
			}
			schema := newSchema(t)
			execute(t, "create schema "+pgx.Identifier{schema}.Sanitize())
			execute(t, withSchema(v.table, schema))
			table := schema + ".shedlock"
			must(t, NewLocks(newPool(t), Table(table)).CreateTables(t.Context()))
			store := lockStore(t, lockTarget{URL: url, Table: table, SQL: v.sql})
			store.NoPush = v.sql || v.pooled
			store.Again = v.table != ""
			locktest.Run(t, store)
		})
	}
}

func lockStore(t *testing.T, target lockTarget) locktest.Store {
	db := newPool(t)
	schema, table, _ := strings.Cut(target.Table, ".")
	return locktest.Store{
		Target: target.String(), Open: openLocks,
		DeleteRow: func(ctx context.Context, name string) (bool, error) {
			tag, err := db.Exec(ctx, "delete from "+pgx.Identifier{schema, table}.Sanitize()+" where name = $1", name)
			return tag.RowsAffected() == 1, err
		},
		Begin: func(ctx context.Context) (func() error, error) {
			tx, err := db.Begin(ctx)
			if err != nil {
				return nil, err
			}
			return func() error { return tx.Rollback(context.WithoutCancel(ctx)) }, nil
		},
		Tx: func(ctx context.Context) (lock.Tx, func(bool) error, error) {
			locks := NewLocks(db, Table(target.Table))
			if target.SQL {
				pool, err := sql.Open("pgx", urlFrom(t, serverVariable))
				if err != nil {
					return nil, nil, err
				}
				tx, err := pool.BeginTx(ctx, nil)
				if err != nil {
					return nil, nil, errors.Join(err, pool.Close())
				}
				end := func(commit bool) error { return errors.Join(ended(commit, tx.Commit, tx.Rollback), pool.Close()) }
				return locks.SQLTx(tx), end, nil
			}
			tx, err := db.Begin(ctx)
			if err != nil {
				return nil, nil, err
			}
			do := func(end func(context.Context) error) func() error {
				return func() error { return end(context.WithoutCancel(ctx)) }
			}
			return locks.Tx(tx), func(commit bool) error { return ended(commit, do(tx.Commit), do(tx.Rollback)) }, nil
		},
		Exhausted: func(t testing.TB) lock.Provider {
			config, err := pgxpool.ParseConfig(target.URL)
			must(t, err)
			config.MaxConns = 1
			pool, err := pgxpool.NewWithConfig(t.Context(), config)
			must(t, err)
			conn, err := pool.Acquire(t.Context())
			must(t, err)
			t.Cleanup(func() { conn.Release(); pool.Close() })
			return NewLocks(pool, Table(target.Table))
		},
	}
}

// ended commits or rolls back.
func ended(commit bool, yes, no func() error) error {
	if commit {
		return yes()
	}
	return no()
}

// ownLocks returns locks in a schema of their own, with the tables of this
// package.
func ownLocks(t testing.TB, pool *pgxpool.Pool) (locks *Locks, schema string) {
	t.Helper()
	schema = newSchema(t)
	locks = NewLocks(pool, Table(schema+".shedlock"))
	must(t, locks.CreateTables(t.Context()))
	return locks, schema
}

func tryLock(t testing.TB, locks *Locks, name string) (lock.Lease, error) {
	t.Helper()
	return locks.TryLock(t.Context(), lock.Request{Name: name, Owner: fmt.Sprint("owner ", time.Now().UnixNano()), Hold: time.Hour})
}

// queries records the statements that a pool sends.
type queries struct{ texts []string }

func (q *queries) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	q.texts = append(q.texts, data.SQL)
	return ctx
}

func (q *queries) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestLockStatements checks that every statement is complete, and that
// migrations make the same lock tables as CreateTables.
func TestLockStatements(t *testing.T) {
	must(t, lockDialect().Validate())
	b := fresh(t)
	want := tableColumns(t, b.schema)
	execute(t, withSchema("drop table {schema}.lock, {schema}.lock_state", b.schema))
	must(t, b.Locks().CreateTables(t.Context()))
	if got := tableColumns(t, b.schema); got != want || !strings.Contains(got, "granted_at") {
		t.Errorf("CreateTables makes %s\nmigrations make %s", got, want)
	}
}

// tableColumns describes the columns of the lock tables.
func tableColumns(t *testing.T, schema string) (text string) {
	t.Helper()
	must(t, newPool(t).QueryRow(t.Context(), `select coalesce(string_agg(concat_ws(' ', a.attrelid::regclass::text, a.attname, format_type(a.atttypid, a.atttypmod),
			a.attnotnull::text, a.attcollation::regcollation::text), ', ' order by a.attrelid::regclass::text, a.attnum), '')
		from pg_attribute a where a.attnum > 0 and a.attrelid in (to_regclass($1 || '.lock'), to_regclass($1 || '.lock_state'))`,
		pgx.Identifier{schema}.Sanitize()).Scan(&text))
	return text
}

func TestLockCallsAreOneStatement(t *testing.T) {
	config, err := pgxpool.ParseConfig(urlFrom(t, serverVariable))
	must(t, err)
	var sent queries
	config.ConnConfig.Tracer = &sent
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	must(t, err)
	t.Cleanup(pool.Close)
	locks, _ := ownLocks(t, pool)
	for turn := range 3 {
		sent.texts = nil
		lease, err := tryLock(t, locks, "a")
		must(t, err)
		must(t, lease.Extend(t.Context(), 2*time.Hour))
		must(t, lease.Release(t.Context()))
		if turn > 0 && len(sent.texts) != 3 { // the first call reads the tables and makes rows
			t.Errorf("taking, extending and releasing sent %d statements:\n%s", len(sent.texts), strings.Join(sent.texts, "\n"))
		}
	}
}

// Each condition and each joined table costs a lock as much as a write, and most locks
// are taken and released without a slot.
func TestLockPlans(t *testing.T) {
	reads := map[string]int{"take": 1, "take_slot": 3, "look": 2, "extend": 1, "release": 1}
	pool := newPool(t)
	locks, schema := ownLocks(t, pool)
	lease, err := tryLock(t, locks, "a")
	must(t, err)
	must(t, lease.Release(t.Context()))
	execute(t, withSchema(`insert into {schema}.shedlock select 'l' || i, now(), now(), '' from generate_series(1, 10000) i;
		insert into {schema}.shedlock_state select 'l' || i, 1 from generate_series(1, 10000) i`, schema))
	conn, err := pool.Acquire(t.Context())
	must(t, err)
	defer conn.Release()
	_, err = conn.Exec(t.Context(), "set plan_cache_mode = force_generic_plan")
	must(t, err)
	for name, most := range reads {
		text, parameters := locks.provider.Statement(name)
		_, err := conn.Exec(t.Context(), "prepare one as "+text)
		must(t, err)
		given := slices.Repeat([]string{"null"}, len(parameters))
		given[slices.Index(parameters, "name")] = "'a'"
		rows, err := conn.Query(t.Context(), "explain execute one("+strings.Join(given, ", ")+")")
		must(t, err)
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		must(t, err)
		if text := strings.Join(plan, "\n"); strings.Contains(text, "Seq Scan") {
			t.Errorf("%s walks a whole table:\n%s", name, text)
		} else if got := strings.Count(text, "Index Scan"); got > most {
			t.Errorf("%s reads tables %d times, want at most %d:\n%s", name, got, most, text)
		}
		_, err = conn.Exec(t.Context(), "deallocate one")
		must(t, err)
	}
}

// A missing table is named, and migrations accept tables that CreateTables made.
func TestLockTablesMissing(t *testing.T) {
	b := openAt(t, urlFrom(t, serverVariable), newSchema(t))
	must(t, b.Locks().CreateTables(t.Context()))
	migrate(t, b)
	execute(t, withSchema("drop table {schema}.lock_state", b.schema))
	locks := b.Locks()
	if _, err := tryLock(t, locks, "a"); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "lock_state") {
		t.Errorf("%v; the name of the missing table was expected", err)
	}
	execute(t, locks.TablesSQL())
	_, err := tryLock(t, locks, "b")
	must(t, err)
}

func TestLockTableNames(t *testing.T) {
	pool := newPool(t)
	for _, name := range []string{"", ".", "a.", ".a", "a.b.c", "pg_a.b", strings.Repeat("n", 58), "a\x00"} {
		if _, err := tryLock(t, NewLocks(pool, Table(name)), "a"); err == nil || !strings.Contains(err.Error(), "lock table") {
			t.Errorf("table %q: %v", name, err)
		}
	}
}
