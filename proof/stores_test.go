package proof

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/internal/testserver"
)

// The kinds of stores.
const (
	inSQLite   = "sqlite"
	inPostgres = "postgres"
	inMySQL    = "mysql"
)

// The kinds on which a test runs, unless HOURBELL_PROOF_STORES names others.
var (
	allStores   = []string{inSQLite, inPostgres, inMySQL}
	usualStores = []string{inSQLite, inPostgres}
	servers     = []string{inPostgres, inMySQL}
)

// namedStores returns the kinds of HOURBELL_PROOF_STORES; nil: it is not set.
func namedStores() []string {
	text := os.Getenv("HOURBELL_PROOF_STORES")
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// checkStores returns an error if HOURBELL_PROOF_STORES names a kind that does not exist.
func checkStores() error {
	for _, kind := range namedStores() {
		if !slices.Contains(allStores, kind) {
			return fmt.Errorf("HOURBELL_PROOF_STORES: %q is no kind of store; name some of %s, separated by commas", kind, strings.Join(allStores, ","))
		}
	}
	return nil
}

// chosen reports whether a test that runs on these kinds by default runs on a kind.
func chosen(kind string, byDefault []string) bool {
	if named := namedStores(); named != nil {
		return slices.Contains(named, kind)
	}
	return slices.Contains(byDefault, kind)
}

// needs skips a test of one kind if HOURBELL_PROOF_STORES names other kinds only.
func needs(t *testing.T, kind string) {
	t.Helper()
	if !chosen(kind, allStores) {
		t.Skip("HOURBELL_PROOF_STORES does not name " + kind)
	}
}

// onServers runs a test on each kind of server that is chosen.
func onServers(t *testing.T, byDefault []string, test func(t *testing.T, kind string)) {
	for _, kind := range servers {
		if chosen(kind, byDefault) {
			t.Run(kind, func(t *testing.T) { test(t, kind) })
		}
	}
}

// onEachStore runs a test on a fresh store of each kind that is chosen, concurrently: the
// tests mostly wait.
func onEachStore(t *testing.T, byDefault []string, test func(t *testing.T, store string)) {
	for _, kind := range allStores {
		if chosen(kind, byDefault) {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				test(t, freshStore(t, kind))
			})
		}
	}
}

// freshStore returns the URL of an empty store, which is removed after the test.
func freshStore(t *testing.T, kind string) string {
	t.Helper()
	switch kind {
	case inSQLite:
		return "sqlite:" + filepath.Join(t.TempDir(), "proof.db")
	case inMySQL:
		return mysqlStore(t)
	}
	return postgresStore(t)
}

// serverStore returns the URL of an empty store on a server, for tests that run on one kind of server: PostgreSQL, unless
// HOURBELL_PROOF_STORES names MySQL only.
func serverStore(t *testing.T) string {
	t.Helper()
	for _, kind := range servers {
		if chosen(kind, usualStores) {
			return freshStore(t, kind)
		}
	}
	t.Skip("HOURBELL_PROOF_STORES names no server")
	return ""
}

// kindOf returns the kind of the store at a URL of the harness.
func kindOf(at string) string {
	scheme, _, _ := strings.Cut(at, ":")
	return scheme
}

// hostOf returns the host and port in a URL.
func hostOf(t *testing.T, at string) string {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// through returns the URL of the same database through a proxy.
func through(t *testing.T, at, proxy string) string {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = proxy
	return u.String()
}

// withParameter returns a URL with a parameter more.
func withParameter(t *testing.T, at, name, value string) string {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set(name, value)
	u.RawQuery = query.Encode()
	return u.String()
}

// endingIdle returns a URL whose connections the server ends when they have been idle in a transaction for so many
// seconds: a process that is stopped in a transaction holds its locks.
func endingIdle(t *testing.T, at string, seconds int) string {
	t.Helper()
	if kindOf(at) == inMySQL {
		return withParameter(t, at, "idle_transaction_timeout", fmt.Sprint(seconds))
	}
	return withParameter(t, at, "idle_in_transaction_session_timeout", fmt.Sprint(seconds*1000))
}

// postgresStore returns the URL of a schema that is dropped after the test.
func postgresStore(t *testing.T) string {
	t.Helper()
	base, schema := testserver.URL(t, "HOURBELL_TEST_POSTGRES_URL"), freshName()
	t.Cleanup(func() {
		ctx := context.Background()
		conn, err := pgx.Connect(ctx, base)
		if err != nil {
			t.Errorf("drop the schema: %v", err)
			return
		}
		defer conn.Close(ctx)
		if _, err := conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+schema+" CASCADE"); err != nil {
			t.Errorf("drop the schema: %v", err)
		}
	})
	return withParameter(t, base, "schema", schema)
}

// mysqlStore returns the URL of a database that is dropped after the test.
func mysqlStore(t *testing.T) string {
	t.Helper()
	base, name := testserver.URL(t, "HOURBELL_TEST_MYSQL_URL"), freshName()
	execute := func(text string) {
		t.Helper()
		db, err := openMySQL(base)
		if err == nil {
			defer db.Close()
			_, err = db.ExecContext(context.Background(), text)
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	execute("CREATE DATABASE " + name)
	t.Cleanup(func() { execute("DROP DATABASE " + name) })
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal("HOURBELL_TEST_MYSQL_URL is not a URL")
	}
	u.Path = "/" + name
	return u.String()
}

// freshName returns a name for a schema or a database.
func freshName() string { return fmt.Sprintf("proof_%d_%d", os.Getpid(), time.Now().UnixNano()) }

// openMySQL opens a pool on a database of MySQL or MariaDB.
func openMySQL(at string) (*sql.DB, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	config, err := mysql.ParseDSN("/?" + u.RawQuery)
	if err != nil {
		return nil, err
	}
	config.Net, config.Addr, config.DBName = "tcp", u.Host, strings.TrimPrefix(u.Path, "/")
	config.User = u.User.Username()
	config.Passwd, _ = u.User.Password()
	config.Logger = &mysql.NopLogger{} // connections break here as they should
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}
