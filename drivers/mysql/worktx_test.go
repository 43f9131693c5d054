package mysql

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/storetest"
)

// TestTransactions runs the suite for the transactions of workers.
func TestTransactions(t *testing.T) {
	t.Parallel()
	url, db := newDatabase(t, "")
	a, b := openStore(t, url), openStore(t, url)
	open := emptied(t, a, b, nil)
	storetest.RunTransactions(t, func(t *testing.T) storetest.WorkerStore[*sql.Tx] {
		return storetest.WorkerStore[*sql.Tx]{Clients: open(t).Clients, Transactions: Transactions(db)}
	}, storetest.Operations(200))
}

// TestWorkersOnASmallPool: workers with transactions may use other connections of their pool.
func TestWorkersOnASmallPool(t *testing.T) {
	b, db := fresh(t)
	db.SetMaxOpenConns(3)
	clienttest.SmallPool(t, b, Transactions(db), db.PingContext)
}

// TestTransactionsOfAnotherDatabase are refused, also after their end.
func TestTransactionsOfAnotherDatabase(t *testing.T) {
	b, own := fresh(t)
	_, others := newDatabase(t, "")
	job := store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: 5, MaxAttempts: 1}}
	for _, c := range []struct {
		db    *sql.DB
		ended bool
		want  error
	}{{others, false, store.ErrForeignTx}, {own, true, store.ErrTxEnded}, {own, false, nil}} {
		tx, err := c.db.BeginTx(t.Context(), nil)
		must(t, err)
		defer tx.Rollback()
		if c.ended {
			must(t, tx.Rollback())
		}
		if _, err = b.Insert(t.Context(), store.InsertRequest{Tx: Tx(tx), Jobs: []store.NewJob{job}}); !errors.Is(err, c.want) {
			t.Errorf("%v, want %v", err, c.want)
		}
	}
}

// TestADeadlockIsGivenUp: a worker whose transaction the server gave up because of another transaction is called
// again, and a caller's transaction is not repeated by Hourbell.
func TestADeadlockIsGivenUp(t *testing.T) {
	b, db := fresh(t)
	txs := Transactions(db)
	insertPlain(t, b, 2)
	jobs := claimPlain(t, b, register(t, b, time.Hour), 2)
	lock := func(tx *sql.Tx, job store.Claimed) error {
		_, err := tx.ExecContext(t.Context(), "SELECT id FROM hourbell_job WHERE id = ? FOR UPDATE", job.ID)
		return err
	}
	var own [2]store.WorkerTx[*sql.Tx]
	for i := range own {
		tx, err := txs.Begin(t.Context(), store.BeginTxRequest{Idle: time.Minute})
		must(t, err)
		defer tx.Rollback()
		must(t, lock(tx.Native, jobs[i]))
		own[i] = tx
	}
	answers := make(chan error, 2)
	for i, tx := range own {
		go func() {
			err := lock(tx.Native, jobs[1-i])
			if err != nil {
				tx.Rollback()
			}
			answers <- err
		}()
	}
	first, second := <-answers, <-answers
	if first == nil {
		first, second = second, first
	}
	if !txs.GaveUp(first) || second != nil {
		t.Errorf("the transactions ended with %v and %v, want a deadlock and none", first, second)
	}
}
