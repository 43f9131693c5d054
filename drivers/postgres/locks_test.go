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
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/locktest"
	"github.com/hourbell/hourbell/store"
)

func TestMain(m *testing.M) {
	locktest.Contend(openLocks)
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

// TestLockBehindAnOpenTransaction checks that an open transaction that holds
// the row makes no call hang, and that no lock is taken after its caller has
// given up.
func TestLockBehindAnOpenTransaction(t *testing.T) {
	pool := newPool(t)
	locks, schema := ownLocks(t, pool)
	lease, err := tryLock(t, locks, "a")
	must(t, err)
	must(t, lease.Release(t.Context()))
	tx, err := pool.Begin(t.Context())
	must(t, err)
	defer tx.Rollback(t.Context())
	_, err = tx.Exec(t.Context(), withSchema("update {schema}.shedlock set locked_by = 'somebody'", schema))
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	start := time.Now()
	_, err = locks.TryLock(ctx, lock.Request{Name: "a", Owner: "o", Hold: time.Hour})
	if !errors.Is(err, lock.ErrBusy) || codeOf(err) != "55P03" || time.Since(start) > 10*time.Second {
		t.Errorf("after %v: %v; ErrBusy was expected, by the server's word that it does not wait any more", time.Since(start), err)
	}
	must(t, tx.Rollback(t.Context()))
	_, err = tryLock(t, locks, "a")
	must(t, err)
}

// TestLockSlotDecidedOnAnOldState checks a request whose slot was decided from
// a state that changed while the request waited for the row: nothing is
// granted, and nothing is stored.
func TestLockSlotDecidedOnAnOldState(t *testing.T) {
	pool := newPool(t)
	locks, schema := ownLocks(t, pool)
	lease, err := tryLock(t, locks, "a")
	must(t, err)
	must(t, lease.Release(t.Context()))
	tx, err := pool.Begin(t.Context())
	must(t, err)
	defer tx.Rollback(t.Context())
	_, err = tx.Exec(t.Context(), withSchema("update {schema}.shedlock set locked_by = 'somebody' where name = 'a'", schema))
	must(t, err)
	answer := make(chan error)
	go func() {
		now := time.Now().Truncate(time.Millisecond)
		slot := lock.Slot{Seen: lease.Token(), From: now.Add(-time.Hour), Until: now.Add(time.Hour), Mark: lock.Mark{Slot: now}}
		_, err := locks.TryLock(t.Context(), lock.Request{Name: "a", Owner: "o", Hold: time.Hour, Slot: &slot})
		answer <- err
	}()
	for waiting := false; !waiting; {
		must(t, pool.QueryRow(t.Context(), "select exists (select from pg_stat_activity where wait_event_type = 'Lock' and query like '%' || $1 || '%')", schema).Scan(&waiting))
	}
	_, err = tx.Exec(t.Context(), withSchema("update {schema}.shedlock_state set token = token + 1 where name = 'a'", schema))
	must(t, err)
	must(t, tx.Commit(t.Context()))
	var notDue *lock.NotDueError
	if err := <-answer; !errors.As(err, &notDue) || notDue.State.Token != lease.Token()+1 || !notDue.State.Mark.Slot.IsZero() {
		t.Errorf("%v %+v; not due was expected, with the new token", err, notDue)
	}
	_, err = tryLock(t, locks, "a")
	must(t, err)
}

// A token is greater than the last one also if the last one was drawn while the
// request waited for the row.
func TestLockTokenDrawnDuringAWait(t *testing.T) {
	pool := newPool(t)
	locks, schema := ownLocks(t, pool)
	lease, err := tryLock(t, locks, "a")
	must(t, err)
	must(t, lease.Release(t.Context()))
	tx, err := pool.Begin(t.Context())
	must(t, err)
	defer tx.Rollback(context.WithoutCancel(t.Context()))
	_, err = tx.Exec(t.Context(), withSchema("update {schema}.shedlock set locked_by = 'somebody' where name = 'a'", schema))
	must(t, err)
	tokens := make(chan int64, 1)
	go func() {
		next, err := tryLock(t, locks, "a")
		if err != nil {
			t.Error(err)
			tokens <- 0
			return
		}
		tokens <- next.Token()
	}()
	awaitThat(t, "the request to wait", func() (waiting bool) {
		must(t, pool.QueryRow(t.Context(), "select exists (select from pg_stat_activity where wait_event_type = 'Lock' and query like '%' || $1 || '%')", schema).Scan(&waiting))
		return waiting
	})
	_, err = tx.Exec(t.Context(), withSchema("update {schema}.shedlock_state set token = token + 10 where name = 'a'", schema))
	must(t, err)
	must(t, tx.Commit(t.Context()))
	if got, want := <-tokens, lease.Token()+11; got != want {
		t.Errorf("token %d, want %d", got, want)
	}
}

// A row that another program made has no state yet. Its lock is granted like any
// other, to one caller, with a token.
func TestLockOfARowWithoutAState(t *testing.T) {
	locks, schema := ownLocks(t, newPool(t))
	execute(t, withSchema(`insert into {schema}.shedlock select 'l' || i, '2000-01-01', '2000-01-01', 'java-host' from generate_series(1, 20) i`, schema))
	for i := range 20 {
		name := fmt.Sprint("l", i+1)
		var got sync.Map
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				lease, err := tryLock(t, locks, name)
				switch {
				case err == nil:
					got.Store(lease, lease.Token())
				case !errors.Is(err, lock.ErrHeld):
					t.Error(err)
				}
			})
		}
		all.Wait()
		holders := 0
		for range got.Range {
			holders++
		}
		if holders != 1 {
			t.Fatalf("%d callers hold %s, want 1", holders, name)
		}
		for lease, token := range got.Range {
			if token.(int64) < 1 {
				t.Errorf("token %d", token)
			}
			must(t, lease.(lock.Lease).Release(t.Context()))
		}
	}
	execute(t, withSchema(`insert into {schema}.shedlock select 'java', now() at time zone 'utc' + interval '1 hour', '2000-01-01', 'java-host'`, schema))
	var held *lock.HeldError
	if _, err := tryLock(t, locks, "java"); !errors.As(err, &held) || held.Owner != "java-host" {
		t.Errorf("a lock that Java holds: %v", err)
	}
}

