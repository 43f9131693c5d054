package postgres

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/storetest"
)

func TestStore(t *testing.T) {
	url := urlFrom(t, serverVariable)
	storetest.Run(t, func(t *testing.T) storetest.Store { return openTwice(t, url) })
}

func TestStoreThroughPgBouncer(t *testing.T) {
	url, direct := urlFrom(t, bouncerVariable), urlFrom(t, serverVariable)
	storetest.Run(t, func(t *testing.T) storetest.Store { return openTwice(t, url, ListenURL(direct)) })
}

// openTwice opens a fresh store by two backends, through url.
func openTwice(t *testing.T, url string, opts ...Option) storetest.Store {
	t.Helper()
	schema := newSchema(t)
	a, b := openAt(t, url, schema, opts...), openAt(t, url, schema, opts...)
	migrate(t, a)
	return storetest.Store{
		Clients: [2]store.Backend{a, b},
		Begin: func(ctx context.Context) (storetest.Transaction, error) {
			tx, err := a.pool.BeginTx(ctx, pgx.TxOptions{})
			if err != nil {
				return storetest.Transaction{}, err
			}
			return storetest.Transaction{
				Tx:       Tx(tx),
				Commit:   func() error { return tx.Commit(ctx) },
				Rollback: func() error { return tx.Rollback(ctx) },
			}, nil
		},
	}
}
