package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// pauseStep is how many jobs of a group or a key one transaction parks, or makes claimable.
const pauseStep = 1000

// Put creates or changes definitions; see store.Definitions. After a put of pauses it parks due jobs in steps, so that no claim has to
// park many.
func (b *Backend) Put(ctx context.Context, req store.PutRequest) (store.PutResult, error) {
	if len(req.Pauses) == 0 {
		return b.calls.Put(ctx, req)
	}
	doing := req.String()
	out, err := rowwise.InTxAt(b.withinAt(ctx, doing, nil, req.Now), func(s *session, now time.Time) (store.PutResult, error) {
		out, err := rowwise.PutPauses(ctx, s, req, now)
		for _, put := range req.Pauses {
			if err == nil {
				err = s.returnPausedPermits(ctx, put.Subject, put.Name)
			}
		}
		return out, err
	})
	parks := slices.ContainsFunc(req.Pauses, store.PutPause.Parks)
	for n := pauseStep; parks && err == nil && n >= pauseStep; {
		n, err = rowwise.InTxAt(b.withinAt(ctx, doing, nil, req.Now), func(s *session, now time.Time) (int, error) {
			return s.Count(ctx, sqlrows.ParkJobs, args{"now": sqlrows.Micros(now), "limit": pauseStep})
		})
	}
	return out, err
}

// Delete deletes definitions; see store.Definitions. After the end of a pause it makes parked jobs claimable in steps. If a step fails,
// claims go on.
func (b *Backend) Delete(ctx context.Context, req store.DeleteRequest) error {
	if err := b.calls.Delete(ctx, req); err != nil || req.Of != store.OfPauses {
		return err
	}
	for moved, err := pauseStep, error(nil); err == nil && moved >= pauseStep; {
		moved, err = rowwise.InTxAt(b.withinAt(ctx, req.String(), nil, req.Now), func(s *session, now time.Time) (int, error) { return s.endPauses(ctx, now) })
	}
	return nil
}

// endPauses makes some parked jobs claimable whose pauses have ended, and returns how many.
func (s *session) endPauses(ctx context.Context, now time.Time) (int, error) {
	moved, err := s.Count(ctx, sqlrows.UnparkJobs, args{"now": sqlrows.Micros(now), "limit": pauseStep})
	if err != nil {
		return 0, err
	}
	if err := s.Exec(ctx, sqlrows.InsertLimitVacancies, args{"now": sqlrows.Micros(now)}); err != nil {
		return 0, err
	}
	return moved, s.Exec(ctx, sqlrows.DeletePauses, args{"now": sqlrows.Micros(now)})
}

// TendPauses implements rowwise.ClaimTx.
func (s *session) TendPauses(ctx context.Context, now time.Time) (step store.PauseStep, err error) {
	if step.Released, err = s.endPauses(ctx, now); err != nil {
		return step, err
	}
	step.Parked, err = s.Count(ctx, sqlrows.ParkJobs, args{"now": sqlrows.Micros(now), "limit": pauseStep})
	step.More = step.Parked >= pauseStep
	return step, err
}

// LockPauses implements rowwise.PausesTx.
func (s *session) LockPauses(ctx context.Context, subject store.PauseSubject, names []string) (map[string]store.Pause, error) {
	pauses := map[string]store.Pause{}
	err := s.Each(ctx, sqlrows.LockPauses, args{"subject": int16(subject), "names": sqlrows.JSONList(names)}, func(r row) error {
		p, err := sqlrows.ScanPause(r)
		pauses[p.Name] = p
		return err
	})
	return pauses, err
}
