package shedlock

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/drivers/mongodb"
	"github.com/hourbell/hourbell/drivers/mysql"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/drivers/redis"
	"github.com/hourbell/hourbell/lock"
)

// store is a store with its locks as both sides use them.
type store struct {
	ours lock.Provider
	java []any // the arguments of the order "open" after the provider's name
}

// stores each open an empty store for one test.
var stores = []struct {
	name string
	open func(t *testing.T) store
}{
	{"postgres", func(t *testing.T) store { return openPostgres(t, "sql") }},
	{"postgres-dbtime", func(t *testing.T) store { return openPostgres(t, "sql-dbtime") }},
	{"mysql", func(t *testing.T) store { return openMySQL(t, "sql") }},
	{"mysql-dbtime", func(t *testing.T) store { return openMySQL(t, "sql-dbtime") }},
	{"mongodb", openMongo},
	{"redis", func(t *testing.T) store { return openRedis(t, "redis") }},
	{"redis-safe", func(t *testing.T) store { return openRedis(t, "redis-safe") }},
}

// serverURL reads the URL of a server from the environment.
func serverURL(t *testing.T, variable string) *url.URL {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		missing(t, variable+" is not set; this test needs that server")
	}
	u, err := url.Parse(text)
	if err != nil {
		t.Fatalf("%s is not a URL", variable)
	}
	return u
}

// space returns a name that no other test uses.
func space() string { return fmt.Sprintf("shedlock_%d_%d", os.Getpid(), time.Now().UnixNano()) }

// with adds a parameter to a URL.
func with(u url.URL, name, value string) *url.URL {
	query := u.Query()
	query.Set(name, value)
	u.RawQuery = query.Encode()
	return &u
}

// The tables as given in ShedLock's documentation.
const (
	postgresTable = `CREATE TABLE shedlock (
	name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL, locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL,
	PRIMARY KEY (name))`
	mysqlTable = `CREATE TABLE shedlock (
	name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL, locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
	locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))`
)

func openPostgres(t *testing.T, kind string) store {
	ctx := context.Background() // the test's own context has ended when the test is cleaned up
	u, schema := serverURL(t, "HOURBELL_TEST_POSTGRES_URL"), space()
	conn, err := pgx.Connect(ctx, with(*u, "search_path", schema).String())
	must(t, err)
	t.Cleanup(func() {
		_, err := conn.Exec(ctx, "SET client_min_messages = error; DROP SCHEMA "+schema+" CASCADE")
		must(t, err)
		conn.Close(ctx)
	})
	_, err = conn.Exec(ctx, "CREATE SCHEMA "+schema+"; "+postgresTable)
	must(t, err)
	backend, err := postgres.Open(ctx, u.String())
	must(t, err)
	t.Cleanup(func() { backend.Close() })
	locks := backend.Locks(postgres.Table(schema + ".shedlock"))
	must(t, locks.CreateTables(ctx))
	password, _ := u.User.Password()
	jdbc := url.URL{Scheme: "jdbc:postgresql", Host: u.Host, Path: u.Path, RawQuery: "currentSchema=" + schema}
	return store{locks, []any{kind, jdbc.String(), u.User.Username(), password, ""}}
}

func openMySQL(t *testing.T, kind string) store {
	ctx := context.Background()
	u, database := serverURL(t, "HOURBELL_TEST_MYSQL_URL"), space()
	password, _ := u.User.Password()
	db, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)/?multiStatements=true", u.User.Username(), password, u.Host))
	must(t, err)
	t.Cleanup(func() {
		_, err := db.ExecContext(ctx, "DROP DATABASE "+database)
		must(t, err)
		db.Close()
	})
	_, err = db.ExecContext(ctx, "CREATE DATABASE "+database+"; USE "+database+"; "+mysqlTable)
	must(t, err)
	named := *u
	named.Path = "/" + database
	locks, err := mysql.OpenLocks(named.String(), mysql.Table("shedlock"))
	must(t, err)
	t.Cleanup(func() { locks.Close() })
	must(t, locks.CreateTables(ctx))
	jdbc := url.URL{Scheme: "jdbc:mariadb", Host: u.Host, Path: named.Path, RawQuery: "sslMode=disable"}
	return store{locks, []any{kind, jdbc.String(), u.User.Username(), password, ""}}
}

func openMongo(t *testing.T) store {
	u, database := serverURL(t, "HOURBELL_TEST_MONGO_URL"), space()
	named := *u
	named.Path = "/" + database
	p, err := mongodb.Open(context.Background(), named.String())
	must(t, err)
	t.Cleanup(func() { p.Close() })
	return store{p, []any{"mongo", u.String(), "", "", database}}
}

func openRedis(t *testing.T, kind string) store {
	u, environment := serverURL(t, "HOURBELL_TEST_REDIS_URL"), space()
	p, err := redis.Open(context.Background(), u.String(), redis.Environment(environment))
	must(t, err)
	t.Cleanup(func() { p.Close() })
	if database := strings.Trim(u.Path, "/"); database != "" && database != "0" {
		missing(t, "HOURBELL_TEST_REDIS_URL names a database other than 0, which the Java program does not take")
	}
	password, _ := u.User.Password()
	return store{p, []any{kind, "redis://" + u.Host, "", password, environment}}
}
