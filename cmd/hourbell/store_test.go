package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestParseStore(t *testing.T) {
	tests := []struct{ url, path, driver, schema, shown string }{
		{url: "sqlite:a.db", path: "a.db", shown: "sqlite:a.db"},
		{url: "sqlite:./some/where else.db", path: "./some/where else.db", shown: "sqlite:./some/where else.db"},
		{url: "sqlite:/abs/a.db", path: "/abs/a.db", shown: "sqlite:/abs/a.db"},
		{url: "sqlite:///abs/a.db", path: "/abs/a.db", shown: "sqlite:/abs/a.db"},
		{url: "postgres://u:p@h:5/db", driver: "postgres://u:p@h:5/db", shown: "postgres://u@h:5/db"},
		{url: "postgresql://h/db?sslmode=disable", driver: "postgresql://h/db?sslmode=disable", shown: "postgresql://h/db"},
		{url: "postgres://h/db?schema=jobs", driver: "postgres://h/db", schema: "jobs", shown: "postgres://h/db"},
		{url: "postgres://h/db?schema=my%20jobs&sslmode=disable&password=p", driver: "postgres://h/db?password=p&sslmode=disable", schema: "my jobs", shown: "postgres://h/db"},
		{url: "postgres:///db?host=/run/postgresql", driver: "postgres:///db?host=/run/postgresql", shown: "postgres:///db"},
	}
	for _, test := range tests {
		l, err := parseStore(test.url)
		if err != nil {
			t.Errorf("%s: %v", test.url, err)
			continue
		}
		if got, want := fmt.Sprint(l.path, "|", l.url, "|", l.schema, "|", l), fmt.Sprint(test.path, "|", test.driver, "|", test.schema, "|", test.shown); got != want {
			t.Errorf("%s: %s instead of %s", test.url, got, want)
		}
	}
}

// postgresURL returns the URL of the test server.
func postgresURL(t *testing.T) string {
	t.Helper()
	const variable = "HOURBELL_TEST_POSTGRES_URL"
	url := os.Getenv(variable)
	switch {
	case url != "":
	case os.Getenv("HOURBELL_TEST_REQUIRE") != "":
		t.Fatalf("%s is not set", variable)
	default:
		t.Skipf("%s is not set: run `make test`, or `make servers` and what it prints", variable)
	}
	return url
}

// TestPostgres covers the differences from SQLite: the URL, the schema and the
// migration.
func TestPostgres(t *testing.T) {
	url := postgresURL(t)
	b := newBench(t)
	schema := "cli_" + strings.ToLower(rand.Text()[:10])
	b.env[storeVariable] = url
	t.Cleanup(func() { dropSchema(t, url, schema) })
	b.fails(exitFailed, []string{"migrate up"}, "jobs", "list", "--schema", schema, "--no-migrate")
	equal(t, "enqueue", b.ok("enqueue", "idle", "--schema", schema), "1\n")
	equal(t, "cancel", b.ok("jobs", "cancel", "1", "--schema", schema), "job 1: cancelled\n")
	if jobs := b.objects("jobs", "list", "--no-migrate", "--schema", schema); len(jobs) != 1 || jobs[0]["state"] != "cancelled" {
		t.Errorf("jobs %v", jobs)
	}
	equal(t, "status", b.ok("migrate", "status", "--schema", schema, "--output", "ndjson"), `{"step":1,"name":"schema","applied":true}
`)
	noStore(t, b)
}

func dropSchema(t *testing.T, url, schema string) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "drop schema "+pgx.Identifier{schema}.Sanitize()+" cascade"); err != nil {
		t.Error(err)
	}
}
