package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
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

// StartsFrom reads the store's clock for starts that count from now on, which the answer to the claim has.
func (s *Session) StartsFrom(ctx context.Context, asked time.Time, out *store.ClaimResult) (time.Time, error) {
	if out.StartsFrom.IsZero() {
		out.StartsFrom = time.Now()
	}
	return s.Now(ctx, asked)
}

// NextDue is when the queue's next ready job is due; zero: there is none.
func (s *Session) NextDue(ctx context.Context, queue string, now time.Time) (time.Time, error) {
	var next time.Time
	err := s.One(ctx, FindNextDue, Args{"queue": queue, "now": Micros(now)}, IntoTime(&next))
	return next, err
}
