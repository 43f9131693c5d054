package postgres

import (
	"errors"
	"testing"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/store"
)

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
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited for %s in vain", what)
		}
	}
}
