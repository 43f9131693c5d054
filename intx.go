package hourbell

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// InTx makes a call part of the caller's transaction: what the call does happens
// if, and only if, the transaction commits, and others see it after the commit. The
// driver makes the value from a transaction: postgres.Tx(tx), postgres.SQLTx(tx),
// sqlite.Tx(tx).
//
// The nodes that the call concerns are woken with the commit or, in bursts of
// enqueues, within milliseconds after it; see NotifyInTx.
//
// Every call with options takes it. Of the calls of ScheduleService, except RunOnce and Put, it is
// the only option, besides Limits of Sync, SyncCopy and PutAll.
//
// A refused call leaves the transaction as it was: it can go on, also in
// PostgreSQL. A transaction that has ended, that another driver made
// (ErrForeignTx), or that is on a database without this store, is an error.
//
// A transaction that changes jobs or schedules holds them until it ends: a job
// that it cancels is not claimed, a schedule that it has put does not fire.
// Everything else goes on, however long the transaction is open. In PostgreSQL it
// therefore does not touch running jobs and live jobs of schedules itself: they
// are cancelled at once after the commit (store.Requested), and to delete or to
// retry a live job of a schedule is refused (ErrNotInTx).
func InTx(tx store.Tx) Option {
	return func(e *enqueuing) {
		e.given |= optInTx
		if tx == nil {
			e.errs = append(e.errs, &check.FieldError{Field: "tx", Problem: "is nil", Remedy: "pass the value that the driver's Tx returned"})
		}
		e.tx = tx
	}
}

// puts returns what the options of a call that puts schedules have: a transaction or limits.
func puts(options []Option, takes optionSet) (tx store.Tx, limits []Limit, err error) {
	given, err := givenOptions(options, takes)
	if given.limits != nil && given.tx != nil {
		err = check.Join(err, &check.FieldError{
			Field: "limits", Problem: "are given together with a transaction, which would keep other changes of limits waiting",
			Remedy: "put them outside of the transaction",
		})
	}
	return given.tx, given.limits, err
}

// flushTime is how long the end of Run waits until wake-ups have been sent.
const flushTime = 2 * time.Second

// NotifyInTx makes an Enqueue with InTx wake a node in the caller's transaction,
// so that the wake-up is part of the commit. Without it many callers' commits
// per second share their wake-ups, which the program sends within milliseconds
// after the commits: such commits do not wait for each other, and a node looks
// for the job within a second if the program dies in between. Use NotifyInTx, or
// call Client.Flush, in programs that exit right after their commit. It has no
// effect without InTx. It is an option of the call, not of a Request.
func NotifyInTx() Option {
	return func(e *enqueuing) {
		e.given |= optNotifyInTx
		e.notifyInTx = true
	}
}

// notifyingTx is a caller's transaction in which an insert notifies.
type notifyingTx struct{ store.Tx }

// callersTx returns the transaction of InTx, which may be a notifyingTx.
func (e *enqueuing) callersTx() store.Tx {
	if e.tx != nil && e.notifyInTx {
		return notifyingTx{e.tx}
	}
	return e.tx
}

// insertRequest returns the request for jobs in the transaction of callersTx.
func insertRequest(tx store.Tx, jobs []store.NewJob) store.InsertRequest {
	if notifying, ok := tx.(notifyingTx); ok {
		return store.InsertRequest{Tx: notifying.Tx, Jobs: jobs, NotifyInTx: true}
	}
	return store.InsertRequest{Tx: tx, Jobs: jobs}
}

// Flush returns when the wake-ups for all jobs that this client has enqueued
// have been sent, as far as their transactions have ended: a program that exits
// after Flush has left nothing to be found by a later look of the nodes. The end
// of Run and the backend's Close do the same. Flush does not wait for
// transactions that are still open. It fails only if ctx ends before.
func (c *Client) Flush(ctx context.Context) error {
	if flusher, ok := store.Able[store.Flusher](c.store); ok {
		return flusher.Flush(ctx)
	}
	return nil
}

// flushAtEnd is Flush at the end of Run. An error costs nothing but a second,
// because nodes look for jobs whose wake-ups were lost.
func (c *Client) flushAtEnd(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	_ = c.Flush(ctx)
}
