package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// ReadHandlers implements rowwise.HandledTx.
func (s *Session) ReadHandlers(ctx context.Context) (out store.Handlers, err error) {
	err = s.Each(ctx, listHandlers, nil, func(r Row) error {
		var h store.Handler
		var job string
		if err := r.Scan(&h.Name, &h.On, &h.Kind, &h.Group, &job, IntoTime(&h.UpdatedAt)); err != nil {
			return err
		}
		err := h.DecodeJob(job)
		out = append(out, h)
		return err
	})
	return out, err
}

// LockHandlers implements rowwise.HandlersTx. The counter of revisions excludes other transactions that change handlers.
func (s *Session) LockHandlers(ctx context.Context) (store.Handlers, error) {
	if _, err := s.Dialect.LockRevision(ctx); err != nil {
		return nil, err
	}
	return s.ReadHandlers(ctx)
}

// SaveHandler implements rowwise.HandlersTx.
func (s *Session) SaveHandler(ctx context.Context, h store.Handler, now time.Time) error {
	return s.Exec(ctx, upsertHandlers, Args{
		"name": h.Name, "events": int16(h.On), "kind": h.Kind, "group_name": h.Group, "job": h.EncodeJob(), "now": Micros(now),
	})
}

// DeleteHandlers implements rowwise.HandlersTx.
func (s *Session) DeleteHandlers(ctx context.Context, names []string) error {
	return s.Exec(ctx, deleteHandlers, Args{"names": names})
}

// FindWaitingJobs implements rowwise.HandledTx.
func (s *Session) FindWaitingJobs(ctx context.Context, ids []int64) (jobs []store.WaitingJob, err error) {
	err = s.Each(ctx, findWaitingJobs, Args{"ids": ids}, func(r Row) error {
		var job store.WaitingJob
		err := r.Scan(&job.ID, &job.Kind, &job.Group, &job.Origin)
		jobs = append(jobs, job)
		return err
	})
	return jobs, err
}
