package mysql

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/testserver"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/locktest"
	"github.com/hourbell/hourbell/store"
)

// Tests need a server: its URL is in HOURBELL_TEST_MYSQL_URL. Without it they
// are skipped, or fail if HOURBELL_TEST_REQUIRE=1. Each test works in a
// database of its own and drops it.
const serverVariable = "HOURBELL_TEST_MYSQL_URL"

func TestMain(m *testing.M) {
	locktest.Contend(openLocks)
	os.Exit(m.Run())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newDatabase makes a database with the server's default collation, and returns
// its URL and a pool of connections as a program would open it.
func newDatabase(t testing.TB, parameters string) (url string, db *sql.DB) {
	t.Helper()
	server := testserver.URL(t, serverVariable)
	name := fmt.Sprintf("hb test %d %d", os.Getpid(), time.Now().UnixNano())
	config, err := readURL(server)
	must(t, err)
	admin, err := sql.Open("mysql", config.FormatDSN())
	must(t, err)
	t.Cleanup(func() { admin.Close() })
	_, err = admin.Exec("CREATE DATABASE " + quoted(name))
	must(t, err)
	t.Cleanup(func() { admin.Exec("DROP DATABASE " + quoted(name)) })
	url = server[:strings.LastIndexByte(server, '/')+1] + strings.ReplaceAll(name, " ", "%20") + "?" + parameters
	return url, openDB(t, url)
}

func openDB(t testing.TB, url string) *sql.DB {
	t.Helper()
	config, err := readURL(url)
	must(t, err)
	db, err := sql.Open("mysql", config.FormatDSN())
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// lockTarget is the store that tests and contending processes open.
type lockTarget struct{ URL, Table, Zone string }

func (l lockTarget) String() string {
	text, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (l lockTarget) options() []LockOption {
	options := []LockOption{Table(l.Table)}
	if l.Zone != "" {
		options = append(options, TimeZone(l.Zone))
	}
	return options
}

func openLocks(_ context.Context, target string) (lock.Provider, func(), error) {
	var at lockTarget
	if err := json.Unmarshal([]byte(target), &at); err != nil {
		return nil, nil, err
	}
	locks, err := OpenLocks(at.URL, at.options()...)
	if err != nil {
		return nil, nil, err
	}
	return locks, func() { locks.Close() }, nil
}

// lockVariants are the tables for locks, and connections of programs with
// settings of their own.
var lockVariants = []struct{ name, table, parameters, zone string }{
	{name: "own", parameters: "clientFoundRows=true&parseTime=true&loc=Local&interpolateParams=true"},
	{name: "timestamp(3)", zone: "+05:30", parameters: "time_zone=%27-08%3A00%27&sql_mode=%27ANSI_QUOTES%27", table: `CREATE TABLE shedlock (
		name VARCHAR(200) NOT NULL, lock_until TIMESTAMP(3) NOT NULL, locked_at DATETIME(3) NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name)) COLLATE utf8mb4_bin`},
}

func TestLocks(t *testing.T) {
	for _, v := range lockVariants {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel() // they sleep most of the time
			url, db := newDatabase(t, v.parameters)
			if v.table != "" {
				_, err := db.Exec(v.table)
				must(t, err)
			}
			target := lockTarget{url, "shedlock", v.zone}
			must(t, NewLocks(db, target.options()...).CreateTables(t.Context()))
			locktest.Run(t, lockStore(t, target, db))
		})
	}
}

func lockStore(t *testing.T, target lockTarget, db *sql.DB) locktest.Store {
	return locktest.Store{
		Target: target.String(), Open: openLocks,
		DeleteRow: func(ctx context.Context, name string) (bool, error) {
			result, err := db.ExecContext(ctx, "DELETE FROM shedlock WHERE name = ?", name)
			if err != nil {
				return false, err
			}
			n, err := result.RowsAffected()
			return n == 1, err
		},
		Begin: func(ctx context.Context) (func() error, error) {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return nil, err
			}
			var n int
			return tx.Rollback, tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM shedlock").Scan(&n)
		},
		Tx: func(ctx context.Context) (lock.Tx, func(bool) error, error) {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return nil, nil, err
			}
			return NewLocks(db, target.options()...).Tx(tx), ending(tx), nil
		},
		Exhausted: func(t testing.TB) lock.Provider {
			pool := openDB(t, target.URL)
			pool.SetMaxOpenConns(1)
			conn, err := pool.Conn(t.Context())
			must(t, err)
			t.Cleanup(func() { conn.Close() })
			return NewLocks(pool, target.options()...)
		},
	}
}

// ending commits a transaction, or rolls it back.
func ending(tx *sql.Tx) func(commit bool) error {
	return func(commit bool) error {
		if commit {
			return tx.Commit()
		}
		return tx.Rollback()
	}
}