func TestLockTablesMissing(t *testing.T) {
	pool := newPool(t)
	schema := newSchema(t)
	b := openAt(t, urlFrom(t, serverVariable), schema)
	for _, locks := range []*Locks{b.Locks(), NewLocks(pool, Table(schema+".shedlock"))} {
		_, err := tryLock(t, locks, "a")
		if !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "CreateTables") {
			t.Errorf("%v; the remedy was expected", err)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := locks.CreateTables(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		_, err = tryLock(t, locks, "a")
		must(t, err)
	}
	migrate(t, b) // the tables of locks exist already
	execute(t, withSchema("drop table {schema}.lock_state", schema))
	locks := b.Locks()
	if _, err := tryLock(t, locks, "a"); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "lock_state") {
		t.Errorf("%v; the name of the missing table was expected", err)
	}
	execute(t, locks.TablesSQL())
	_, err := tryLock(t, locks, "b")
	must(t, err)
}

func TestLockTablesThatDoNotFit(t *testing.T) {
	pool := newPool(t)
	for columns, want := range map[string]string{
		"name text primary key, lock_until timestamp, locked_at timestamp":                     "no column locked_by",
		"name text, lock_until timestamp, locked_at timestamp, locked_by text":                 "no unique index",
		"name text primary key, lock_until bigint, locked_at timestamp, locked_by text":        "lock_until is of type int8",
		"name char(64) primary key, lock_until timestamp, locked_at timestamp, locked_by text": "name is of type bpchar",
	} {
		schema := newSchema(t)
		execute(t, withSchema("create schema {schema}; create table {schema}.shedlock ("+columns+")", schema))
		locks := NewLocks(pool, Table(schema+".shedlock"))
		must(t, locks.CreateTables(t.Context()))
		if _, err := tryLock(t, locks, "a"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", columns, err)
		}
	}
	for _, name := range []string{"", ".", "a.", ".a", "a.b.c", "pg_a.b", strings.Repeat("n", 58), "a\x00"} {
		if _, err := tryLock(t, NewLocks(pool, Table(name)), "a"); err == nil || !strings.Contains(err.Error(), "lock table") {
			t.Errorf("table %q: %v", name, err)
		}
	}
}

// TestLockNamesUnderACollation checks that two names that are equal under the
// collation are two locks.
func TestLockNamesUnderACollation(t *testing.T) {
	schema := newSchema(t)
	execute(t, withSchema(`create schema {schema}; create collation {schema}.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
		create table {schema}.shedlock (name text collate {schema}.loose primary key, lock_until timestamptz, locked_at timestamptz, locked_by text)`, schema))
	locks := NewLocks(newPool(t), Table(schema+".shedlock"))
	must(t, locks.CreateTables(t.Context()))
	lease, err := tryLock(t, locks, "a")
	must(t, err)
	execute(t, withSchema("insert into {schema}.shedlock_state (name, token) values ('A', 7)", schema))
	for turn := range 2 { // held, and free
		var refused *check.FieldError
		if _, err := tryLock(t, locks, "A"); !errors.As(err, &refused) || refused.Field != "name" {
			t.Errorf("the lock of another name was taken or waited for: %v", err)
		}
		if err := locks.ForceRelease(t.Context(), lock.ForceReleaseRequest{Name: "A"}); err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(t.Context()); turn == 0 && err != nil {
			t.Errorf("the lock of another name was freed: %v", err)
		}
	}
}

