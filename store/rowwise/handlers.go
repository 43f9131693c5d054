package rowwise

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// HandlersTx reads and writes handlers.
type HandlersTx interface {
	AuditTx

	// LockHandlers returns all handlers, by name. No other transaction changes handlers
	// until this transaction ends.
	LockHandlers(ctx context.Context) (store.Handlers, error)

	// SaveHandler inserts or updates a handler, changed now.
	SaveHandler(ctx context.Context, h store.Handler, now time.Time) error

	// DeleteHandlers deletes handlers.
	DeleteHandlers(ctx context.Context, names []string) error
}

// HandledTx reads handlers and inserts what they make.
type HandledTx interface {
	// ReadHandlers returns all handlers, by name, without a lock.
	ReadHandlers(ctx context.Context) (store.Handlers, error)

	// FindWaitingJobs returns what handlers get about waiting jobs, in the order of their
	// numbers, without Reason.
	FindWaitingJobs(ctx context.Context, ids []int64) ([]store.WaitingJob, error)

	// InsertJobs inserts jobs, whose keys are free, and answers for each in their
	// order.
	InsertJobs(ctx context.Context, jobs []store.NewJob, now time.Time) ([]store.Inserted, error)
}

// PutHandlers creates or replaces handlers; see store.Definitions.
func PutHandlers(ctx context.Context, tx HandlersTx, req store.PutRequest, now time.Time) (out store.PutResult, err error) {
	rows, err := tx.LockHandlers(ctx)
	if err != nil {
		return out, err
	}
	changed, err := rows.Plan(req.Handlers)
	if err != nil {
		return out, err
	}
	for _, h := range changed {
		if err := tx.SaveHandler(ctx, h, now); err != nil {
			return out, err
		}
		if err := Record(ctx, tx, req.HandlerEntry(h), now); err != nil {
			return out, err
		}
	}
	return store.PutResult{Changed: len(changed)}, nil
}

// DeleteHandlers deletes handlers; see store.Definitions.
func DeleteHandlers(ctx context.Context, tx HandlersTx, req store.DeleteRequest, now time.Time) error {
	if len(req.Names) == 0 {
		return nil
	}
	rows, err := tx.LockHandlers(ctx)
	if err != nil {
		return err
	}
	for _, name := range req.Names {
		if !slices.ContainsFunc(rows, func(h store.Handler) bool { return h.Name == name }) {
			return fmt.Errorf("handler %q: %w", name, store.ErrNotFound)
		}
	}
	if err := tx.DeleteHandlers(ctx, req.Names); err != nil {
		return err
	}
	return Record(ctx, tx, req.Entry(), now)
}

// handleNotStarted inserts the jobs that handlers make of waiting jobs which are about to end
// as not started.
func handleNotStarted(ctx context.Context, tx HandledTx, ends []End, now time.Time) error {
	handlers, err := tx.ReadHandlers(ctx)
	if err != nil || len(handlers) == 0 {
		return err
	}
	reasons := make(map[int64]string, len(ends))
	ids := make([]int64, len(ends))
	for i, end := range ends {
		ids[i], reasons[end.ID] = end.ID, end.Reason
	}
	waiting, err := tx.FindWaitingJobs(ctx, ids)
	if err != nil {
		return err
	}
	var jobs []store.NewJob
	for _, job := range waiting {
		job.Reason = reasons[job.ID]
		jobs = append(jobs, handlers.AtNotStarted(job)...)
	}
	if len(jobs) == 0 {
		return nil
	}
	_, err = tx.InsertJobs(ctx, jobs, now)
	return err
}

// FollowFirings returns the follow-ups of firings, which were not lost. It reads handlers only if a
// firing records an event for them.
func FollowFirings(ctx context.Context, tx HandledTx, firings []store.Firing) (after []*store.FollowUp, err error) {
	var handlers store.Handlers
	if slices.ContainsFunc(firings, func(f store.Firing) bool { return len(f.Events) > 0 }) {
		if handlers, err = tx.ReadHandlers(ctx); err != nil {
			return nil, err
		}
	}
	for i := range firings {
		after = append(after, handlers.AfterFiring(&firings[i]))
	}
	return after, nil
}
