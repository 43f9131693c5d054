package postgres

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/storetest"
)

// TestTransactions runs the suite for the transactions of workers, with pgx, with
// database/sql, and through a pooler.
func TestTransactions(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	clients := [2]store.Backend{openAt(t, urlFrom(t, serverVariable), schema), openAt(t, urlFrom(t, serverVariable), schema)}
	migrate(t, clients[0].(*Backend))
	t.Run("pgx", func(t *testing.T) {
		txs := Transactions(newPool(t))
		storetest.RunTransactions(t, func(t *testing.T) storetest.WorkerStore[pgx.Tx] {
			empty(t, clients[0].(*Backend))
			return storetest.WorkerStore[pgx.Tx]{Clients: clients, Transactions: txs}
		})
	})
	t.Run("SQL", func(t *testing.T) {
		txs := SQLTransactions(openSQL(t, "cache_statement"))
		storetest.RunTransactions(t, func(t *testing.T) storetest.WorkerStore[*sql.Tx] {
			empty(t, clients[0].(*Backend))
			return storetest.WorkerStore[*sql.Tx]{Clients: clients, Transactions: txs}
		}, storetest.Operations(50))
	})
	t.Run("PgBouncer", func(t *testing.T) {
		config, err := pgxpool.ParseConfig(urlFrom(t, bouncerVariable))
		must(t, err)
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		must(t, err)
		t.Cleanup(pool.Close)
		storetest.RunTransactions(t, func(t *testing.T) storetest.WorkerStore[pgx.Tx] {
			empty(t, clients[0].(*Backend))
			return storetest.WorkerStore[pgx.Tx]{Clients: clients, Transactions: Transactions(pool)}
		}, storetest.Operations(50))
	})
}

// TestWorkersOnASmallPool: workers with transactions may use other connections of their pool.
func TestWorkersOnASmallPool(t *testing.T) {
	t.Run("pgx", func(t *testing.T) {
		config, err := pgxpool.ParseConfig(urlFrom(t, serverVariable))
		must(t, err)
		config.MaxConns = 3
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		must(t, err)
		t.Cleanup(pool.Close)
		clienttest.SmallPool(t, fresh(t), Transactions(pool), pool.Ping)
	})
	t.Run("SQL", func(t *testing.T) {
		db := openSQL(t, "cache_statement")
		db.SetMaxOpenConns(3)
		clienttest.SmallPool(t, fresh(t), SQLTransactions(db), db.PingContext)
	})
}

// txWorker returns a store with a claimed job and transactions for its worker.
func txWorker(t *testing.T) (*Backend, store.Transactions[pgx.Tx], store.Claimed) {
	t.Helper()
	b := fresh(t)
	insertN(t, b, 1)
	return b, Transactions(newPool(t)), claimN(t, b, register(t, b), 1)[0]
}

func completion(tx store.Tx, job store.Claimed) store.FinishRequest {
	return store.FinishRequest{Tx: tx, Commit: true, Outcomes: []store.Outcome{{ID: job.ID, Token: job.Token, Result: store.Completed, Alone: true}}}
}

// TestTheWorkerDoesNotEndItsTransaction: a commit by the worker would lack the
// completion.
func TestTheWorkerDoesNotEndItsTransaction(t *testing.T) {
	b, txs, job := txWorker(t)
	tx, err := txs.Begin(t.Context(), store.BeginTxRequest{Idle: time.Minute})
	must(t, err)
	defer tx.Rollback()
	if tx.Native.Commit(t.Context()) == nil || tx.Native.Rollback(t.Context()) == nil {
		t.Error("the worker ended the transaction")
	}
	inner, err := tx.Native.Begin(t.Context()) // a savepoint
	must(t, err)
	must(t, inner.Rollback(t.Context()))
	if res, err := b.Finish(t.Context(), completion(tx.Tx, job)); err != nil || len(res.Refused) > 0 {
		t.Errorf("%v, %v", res, err)
	}
}

