package work

import (
	"context"
	"fmt"
	"sync"
	"time"

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
	if timeout := run.runner.cfg.TxTimeout; timeout > 0 {
		cause := fmt.Errorf("%w: its transaction was open for %v (Config.TxTimeout)", ErrTimeout, timeout)
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, timeout, cause)
		defer stop()
	}
	for n := 1; ; n++ {
		err := oneTransaction(ctx, run, txs, store.BeginTxRequest{Idle: run.runner.cfg.TxIdle, Again: n > 1}, do)
		if err == nil || n == maxTransactions || ctx.Err() != nil || !txs.GaveUp(err) {
			return err
		}
		run.SetOutput(nil)
		run.SetResult(nil)
	}
}

// oneTransaction is InTransaction for one transaction. The error of an attempt whose context has
// ended wraps the cause.
func oneTransaction[T any](ctx context.Context, run *Run, txs store.Transactions[T], req store.BeginTxRequest,
	do func(ctx context.Context, native T) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pool, size := txs.Pool()
	leave, err := run.runner.txRooms.enter(ctx, pool, size)
	if err != nil {
		return ended(ctx, fmt.Errorf("wait for a connection for the transaction of the job: %w", err))
	}
	defer leave()
	tx, err := txs.Begin(ctx, req)
	if err != nil {
		return ended(ctx, fmt.Errorf("begin the transaction of the job: %w", err))
	}
	defer tx.Rollback() // also after a panic; does nothing after the commit
	own := context.WithValue(ctx, completingKey{}, completing{tx.Tx, run.ID})
	if err := whileKept(ctx, cancel, tx.KeepAlive, req.Idle, func() error { return do(own, tx.Native) }); err != nil {
		return err
	}
	if err := run.finishIn(ctx, tx.Tx, true); err != nil {
		return ended(ctx, fmt.Errorf("complete the job in its transaction: %w", err))
	}
	return nil
}

// completing is a job and the transaction that completes it.
type completing struct {
	tx  store.Tx
	job int64
}

type completingKey struct{}

// CompletedBy returns the number of the job whose worker calls with ctx, if tx is the transaction that
// completes the job; otherwise 0.
func CompletedBy(ctx context.Context, tx store.Tx) int64 {
	if c, _ := ctx.Value(completingKey{}).(completing); tx != nil && c.tx == tx {
		return c.job
	}
	return 0
}

// keptPerIdle is how many times a transaction is kept alive while it would become too idle.
const keptPerIdle = 3

// whileKept calls do, and calls keepAlive regularly until do has returned or ctx has ended. If
// keepAlive fails, cancel ends ctx with its error as the cause.
func whileKept(ctx context.Context, cancel context.CancelCauseFunc, keepAlive func(context.Context) error, idle time.Duration, do func() error) error {
	if keepAlive == nil {
		return ended(ctx, do())
	}
	var mu sync.Mutex // held during keepAlive
	returned := false
	var timer *time.Timer
	tick := func() {
		mu.Lock()
		defer mu.Unlock()
		if returned || ctx.Err() != nil {
			return
		}
		bounded, stop := context.WithTimeout(ctx, idle)
		defer stop()
		if err := keepAlive(bounded); err != nil {
			cancel(fmt.Errorf("the transaction of the job has ended: %w", err))
			return
		}
		timer.Reset(idle / keptPerIdle)
	}
	mu.Lock()
	timer = time.AfterFunc(idle/keptPerIdle, tick)
	mu.Unlock()
	defer func() { // also after a panic
		timer.Stop()
		mu.Lock()
		returned = true
		mu.Unlock()
	}()
	return ended(ctx, do())
}

// ended returns err with the cause for which ctx ended, if it ended.
func ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return withCause(cause, err)
	}
	return err
}
