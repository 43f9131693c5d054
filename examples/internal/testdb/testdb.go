// Package testdb gives each test of an example a PostgreSQL database of its own.
package testdb

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/internal/testserver"
)

// New creates a database on the server of HOURBELL_TEST_POSTGRES_URL and returns its URL.
// The database is dropped after the test. Without a server the test is skipped.
func New(t *testing.T) string {
	t.Helper()
	server := testserver.URL(t, "HOURBELL_TEST_POSTGRES_URL")
	config, err := pgx.ParseConfig(server)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("hb_example_%d_%d", os.Getpid(), time.Now().UnixNano())
	execute(t, server, "create database "+name)
	t.Cleanup(func() { execute(t, server, "drop database "+name+" with (force)") })
	url := fmt.Sprintf("host='%s' port=%d user='%s' dbname='%s'", config.Host, config.Port, config.User, name)
	if config.Password != "" {
		url += fmt.Sprintf(" password='%s'", config.Password)
	}
	if config.TLSConfig == nil {
		url += " sslmode=disable"
	}
	return url
}

func execute(t *testing.T, url, text string) {
	t.Helper()
	ctx := context.Background() // the test's own has ended when its clean-up runs
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, text); err != nil {
		t.Fatal(err)
	}
}
