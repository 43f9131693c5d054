package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// FireEarly accounts for slots, some before their instant; see store.EarlyFirer.
func (b *Backend) FireEarly(ctx context.Context, req store.FireEarlyRequest) (out store.FireEarlyResult, err error) {
	if len(req.Firings) == 0 {
		return out, nil
	}
	err = b.writeAt(ctx, "fire schedules", req.Now, func(s *session, now time.Time) (err error) {
		out, err = rowwise.FireEarly(ctx, s, req, now)
		return err
	})
	if err != nil {
		return store.FireEarlyResult{}, err
	}
	return out, nil
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
