package store

import (
	"context"
	"time"
)

// Tx is a caller's transaction. Only the driver that made the value can use it;
// any other driver returns ErrForeignTx.
//
// What a request with a Tx changes is visible to others after the commit, with its
// wake-ups, and never after a rollback. After an error nothing of the request is
// in the transaction, which can go on unless the database has ended it. A change
// has the time of the first change of the transaction, or a later time.
//
// A caller's transaction may be open for long, so that it must hold up nothing but
// what it changes: other jobs are claimed and finished, and other schedules fire.
type Tx interface {
	// HourbellTx marks the type; it does nothing.
	HourbellTx()
}

// Transactions begins the transactions of workers that complete their jobs in
// them. T is the type that the worker's code uses, such as *sql.Tx. Drivers make
// the values; concurrent calls are allowed.
type Transactions[T any] interface {
	// Begin begins a transaction. It must be used by one goroutine at a time.
	Begin(ctx context.Context, req BeginTxRequest) (WorkerTx[T], error)

	// GaveUp reports whether err, an error of a statement or of the commit, means
	// that the database ended the transaction because of other transactions
	// (a deadlock, a serialization failure, a snapshot that is too old), so that
	// the same statements may succeed in a new transaction.
	GaveUp(err error) bool

	// Pool returns the pool that the connections of the transactions come from,
	// as a key of a map, and how many connections it has at most; 0: no bound. A
	// node leaves one of them to the statements of workers outside transactions.
	Pool() (pool any, size int)
}

// BeginTxRequest begins a transaction of a worker.
type BeginTxRequest struct {
	// Idle is how long the transaction may be idle between two statements.
	// Databases that can do so end the transaction then, because its process was
	// probably stopped or its host is gone. The caller calls WorkerTx.KeepAlive
	// several times in each such period.
	Idle time.Duration
	// Again means that the database gave up the transaction before (GaveUp). A
	// driver may then take locks earlier.
	Again bool
}

// WorkerTx is a transaction of a worker. It ends with Jobs.Finish, which gets Tx
// with Commit, or with Rollback.
type WorkerTx[T any] struct {
	Native T
	Tx     Tx
	// KeepAlive keeps the database from ending the transaction because it is idle:
	// it sends a statement that does nothing, unless a statement of the worker is
	// under way. It may be called while the worker uses the transaction, but not
	// after the call of Finish or Rollback has begun. An error means that the
	// transaction has ended, or that it must end because it holds up others. Nil:
	// the database does not end the transaction, or nothing can be sent.
	KeepAlive func(ctx context.Context) error
	// Rollback rolls the transaction back, and does nothing if it has ended. It
	// does not depend on the context of Begin, and waits a few seconds at most.
	Rollback func()
}
