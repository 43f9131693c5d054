package mysql

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// PutHandler creates or replaces a handler; see store.HandlerStore.
func (b *Backend) PutHandler(ctx context.Context, req store.PutHandlerRequest) (out store.PutHandlerResult, err error) {
	err = b.writeAt(ctx, "put handler", req.Now, func(s *session, now time.Time) (err error) {
		out, err = rowwise.PutHandler(ctx, s, req, now)
		return err
	})
	if err != nil {
		return store.PutHandlerResult{}, err
	}
	return out, nil
}

// DeleteHandlers deletes handlers; see store.HandlerStore.
func (b *Backend) DeleteHandlers(ctx context.Context, req store.DeleteHandlersRequest) error {
	return b.writeAt(ctx, "delete handlers", req.Now, func(s *session, now time.Time) error {
		return rowwise.DeleteHandlers(ctx, s, req, now)
	})
}

// ListHandlers reads handlers; see store.HandlerStore.
func (b *Backend) ListHandlers(ctx context.Context) (out []store.Handler, err error) {
	err = b.read(ctx, "list handlers", func(s *session) (err error) {
		out, err = s.ReadHandlers(ctx)
		return err
	})
	return out, err
}

// ReadHandlers implements rowwise.HandledTx.
func (s *session) ReadHandlers(ctx context.Context) (out store.Handlers, err error) {
	err = s.each(ctx, listHandlers, nil, func(r row) error {
		var h store.Handler
		var job string
		if err := r.Scan(&h.Name, &h.On, &h.Kind, &h.Group, &job, into(&h.UpdatedAt)); err != nil {
			return err
		}
		err := h.DecodeJob(job)
		out = append(out, h)
		return err
	})
	return out, err
}

// LockHandlers implements rowwise.HandlersTx. The counter of revisions excludes other transactions
// that change handlers.
func (s *session) LockHandlers(ctx context.Context) (store.Handlers, error) {
	if _, err := s.LockRevision(ctx); err != nil {
		return nil, err
	}
	return s.ReadHandlers(ctx)
}

// SaveHandler implements rowwise.HandlersTx.
func (s *session) SaveHandler(ctx context.Context, h store.Handler, now time.Time) error {
	return s.exec(ctx, upsertHandlers, args{
		"name": h.Name, "events": int16(h.On), "kind": h.Kind, "group_name": h.Group, "job": h.EncodeJob(), "now": micros(now),
	})
}

// DeleteHandlers implements rowwise.HandlersTx.
func (s *session) DeleteHandlers(ctx context.Context, names []string) error {
	return s.exec(ctx, deleteHandlers, args{"names": names})
}

// FindWaitingJobs implements rowwise.HandledTx.
func (s *session) FindWaitingJobs(ctx context.Context, ids []int64) (jobs []store.WaitingJob, err error) {
	err = s.each(ctx, findWaitingJobs, args{"ids": ids}, func(r row) error {
		var job store.WaitingJob
		err := r.Scan(&job.ID, &job.Kind, &job.Group, &job.Origin)
		jobs = append(jobs, job)
		return err
	})
	return jobs, err
}
