package mysql

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/testserver"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/locktest"
)

// Tests need a server: its URL is in HOURBELL_TEST_MYSQL_URL. Without it they
// are skipped, or fail if HOURBELL_TEST_REQUIRE=1. Each test works in a
// database of its own and drops it.
const serverVariable = "HOURBELL_TEST_MYSQL_URL"

func TestMain(m *testing.M) {
	locktest.Contend(openLocks)
	if servers := os.Getenv(galeraServers); servers != "" {
		workOnGalera(strings.Fields(servers))
		os.Exit(0)
	}
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
	_, err = admin.Exec("CREATE DATABASE " + quoted(name) + " CHARACTER SET latin1")
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
	t.Parallel()
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
			store := lockStore(t, target, db)
			store.Again = v.table != ""
			locktest.Run(t, store)
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

func TestLockStatements(t *testing.T) { must(t, lockDialect("@@global.time_zone").Validate()) }

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

func TestLockOptions(t *testing.T) {
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
