package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// Put creates or changes definitions; see store.Definitions.
func (b *Backend) Put(ctx context.Context, req store.PutRequest) (store.PutResult, error) {
	if req.Of() == store.OfPauses {
		return b.putPauses(ctx, req)
	}
	return b.calls.Put(ctx, req)
}

// putPauses pauses subjects, and then parks due jobs in steps, so that no claim has to park many.
func (b *Backend) putPauses(ctx context.Context, req store.PutRequest) (store.PutResult, error) {
	doing := req.String()
	out, err := rowwise.InTxAt(b.WriteAt(ctx, doing, nil, req.Now), func(s *session, now time.Time) (store.PutResult, error) {
		out, err := rowwise.PutPauses(ctx, s, req, now)
		for _, put := range req.Pauses {
			if err == nil {
				err = s.ReturnPausedPermits(ctx, put.Subject, put.Name)
			}
		}
		return out, err
	})
	if err == nil {
		err = b.Park(ctx, req)
	}
	return out, err
}

// ParkJobs implements sqlrows.Dialect.
func (s *session) ParkJobs(ctx context.Context, now time.Time) (int, error) {
	return s.Count(ctx, sqlrows.ParkJobs, args{"now": sqlrows.Micros(now), "limit": sqlrows.PauseStep})
}

// EndPauses implements sqlrows.Dialect.
func (s *session) EndPauses(ctx context.Context, now time.Time) (int, error) {
	moved, err := s.Count(ctx, sqlrows.UnparkJobs, args{"now": sqlrows.Micros(now), "limit": sqlrows.PauseStep})
	if err != nil {
		return 0, err
	}
	if err := s.Exec(ctx, sqlrows.InsertLimitVacancies, args{"now": sqlrows.Micros(now)}); err != nil {
		return 0, err
	}
	return moved, s.Exec(ctx, sqlrows.DeletePauses, args{"now": sqlrows.Micros(now)})
}
