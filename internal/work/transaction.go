package work

import (
	"context"
	"fmt"

	"github.com/hourbell/hourbell/store"
)

// maxTransactions is how many transactions one attempt begins at most, if the database gives them up
// because of others.
const maxTransactions = 5

// InTransaction calls do in a transaction and, if do succeeds, records in it that the job is
// completed, and commits it. In all other cases it rolls the transaction back. If the database gave
// the transaction up because of other transactions, do is called again in a new transaction.
func InTransaction[T any](ctx context.Context, run *Run, txs store.Transactions[T], do func(ctx context.Context, native T) error) error {
	if run.runner == nil {
		return errNoClaim
	}
	timeout := run.runner.cfg.TxTimeout
	bounded, stop := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w: its transaction was open for %v (Config.TxTimeout)", ErrTimeout, timeout))
	defer stop()
	for n := 1; ; n++ {
		err := oneTransaction(bounded, run, txs, store.BeginTxRequest{Timeout: timeout, Again: n > 1}, do)
		if err == nil || n == maxTransactions || bounded.Err() != nil || !txs.GaveUp(err) {
			return err
		}
		run.SetOutput(nil)
		run.SetResult(nil)
	}
}

// oneTransaction is InTransaction for one transaction. The error of an attempt whose context has
// ended wraps the cause.
func oneTransaction[T any](ctx context.Context, run *Run, txs store.Transactions[T], req store.BeginTxRequest, do func(ctx context.Context, native T) error) error {
	tx, err := txs.Begin(ctx, req)
	if err != nil {
		return ended(ctx, fmt.Errorf("begin the transaction of the job: %w", err))
	}
	defer tx.Rollback() // also after a panic; does nothing after the commit
	if err := do(ctx, tx.Native); err != nil {
		return ended(ctx, err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := run.finishIn(ctx, tx.Tx, true); err != nil {
		return ended(ctx, fmt.Errorf("complete the job in its transaction: %w", err))
	}
	return nil
}

// ended adds to err the cause for which ctx ended, if it ended.
func ended(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
}
