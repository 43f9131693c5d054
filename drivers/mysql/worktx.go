package mysql

import (
	"context"
	"database/sql"
	"errors"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// Transactions begins the transactions of workers on a program's pool, which must be on
// the database of the Backend; see hourbell.RegisterTx. They are READ COMMITTED, so that
// a worker locks only the rows that it changes. After a deadlock, and after a wait for a
// row that took longer than innodb_lock_wait_timeout, the worker is called again in a new
// transaction. MySQL does not end a transaction whose program was stopped, until it ends
// the connection: set wait_timeout, or idle_transaction_timeout of MariaDB, in the DSN of
// the pool, to more than a worker takes from one statement to the next. Nothing keeps the
// transaction alive between them: neither database/sql nor the driver reports whether rows
// are being read on the connection, and then nothing else may be sent.
func Transactions(db *sql.DB) store.Transactions[*sql.Tx] { return transactions{db} }

type transactions struct{ db *sql.DB }

// Begin implements store.Transactions. database/sql rolls the transaction back when
// ctx ends.
func (t transactions) Begin(ctx context.Context, _ store.BeginTxRequest) (store.WorkerTx[*sql.Tx], error) {
	tx, err := t.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return store.WorkerTx[*sql.Tx]{}, err
	}
	return store.WorkerTx[*sql.Tx]{Native: tx, Tx: Tx(tx), Rollback: func() { _ = tx.Rollback() }}, nil
}

// GaveUp implements store.Transactions.
func (transactions) GaveUp(err error) bool {
	switch numberOf(err) {
	case errDeadlock, errRecordChanged, errLockWaitTimeout:
		return true
	}
	return errors.Is(err, errMoved)
}

// Pool implements store.Transactions.
func (t transactions) Pool() (any, int) { return t.db, t.db.Stats().MaxOpenConnections }

// FindClaim reports what became of a claim; see store.Jobs. It waits for no lock: a job
// that another transaction has locked may be about to be completed.
func (b *Backend) FindClaim(ctx context.Context, ref store.ClaimRef) (store.ClaimState, error) {
	return rowwise.InTx(b.writeOnly(ctx, "look for a claim"), func(s *session) (state store.ClaimState, err error) {
		free := false
		err = s.Each(ctx, lockClaim, args{"id": ref.ID}, func(r row) error {
			var token int64
			err := r.Scan(&token)
			free, state = true, store.ClaimLost
			if token == ref.Token {
				state = store.ClaimHeld
			}
			return err
		})
		if free || err != nil {
			return state, err
		}
		err = s.One(ctx, sqlrows.FindClaim, args{"id": ref.ID, "token": ref.Token}, &state)
		return state, err
	})
}
