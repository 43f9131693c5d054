package mysql

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/store"
)

// TestCheckLetsTheHolderProlong checks that a check in a long transaction does
// not prevent the holder from extending its lock, if every grant draws a token.
func TestCheckLetsTheHolderProlong(t *testing.T) {
	locks, db := ownLocks(t)
	locker, err := lock.New(locks, lock.Config{Lease: time.Second})
	must(t, err)
	until := func() time.Time {
		infos, err := locks.Locks(t.Context(), lock.LocksRequest{Limit: 1})
		must(t, err)
		return infos[0].Until
	}
	err = locker.Do(t.Context(), "a", lock.Options{}, func(ctx context.Context, held *lock.Lock) error {
		tx, err := db.BeginTx(ctx, nil) // the server's default: repeatable read
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if err := lock.Check(ctx, Tx(tx), "a", held.Token()); err != nil {
			return err
		}
		before := until()
		for deadline := time.Now().Add(30 * time.Second); !until().After(before); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the lock is not prolonged")
			}
		}
		if err := lock.Check(ctx, Tx(tx), "a", held.Token()); err != nil {
			return err
		}
		return tx.Commit()
	})
	must(t, err)
}

// TestCheckBesideJava checks locks that Java takes without drawing a token: a
// later check is refused nevertheless.
func TestCheckBesideJava(t *testing.T) {
	locks, db := ownLocks(t, Table("shedlock"))
	locker, err := lock.New(locks, lock.Config{})
	must(t, err)
	held, err := locker.Try(t.Context(), "a", lock.Options{})
	must(t, err)
	must(t, held.Release(t.Context()))
	for deadline := time.Now().Add(30 * time.Second); !javaTakes(t, db); time.Sleep(time.Millisecond) { // Java's clock has milliseconds
		if time.Now().After(deadline) {
			t.Fatal("Java did not get a lock that is free")
		}
	}
	for range 2 { // held by Java, and released
		tx, err := db.BeginTx(t.Context(), nil)
		must(t, err)
		if err := lock.Check(t.Context(), locks.Tx(tx), "a", held.Token()); !errors.Is(err, lock.ErrLost) {
			t.Errorf("a lock that Java has taken since does not stand: %v", err)
		}
		must(t, tx.Rollback())
		javaFrees(t, db)
	}
}

func TestCheckWithoutTables(t *testing.T) {
	_, db := newDatabase(t, "")
	tx, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	defer tx.Rollback()
	if err := lock.Check(t.Context(), Tx(tx), "a", 1); !errors.Is(err, store.ErrSchema) {
		t.Errorf("tables that are not there: %v", err)
	}
}

// TestCheckHoldsOffATakeover checks tables of this package, where every grant
// draws a token: a check holds only the state, and a takeover waits for it
// nevertheless.
func TestCheckHoldsOffATakeover(t *testing.T) {
	locks, db := ownLocks(t)
	lease, err := locks.TryLock(t.Context(), lock.Request{Name: "a", Owner: "o", Hold: time.Millisecond})
	must(t, err)
	tx, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	defer tx.Rollback()
	must(t, lock.Check(t.Context(), locks.Tx(tx), "a", lease.Token()))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := locks.TryLock(ctx, lock.Request{Name: "a", Owner: "p", Hold: time.Hour}); !errors.Is(err, lock.ErrBusy) {
		t.Errorf("a takeover beside a check must wait: %v", err)
	}
	must(t, tx.Commit())
	next, err := locks.TryLock(t.Context(), lock.Request{Name: "a", Owner: "p", Hold: time.Hour})
	must(t, err)
	if next.Token() <= lease.Token() {
		t.Errorf("token %d came after %d", next.Token(), lease.Token())
	}
}
