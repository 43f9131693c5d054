package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/storetest"
)

// TestTransactions runs the suite for the transactions of workers, with each
// setting of _txlock.
func TestTransactions(t *testing.T) {
	t.Parallel()
	for _, lock := range []string{"deferred", "immediate"} {
		t.Run(lock, func(t *testing.T) {
			storetest.RunTransactions(t, func(t *testing.T) storetest.WorkerStore[*sql.Tx] {
				path := plainFile(t)
				db := usersDB(t, path, "_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_txlock="+lock)
				clients := [2]store.Backend{openFile(t, path, Synchronous("NORMAL")), openFile(t, path, Synchronous("NORMAL"))}
				return storetest.WorkerStore[*sql.Tx]{Clients: clients, Transactions: Transactions(db)}
			})
		})
	}
}

// TestWorkersOnASmallPool: workers with transactions may use other connections of their pool.
func TestWorkersOnASmallPool(t *testing.T) {
	path := plainFile(t)
	db := usersDB(t, path, "_pragma=journal_mode(wal)&_pragma=synchronous(normal)")
	db.SetMaxOpenConns(3)
	clienttest.SmallPool(t, openFile(t, path, Synchronous("NORMAL")), Transactions(db), func(ctx context.Context) error {
		return db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(new(int))
	})
}

// plainFile is newFile with a path that needs no escapes in a DSN.
func plainFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.db")
	if _, err := openFile(t, path, Synchronous("NORMAL")).MigrateUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	return path
}

// txWorker returns a file with a claimed job and transactions for its worker.
func txWorker(t *testing.T, more string) (*Backend, store.Transactions[*sql.Tx], store.Claimed) {
	t.Helper()
	path := plainFile(t)
	b := openFile(t, path, Synchronous("NORMAL"))
	db := usersDB(t, path, more+"&_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_txlock=immediate")
	node := register(t, b, time.Hour)
	insertOne(t, b)
	return b, Transactions(db), claimPlain(t, b, node, 1)[0]
}

func insertOne(t *testing.T, b *Backend) {
	t.Helper()
	job := store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: 5, MaxAttempts: 1}}
	if _, err := b.Insert(t.Context(), store.InsertRequest{Jobs: []store.NewJob{job}}); err != nil {
		t.Fatal(err)
	}
}

func begin(t *testing.T, txs store.Transactions[*sql.Tx], again bool) store.WorkerTx[*sql.Tx] {
	t.Helper()
	tx, err := txs.Begin(t.Context(), store.BeginTxRequest{Idle: time.Minute, Again: again})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tx.Rollback)
	return tx
}

func complete(b *Backend, tx store.WorkerTx[*sql.Tx], job store.Claimed) error {
	res, err := b.Finish(context.Background(), store.FinishRequest{
		Tx: tx.Tx, Commit: true, Outcomes: []store.Outcome{{ID: job.ID, Token: job.Token, Result: store.Completed, Alone: true}},
	})
	if len(res.Refused) > 0 {
		return errors.New("refused")
	}
	return err
}

// TestAWorkersTransactionTakesTheWriteLockAtItsFirstWrite: while it only reads,
// others write, though the DSN says immediate.
func TestAWorkersTransactionTakesTheWriteLockAtItsFirstWrite(t *testing.T) {
	b, txs, job := txWorker(t, "")
	tx := begin(t, txs, false)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := b.Now(ctx); err != nil {
		t.Fatal(err)
	}
	insertOne(t, b) // would wait for ten seconds, and fail
	if ctx.Err() != nil {
		t.Error("a transaction that has not written holds up others")
	}
	if err := complete(b, tx, job); err != nil {
		t.Errorf("a transaction that has not read before others wrote: %v", err)
	}
}

// TestASnapshotThatIsTooOldIsGivenUp: a transaction that read before others wrote
// is refused, and with the write lock from its beginning it is not.
func TestASnapshotThatIsTooOldIsGivenUp(t *testing.T) {
	b, txs, job := txWorker(t, "")
	tx := begin(t, txs, false)
	var n int
	if err := tx.Native.QueryRow("SELECT count(*) FROM hourbell_job").Scan(&n); err != nil {
		t.Fatal(err)
	}
	insertOne(t, b)
	if err := complete(b, tx, job); !txs.GaveUp(err) {
		t.Fatalf("%v, want SQLITE_BUSY_SNAPSHOT", err)
	}
	tx.Rollback()
	tx = begin(t, txs, true)
	if err := tx.Native.QueryRow("SELECT count(*) FROM hourbell_job").Scan(&n); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := b.Insert(context.Background(), store.InsertRequest{Jobs: []store.NewJob{{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: 5, MaxAttempts: 1}}}})
		done <- err
	}()
	time.Sleep(50 * time.Millisecond)
	if err := complete(b, tx, job); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestATransactionThatHasWrittenEnds, so that heartbeats are in time; a transaction that only reads
// goes on.
func TestATransactionThatHasWrittenEnds(t *testing.T) {
	const limit = 100 * time.Millisecond
	b, txs, job := txWorker(t, "")
	for name, tc := range map[string]struct {
		again bool
		write string
		ends  bool
	}{
		"reads":             {write: "SELECT count(*) FROM hourbell_job"},
		"writes":            {write: "INSERT INTO hourbell_counter (name, value) VALUES ('test', 1)", ends: true},
		"has the lock":      {again: true, write: "SELECT 1", ends: true},
		"writes and undoes": {write: "INSERT INTO hourbell_counter (name, value) VALUES ('test', 1); DELETE FROM hourbell_counter WHERE name = 'test'", ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			tx, err := txs.Begin(t.Context(), store.BeginTxRequest{Idle: limit, Again: tc.again})
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback()
			for range 10 {
				time.Sleep(limit / 3)
				if err := tx.KeepAlive(t.Context()); err != nil {
					if !tc.again {
						t.Fatalf("before the write: %v", err)
					}
					return
				}
			}
			if _, err := tx.Native.Exec(tc.write); err != nil {
				t.Fatal(err)
			}
			for range 10 {
				time.Sleep(limit / 3)
				if err = tx.KeepAlive(t.Context()); err != nil {
					break
				}
			}
			if (err != nil) != tc.ends {
				t.Errorf("%v; must end: %v", err, tc.ends)
			}
		})
	}
	if err := complete(b, begin(t, txs, false), job); err != nil {
		t.Error(err)
	}
}

// TestTransactionsOnAnotherFile are refused.
func TestTransactionsOnAnotherFile(t *testing.T) {
	b, _, _ := txWorker(t, "")
	_, others, job := txWorker(t, "")
	if err := complete(b, begin(t, others, false), job); !errors.Is(err, store.ErrForeignTx) {
		t.Errorf("%v, want ErrForeignTx", err)
	}
	alias := filepath.Join(t.TempDir(), "alias.db")
	if err := os.Symlink(b.path, alias); err != nil {
		t.Skip(err)
	}
	insertOne(t, b)
	job = claimPlain(t, b, register(t, b, time.Hour), 1)[0]
	same := Transactions(usersDB(t, alias, "_pragma=journal_mode(wal)"))
	if err := complete(b, begin(t, same, false), job); err != nil {
		t.Errorf("the same file by another name: %v", err)
	}
}
