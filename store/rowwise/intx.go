package rowwise

import "time"

// Transaction runs do in a transaction and commits it. If the transaction was rolled back because of other transactions, it runs do again
// in another transaction. The error is the error of do or of the commit; after an error that is not store.ErrUnknown nothing was
// committed.
type Transaction[Tx any] func(do func(tx Tx) error) error

// TransactionAt is Transaction for a function that needs the instant of the call.
type TransactionAt[Tx any] func(do func(tx Tx, at time.Time) error) error

// InTx runs do in a transaction, and returns what do has found out if the transaction was committed; otherwise it returns the zero T. do
// writes to no variable outside of it, so that nothing of a transaction outlives its rollback.
func InTx[Tx, T any](run Transaction[Tx], do func(tx Tx) (T, error)) (T, error) {
	var out, none T
	err := run(func(tx Tx) (err error) {
		out, err = do(tx)
		return err
	})
	if err != nil {
		return none, err
	}
	return out, nil
}

// InTxAt is InTx for a function that needs the instant of the call.
func InTxAt[Tx, T any](run TransactionAt[Tx], do func(tx Tx, at time.Time) (T, error)) (T, error) {
	type instant struct {
		tx Tx
		at time.Time
	}
	return InTx(func(do func(instant) error) error {
		return run(func(tx Tx, at time.Time) error { return do(instant{tx, at}) })
	}, func(i instant) (T, error) { return do(i.tx, i.at) })
}
