package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// Without handlers some calls need one message only; with handlers they need a transaction. So
// finish_jobs, forget_jobs and begin_jobs do nothing if there are handlers and :handled is false, and
// the call is made again in a transaction. A Backend remembers whether there were handlers, so that
// it begins with the transaction at once; if that is wrong, only time is lost.

// errHandled is the error of a completion in one message that found handlers. The worker runs
// again, in a new transaction.
var errHandled = errors.New("handlers were put while the job ran")

func (b *Backend) putHandlers(ctx context.Context, req store.PutRequest) (out store.PutResult, err error) {
	out, err = rowwise.InTx(b.work(ctx, programConns, req.String()), func(tx pgx.Tx) (store.PutResult, error) {
		return rowwise.PutHandlers(ctx, handlersTx{auditTx{b, tx}}, req, req.Now)
	})
	if err != nil {
		return store.PutResult{}, err
	}
	b.handled.Store(true)
	return out, nil
}

func (b *Backend) deleteHandlers(ctx context.Context, req store.DeleteRequest) error {
	return b.work(ctx, programConns, req.String())(func(tx pgx.Tx) error {
		return rowwise.DeleteHandlers(ctx, handlersTx{auditTx{b, tx}}, req, req.Now)
	})
}

// readHandlers returns all handlers, and remembers whether there are any.
func (b *Backend) readHandlers(ctx context.Context, tx querier) (store.Handlers, error) {
	handlers, err := collect(ctx, tx, scanHandler, b.q(listHandlers))
	if err == nil {
		b.handled.Store(len(handlers) > 0)
	}
	return handlers, err
}

// handlerColumns are the columns that scanHandler scans.
const handlerColumns = "name events kind group_name job updated_at"

func scanHandler(r pgx.CollectableRow) (h store.Handler, err error) {
	var job string
	if err = r.Scan(&h.Name, (*int16)(&h.On), &h.Kind, &h.Group, &job, into(&h.UpdatedAt)); err == nil {
		err = h.DecodeJob(job)
	}
	return h, err
}

// handlersTx implements rowwise.HandlersTx.
type handlersTx struct{ auditTx }

// LockHandlers implements rowwise.HandlersTx.
func (t handlersTx) LockHandlers(ctx context.Context) (store.Handlers, error) {
	if _, err := t.tx.Exec(ctx, t.b.q(lockHandlerTable)); err != nil {
		return nil, err
	}
	return t.b.readHandlers(ctx, t.tx)
}

// SaveHandler implements rowwise.HandlersTx.
func (t handlersTx) SaveHandler(ctx context.Context, h store.Handler, now time.Time) error {
	_, err := t.tx.Exec(ctx, t.b.q(upsertHandlers), h.Name, int16(h.On), h.Kind, h.Group, h.EncodeJob(), when(now))
	return err
}

// DeleteHandlers implements rowwise.HandlersTx.
func (t handlersTx) DeleteHandlers(ctx context.Context, names []string) error {
	_, err := t.tx.Exec(ctx, t.b.q(deleteHandlers), names)
	return err
}

// ReadHandlers implements rowwise.HandledTx.
func (t edgesTx) ReadHandlers(ctx context.Context) (store.Handlers, error) {
	return t.b.readHandlers(ctx, t.tx)
}

// FindWaitingJobs implements rowwise.HandledTx.
func (t edgesTx) FindWaitingJobs(ctx context.Context, ids []int64) ([]store.WaitingJob, error) {
	return collect(ctx, t.tx, func(r pgx.CollectableRow) (job store.WaitingJob, err error) {
		err = r.Scan(&job.ID, &job.Kind, &job.Group, (*int16)(&job.Origin))
		return job, err
	}, t.b.q(findWaitingJobs), ids)
}

// InsertJobs implements rowwise.HandledTx.
func (t edgesTx) InsertJobs(ctx context.Context, jobs []store.NewJob, now time.Time) ([]store.Inserted, error) {
	return t.b.insertionIn(t.tx, now).insert(ctx, jobs)
}

// beginHandled lets claims begin and inserts what their starts make.
func (b *Backend) beginHandled(ctx context.Context, req store.BeginRequest, ids, tokens []int64) (store.BeginResult, error) {
	return rowwise.InTx(b.work(ctx, nodeConns, "begin jobs"), func(tx pgx.Tx) (out store.BeginResult, err error) {
		var node int64
		var handled bool
		if err := nodeAlive(req.Node, tx.QueryRow(ctx, b.q(beginJobs), when(req.Now), req.Node, req.Batch, ids, tokens,
			true).Scan(&node, &handled, &out.Paused)); err != nil {
			return out, err
		}
		handlers, err := b.readHandlers(ctx, tx)
		if err != nil || len(req.Starts) == 0 {
			return out, err
		}
		req := req.Without(out.Paused)
		held := map[store.ClaimRef]bool{}
		byID := map[int64]store.ClaimRef{}
		for _, ref := range req.Claims {
			byID[ref.ID] = ref
		}
		var id int64
		var runs bool
		var in groupScanner
		err = each(ctx, tx, append(append([]any{&id, &runs}, in.targets()...), &handled), func() { held[byID[id]] = runs }, b.q(lockClaims), ids, tokens)
		if err != nil {
			return out, err
		}
		_, err = b.insertionIn(tx, req.Now).insert(ctx, handlers.AtStart(req, held))
		return out, err
	})
}
