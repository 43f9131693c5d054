package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// Transactions begins the transactions of workers on a pool of the program, which
// must be on the database of the Backend; see hourbell.RegisterTx. The completion of
// a job is sent together with the COMMIT.
//
// The server ends a transaction whose program was stopped or whose host is gone, and
// while its node lives the node keeps an idle transaction alive: see
// docs/transactions.md. A connection whose session has stricter limits when its first
// worker begins keeps the stricter limits. Once a worker has called Conn or
// LargeObjects of its transaction, or Conn of its rows, the node cannot know whether
// a statement is under way, and keeps the transaction alive no more.
func Transactions(pool *pgxpool.Pool) store.Transactions[pgx.Tx] { return nativeTransactions{pool} }

// SQLTransactions is Transactions for a *sql.DB with any PostgreSQL driver. An idle
// transaction is kept alive if the driver is pgx.
func SQLTransactions(db *sql.DB) store.Transactions[*sql.Tx] { return sqlTransactions{db} }

// rollbackLimit is how long a rollback waits for its answer; then the connection is
// closed, which rolls the transaction back too.
const rollbackLimit = 3 * time.Second

type nativeTransactions struct{ pool *pgxpool.Pool }

// Begin implements store.Transactions.
func (t nativeTransactions) Begin(ctx context.Context, req store.BeginTxRequest) (store.WorkerTx[pgx.Tx], error) {
	conn, err := t.pool.Acquire(ctx)
	if err != nil {
		return store.WorkerTx[pgx.Tx]{}, err
	}
	begin, err := beginLimited(ctx, conn.Conn(), req.Idle)
	var tx pgx.Tx
	if err == nil {
		tx, err = conn.Conn().BeginTx(ctx, pgx.TxOptions{BeginQuery: begin})
	}
	if err != nil {
		conn.Release()
		return store.WorkerTx[pgx.Tx]{}, err
	}
	own := &workerTx{sharedTx{tx, &turns{conn: conn.Conn().PgConn()}}, conn}
	return store.WorkerTx[pgx.Tx]{Native: own, Tx: nativeTx{own, nil}, KeepAlive: own.turns.keepAlive, Rollback: own.rollback}, nil
}

// GaveUp implements store.Transactions.
func (nativeTransactions) GaveUp(err error) bool { return passing(err) || errors.Is(err, errHandled) }

// Pool implements store.Transactions.
func (t nativeTransactions) Pool() (any, int) { return t.pool, int(t.pool.Stat().MaxConns()) }

// workerTx is a transaction of a worker. The node ends it, not the worker.
type workerTx struct {
	sharedTx
	conn *pgxpool.Conn // nil after the end
}

var errEndedByNode = errors.New("the node ends the transaction of the job: return nil to commit, or an error to roll back")

// Commit refuses to commit, because the completion of the job would be missing.
func (*workerTx) Commit(context.Context) error { return errEndedByNode }

// Rollback refuses to roll back.
func (*workerTx) Rollback(context.Context) error { return errEndedByNode }

// rollback rolls the transaction back, unless it has ended.
func (t *workerTx) rollback() {
	if t.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), rollbackLimit)
	defer cancel()
	_ = t.Tx.Rollback(ctx) // after an error the connection is closed
	t.release()
}

// release returns the connection to the pool, which closes it if a transaction is open.
func (t *workerTx) release() {
	t.conn.Release()
	t.conn = nil
}

type sqlTransactions struct{ db *sql.DB }

// Begin implements store.Transactions. database/sql rolls the transaction back when
// ctx ends.
func (t sqlTransactions) Begin(ctx context.Context, req store.BeginTxRequest) (store.WorkerTx[*sql.Tx], error) {
	conn, tx, err := beginSQL(ctx, t.db)
	if err != nil {
		return store.WorkerTx[*sql.Tx]{}, err
	}
	rollback := func() {
		_ = tx.Rollback()
		_ = conn.Close() // gives it back to the pool
	}
	if _, err := tx.ExecContext(ctx, limitSilence(req.Idle)); err != nil {
		rollback()
		return store.WorkerTx[*sql.Tx]{}, err
	}
	return store.WorkerTx[*sql.Tx]{Native: tx, Tx: sqlTx{tx, nil}, KeepAlive: keepSQLAlive(conn), Rollback: rollback}, nil
}

