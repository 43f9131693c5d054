package hourbell

import (
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
