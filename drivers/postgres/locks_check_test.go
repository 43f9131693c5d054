package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/store"
)

// TestCheckLetsTheHolderProlong checks that a check in a long transaction does
// not prevent the holder from extending its lock, if every grant draws a token.
func TestCheckLetsTheHolderProlong(t *testing.T) {
	b := openAt(t, urlFrom(t, serverVariable), newSchema(t))
	migrate(t, b)
	locks := b.Locks()
	locker, err := lock.New(locks, lock.Config{Lease: time.Second})
	must(t, err)
	pool := newPool(t)
	err = locker.Do(t.Context(), "a", lock.Options{}, func(ctx context.Context, held *lock.Lock) error {
		for _, level := range []pgx.TxIsoLevel{pgx.ReadCommitted, pgx.RepeatableRead, pgx.Serializable} {
			tx, err := pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: level})
			if err != nil {
				return err
			}
			defer tx.Rollback(context.WithoutCancel(ctx))
			if err := lock.Check(ctx, locks.Tx(tx), "a", held.Token()); err != nil {
				return err
			}
			until := lockedUntil(t, locks)
			awaitThat(t, "a renewal", func() bool { return lockedUntil(t, locks).After(until) })
			if err := lock.Check(ctx, locks.Tx(tx), "a", held.Token()); err != nil {
				return err
			}
			if err := tx.Commit(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, err)
}

func lockedUntil(t *testing.T, locks *Locks) time.Time {
	t.Helper()
	infos, err := locks.Locks(t.Context(), lock.LocksRequest{Limit: 1})
	must(t, err)
	return infos[0].Until
}

// TestCheckBesideJava checks locks that Java takes without drawing a token. A
// later check is refused nevertheless, and Java waits for the end of a
// transaction whose check has succeeded.
func TestCheckBesideJava(t *testing.T) {
	pool := newPool(t)
	locks, schema := ownLocks(t, pool)
	locker, err := lock.New(locks, lock.Config{})
	must(t, err)
	held, err := locker.Try(t.Context(), "a", lock.Options{})
	must(t, err)
	must(t, held.Release(t.Context()))
	tx, err := pool.Begin(t.Context())
	must(t, err)
	defer tx.Rollback(t.Context())
	must(t, lock.Check(t.Context(), locks.Tx(tx), "a", held.Token()))
	taken := make(chan bool, 1)
	go func() { taken <- javaTakes(t, schema, "a") }()
	awaitThat(t, "Java to wait", func() (waiting bool) {
		must(t, pool.QueryRow(t.Context(), "select exists (select from pg_stat_activity where wait_event_type = 'Lock' and query like '%' || $1 || '%')", schema).Scan(&waiting))
		return waiting
	})
	must(t, tx.Commit(t.Context()))
	if !<-taken {
		t.Fatal("Java did not get a lock that is free")
	}
	for range 2 { // held by Java, and released
		tx, err := pool.Begin(t.Context())
		must(t, err)
		if err := lock.Check(t.Context(), locks.Tx(tx), "a", held.Token()); !errors.Is(err, lock.ErrLost) {
			t.Errorf("a lock that Java has taken since does not stand: %v", err)
		}
		must(t, tx.Rollback(t.Context()))
		javaFrees(t, schema, "a")
	}
}

func TestCheckThatCannotBe(t *testing.T) {
	pool := newPool(t)
	tx, err := pool.Begin(t.Context())
	must(t, err)
	defer tx.Rollback(t.Context())
	if err := lock.Check(t.Context(), NewLocks(pool, Table("nowhere.shedlock")).Tx(tx), "a", 1); !errors.Is(err, store.ErrSchema) {
		t.Errorf("tables that are not there: %v", err)
	}
	var field *check.FieldError
	if err := lock.Check(t.Context(), NewLocks(pool).Tx(tx), "a", 0); !errors.As(err, &field) || field.Field != "token" {
		t.Errorf("no token: %v", err)
	}
	for _, tx := range []lock.Tx{nil, foreignTx{}} {
		if err := lock.Check(t.Context(), tx, "a", 1); !errors.Is(err, lock.ErrForeignTx) {
			t.Errorf("a transaction that another driver made: %v", err)
		}
	}
}

// awaitThat waits until a condition holds.
func awaitThat(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited for %s in vain", what)
		}
	}
}

// TestCheckHoldsOffATakeover checks tables of this package, where every grant
// draws a token: a check holds only the state, and a takeover waits for it
// nevertheless.
func TestCheckHoldsOffATakeover(t *testing.T) {
	b := openAt(t, urlFrom(t, serverVariable), newSchema(t))
	migrate(t, b)
	locks := b.Locks()
	lease, err := locks.TryLock(t.Context(), lock.Request{Name: "a", Owner: "o", Hold: time.Millisecond})
	must(t, err)
	tx, err := newPool(t).Begin(t.Context())
	must(t, err)
	defer tx.Rollback(t.Context())
	must(t, lock.Check(t.Context(), locks.Tx(tx), "a", lease.Token()))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := locks.TryLock(ctx, lock.Request{Name: "a", Owner: "p", Hold: time.Hour}); !errors.Is(err, lock.ErrBusy) {
		t.Errorf("a takeover beside a check must wait: %v", err)
	}
	must(t, tx.Commit(t.Context()))
	next, err := locks.TryLock(t.Context(), lock.Request{Name: "a", Owner: "p", Hold: time.Hour})
	must(t, err)
	if next.Token() <= lease.Token() {
		t.Errorf("token %d came after %d", next.Token(), lease.Token())
	}
}
