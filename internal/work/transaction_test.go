package work

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourbell/hourbell/store"
)

// TestATransactionIsKeptWhileTheWorkerRuns, also when the worker takes ten times as long as the
// transaction may be idle, and not after that.
func TestATransactionIsKeptWhileTheWorkerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const idle = 3 * time.Second
		last, kept := time.Now(), 0
		keepAlive := func(context.Context) error { kept++; last = time.Now(); return nil }
		if err := whileKept(t.Context(), nil, keepAlive, idle, func() error { time.Sleep(10*idle + 1); return nil }); err != nil {
			t.Error(err)
		}
		if kept != 10*keptPerIdle || time.Since(last) > idle/keptPerIdle {
			t.Errorf("kept alive %d times, the last time %v before the end", kept, time.Since(last))
		}
		time.Sleep(10 * idle)
		if kept != 10*keptPerIdle {
			t.Error("kept alive after the end")
		}
	})
}

// TestTheWorkerLearnsThatItsTransactionEnded: its context ends with the reason, and the context of the
// transaction, so that database/sql rolls it back although the worker goes on.
func TestTheWorkerLearnsThatItsTransactionEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("the connection broke")
		txs := &brokenTransactions{err: gone}
		err := oneTransaction(t.Context(), &Run{runner: new(Runner)}, txs, store.BeginTxRequest{Idle: time.Second}, func(ctx context.Context, _ int) error {
			<-ctx.Done()
			<-txs.begunIn.Done()
			return nil // a worker that does not look at its context
		})
		if !errors.Is(err, gone) || !txs.rolledBack {
			t.Errorf("%v, want %v; rolled back: %v", err, gone, txs.rolledBack)
		}
	})
}

// brokenTransactions are transactions that cannot be kept alive.
type brokenTransactions struct {
	err        error
	begunIn    context.Context
	rolledBack bool
}

func (b *brokenTransactions) Begin(ctx context.Context, _ store.BeginTxRequest) (store.WorkerTx[int], error) {
	b.begunIn = ctx
	return store.WorkerTx[int]{KeepAlive: func(context.Context) error { return b.err }, Rollback: func() { b.rolledBack = true }}, nil
}

func (*brokenTransactions) GaveUp(error) bool { return false }

func (b *brokenTransactions) Pool() (any, int) { return b, 0 }

// TestNothingKeepsATransactionOfALostClaim: when the context of the attempt has ended, a worker that
// does not look at it gets no more help.
func TestNothingKeepsATransactionOfALostClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		var kept atomic.Int64
		err := whileKept(ctx, cancel, func(context.Context) error { kept.Add(1); return nil }, 3*time.Second, func() error {
			cancel(ErrCancelled)
			time.Sleep(time.Minute)
			return nil
		})
		if kept.Load() != 0 || !errors.Is(err, ErrCancelled) {
			t.Errorf("kept alive %d times, %v", kept.Load(), err)
		}
	})
}

// TestACauseIsSaidOnce in the error of an attempt that has ended.
func TestACauseIsSaidOnce(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 0, ErrTimeout)
	defer cancel()
	const cause = "the attempt took longer than its timeout"
	for _, tc := range []struct {
		err  error
		want string
	}{
		{nil, cause},
		{context.DeadlineExceeded, cause},
		{fmt.Errorf("timeout: context already done: %w", context.DeadlineExceeded), cause},
		{ErrTimeout, cause},
		{fmt.Errorf("post an invoice: %w", ErrTimeout), "post an invoice: " + cause},
		{fmt.Errorf("post an invoice: %w", context.DeadlineExceeded), cause + " (post an invoice: context deadline exceeded)"},
		{errors.New("no such invoice"), cause + " (no such invoice)"},
	} {
		if err := ended(ctx, tc.err); err.Error() != tc.want || !errors.Is(err, ErrTimeout) {
			t.Errorf("%v: %q, want %q", tc.err, err, tc.want)
		}
	}
	if err := ended(t.Context(), nil); err != nil {
		t.Error(err)
	}
}
