package main

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

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
	schema := newSchemaName()
	b.env[storeVariable] = url
	t.Cleanup(func() { dropSchema(t, url, schema) })
	b.fails(exitFailed, []string{"migrate up"}, "jobs", "list", "--schema", schema, "--no-migrate")
	equal(t, "enqueue", b.ok("enqueue", "idle", "--schema", schema), "1\n")
	equal(t, "cancel", b.ok("jobs", "cancel", "1", "--schema", schema), "job 1: cancelled\n")
	if jobs := b.objects("jobs", "list", "--no-migrate", "--schema", schema); len(jobs) != 1 || jobs[0]["state"] != "cancelled" {
		t.Errorf("jobs %v", jobs)
	}
	const first = `{"step":1,"name":"tables","applied":true}` + "\n"
	if status := b.ok("migrate", "status", "--schema", schema, "--output", "ndjson"); !strings.HasPrefix(status, first) || strings.Contains(status, "false") {
		t.Errorf("status %s", status)
	}
	noStore(t, b)
}

// newSchemaName returns the name of a schema that does not exist.
func newSchemaName() string { return "cli_" + strings.ToLower(rand.Text()[:10]) }

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
