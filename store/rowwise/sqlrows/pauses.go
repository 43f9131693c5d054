package sqlrows

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// LockPauses implements rowwise.PausesTx.
func (s *Session) LockPauses(ctx context.Context, subject store.PauseSubject, names []string) (map[string]store.Pause, error) {
	pauses := map[string]store.Pause{}
	err := s.Each(ctx, lockPauses, Args{"subject": int16(subject), "names": names}, func(r Row) error {
		p, err := ScanPause(r)
		pauses[p.Name] = p
		return err
	})
	return pauses, err
}

// SavePause implements rowwise.PausesTx.
func (s *Session) SavePause(ctx context.Context, p store.Pause) error {
	return s.Exec(ctx, UpsertPauses, Args{
		"subject": int16(p.Subject), "name": p.Name, "paused_at": Micros(p.At), "until": Micros(p.Until), "reason": p.Reason, "actor": p.Actor,
	})
}

// LockGroupSchedules implements rowwise.PausesTx.
func (s *Session) LockGroupSchedules(ctx context.Context, group string) (rows []*store.Schedule, err error) {
	err = s.EachSchedule(ctx, lockGroupSchedules, Args{"group_name": group}, func(row *store.Schedule) error {
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// PauseColumns are the columns that ScanPause scans.
const PauseColumns = "subject name paused_at until reason actor"

// ScanPause scans a pause.
func ScanPause(r Row) (p store.Pause, err error) {
	err = r.Scan(&p.Subject, &p.Name, IntoTime(&p.At), IntoTime(&p.Until), &p.Reason, &p.Actor)
	return p, err
}

// PauseStep is how many jobs of a group or a key one transaction parks, or makes claimable.
const PauseStep = 1000

// Park parks due jobs after a put of pauses, in steps, so that no claim has to park many.
func (c Calls[S]) Park(ctx context.Context, req store.PutRequest) (err error) {
	parks := slices.ContainsFunc(req.Pauses, store.PutPause.Parks)
	for n := PauseStep; parks && err == nil && n >= PauseStep; {
		n, err = rowwise.InTxAt(c.WriteAt(ctx, req.String(), nil, req.Now), func(s S, now time.Time) (int, error) { return s.Base().ParkJobs(ctx, now) })
	}
	return err
}

// Delete deletes definitions; see store.Definitions. After the end of a pause it makes parked jobs claimable in steps. If a step fails,
// claims go on.
func (c Calls[S]) Delete(ctx context.Context, req store.DeleteRequest) error {
	err := c.WriteAt(ctx, req.String(), nil, req.Now)(func(s S, now time.Time) error { return rowwise.Delete(ctx, s, req, now) })
	if err != nil || req.Of != store.OfPauses {
		return err
	}
	for moved, err := PauseStep, error(nil); err == nil && moved >= PauseStep; {
		moved, err = rowwise.InTxAt(c.WriteAt(ctx, req.String(), nil, req.Now), func(s S, now time.Time) (int, error) { return s.Base().EndPauses(ctx, now) })
	}
	return nil
}

// TendPauses implements rowwise.ClaimTx.
func (s *Session) TendPauses(ctx context.Context, now time.Time) (step store.PauseStep, err error) {
	if step.Released, err = s.EndPauses(ctx, now); err != nil {
		return step, err
	}
	step.Parked, err = s.ParkJobs(ctx, now)
	step.More = step.Parked >= PauseStep
	return step, err
}
