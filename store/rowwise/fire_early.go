package rowwise

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// FireEarly accounts for slots, some before their instant; see store.EarlyFirer.
func FireEarly(ctx context.Context, tx Tx, req store.FireEarlyRequest, now time.Time) (store.FireEarlyResult, error) {
	ids := make([]int64, len(req.Firings))
	for i, f := range req.Firings {
		ids[i] = f.Schedule
	}
	var out store.FireEarlyResult
	if len(ids) == 0 {
		return out, nil
	}
	until := now.Add(req.Ahead)
	if req.Replan {
		until = now.AddDate(1_000, 0, 0)
	}
	due, err := tx.LockDueSchedules(ctx, ids, until)
	if err != nil {
		return out, err
	}
	plan := newFirePlan(req.FireRequest, due, now)
	if err := plan.read(ctx, tx, now); err != nil {
		return out, err
	}
	busy := plan.leaveBusy(now)
	plan.leaveFired()
	if err := plan.readDelays(ctx, tx, now); err != nil {
		return out, err
	}
	plan.settle()
	if err := plan.write(ctx, tx, now); err != nil {
		return out, err
	}
	return store.FireEarlyResult{FireResult: plan.out, Busy: busy}, nil
}

// early reports whether a firing, which was decided from the present row, is not
// due yet, so that it is only done without live jobs.
func (p *firePlan) early(f store.Firing, now time.Time) bool {
	return !p.replan && instant(f.NextAt).After(now)
}

// leaveBusy removes early firings whose schedule has a live job, so that an
// overlap would have to be settled, and returns these schedules.
func (p *firePlan) leaveBusy(now time.Time) (busy []int64) {
	p.firings = slices.DeleteFunc(p.firings, func(f store.Firing) bool {
		is := p.early(f, now) && len(p.live[f.Schedule]) > 0
		if is {
			busy = append(busy, f.Schedule)
		}
		return is
	})
	return busy
}