// TestAnAbortedTransactionIsNotCommitted: a worker that ignores the error of a
// statement completes nothing.
func TestAnAbortedTransactionIsNotCommitted(t *testing.T) {
	b, txs, job := txWorker(t)
	tx, err := txs.Begin(t.Context(), store.BeginTxRequest{Idle: time.Minute})
	must(t, err)
	defer tx.Rollback()
	_, _ = tx.Native.Exec(t.Context(), "select * from nothing_of_this_name")
	if res, err := b.Finish(t.Context(), completion(tx.Tx, job)); err == nil {
		t.Errorf("completed in an aborted transaction: %v", res)
	}
	if state, err := b.FindClaim(t.Context(), store.ClaimRef{ID: job.ID, Token: job.Token}); state != store.ClaimHeld || err != nil {
		t.Errorf("state %d, %v", state, err)
	}
}

// TestTheServerEndsAnIdleTransaction, also if the worker has completed the job by
// hand; a shorter limit of the session stays.
func TestTheServerEndsAnIdleTransaction(t *testing.T) {
	b, txs, job := txWorker(t)
	db := openSQL(t, "cache_statement")
	pool := newPool(t)
	limit := store.BeginTxRequest{Idle: 300 * time.Millisecond}
	for name, begin := range map[string]func() (store.Tx, func(context.Context) error){
		"pgx": func() (store.Tx, func(context.Context) error) {
			tx, err := txs.Begin(t.Context(), limit)
			must(t, err)
			t.Cleanup(tx.Rollback)
			return tx.Tx, func(ctx context.Context) error { _, err := tx.Native.Exec(ctx, "select 1"); return err }
		},
		"database/sql": func() (store.Tx, func(context.Context) error) {
			tx, err := SQLTransactions(db).Begin(t.Context(), limit)
			must(t, err)
			t.Cleanup(tx.Rollback)
			return tx.Tx, func(ctx context.Context) error { _, err := tx.Native.ExecContext(ctx, "select 1"); return err }
		},
		"by hand": func() (store.Tx, func(context.Context) error) {
			tx, err := pool.Begin(t.Context())
			must(t, err)
			t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
			req := completion(Tx(tx), job)
			req.Commit, req.Timeout = false, limit.Idle
			if res, err := b.Finish(t.Context(), req); err != nil || len(res.Refused) > 0 {
				t.Fatal(res, err)
			}
			return Tx(tx), func(ctx context.Context) error { _, err := tx.Exec(ctx, "select 1"); return err }
		},
	} {
		t.Run(name, func(t *testing.T) {
			tx, next := begin()
			q, err := querierOf(tx)
			must(t, err)
			var set string
			must(t, q.QueryRow(t.Context(), "show idle_in_transaction_session_timeout").Scan(&set))
			if set != "300ms" {
				t.Errorf("the limit is %s", set)
			}
			time.Sleep(limit.Idle + 500*time.Millisecond)
			if next(t.Context()) == nil {
				t.Error("the transaction goes on after its limit")
			}
		})
	}
	if state, err := b.FindClaim(t.Context(), store.ClaimRef{ID: job.ID, Token: job.Token}); state != store.ClaimHeld || err != nil {
		t.Errorf("after the server has ended all transactions the claim is %d, %v", state, err)
	}
	config := pool.Config()
	config.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = "200ms"
	strict, err := pgxpool.NewWithConfig(t.Context(), config)
	must(t, err)
	defer strict.Close()
	for range 2 { // the second transaction uses the connection of the first
		tx, err := Transactions(strict).Begin(t.Context(), limit)
		must(t, err)
		var set string
		must(t, tx.Native.QueryRow(t.Context(), "show idle_in_transaction_session_timeout").Scan(&set))
		if set != "200ms" {
			t.Errorf("a limit of 200 ms became %s", set)
		}
		tx.Rollback()
	}
}