// beginSQL begins a transaction on a connection that can also be reached while the
// transaction is open.
func beginSQL(ctx context.Context, db *sql.DB) (*sql.Conn, *sql.Tx, error) {
	const tries = 3 // connections that the server has closed; as many as database/sql tries
	for n := 1; ; n++ {
		conn, err := db.Conn(ctx)
		if err != nil {
			return nil, nil, err
		}
		tx, err := conn.BeginTx(ctx, nil)
		if err == nil {
			return conn, tx, nil
		}
		_ = conn.Close()
		if n == tries || !errors.Is(err, driver.ErrBadConn) {
			return nil, nil, err
		}
	}
}

// GaveUp implements store.Transactions.
func (sqlTransactions) GaveUp(err error) bool { return passing(err) }

// Pool implements store.Transactions.
func (t sqlTransactions) Pool() (any, int) { return t.db, t.db.Stats().MaxOpenConnections }

// finishIn is Finish in a transaction of the program.
func (b *Backend) finishIn(ctx context.Context, req store.FinishRequest) (out store.FinishResult, err error) {
	const what = "finish a job"
	if b.invalid != nil {
		return out, fmt.Errorf("%s: %w", what, b.invalid)
	}
	q, err := querierOf(req.Tx)
	if err != nil {
		return out, fmt.Errorf("%s: %w", what, err)
	}
	own, _ := q.(*workerTx)
	if own == nil || !req.Commit || !b.nothingFollows(req.Outcomes[:1]) {
		return b.finishWithin(ctx, what, q, req)
	}
	out, err = b.completeAndCommit(ctx, own, req)
	if err != nil {
		return store.FinishResult{}, b.explainIn(what, err)
	}
	return out, nil
}

// finishWithin is finishIn for an outcome that other jobs or handlers may wait for.
func (b *Backend) finishWithin(ctx context.Context, what string, q querier, req store.FinishRequest) (store.FinishResult, error) {
	did, err := rowwise.InTxAt(b.within(ctx, what, req.Tx, req.Now), func(tx querier, at time.Time) (finished, error) {
		req := req
		req.Now = at // not when the transaction began: delays of dependents count from the end
		did, err := b.finish(ctx, tx, req, req.Outcomes)
		if err == nil && did.releases && !req.Commit { // after the program's commit the nodes release dependents
			err = b.wake(ctx, tx, store.Wake{Kind: store.WakeCancels})
		}
		return did, err
	})
	if err != nil {
		return store.FinishResult{}, err
	}
	if err := b.endAfter(ctx, q, req, len(did.out.Refused) == 0); err != nil {
		return store.FinishResult{}, b.explainIn(what, err)
	}
	if did.releases && req.Commit {
		b.releaseSoon(ctx, when(req.Now))
	}
	return did.out, nil
}

// endAfter ends a transaction of the program or of a worker after a completion: it rolls
// back if the completion was refused, and commits if that is requested. Otherwise it
// limits how long the transaction may be idle.
func (b *Backend) endAfter(ctx context.Context, q querier, req store.FinishRequest, accepted bool) error {
	switch {
	case !accepted:
		return endTx(ctx, q, false)
	case req.Commit:
		return endTx(ctx, q, true)
	case req.Timeout > 0:
		_, err := q.Exec(ctx, limitSilence(req.Timeout))
		return err
	}
	return nil
}

// endTx ends a transaction of the program or of a worker.
func endTx(ctx context.Context, q querier, commit bool) error {
	switch tx := q.(type) {
	case *workerTx:
		if !commit {
			tx.rollback()
			return nil
		}
		err := perhaps(tx.conn, tx.Tx.Commit(ctx))
		tx.release()
		return err
	case pgx.Tx:
		if !commit {
			return tx.Rollback(ctx)
		}
		return tx.Commit(ctx)
	case sqlTx:
		if !commit {
			return tx.tx.Rollback()
		}
		return tx.tx.Commit()
	}
	return fmt.Errorf("%T is not a transaction", q)
}

