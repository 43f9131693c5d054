package postgres

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	url := urlFrom(t, serverVariable)
	storetest.Run(t, storetest.Reused(stores, func() func(*testing.T) storetest.Store { return emptied(t, url) }))
}

// stores is how many stores a run of the suite uses.
const stores = 3

// TestStoreWithoutAbilities hides early firing and partial claims, which callers may do without. The other
// abilities have work that nodes must do. It runs the groups of the calls that take the place of these two.
func TestStoreWithoutAbilities(t *testing.T) {
	url := urlFrom(t, serverVariable)
	open := storetest.Reused(stores, func() func(*testing.T) storetest.Store { return emptied(t, url) })
	storetest.Run(t, func(t *testing.T) storetest.Store {
		s := open(t)
		for i, client := range s.Clients {
			b := client.(*Backend)
			s.Clients[i] = struct {
				store.Backend
				store.Connected
				store.Deferring
				store.Flusher
			}{b, b, b, b}
		}
		return s
	}, storetest.Operations(300), storetest.Only("Claim", "DueSchedules", "Fire"))
}

// TestStoreThroughPgBouncer runs what a pooler can change: transactions, the session in which a statement was prepared or
// listens. The random run makes each call through the pooler.
func TestStoreThroughPgBouncer(t *testing.T) {
	t.Parallel()
	url, direct := urlFrom(t, bouncerVariable), urlFrom(t, serverVariable)
	open := storetest.Reused(stores, func() func(*testing.T) storetest.Store { return emptied(t, url, ListenURL(direct)) })
	storetest.Run(t, open, storetest.Operations(300), storetest.Only("Insert", "Claim", "FinishTx", "InTx", "AfterTx", "PutSchedules", "Clock", "Listen"))
}

// emptied opens one store by two backends, through url, and returns a function
// that empties it for each test: a schema for each would take most of the time.
// Numbers go on where they were.
func emptied(t *testing.T, url string, opts ...Option) func(t *testing.T) storetest.Store {
	t.Helper()
	schema := newSchema(t)
	a, b := openAt(t, url, schema, opts...), openAt(t, url, schema, opts...)
	migrate(t, a)
	s := storetest.Store{Clients: [2]store.Backend{a, b}, Begin: beginOn(a), RowLocks: true}
	return func(t *testing.T) storetest.Store {
		t.Helper()
		empty(t, a)
		return s
	}
}

// empty empties the tables of a backend. Most tests leave a few rows, and TRUNCATE takes thirty
// times as long as to delete these.
func empty(t *testing.T, b *Backend) {
	t.Helper()
	text := "set local lock_timeout = '10s'; delete from " + strings.Join(tablesOf(t, b), "; delete from ") +
		withSchema("; update {schema}.feed set keep_us = 86400000000, gone_tx = 0, gone_id = 0", b.schema)
	_, err := b.pool.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol)
	must(t, err)
}

// tablesOf names the tables of a backend's schema that hold what calls write.
func tablesOf(t *testing.T, b *Backend) []string {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), "select tablename::text from pg_catalog.pg_tables where schemaname = $1::text and tablename not in ('migration', 'timeline', 'feed')", b.schema)
	must(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	for i, name := range names {
		names[i] = pgx.Identifier{b.schema, name}.Sanitize()
	}
	return names
}

func beginOn(b *Backend) func(ctx context.Context) (storetest.Transaction, error) {
	return func(ctx context.Context) (storetest.Transaction, error) {
		tx, err := b.pool.BeginTx(ctx, pgx.TxOptions{})
		if err != nil {
			return storetest.Transaction{}, err
		}
		return storetest.Transaction{
			Tx:       Tx(tx),
			Commit:   func() error { return tx.Commit(ctx) },
			Rollback: func() error { return tx.Rollback(ctx) },
		}, nil
	}
}
