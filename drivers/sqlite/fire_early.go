package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// FireEarly accounts for slots, some before their instant; see store.EarlyFirer.
func (b *Backend) FireEarly(ctx context.Context, req store.FireEarlyRequest) (store.FireEarlyResult, error) {
	out, busy, err := b.fire(ctx, req.FireRequest, req.Ahead)
	return store.FireEarlyResult{FireResult: out, Busy: busy}, err
}

// FiredTo returns up to when schedules have fired early; see store.EarlyFirer.
func (b *Backend) FiredTo(ctx context.Context, req store.FiredToRequest) (to time.Time, err error) {
	err = b.read(ctx, "read early firings", func(s *session) error {
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		a := args{"names": jsonList(req.Names), "now": micros(now), "most": micros(now.Add(store.MostAhead))}
		return s.one(ctx, findFiredTo, a, into(&to))
	})
	if err != nil {
		return time.Time{}, err
	}
	return to, nil
}

// early reports whether a firing, which matches its row, is not due yet.
func early(f store.Firing, now time.Time) bool { return instant(f.NextAt).After(now) }

// leaveBusy removes early firings whose schedule has a live job, so that an overlap
// would have to be settled, and returns these schedules.
func (p *firePlan) leaveBusy(now time.Time) (busy []int64) {
	p.firings = slices.DeleteFunc(p.firings, func(f store.Firing) bool {
		is := early(f, now) && len(p.live[f.Schedule]) > 0
		if is {
			busy = append(busy, f.Schedule)
		}
		return is
	})
	return busy
}

// afterFired lets triggered jobs start after the slots of their schedules that have
// fired ahead.
func (s *session) afterFired(ctx context.Context, jobs []store.NewJob, now time.Time) ([]store.NewJob, error) {
	var schedules []int64
	for _, job := range jobs {
		if job.Origin == store.OriginTrigger {
			schedules = append(schedules, job.Schedule)
		}
	}
	if len(schedules) == 0 {
		return jobs, nil
	}
	firedTo := map[int64]time.Time{}
	a := args{"ids": jsonList(schedules), "now": micros(now), "most": micros(now.Add(store.MostAhead))}
	err := s.each(ctx, lockTriggeredSchedules, a, func(r row) error {
		var id int64
		var at time.Time
		err := r.Scan(&id, into(&at))
		firedTo[id] = at
		return err
	})
	if err != nil || len(firedTo) == 0 {
		return jobs, err
	}
	return store.StartAfter(jobs, firedTo, now), nil
}
