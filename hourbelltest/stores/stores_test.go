// Package stores has the tests of package hourbelltest that run on each store.
package stores

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/hourbelltest"
	"github.com/hourbell/hourbell/internal/testserver"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// january is when the clocks of most tests begin.
var january = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// target is a store of a kind.
type target struct {
	t       *testing.T
	backend store.Backend
	// begin begins a transaction of a caller, and returns what ends it.
	begin func() (tx store.Tx, commit, rollback func())
}

// kit returns a kit over the store, whose clock shows january.
func (s target) kit(workers *hourbell.Workers, options ...hourbelltest.Option) *hourbelltest.Kit {
	s.t.Helper()
	return hourbelltest.Over(s.t, s.backend, hourbell.Config{Workers: workers}, append([]hourbelltest.Option{hourbelltest.StartAt(january)}, options...)...)
}

// onEach runs a test on each kind of store.
func onEach(t *testing.T, test func(s target)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		m := memory.New()
		test(target{t, m, func() (store.Tx, func(), func()) {
			tx := m.Begin()
			return tx, func() { must(t, tx.Commit()) }, func() { must(t, tx.Rollback()) }
		}})
	})
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "hourbell.db")
		b, err := sqlite.Open(t.Context(), path)
		must(t, err)
		t.Cleanup(func() { must(t, b.Close()) })
		db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_txlock=immediate")
		must(t, err)
		t.Cleanup(func() { must(t, db.Close()) })
		test(target{t, b, func() (store.Tx, func(), func()) {
			tx, err := db.BeginTx(t.Context(), nil)
			must(t, err)
			return sqlite.Tx(tx), func() { must(t, tx.Commit()) }, func() { must(t, tx.Rollback()) }
		}})
	})
	t.Run("postgres", func(t *testing.T) {
		url, schema := testserver.URL(t, "HOURBELL_TEST_POSTGRES_URL"), fmt.Sprintf("kit_%d", time.Now().UnixNano())
		b, err := postgres.Open(t.Context(), url, postgres.Schema(schema))
		must(t, err)
		pool, err := pgxpool.New(t.Context(), url)
		must(t, err)
		t.Cleanup(func() {
			_, err := pool.Exec(context.WithoutCancel(t.Context()), "drop schema if exists "+pgx.Identifier{schema}.Sanitize()+" cascade")
			must(t, err)
			pool.Close()
			must(t, b.Close())
		})
		test(target{t, b, func() (store.Tx, func(), func()) {
			tx, err := pool.Begin(t.Context())
			must(t, err)
			return postgres.Tx(tx), func() { must(t, tx.Commit(t.Context())) }, func() { must(t, tx.Rollback(t.Context())) }
		}})
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// want compares a value with what it has to be.
func want[T comparable](t testing.TB, got, want T, what string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// lines returns attempts as text.
func lines(attempts []hourbelltest.Attempt) string {
	var text []string
	for _, a := range attempts {
		text = append(text, fmt.Sprintf("%s %d %v", a.Kind, a.Attempt, a.Result))
	}
	return strings.Join(text, "; ")
}