func tryLock(t testing.TB, locks *Locks, name string) (lock.Lease, error) {
	t.Helper()
	return locks.TryLock(t.Context(), lock.Request{Name: name, Owner: fmt.Sprint("owner ", time.Now().UnixNano()), Hold: time.Hour})
}

// ownLocks returns locks in a database of their own, under whose default
// collation "a" and "A" are equal.
func ownLocks(t testing.TB, opts ...LockOption) (*Locks, *sql.DB) {
	t.Helper()
	_, db := newDatabase(t, "")
	locks := NewLocks(db, opts...)
	must(t, locks.CreateTables(t.Context()))
	return locks, db
}

func TestLockStatements(t *testing.T) { must(t, lockDialect("@@global.time_zone").Validate()) }

// TestLockNamesUnderACollation checks that two names that are equal under the
// collation are two locks.
func TestLockNamesUnderACollation(t *testing.T) {
	_, db := newDatabase(t, "")
	_, err := db.Exec("CREATE TABLE shedlock (name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP(3), locked_at TIMESTAMP(3), locked_by VARCHAR(255))")
	must(t, err)
	locks := NewLocks(db, Table("shedlock"))
	must(t, locks.CreateTables(t.Context()))
	lease, err := tryLock(t, locks, "a")
	must(t, err)
	_, err = db.Exec("INSERT INTO shedlock_state (name, token) VALUES ('A', 7)")
	must(t, err)
	for turn := range 2 { // held, and free
		for _, name := range []string{"A", "á"} {
			var refused *check.FieldError
			if _, err := tryLock(t, locks, name); !errors.As(err, &refused) || refused.Field != "name" {
				t.Errorf("the lock of another name was taken or waited for: %v", err)
			}
			if err := locks.ForceRelease(t.Context(), lock.ForceReleaseRequest{Name: name}); err != nil && !errors.Is(err, lock.ErrNotFound) {
				t.Fatal(err)
			}
		}
		if err := lease.Release(t.Context()); turn == 0 && err != nil {
			t.Errorf("the lock of another name was freed: %v", err)
		}
	}
}

func TestLockNamesThatAColumnCannotKeep(t *testing.T) {
	for column, names := range map[string][]string{
		"VARCHAR(64) CHARACTER SET utf8mb4": {strings.Repeat("é", 65)},
		"VARCHAR(64) CHARACTER SET utf8mb3": {strings.Repeat("n", 65), "😀"},
		"VARCHAR(64) CHARACTER SET latin1":  {"á", "Ω"},
		"VARBINARY(64)":                     {strings.Repeat("é", 33)},
	} {
		_, db := newDatabase(t, "sql_mode=%27%27") // in this mode the server would cut and replace values
		_, err := db.Exec("CREATE TABLE shedlock (name " + column + " PRIMARY KEY, lock_until DATETIME(6), locked_at DATETIME(6), locked_by VARCHAR(255))")
		must(t, err)
		locks := NewLocks(db, Table("shedlock"))
		must(t, locks.CreateTables(t.Context()))
		for _, name := range names {
			var refused *check.FieldError
			if _, err := tryLock(t, locks, name); !errors.As(err, &refused) || refused.Field != "name" {
				t.Errorf("%s: %q: %v", column, name, err)
			}
		}
		_, err = tryLock(t, locks, "plain")
		must(t, err)
	}
}

func TestLockTablesMissing(t *testing.T) {
	_, db := newDatabase(t, "")
	locks := NewLocks(db)
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
	_, err = db.Exec("DROP TABLE hourbell_lock_state")
	must(t, err)
	for range 2 { // first with known tables, then with tables that are read again
		if _, err := tryLock(t, locks, "b"); !errors.Is(err, store.ErrSchema) {
			t.Errorf("%v; ErrSchema was expected", err)
		}
	}
}

func TestLockTablesThatDoNotFit(t *testing.T) {
	for columns, want := range map[string]string{
		"name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP(3) NULL, locked_at TIMESTAMP(3) NULL":                          "no column locked_by",
		"name VARCHAR(64), lock_until DATETIME, locked_at DATETIME, locked_by VARCHAR(255)":                                "no unique index",
		"name VARCHAR(64), lock_until DATETIME, locked_at DATETIME, locked_by VARCHAR(255), UNIQUE (name(10))":             "no unique index",
		"name VARCHAR(64), lock_until DATETIME, locked_at DATETIME, locked_by VARCHAR(255), PRIMARY KEY (name, locked_by)": "no unique index",
		"name VARCHAR(64) PRIMARY KEY, lock_until BIGINT, locked_at DATETIME, locked_by VARCHAR(255)":                      "lock_until is of type bigint",
		"name CHAR(64) PRIMARY KEY, lock_until DATETIME, locked_at DATETIME, locked_by VARCHAR(255)":                       "name is of type char",
	} {
		_, db := newDatabase(t, "")
		_, err := db.Exec("CREATE TABLE shedlock (" + columns + ")")
		must(t, err)
		locks := NewLocks(db, Table("shedlock"))
		must(t, locks.CreateTables(t.Context()))
		if _, err := tryLock(t, locks, "a"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", columns, err)
		}
	}
	_, db := newDatabase(t, "")
	for _, option := range []LockOption{Table(""), Table("."), Table("a."), Table("a.b.c"), Table(strings.Repeat("n", 56)), TimeZone("a'b"), TimeZone("")} {
		if _, err := tryLock(t, NewLocks(db, option), "a"); err == nil || !strings.Contains(err.Error(), "lock table") && !strings.Contains(err.Error(), "time zone") {
			t.Errorf("a bad option: %v", err)
		}
	}
}

