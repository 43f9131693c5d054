package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// Transactions begins the transactions of workers on an application's pool, which
// must be on the file of the Backend; see hourbell.RegisterTx. A transaction takes
// the write lock at its first write (BEGIN DEFERRED), whatever _txlock the pool's
// DSN has, so that a worker that reads and computes first holds up no other writer.
// If the transaction has read, and another connection writes at the moment of its
// first write, or wrote since the read, SQLite refuses the write without waiting
// (SQLITE_BUSY, SQLITE_BUSY_SNAPSHOT); then the worker is called again, in a
// transaction that takes the write lock when it begins.
//
// A transaction that has written holds up all other writers of the file, heartbeats
// and cancels too, and is ended after half of the lease.
func Transactions(db *sql.DB) store.Transactions[*sql.Tx] {
	return transactions{db, textOf("lock_file"), textOf("read_changes")}
}

// textOf returns a statement without parameters.
func textOf(file string) string {
	text, err := sqlFiles.ReadFile("sql/" + file + ".sql")
	if err != nil {
		panic(err) // the file is part of the program
	}
	return string(text)
}

type transactions struct {
	db *sql.DB
	// lock takes the write lock, and waits for it as long as the busy_timeout of the
	// connection allows.
	lock string
	// changes reads how many rows the connection has changed so far.
	changes string
}

// Begin implements store.Transactions. database/sql rolls the transaction back when
// ctx ends.
func (t transactions) Begin(ctx context.Context, req store.BeginTxRequest) (store.WorkerTx[*sql.Tx], error) {
	// The SQLite driver ignores the _txlock of the DSN for a transaction that is to
	// be read-only, and does not prevent that it writes.
	tx, err := t.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return store.WorkerTx[*sql.Tx]{}, err
	}
	var before int64
	if req.Again {
		_, err = tx.ExecContext(ctx, t.lock)
		before = -1 // as if it had written
	} else {
		err = tx.QueryRowContext(ctx, t.changes).Scan(&before)
	}
	if err != nil {
		return store.WorkerTx[*sql.Tx]{}, errors.Join(err, tx.Rollback())
	}
	return store.WorkerTx[*sql.Tx]{Native: tx, Tx: Tx(tx), KeepAlive: t.limitWriting(tx, before, req.Idle), Rollback: func() { _ = tx.Rollback() }}, nil
}

// limitWriting returns the KeepAlive of a transaction. SQLite ends no transaction, so
// there is nothing to keep alive; but the transaction must end when it has held the
// write lock for a while, so that heartbeats are in time. before is what changes
// returned when the transaction began.
func (t transactions) limitWriting(tx *sql.Tx, before int64, limit time.Duration) func(context.Context) error {
	reading := time.Now() // when the transaction had certainly not written yet
	return func(ctx context.Context) error {
		now := time.Now()
		var changes int64
		if err := tx.QueryRowContext(ctx, t.changes).Scan(&changes); err != nil {
			return err
		}
		if changes == before {
			reading = now
		}
		if now.Sub(reading) < limit {
			return nil
		}
		return fmt.Errorf("it has written, and was not committed in %v, half of its node's lease: all other writers of the "+
			"file wait for it, heartbeats too; write at the end of the work", limit)
	}
}

// GaveUp implements store.Transactions.
func (transactions) GaveUp(err error) bool { return isBusy(err) }

// Pool implements store.Transactions.
func (t transactions) Pool() (any, int) { return t.db, t.db.Stats().MaxOpenConnections }

// FindClaim reports what became of a claim; see store.Jobs. If the job has not
// ended, it looks again with the write lock, so that it sees what the transactions
// did that wrote at that time.
func (b *Backend) FindClaim(ctx context.Context, ref store.ClaimRef) (store.ClaimState, error) {
	const doing = "look for a claim"
	look := func(s *session) (state store.ClaimState, err error) {
		err = s.One(ctx, sqlrows.FindClaim, args{"id": ref.ID, "token": ref.Token}, &state)
		return state, err
	}
	if state, err := rowwise.InTx(b.read(ctx, doing), look); err != nil || state != store.ClaimHeld {
		return state, err
	}
	return rowwise.InTx(b.Write(ctx, doing, nil), look)
}