// pinOnce gives the rest of a transaction the settings of pins.
const pinOnce = "select set_config('plan_cache_mode', " + planMode + ", true), set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true)" +
	", set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('enable_bitmapscan', 'off', true)"

// codeLost is the error of completeJob if the claim was lost.
const codeLost = "22012"

// completeAndCommit completes a job for which no other job waits, and commits, in
// one message. The plans of the statements do not depend on statistics; the settings
// end with the transaction.
func (b *Backend) completeAndCommit(ctx context.Context, tx *workerTx, req store.FinishRequest) (out store.FinishResult, err error) {
	if tx.conn == nil {
		return out, pgx.ErrTxClosed
	}
	o := req.Outcomes[0]
	var batch pgx.Batch
	batch.Queue(pinOnce)
	identity := ""
	if known := b.identity.Load(); known != nil {
		identity = *known
	}
	complete, args := completionOf(o, req.Now)
	var releases bool
	batch.Queue(b.q(complete), append(args, identity)...).QueryRow(func(row pgx.Row) error {
		var count int64
		return row.Scan(&count, &releases)
	})
	batch.Queue(b.q(deleteCancels), []int64{o.ID})
	var ended string
	batch.Queue("commit").Exec(func(tag pgconn.CommandTag) error { ended = tag.String(); return nil })
	err = perhaps(tx.conn, tx.conn.SendBatch(ctx, &batch).Close())
	if err == nil && ended == "ROLLBACK" {
		err = pgx.ErrTxCommitRollback
	}
	if err == nil {
		tx.release()
		if releases {
			b.releaseSoon(ctx, when(req.Now))
		}
		return out, nil
	}
	tx.rollback()
	if codeOf(err) != codeLost {
		return out, err
	}
	ref := store.ClaimRef{ID: o.ID, Token: o.Token}
	if err := b.whyNotCompleted(ctx, ref); err != nil {
		return out, err
	}
	return store.FinishResult{Refused: []store.ClaimRef{ref}}, nil
}

// whyNotCompleted returns why a transaction could not complete its job although the claim is held; nil: the claim was lost.
func (b *Backend) whyNotCompleted(ctx context.Context, ref store.ClaimRef) error {
	if state, err := b.FindClaim(ctx, ref); err != nil || state != store.ClaimHeld {
		return nil
	}
	if handlers, err := store.List[store.Handler](ctx, b, store.ListRequest{}); err == nil && len(handlers) > 0 {
		return errHandled
	}
	return fmt.Errorf("%w: it is on another database than the client", store.ErrForeignTx)
}

// completionOf returns the statement that ends the job of an outcome and fails if the
// claim was lost, and its parameters.
func completionOf(o store.Outcome, now time.Time) (complete statement, args []any) {
	args = []any{when(now), []int64{o.ID}, []int64{o.Token}, []int16{int16(o.Result.EndState())}, []string{""}, false}
	switch {
	case o.Keep == store.Forget:
		return forgetJob, args
	case o.Keep > 0:
		return completeKeptJob, append(args, true, []string{string(o.Value)}, []int64{o.Keep.Microseconds()})
	}
	return completeJob, append(args, false, []string{string(o.Value)})
}

// FindClaim reports what became of a claim; see store.Jobs.
func (b *Backend) FindClaim(ctx context.Context, ref store.ClaimRef) (store.ClaimState, error) {
	return rowwise.InTx(b.pipeline(ctx, nodeConns, "look for a claim"), func(s sender) (state store.ClaimState, err error) {
		var batch pgx.Batch
		batch.Queue(b.q(findClaim), ref.ID, ref.Token).QueryRow(func(row pgx.Row) error { return row.Scan(&state) })
		err = send(ctx, s, &batch)
		return state, err
	})
}