func TestLockConnectionsThatDoNotFit(t *testing.T) {
	url, db := newDatabase(t, "autocommit=0")
	must(t, NewLocks(openDB(t, strings.Replace(url, "autocommit=0", "", 1))).CreateTables(t.Context()))
	if _, err := tryLock(t, NewLocks(db), "a"); err == nil || !strings.Contains(err.Error(), "autocommit=0") {
		t.Errorf("connections that commit nothing: %v", err)
	}
	locks := NewLocks(openDB(t, strings.Replace(url, "autocommit=0", "", 1)), TimeZone("Nowhere/Atall"))
	if _, err := tryLock(t, locks, "a"); err == nil || !strings.Contains(err.Error(), "mysql_tzinfo_to_sql") {
		t.Errorf("a zone that the server does not know: %v", err)
	}
}

// TestLockBehindAnOpenTransaction checks that an open transaction that holds
// the row makes no call hang, and that no lock is taken after its caller has
// given up.
func TestLockBehindAnOpenTransaction(t *testing.T) {
	locks, db := ownLocks(t)
	lease, err := tryLock(t, locks, "a")
	must(t, err)
	must(t, lease.Release(t.Context()))
	tx, err := db.Begin()
	must(t, err)
	defer tx.Rollback()
	_, err = tx.Exec("UPDATE hourbell_lock SET locked_by = 'somebody'")
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err = locks.TryLock(ctx, lock.Request{Name: "a", Owner: "o", Hold: time.Hour})
	if !errors.Is(err, lock.ErrBusy) || time.Since(start) > 5*time.Second {
		t.Errorf("after %v: %v; ErrBusy was expected", time.Since(start), err)
	}
	must(t, tx.Rollback())
	_, err = tryLock(t, locks, "a")
	must(t, err)
}

// TestLockSlotDecidedOnAnOldState checks a request whose slot was decided from
// a state that changed while the request waited for the row: nothing is
// granted, and nothing is stored.
func TestLockSlotDecidedOnAnOldState(t *testing.T) {
	locks, db := ownLocks(t)
	lease, err := tryLock(t, locks, "a")
	must(t, err)
	must(t, lease.Release(t.Context()))
	tx, err := db.Begin()
	must(t, err)
	defer tx.Rollback()
	_, err = tx.Exec("UPDATE hourbell_lock SET locked_by = 'somebody' WHERE name = 'a'")
	must(t, err)
	answer := make(chan error)
	go func() {
		now := time.Now().Truncate(time.Millisecond)
		slot := lock.Slot{Seen: lease.Token(), From: now.Add(-time.Hour), Until: now.Add(time.Hour), Mark: lock.Mark{Slot: now}}
		_, err := locks.TryLock(t.Context(), lock.Request{Name: "a", Owner: "o", Hold: time.Hour, Slot: &slot})
		answer <- err
	}()
	for waiting := false; !waiting; {
		time.Sleep(150 * time.Millisecond) // the server keeps a table open for 100 ms after each use
		must(t, db.QueryRow("SELECT EXISTS (SELECT 1 FROM information_schema.innodb_lock_waits)").Scan(&waiting))
	}
	_, err = tx.Exec("UPDATE hourbell_lock_state SET token = token + 1 WHERE name = 'a'")
	must(t, err)
	must(t, tx.Commit())
	var notDue *lock.NotDueError
	if err := <-answer; !errors.As(err, &notDue) || notDue.State.Token != lease.Token()+1 || !notDue.State.Mark.Slot.IsZero() {
		t.Errorf("%v %+v; not due was expected, with the new token", err, notDue)
	}
	_, err = tryLock(t, locks, "a")
	must(t, err)
}

