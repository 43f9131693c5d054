package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// ClaimedColumns are the columns that ScanClaimed scans.
const ClaimedColumns = "id token args headers attempt origin run_at created_at schedule_id schedule_name slot losses refunds {spec}"

// ScanClaimed scans a claimed job, and the columns that follow it into targets.
func ScanClaimed(r Row, targets ...any) (store.Claimed, error) {
	var j store.Claimed
	err := r.Scan(append([]any{
		&j.ID, &j.Token, &j.Args, &j.Headers, &j.Attempt, &j.Origin, IntoTime(&j.RunAt), IntoTime(&j.CreatedAt),
		&j.Schedule, &j.ScheduleName, IntoTime(&j.Slot), &j.Losses, &j.Refunds,
	}, append(SpecTargets(&j.JobSpec), targets...)...)...)
	return j, err
}

// AroundColumns are the columns that AroundTargets scan.
const AroundColumns = "alive pauses handled limited permits"

// AroundTargets scan what a claim has to look at.
func AroundTargets(found *rowwise.Around) []any {
	return []any{&found.Alive, &found.Pauses, &found.Handled, &found.Limited, &found.Permits}
}

// HoldNode implements rowwise.NodeHolder.
func (s *Session) HoldNode(ctx context.Context, node int64) (found rowwise.Around, err error) {
	err = s.One(ctx, HoldNode, Args{"node": node}, AroundTargets(&found)...)
	return found, err
}

// BeginClaims implements rowwise.BeginTx.
func (s *Session) BeginClaims(ctx context.Context, node int64, claims []store.ClaimRef) error {
	return s.Exec(ctx, BeginJobs, Args{"claims": claimRefs(claims), "node": node})
}

// FindPauseWork implements rowwise.ClaimTx.
func (s *Session) FindPauseWork(ctx context.Context, now time.Time) (found bool, err error) {
	err = s.One(ctx, findPauseWork, Args{"now": Micros(now)}, &found)
	return found, err
}

// FindPauses implements rowwise.ClaimTx.
func (s *Session) FindPauses(ctx context.Context, now time.Time) ([]store.Pause, error) {
	return collect(ctx, s, findPauses, nil, Args{"now": Micros(now)}, func(r Row) (p store.Pause, err error) {
		err = r.Scan(&p.Subject, &p.Name)
		return p, err
	})
}

// FindLaneWork implements rowwise.ClaimTx.
func (s *Session) FindLaneWork(ctx context.Context, queue string, now time.Time) (work store.LaneWork, err error) {
	err = s.One(ctx, findLaneWork, Args{"queue": queue, "now": Micros(now)}, &work.Limited, &work.Rated, &work.Found, IntoTime(&work.Next))
	return work, err
}

// FindSuspect implements rowwise.ClaimTx.
func (s *Session) FindSuspect(ctx context.Context, queue string, now time.Time) (found bool, err error) {
	err = s.One(ctx, FindSuspect, Args{"queue": queue, "now": Micros(now)}, &found)
	return found, err
}

// ReadStart implements rowwise.ClaimTx.
func (s *Session) ReadStart(ctx context.Context, asked time.Time, out *store.ClaimResult) (time.Time, error) {
	if out.StartsFrom.IsZero() {
		out.StartsFrom = time.Now()
	}
	return s.Now(ctx, asked)
}

// NextDue implements rowwise.ClaimTx.
func (s *Session) NextDue(ctx context.Context, queue string, now time.Time) (time.Time, error) {
	var next time.Time
	err := s.One(ctx, FindNextDue, Args{"queue": queue, "now": Micros(now)}, IntoTime(&next))
	return next, err
}