// TestLockTimesAreRounded checks that columns with a low precision round a hold
// up, and a release down.
func TestLockTimesAreRounded(t *testing.T) {
	pool := newPool(t)
	now := time.Date(2035, 1, 2, 3, 4, 5, 444_555_000, time.UTC)
	for kind, step := range map[string]time.Duration{"timestamp(0)": time.Second, "timestamptz(2)": 10 * time.Millisecond, "timestamp(3)": time.Millisecond, "timestamptz": time.Microsecond} {
		schema := newSchema(t)
		execute(t, withSchema("create schema {schema}; create table {schema}.shedlock (name text primary key, lock_until "+kind+", locked_at "+kind+", locked_by text)", schema))
		locks := NewLocks(pool, Table(schema+".shedlock"))
		must(t, locks.CreateTables(t.Context()))
		checkRounding(t, locks, now, step)
	}
}

func checkRounding(t *testing.T, locks *Locks, now time.Time, step time.Duration) {
	t.Helper()
	const hold = 7 * time.Second
	until := func() time.Time {
		infos, err := locks.Locks(t.Context(), lock.LocksRequest{Limit: 1})
		must(t, err)
		return infos[0].Until
	}
	up := func(at time.Time) time.Time { return at.Add(step - 1).Truncate(step) }
	req := lock.Request{Name: "a", Owner: "o", Hold: hold, Now: func() time.Time { return now }}
	lease, err := locks.TryLock(t.Context(), req)
	must(t, err)
	if got, want := until(), up(now.Add(hold)); !got.Equal(want) {
		t.Errorf("steps of %v: held until %v, want %v", step, got, want)
	}
	must(t, lease.Extend(t.Context(), 2*hold))
	if got, want := until(), up(now.Add(2*hold)); !got.Equal(want) {
		t.Errorf("steps of %v: extended until %v, want %v", step, got, want)
	}
	must(t, lease.Release(t.Context())) // within the step of the precision in which the lock was granted
	if got, want := until(), now.Truncate(step); !got.Equal(want) {
		t.Errorf("steps of %v: released at %v, want %v", step, got, want)
	}
	req.AtLeast = hold
	lease, err = locks.TryLock(t.Context(), req)
	must(t, err)
	must(t, lease.Release(t.Context()))
	if got, want := until(), now.Add(hold).Truncate(time.Millisecond); got.Before(want) || got.After(want.Add(step+time.Millisecond)) {
		t.Errorf("steps of %v: at least until %v, want %v", step, got, want)
	}
}

// javaTakes and javaFrees send the statements of ShedLock with usingDbTime.
func javaTakes(t testing.TB, schema, name string) bool {
	return javaRows(t, schema, `update {schema}.shedlock set lock_until = timezone('utc', CURRENT_TIMESTAMP) + interval '1 hour',
		locked_at = timezone('utc', CURRENT_TIMESTAMP), locked_by = 'java-host' where name = $1 and lock_until <= timezone('utc', CURRENT_TIMESTAMP)`, name)
}

func javaFrees(t testing.TB, schema, name string) bool {
	return javaRows(t, schema, `update {schema}.shedlock set lock_until = timezone('utc', CURRENT_TIMESTAMP)
		where name = $1 and locked_by = 'java-host'`, name)
}

func javaRows(t testing.TB, schema, text, name string) bool {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), urlFrom(t, serverVariable))
	must(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "set timezone = 'Asia/Kolkata'")
	must(t, err)
	tag, err := conn.Exec(t.Context(), withSchema(text, schema), name)
	must(t, err)
	return tag.RowsAffected() == 1
}

// TestLockBesideJava checks that Java and Hourbell exclude each other, whatever
// the time zones of their sessions, and that with the trigger Java's
// acquisitions draw tokens, while Hourbell's are not counted twice.
func TestLockBesideJava(t *testing.T) {
	config, err := pgxpool.ParseConfig(urlFrom(t, serverVariable))
	must(t, err)
	config.ConnConfig.RuntimeParams["timezone"] = "America/New_York"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	must(t, err)
	t.Cleanup(pool.Close)
	locks, schema := ownLocks(t, pool)
	text, err := locks.TriggerSQL(t.Context())
	must(t, err)
	execute(t, text)
	execute(t, text) // repeating it does no harm
	locker, err := lock.New(locks, lock.Config{})
	must(t, err)
	for want := int64(1); want < 6; want += 2 {
		held, err := locker.Try(t.Context(), "a", lock.Options{})
		if err != nil || held.Token() != want {
			t.Fatalf("token %d was expected, got %v, %v", want, held, err)
		}
		if javaTakes(t, schema, "a") {
			t.Error("Java took a lock that is held")
		}
		must(t, held.Release(t.Context()))
		if !javaTakes(t, schema, "a") {
			t.Error("Java did not get a lock that is free")
		}
		if _, err := locker.Try(t.Context(), "a", lock.Options{}); !errors.Is(err, lock.ErrHeld) {
			t.Errorf("a lock was taken that Java holds: %v", err)
		}
		if !javaFrees(t, schema, "a") {
			t.Error("Java's lock was not its own any more")
		}
	}
}