// TestAWorkersRoundTrips: one to begin, and one for the completion and the commit.
func TestAWorkersRoundTrips(t *testing.T) {
	b, tr := counted(t)
	insertN(t, b, 3)
	jobs := claimN(t, b, register(t, b), 3)
	txs := Transactions(b.pool)
	for i, job := range jobs {
		tr.taken()
		tx, err := txs.Begin(t.Context(), store.BeginTxRequest{Idle: time.Minute})
		must(t, err)
		begun, _ := tr.taken()
		res, err := b.Finish(t.Context(), completion(tx.Tx, job))
		must(t, err)
		ended, _ := tr.taken()
		tx.Rollback()
		after, _ := tr.taken()
		if len(res.Refused) > 0 {
			t.Fatal("refused")
		}
		if i > 0 && (begun != 1 || ended != 1 || after != 0) { // the first time the statements are prepared
			t.Errorf("%d round trips to begin, %d to complete and commit, %d afterwards; want 1, 1, 0", begun, ended, after)
		}
	}
}

// TestACompletionNeedsNoStatistics: the settings for its plans end with it.
func TestACompletionNeedsNoStatistics(t *testing.T) {
	b, txs, job := txWorker(t)
	tx, err := txs.Begin(t.Context(), store.BeginTxRequest{Idle: time.Minute})
	must(t, err)
	_, err = b.Finish(t.Context(), completion(tx.Tx, job))
	must(t, err)
	var seqscan, idle string
	again, err := txs.Begin(t.Context(), store.BeginTxRequest{Idle: time.Minute})
	must(t, err)
	defer again.Rollback()
	must(t, again.Native.QueryRow(t.Context(), "select current_setting('enable_seqscan'), current_setting('idle_in_transaction_session_timeout')").Scan(&seqscan, &idle))
	if seqscan != "on" || idle != "1min" {
		t.Errorf("enable_seqscan is %s, the limit %s", seqscan, idle)
	}
}

// TestGivenUp are the errors after which a worker runs again in a new transaction.
func TestGivenUp(t *testing.T) {
	txs := Transactions(newPool(t))
	for code, want := range map[string]bool{"40001": true, "40P01": true, "23505": false, "25P02": false} {
		if got := txs.GaveUp(errors.Join(errors.New("wrapped"), stateError(code))); got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
}

type stateError string

func (e stateError) Error() string    { return string(e) }
func (e stateError) SQLState() string { return string(e) }

// TestRepeatsAreCounted checks that a call counts how often its transaction was begun again, also in the caller's transaction.
func TestRepeatsAreCounted(t *testing.T) {
	b := fresh(t)
	_, tx := openTx(t)
	for name, call := range map[string]func(ctx context.Context, do func() error) error{
		"own transaction": func(ctx context.Context, do func() error) error {
			return b.work(ctx, programConns, "test")(func(pgx.Tx) error { return do() })
		},
		"caller's transaction": func(ctx context.Context, do func() error) error {
			return b.within(ctx, "test", tx, time.Time{})(func(querier, time.Time) error { return do() })
		},
	} {
		var repeats atomic.Int64
		begun := 0
		must(t, call(store.CountRepeats(t.Context(), &repeats), func() error {
			if begun++; begun <= 2 {
				return errMoved
			}
			return nil
		}))
		if n := repeats.Load(); n != 2 {
			t.Errorf("%s: begun again %d times, want 2", name, n)
		}
	}
}

// TestACompletionOnAnotherStore is refused, also if that store has a claim with the same
// numbers.
func TestACompletionOnAnotherStore(t *testing.T) {
	b, txs, job := txWorker(t)
	_, err := store.ReadPosition(t.Context(), b)
	must(t, err)
	other := "another store"
	b.identity.Store(&other)
	tx, err := txs.Begin(t.Context(), store.BeginTxRequest{Idle: time.Minute})
	must(t, err)
	defer tx.Rollback()
	if res, err := b.Finish(t.Context(), completion(tx.Tx, job)); !errors.Is(err, store.ErrForeignTx) {
		t.Errorf("%+v, %v, want ErrForeignTx", res, err)
	}
	if state, err := b.FindClaim(t.Context(), store.ClaimRef{ID: job.ID, Token: job.Token}); state != store.ClaimHeld || err != nil {
		t.Errorf("the claim is %d, %v", state, err)
	}
}