// TestLockTimesAreRounded checks that columns with a low precision round a hold
// up, and a release down.
func TestLockTimesAreRounded(t *testing.T) {
	now := time.Date(2035, 1, 2, 3, 4, 5, 444_555_000, time.UTC)
	for kind, step := range map[string]time.Duration{"TIMESTAMP": time.Second, "DATETIME(2)": 10 * time.Millisecond, "TIMESTAMP(3)": time.Millisecond, "DATETIME(6)": time.Microsecond} {
		_, db := newDatabase(t, "")
		_, err := db.Exec("CREATE TABLE shedlock (name VARCHAR(64) PRIMARY KEY, lock_until " + kind + " NOT NULL, locked_at " + kind + " NOT NULL, locked_by VARCHAR(255))")
		must(t, err)
		locks := NewLocks(db, Table("shedlock"))
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
func javaTakes(t testing.TB, db *sql.DB) bool {
	return javaRows(t, db, `UPDATE shedlock SET lock_until = TIMESTAMPADD(MICROSECOND, 3600000000, UTC_TIMESTAMP(3)),
		locked_at = UTC_TIMESTAMP(3), locked_by = 'java-host' WHERE name = 'a' AND lock_until <= UTC_TIMESTAMP(3)`)
}

func javaFrees(t testing.TB, db *sql.DB) bool {
	return javaRows(t, db, "UPDATE shedlock SET lock_until = UTC_TIMESTAMP(3) WHERE name = 'a' AND locked_by = 'java-host'")
}

func javaRows(t testing.TB, db *sql.DB, text string) bool {
	t.Helper()
	result, err := db.Exec(text)
	must(t, err)
	n, err := result.RowsAffected()
	must(t, err)
	return n == 1
}

// TestLockBesideJava checks that Java and Hourbell exclude each other, whatever
// the time zones of their sessions, and that with the triggers Java's
// acquisitions draw tokens, while Hourbell's are not counted twice.
func TestLockBesideJava(t *testing.T) {
	for name, zones := range map[string]struct{ java, ours, option string }{
		"the same":       {"", "", ""},
		"ours differs":   {"", "time_zone=%27-08%3A00%27", ""},
		"Java's differs": {"time_zone=%27%2B05%3A30%27", "time_zone=%27-08%3A00%27", "+05:30"},
	} {
		t.Run(name, func(t *testing.T) {
			url, java := newDatabase(t, zones.java)
			_, err := java.Exec(`CREATE TABLE shedlock (name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL,
				locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))`)
			must(t, err)
			base, _, _ := strings.Cut(url, "?")
			target := lockTarget{base + "?" + zones.ours, "shedlock", zones.option}
			locks := NewLocks(openDB(t, target.URL), target.options()...)
			must(t, locks.CreateTables(t.Context()))
			for text := range strings.SplitSeq(strings.TrimSpace(locks.TriggerSQL()), ";\n\n") {
				_, err := java.Exec(text)
				must(t, err)
			}
			excludeEachOther(t, locks, java)
		})
	}
}

func excludeEachOther(t *testing.T, locks *Locks, java *sql.DB) {
	locker, err := lock.New(locks, lock.Config{})
	must(t, err)
	for want := int64(1); want < 6; want += 2 {
		held, err := locker.Try(t.Context(), "a", lock.Options{})
		if err != nil || held.Token() != want {
			t.Fatalf("token %d was expected, got %v, %v", want, held, err)
		}
		if javaTakes(t, java) {
			t.Error("Java took a lock that is held")
		}
		must(t, held.Release(t.Context()))
		if !javaTakes(t, java) {
			t.Error("Java did not get a lock that is free")
		}
		if _, err := locker.Try(t.Context(), "a", lock.Options{}); !errors.Is(err, lock.ErrHeld) {
			t.Errorf("a lock was taken that Java holds: %v", err)
		}
		if !javaFrees(t, java) {
			t.Error("Java's lock was not its own any more")
		}
	}
}

// TestURLs checks that no error repeats a URL, because a password may be
// anywhere in it.
func TestURLs(t *testing.T) {
	const secret = "se%crét"
	for _, url := range []string{
		"mysql://u:" + secret + "@h/db", "mysql://u:p@h/" + "db?readTimeout=" + "secrét", "u:secrét@tcp(h)/db", "postgres://u:secrét@h/db", "mysql://u:secrét@h", "mysql:///secrét",
	} {
		_, err := OpenLocks(url)
		if err == nil || strings.Contains(err.Error(), "crét") || !strings.Contains(err.Error(), "store URL") {
			t.Errorf("%s: %v", url, err)
		}
	}
	config, err := readURL("mysql://u%40x:p%3Aw@[::1]/a%20b?tls=skip-verify")
	must(t, err)
	if config.User != "u@x" || config.Passwd != "p:w" || config.Addr != "[::1]:3306" || config.DBName != "a b" || config.TLSConfig != "skip-verify" {
		t.Errorf("read as %+v", config)
	}
}
