package postgres

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/internal/testserver"
	"github.com/hourbell/hourbell/store"
)

// Tests need a server: its URL is in HOURBELL_TEST_POSTGRES_URL, and the URL of
// a PgBouncer in transaction mode before it in HOURBELL_TEST_PGBOUNCER_URL.
// Without one the tests that need it are skipped, or fail if
// HOURBELL_TEST_REQUIRE=1. Each test works in a schema of its own and drops it.
const (
	serverVariable  = "HOURBELL_TEST_POSTGRES_URL"
	bouncerVariable = "HOURBELL_TEST_PGBOUNCER_URL"
)

// urlFrom reads the URL of a server from the environment.
func urlFrom(t testing.TB, variable string) string {
	t.Helper()
	return testserver.URL(t, variable)
}

// newSchema chooses a schema for a test, which is dropped after it.
func newSchema(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("hb test %d %d", os.Getpid(), time.Now().UnixNano())
	dropAfter(t, name)
	return name
}

func dropAfter(t testing.TB, schema string) {
	t.Cleanup(func() {
		execute(t, "set client_min_messages = error; drop schema if exists "+pgx.Identifier{schema}.Sanitize()+" cascade")
	})
}

// execute runs statements on the server itself.
func execute(t testing.TB, text string) {
	t.Helper()
	ctx := context.Background() // the test's own has ended when its clean-up runs
	conn, err := pgx.Connect(ctx, urlFrom(t, serverVariable))
	must(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, text)
	must(t, err)
}

// openAt opens a backend on a schema through a URL.
func openAt(t testing.TB, url, schema string, opts ...Option) *Backend {
	t.Helper()
	b, err := Open(context.Background(), url, append([]Option{Schema(schema)}, opts...)...)
	must(t, err)
	t.Cleanup(func() { b.Close() })
	return b
}

// fresh opens a migrated backend in a schema of its own.
func fresh(t testing.TB, opts ...Option) *Backend {
	t.Helper()
	b := openAt(t, urlFrom(t, serverVariable), newSchema(t), opts...)
	migrate(t, b)
	return b
}

func migrate(t testing.TB, b *Backend) {
	t.Helper()
	_, err := b.MigrateUp(t.Context())
	must(t, err)
}

// newPool opens a pool as a program would.
func newPool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), urlFrom(t, serverVariable))
	must(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func register(t testing.TB, b *Backend) int64 {
	t.Helper()
	res, err := b.Register(context.Background(), store.RegisterRequest{Name: "n", Lease: time.Hour, Queues: []string{"q"}, Kinds: []string{"k"}})
	must(t, err)
	return res.Node
}

// noop are plain jobs.
func noop(n int) []store.NewJob {
	job := store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte(`{"to":"someone@example.org","subject":"hello"}`), Priority: 5, MaxAttempts: 25}}
	return slices.Repeat([]store.NewJob{job}, n)
}

func insertN(t testing.TB, b *Backend, n int) {
	t.Helper()
	_, err := b.Insert(context.Background(), store.InsertRequest{Jobs: noop(n)})
	must(t, err)
}

func claimN(t testing.TB, b *Backend, node int64, n int) []store.Claimed {
	t.Helper()
	res, err := b.Claim(context.Background(), store.ClaimRequest{Part: true, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: n})
	must(t, err)
	return res.Jobs
}
