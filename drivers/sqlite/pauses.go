package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// pauseStep is how many jobs of a group or a key one transaction parks, or makes claimable.
const pauseStep = 1000

// PauseSubject pauses a subject; see store.Pauses. Then it parks due jobs in steps, so that
// no claim has to park many.
func (b *Backend) PauseSubject(ctx context.Context, req store.PauseRequest) error {
	const doing = "pause"
	err := b.withinAt(ctx, doing, nil, req.Now)(func(s *session, now time.Time) error {
		if err := rowwise.PauseSubject(ctx, s, req, now); err != nil {
			return err
		}
		return s.returnPausedPermits(ctx, req.Subject, req.Name)
	})
	parks := req.Subject == store.SubjectGroup || req.Subject == store.SubjectKey
	for n := pauseStep; parks && err == nil && n >= pauseStep; {
		n, err = rowwise.InTxAt(b.withinAt(ctx, doing, nil, req.Now), func(s *session, now time.Time) (int, error) {
			return s.Count(ctx, parkJobs, args{"now": sqlrows.Micros(now), "limit": pauseStep})
		})
	}
	return err
}

// ResumeSubject ends a pause; see store.Pauses. Then it makes parked jobs claimable in steps.
// If it fails in between, claims go on with that.
func (b *Backend) ResumeSubject(ctx context.Context, req store.ResumeRequest) (out store.ResumeResult, err error) {
	const doing = "resume"
	out, err = rowwise.InTxAt(b.withinAt(ctx, doing, nil, req.Now), func(s *session, now time.Time) (store.ResumeResult, error) {
		return rowwise.ResumeSubject(ctx, s, req, now)
	})
	for moved := pauseStep; err == nil && out.Resumed && moved >= pauseStep; {
		moved, err = rowwise.InTxAt(b.withinAt(ctx, doing, nil, req.Now), func(s *session, now time.Time) (int, error) { return s.endPauses(ctx, now) })
	}
	return out, err
}

// endPauses makes some parked jobs claimable whose pauses have ended, and returns how many.
func (s *session) endPauses(ctx context.Context, now time.Time) (int, error) {
	moved, err := s.Count(ctx, unparkJobs, args{"now": sqlrows.Micros(now), "limit": pauseStep})
	if err != nil {
		return 0, err
	}
	if err := s.Exec(ctx, insertLimitVacancies, args{"now": sqlrows.Micros(now)}); err != nil {
		return 0, err
	}
	return moved, s.Exec(ctx, deletePauses, args{"now": sqlrows.Micros(now)})
}

// TendPauses implements rowwise.ClaimTx.
func (s *session) TendPauses(ctx context.Context, now time.Time) (step store.PauseStep, err error) {
	if step.Released, err = s.endPauses(ctx, now); err != nil {
		return step, err
	}
	step.Parked, err = s.Count(ctx, parkJobs, args{"now": sqlrows.Micros(now), "limit": pauseStep})
	step.More = step.Parked >= pauseStep
	return step, err
}

// LockPauses implements rowwise.PausesTx.
func (s *session) LockPauses(ctx context.Context, subject store.PauseSubject, names []string) (map[string]store.Pause, error) {
	pauses := map[string]store.Pause{}
	err := s.Each(ctx, lockPauses, args{"subject": int16(subject), "names": sqlrows.JSONList(names)}, func(r row) error {
		p, err := sqlrows.ScanPause(r)
		pauses[p.Name] = p
		return err
	})
	return pauses, err
}
